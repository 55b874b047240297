"""A language model of a few hundred kilobytes that has learnt nothing, made on the spot and kept in a folder."""

from pathlib import Path
from typing import Any

from evenhand.protocol.load import available
from tests.later import Later

HOW = (
    "no transformers with torch: pip install torch (on Linux without a GPU from the index "
    "https://download.pytorch.org/whl/cpu, which spares gigabytes), then pip install '.[hf]'"
)
torch = Later("torch", HOW)
tokenizers = Later("tokenizers", HOW)
transformers = Later("transformers", HOW)

SEED = 20240607
CONTEXT = 20_000
CONTROL = ("<|start|>", "<|end|>", "<|pad|>")
TOOL = "<tool_call>"
"""Added to the vocabulary without being special, as some models have their tool marks."""

CHATML = (
    "{% for message in messages %}<|start|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
REFUSES_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + CHATML
IGNORES_SYSTEM = (
    "{% for message in messages if message.role != 'system' %}<|start|>{{ message.role }}\n"
    "{{ message.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)

READING = [
    "The answer repeats what the source says and adds a year that it does not give.",
    "A rater reads the question, the source and the answer, and marks how far one supports the other.",
    '{"rationale": "Both dates agree.", "value": 4, "confidence": 80, "notes": null}',
    '{"accuracy": "unsupported", "severity": "not severe", "evidence": ["The river rose in spring."]}',
    "SUPPORTED, CONTRADICTED, NO EVIDENCE: 1 2 3 4 5 6 7 8 9 0, relevance, completeness, fluency, tone, clarity.",
    "Die Antwort nennt Straße und Größe; 回答提到了日期和地点。",
]


def make_model(folder: Path, *, template: str | None = CHATML, context: int = CONTEXT, kind: str = "llama") -> str:
    """The folder of a model with seeded weights; `kind` is `llama` (rotary positions) or `gpt2` (learnt ones)."""
    tokenizer = make_tokenizer(template)
    # The model is so small that threads cost more than they bring, the more so beside other tests.
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    ends: dict[str, Any] = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=len(tokenizer) + 3, n_positions=context, n_embd=64, n_layer=2, n_head=4, **ends
        )
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.LlamaConfig(
            # Models often have more rows than their tokenizer has entries.
            vocab_size=len(tokenizer) + 3,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=context,
            initializer_range=0.3,
            **ends,
        )
        model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def make_tokenizer(template: str | None = CHATML) -> Any:
    """A byte-level tokenizer that knows the words of the built-in protocols; `template` is its chat template."""
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1600,
        special_tokens=list(CONTROL),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    protocols = [path.read_text(encoding="utf-8") for path in available().values()]
    bpe.train_from_iterator([*READING * 4, *protocols], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=CONTROL[0], eos_token=CONTROL[1], pad_token=CONTROL[2]
    )
    tokenizer.add_tokens([TOOL])
    tokenizer.chat_template = template
    return tokenizer
