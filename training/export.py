"""Write the network as it is shipped: `python -m training.export WEIGHTS OUT`. 8-bit weights, and the tokenizer."""

import argparse
import tempfile
from pathlib import Path

import torch
from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification
from transformers.models.bert.modeling_bert import BertLayer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        full, fused = Path(folder) / "full.onnx", Path(folder) / "fused.onnx"
        write_full(options.weights, full)
        made = optimizer.optimize_model(
            str(full), model_type="bert", num_heads=12, hidden_size=384, opt_level=0, optimization_options=_fusions()
        )
        made.save_model_to_file(str(fused))
        quantize_dynamic(
            fused,
            options.out / "model.onnx",
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    tokenizer = Tokenizer.from_file(str(options.weights / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(options.out / "tokenizer.json"), pretty=False)
    print(f"{options.out / 'model.onnx'}: {(options.out / 'model.onnx').stat().st_size / 1e6:.1f} MB")


def _fusions() -> FusionOptions:
    """All but those of which onnxruntime's single steps are faster than its fused one (decision 0008)."""
    options = FusionOptions("bert")
    options.enable_skip_layer_norm = options.enable_bias_skip_layer_norm = options.enable_bias_gelu = False
    return options


class _Last(torch.nn.Module):
    """The last layer for the first token alone: no other is looked at after it. The first token still sees them all."""

    def __init__(self, layer: BertLayer) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
        own, first = self.layer.attention.self, hidden[:, :1]

        def heads(rows: torch.Tensor) -> torch.Tensor:
            return rows.view(rows.shape[0], -1, own.num_attention_heads, own.attention_head_size).transpose(1, 2)

        asked, keys, values = heads(own.query(first)), heads(own.key(hidden)), heads(own.value(hidden))
        seen = torch.softmax(asked @ keys.transpose(2, 3) * own.scaling + mask[:, :, :1], dim=-1) @ values
        together = seen.transpose(1, 2).reshape(first.shape)
        return self.layer.feed_forward_chunk(self.layer.attention.output(together, first))


class _Logits(torch.nn.Module):
    """The network with its outputs alone, as ONNX wants them."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        return self.network(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits


def write_full(weights: Path, path: Path) -> None:
    """The network with 32-bit weights, for any number of pairs of any length."""
    network = BertForSequenceClassification.from_pretrained(weights).eval()
    network.set_attn_implementation("eager")
    network.bert.encoder.layer[-1] = _Last(network.bert.encoder.layer[-1])
    ids = torch.ones((2, 16), dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(
        _Logits(network), (ids, ids, ids), str(path), input_names=names, output_names=["logits"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names} | {"logits": {0: "pairs"}},
        opset_version=17, dynamo=False,
    )  # fmt: skip


if __name__ == "__main__":
    main()
