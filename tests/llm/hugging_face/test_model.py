"""Loading a model: what is refused and how, what it is called, what is left alone."""

import shutil
from pathlib import Path

import pytest

from evenhand.errors import MissingExtraError, UserError
from evenhand.llm.hugging_face.model import LoadedModel, package
from tests.llm.tiny_model import CONTEXT, make_model, make_tokenizer, torch, transformers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_model(tmp_path_factory.mktemp("models") / "tiny")


def test_a_folder_is_loaded_with_what_its_files_say(folder: str):
    loaded = LoadedModel.load(f"hf:{folder}", device="cpu")
    assert loaded.name.startswith(f"{folder}@")
    assert loaded.context == CONTEXT
    assert loaded.ends == (loaded.tokenizer.convert_tokens_to_ids("<|end|>"),)
    assert loaded.padding == loaded.tokenizer.convert_tokens_to_ids("<|pad|>")
    assert not loaded.model.training


def test_precision_is_the_stored_one_unless_another_is_named(folder: str):
    assert LoadedModel.load(folder).model.dtype == torch.float32
    assert LoadedModel.load(folder, dtype="bfloat16").model.dtype == torch.bfloat16
    with pytest.raises(UserError, match="'int3'"):
        LoadedModel.load(folder, dtype="int3")


def test_the_name_is_the_same_for_the_same_weights_and_another_for_others(folder: str):
    first = LoadedModel.load(folder)
    again = LoadedModel.load(folder)
    assert first.name == again.name
    with torch.no_grad():
        again.model.model.layers[1].mlp.up_proj.weight.mul_(1.01)
    assert LoadedModel.of(again.model, again.tokenizer, name=folder).name != first.name
    assert LoadedModel.load(folder, dtype="bfloat16").name != first.name


def test_a_model_of_the_user_keeps_its_settings():
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=600, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
        )
    )
    model.generation_config.repetition_penalty = 1.3
    model.generation_config.eos_token_id = [1, 5]
    loaded = LoadedModel.of(model, make_tokenizer())
    assert model.generation_config.repetition_penalty == 1.3
    # None is "not set" in newer versions of transformers, 1.0 in older ones.
    assert loaded.model.generation_config.repetition_penalty in (None, 1.0)
    assert loaded.model.lm_head is model.lm_head
    # The tokenizer's own end first, then those of the model: 2 is the end of LlamaConfig.
    assert loaded.ends == (1, 5, 2)
    assert loaded.name.startswith("LlamaForCausalLM@")


def damaged(folder: str, place: Path, change: str) -> str:
    copy = Path(shutil.copytree(folder, place / change))
    weights = copy / "model.safetensors"
    if change == "no weights":
        weights.unlink()
    elif change == "cut weights":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif change == "no tokenizer":
        (copy / "tokenizer.json").unlink()
        (copy / "tokenizer_config.json").unlink()
    elif change == "config is no JSON":
        (copy / "config.json").write_text("{")
    elif change == "unknown kind":
        (copy / "config.json").write_text('{"model_type": "abacus"}')
    elif change == "no writer":
        (copy / "config.json").write_text('{"model_type": "t5"}')
    return str(copy)


@pytest.mark.parametrize(
    "change", ["no weights", "cut weights", "no tokenizer", "config is no JSON", "unknown kind", "no writer"]
)
def test_a_damaged_folder_is_refused_with_what_is_valid(folder: str, tmp_path: Path, change: str):
    broken = damaged(folder, tmp_path, change)
    with pytest.raises(UserError) as caught:
        LoadedModel.load(broken)
    assert str(caught.value).startswith(f"{broken}: this model cannot be loaded: ")
    assert "\n" not in str(caught.value)
    assert "Valid is the folder of a causal language model" in str(caught.value)


def test_what_is_no_model_is_refused_with_what_is_valid(tmp_path: Path):
    with pytest.raises(UserError, match=r"nowhere: there is no such folder\. Valid is the folder"):
        LoadedModel.load(str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match=r"no config\.json\. Valid is the folder"):
        LoadedModel.load(str(tmp_path))
    (tmp_path / "model.gguf").touch()
    with pytest.raises(UserError, match=r"model.gguf: this is a file, not a model\. Valid is the folder"):
        LoadedModel.load(str(tmp_path / "model.gguf"))


@pytest.mark.usefixtures("folder")
def test_a_name_that_no_model_can_have_is_refused_with_what_is_valid():
    with pytest.raises(UserError, match=r"^two words: this model cannot be loaded: .*Valid is the folder"):
        LoadedModel.load("two words")


def test_what_cannot_write_is_refused(folder: str):
    loaded = LoadedModel.load(folder)
    with pytest.raises(UserError, match="tokenizer: a str cannot be used"):
        LoadedModel.of(loaded.model, "a tokenizer")
    with pytest.raises(UserError, match="model: a Linear "):
        LoadedModel.of(torch.nn.Linear(1, 1), loaded.tokenizer)
    with pytest.raises(UserError, match="device: 'abacus' cannot hold the model"):
        LoadedModel.of(loaded.model, loaded.tokenizer, device="abacus")


def test_a_missing_package_says_how_to_get_it():
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[hf\]'"):
        package("evenhand_has_no_such_package")
