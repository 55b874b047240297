"""Weights to train on from the file that is shipped: `python -m training.restore BASE MODEL OUT`.

BASE is the folder that `training.base` wrote: the embeddings are taken from there, since training leaves them as they
are. All other weights are those of MODEL, an ONNX file that `training.export` wrote, with the precision of eight bits.
"""

import argparse
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from transformers import BertForSequenceClassification

Array = NDArray[np.float32]
Arrays = Mapping[str, Array]


def weights(path: Path) -> dict[str, torch.Tensor]:
    """Every tensor but the embeddings, under the names they have in PyTorch."""
    graph = onnx.load(str(path)).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found: dict[str, Array] = {}
    for name, array in stored.items():
        if name.startswith("network.") and array.dtype == np.float32 and name.endswith((".weight", ".bias")):
            found[_tidy(name.removeprefix("network."))] = array
    for node in graph.node:
        if node.op_type == "QAttention":
            found |= dict(_attention(node.name, _float(stored, node.input[1]), stored[node.input[2]]))
        elif node.op_type == "MatMulInteger":
            layer = node.name.removeprefix("/network/").removesuffix("_quant").rsplit("/", 1)[0].replace("/", ".")
            found[_tidy(f"{layer}.weight")] = _float(stored, node.input[1]).T
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in found.items()}


def _float(stored: Arrays, name: str) -> Array:
    """A matrix of eight bits, with a scale and a zero point for each column."""
    start = name.removesuffix("_quantized")
    apart = stored[name].astype(np.float32) - stored[f"{start}_zero_point"].astype(np.float32)
    return apart * stored[f"{start}_scale"]


def _attention(name: str, matrix: Array, bias: Array) -> Iterator[tuple[str, Array]]:
    """The three matrices and biases that the attention of one layer is exported as."""
    layer = re.sub(r"\D", "", name)
    parts = zip(("query", "key", "value"), np.split(matrix, 3, axis=1), np.split(bias, 3), strict=True)
    for part, columns, own in parts:
        yield f"bert.encoder.layer.{layer}.attention.self.{part}.weight", columns.T
        yield f"bert.encoder.layer.{layer}.attention.self.{part}.bias", own


def _tidy(name: str) -> str:
    """The last layer is exported on its own, with names that leave out its parts or number them."""
    name = re.sub(r"layer\.11\.layer\.", "layer.11.", name)
    if name.startswith("bert.encoder.layer.11.") and name.endswith(".weight"):
        rest = name.removeprefix("bert.encoder.layer.11.")
        rest = re.sub(r"^(query|key|value)\.", r"attention.self.\1.", rest)
        rest = re.sub(r"^output\.dense\.", "attention.output.dense.", rest)
        rest = re.sub(r"^output\.dense_1\.", "output.dense.", rest)
        return f"bert.encoder.layer.11.{rest}"
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    network = BertForSequenceClassification.from_pretrained(options.base)
    missing, unexpected = network.load_state_dict(weights(options.model), strict=False)
    left = [name for name in missing if "embeddings" not in name]
    if left or unexpected:
        raise SystemExit(f"Not found in the file: {left}. Not known to BERT: {unexpected}.")
    print(f"Logits differ from the file's by {difference(network, options.model):.3f} on average.")
    network.save_pretrained(options.out)
    shutil.copy(options.base / "tokenizer.json", options.out)


def difference(network: BertForSequenceClassification, model: Path) -> float:
    """How far the logits are from the file's on random tokens."""
    ids = torch.randint(1000, 20_000, (16, 60), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    session = onnxruntime.InferenceSession(str(model))
    theirs = session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()})[0]
    with torch.no_grad():
        ours = network.eval()(**inputs).logits.numpy()
    return float(np.abs(ours - theirs).mean())


if __name__ == "__main__":
    main()
