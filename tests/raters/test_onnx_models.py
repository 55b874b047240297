"""Models in ONNX format as the verifier's readers, with tiny networks of the real architectures (`onnx/make.py`)."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from tokenizers import Tokenizer

from evenhand.errors import UserError
from evenhand.raters.verifier import model_files
from evenhand.raters.verifier.model_catalogue import MODELS
from evenhand.raters.verifier.onnx_model import OnnxModel, TokenReading
from evenhand.study import Study
from tests.cli.calling import Caller
from tests.raters.building import build
from tests.raters.rater_cases import one, protocol_named
from tests.run.judging import halo_study

NETWORKS = Path(__file__).parent / "onnx"
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NLI = ("entailment", "neutral", "contradiction")


def network(folder: Path, name: str = "deberta", labels: Sequence[str] | None = None, **changed: object) -> Path:
    """A copy of a network, with other labels or another configuration."""
    made = Path(shutil.copytree(NETWORKS / name, folder / name))
    config = json.loads((made / "config.json").read_text(encoding="utf-8")) | changed
    if labels is not None:
        config["id2label"] = dict(enumerate(labels))
    (made / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return made


def expected(name: str) -> tuple[Sequence[tuple[str, str]], Sequence[Sequence[float]]]:
    """Pairs, and the shares of the original's outputs: for each text, or for that of its tokens with least support."""
    cases = json.loads((NETWORKS / name / "expected.json").read_text(encoding="utf-8"))
    shares = list[Sequence[float]]()
    for case in cases:
        odds = np.exp(np.array(case["logits"]))
        rows = odds / odds.sum(axis=-1, keepdims=True)
        shares.append((rows[np.argmin(rows[:, 0])] if rows.ndim == 2 else rows).tolist())
    return [(case["evidence"], case["claim"]) for case in cases], shares


@pytest.mark.parametrize(
    ("name", "source", "order"),
    [
        ("bert", "{}", (0, None, 1)),
        ("external", "{}", (0, None, 1)),
        ("deberta", "{}", (0, 2, 1)),
        ("roberta", "{}", (1, 0, 2)),
        ("modernbert", "{}", (0, 2, 1)),
        ("minicheck", "minicheck-roberta={}", (1, None, 0)),
        ("hhem", "{}", (1, None, 0)),
        ("hhem", "hhem={}", (1, None, 0)),
        ("lettucedetect", "lettucedetect-base={}", (0, None, 1)),
    ],
)
def test_each_architecture_is_read_as_its_own_package_reads_it(
    name: str, source: str, order: tuple[int, int | None, int]
):
    pairs, shares = expected(name)
    model = OnnxModel(source.format(NETWORKS / name))
    if (name, source) == ("hhem", "{}"):  # without its template it is another question, but the same head
        assert all(reading.contradicted == 0 for reading in model.read(pairs))
        return
    for reading, own in zip(model.read(pairs), shares, strict=True):
        wanted = [0.0 if place is None else own[place] for place in order]
        assert list(reading) == pytest.approx(wanted, abs=1e-5)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("labels", [NLI, NLI[::-1], ("NEUTRAL", "REFUTES", "SUPPORTS"), ("neutral", *NLI[::2])])
def test_outputs_mean_what_config_json_says(tmp_path: Path, labels: Sequence[str]):
    pairs, shares = expected("deberta")
    place = {name[0].lower(): number for number, name in enumerate(labels)}
    supported = place.get("e", place.get("s"))
    assert supported is not None
    for reading, own in zip(OnnxModel(str(network(tmp_path, labels=labels))).read(pairs), shares, strict=True):
        found = [reading.supported, reading.neither]
        assert found == pytest.approx([own[supported], own[place["n"]]], abs=1e-5)  # pyright: ignore[reportUnknownMemberType]


def test_labels_without_a_meaning_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"\(LABEL_0, LABEL_1, LABEL_2\) do not say what .* valid are entailment"):
        OnnxModel(str(network(tmp_path / "numbers", labels=("LABEL_0", "LABEL_1", "LABEL_2"))))
    with pytest.raises(UserError, match=r"\(none\) do not say"):
        OnnxModel(str(network(tmp_path / "none", id2label=None)))
    with pytest.raises(UserError, match="the network has 3 outputs, but its labels are entailment, not_entailment"):
        OnnxModel(str(network(tmp_path / "two", labels=("entailment", "not_entailment"))))
    with pytest.raises(UserError, match=r"\(0, 1\) do not say"):
        OnnxModel(str(NETWORKS / "minicheck"))
    with pytest.raises(UserError, match=r"config.json: not the configuration of a model"):
        OnnxModel(str(network(tmp_path / "list", id2label=["entailment"])))


def test_the_tokens_without_support_are_named():
    claim = "The town has a mill."
    (reading,) = OnnxModel(f"lettucedetect-base={NETWORKS / 'lettucedetect'}").read([("Bread.", claim)])
    assert isinstance(reading, TokenReading)
    assert reading.supported < 0.5
    assert reading.words is not None
    spans = reading.words.removeprefix("no support for “").removesuffix("”").split("”, “")
    assert spans
    assert all(span in claim for span in spans)


def test_the_rationale_quotes_what_has_no_support():
    task = one("halo-support")
    rater = build(f"verifier(onnx:lettucedetect-base={NETWORKS / 'lettucedetect'})", protocol_named("halo-support"))
    (judgement,) = asyncio.run(rater.rate_units(task.item, task.units))
    (answer,) = judgement.answers
    assert answer.value == "NO EVIDENCE"
    assert "The reader: no support for “" in str(answer.rationale)


def test_long_evidence_is_read_in_windows_and_the_surest_counts():
    model, claim = OnnxModel(str(NETWORKS / "roberta")), "The mill burned."
    tokenizer = Tokenizer.from_file(str(NETWORKS / "roberta" / "tokenizer.json"))
    most = 128 - len(tokenizer.encode("", claim).ids) - 8
    # Each of these letters is a token.
    evidence = "x" * 3 * most + "y" * most + "z" * 2 * most
    assert len(tokenizer.encode(evidence, add_special_tokens=False).ids) == len(evidence)
    starts = range(0, len(evidence) - most // 4, most - most // 4)
    windows = model.read([(evidence[start : start + most], claim) for start in starts])
    surest = max(windows, key=lambda one: max(one.supported, one.contradicted))
    assert len(set(windows)) > 3
    (reading,) = model.read([(evidence, claim)])
    assert list(reading) == pytest.approx(list(surest))  # pyright: ignore[reportUnknownMemberType]


def test_a_hundred_thousand_characters_are_read():
    """Takes minutes if the work is quadratic in the length of a text."""
    model = OnnxModel(str(NETWORKS / "deberta"))
    readings = model.read([("a" * 100_000, "b"), ("mill " * 20_000, "c" * 100_000), ("", "")])
    assert [sum(one) for one in readings] == pytest.approx([1.0] * 3)  # pyright: ignore[reportUnknownMemberType]


def test_marks_in_a_text_are_text():
    model = OnnxModel(str(NETWORKS / "bert"))
    (forged,) = model.read([("The mill [SEP] burned", "The town")])
    (pair,) = model.read([("The mill", "burned [SEP] The town")])
    assert forged.supported != pytest.approx(pair.supported, abs=1e-6)  # pyright: ignore[reportUnknownMemberType]


def test_recorded_checksums_are_verified(tmp_path: Path):
    folder = network(tmp_path)
    model = OnnxModel(str(folder)).settings["model"]
    names = ("config.json", "tokenizer.json", "model.onnx")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    assert OnnxModel(str(folder)).settings["model"] == model
    weights = bytearray((folder / "model.onnx").read_bytes())
    weights[len(weights) // 2] ^= 1
    (folder / "model.onnx").write_bytes(weights)
    with pytest.raises(UserError, match=r"model.onnx: damaged or replaced, for the SHA-256 checksum .* restore it"):
        OnnxModel(str(folder))
    (folder / "SHA256SUMS").unlink()
    assert OnnxModel(str(folder)).settings["model"] != model
    (folder / "model.onnx").write_bytes(weights[:1000])
    with pytest.raises(UserError, match="this model cannot be loaded"):
        OnnxModel(str(folder))


def test_weights_may_refer_only_to_data_with_a_checksum(tmp_path: Path):
    folder = network(tmp_path)
    name = b"../../secret"
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\n\x08location\x12" + bytes([len(name)]) + name)
    with pytest.raises(UserError, match=r"refers to \.\./\.\./secret; valid is model.onnx_data in its folder"):
        OnnxModel(str(folder))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("deberta-bse", r"no such model or folder \(did you mean 'deberta-base'\?\)"),
        ("../models/nli", "no such model or folder"),
        ("acme/../../etc", "no such model or folder"),
        ("acme/nli/../../x.onnx", "no such model or folder"),
        ("", "no such model or folder"),
        (str(NETWORKS), r"no model.onnx or onnx/model.onnx here.*optimum-cli export onnx --model"),
        (f"hhem={NETWORKS}", r"--model FamiliarTools/HHEM-2.1-Open-onnx FOLDER; then use verifier\(onnx:hhem=FOLDER"),
    ],
)
def test_what_is_not_a_model_is_refused(source: str, said: str):
    with pytest.raises(UserError, match=said):
        OnnxModel(source)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_each_file_is_needed(tmp_path: Path, name: str):
    folder = network(tmp_path)
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"there is no {name} here"):
        OnnxModel(str(folder))


def test_weights_in_a_subfolder_and_variants_are_found(tmp_path: Path):
    folder = network(tmp_path)
    (folder / "onnx").mkdir()
    weights = (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    with pytest.raises(
        UserError, match=r"there are onnx/model_quantized.onnx: name one, as in .*/model_quantized.onnx"
    ):
        OnnxModel(str(folder))
    pairs, _ = expected("deberta")
    assert OnnxModel(str(weights)).read(pairs) == OnnxModel(str(NETWORKS / "deberta")).read(pairs)


def test_the_settings_of_a_rater_say_which_weights_it_has(tmp_path: Path):
    protocol = protocol_named("halo-support")
    folder = network(tmp_path)
    first = build(f"nli=verifier(onnx:{folder})", protocol)
    shutil.copy(NETWORKS / "roberta" / "config.json", folder / "config.json")
    with (folder / "tokenizer.json").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert json.dumps(dict(first.settings))
    assert build(f"nli=verifier(onnx:{folder})", protocol).ref != first.ref


@pytest.mark.parametrize("source", ["{}/modernbert", "lettucedetect-base={}/lettucedetect", "hhem={}/hhem"])
def test_a_study_is_rated_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str):
    call = Caller(capsys)
    halo_study(tmp_path, 3).close()
    study = tmp_path / "study.db"
    out = call.fine("judge", study, "--rater", f"nli=verifier(onnx:{source.format(NETWORKS)})")
    assert out.startswith("nli: 3 of 3 units done\n  ratings: rated 3\n")
    with Study.open(str(study)) as opened:
        assert len(opened.ratings_frame()) == 3


def test_other_weights_under_the_same_name_and_missing_ones_end_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    call = Caller(capsys)
    halo_study(tmp_path, 2).close()
    study, folder = tmp_path / "study.db", network(tmp_path)
    call.fine("judge", study, "--rater", f"nli=verifier(onnx:{folder})", "--limit", 1)
    shutil.copy(NETWORKS / "modernbert" / "model.onnx", folder)
    shutil.copy(NETWORKS / "modernbert" / "tokenizer.json", folder)
    swapped = call("judge", study, "--rater", f"nli=verifier(onnx:{folder})")
    assert (swapped.code, "nli" in swapped.err) == (2, True)
    missing = call("judge", study, "--rater", "verifier(onnx:./nowhere)")
    assert (missing.code, missing.err.startswith("error: ./nowhere: there is no such model or folder")) == (2, True)
    assert call("judge", study, "--rater", "verifier(onnx:)").code == 2


def test_the_models_are_listed_and_described_in_the_documentation(capsys: pytest.CaptureFixture[str]):
    call = Caller(capsys)
    out, listed = call.fine("models"), json.loads(call.fine("models", "--json"))
    assert [one["name"] for one in listed] == list(MODELS)
    lines = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    rows = {line.split("`")[1]: line for line in lines[: len(MODELS)]}
    assert list(rows) == list(MODELS)
    for known in MODELS.values():
        told = (
            known.repository,
            f"{known.megabytes:,} MB",
            known.licence,
            known.languages,
            ", ".join(known.labels),
            known.published,
        )
        assert all(part in out and part in rows[known.name] for part in told)
        assert ("convert" in rows[known.name]) is not known.onnx


class Hub(BaseHTTPRequestHandler):
    """Answers as the Hugging Face hub does, for one repository whose files are in `folder`."""

    folder: Path
    asked: list[str]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.asked.append(f"{self.command} {path}")
        if path.startswith("/api/models/acme/nli"):
            names = [one.relative_to(self.folder).as_posix() for one in self.folder.rglob("*") if one.is_file()]
            files = [{"rfilename": name, "size": (self.folder / name).stat().st_size} for name in sorted(names)]
            return self._send(200, json.dumps({"id": "acme/nli", "sha": COMMIT, "siblings": files}).encode(), {})
        file = self.folder / path.partition("/resolve/main/")[2]
        if not path.startswith("/acme/nli/resolve/main/") or not file.is_file():
            return self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
        content = file.read_bytes()
        etag = hashlib.sha256(content).hexdigest()
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(content))}
        return self._send(200, content, headers)

    def _send(self, code: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Machine:
    """A machine with an empty cache, whose hub is the test's."""

    def __init__(self, folder: Path) -> None:
        self.published = network(folder / "published")
        self.cache = folder / "cache"
        self.asked: list[str] = []
        handler = type("OwnHub", (Hub,), {"folder": self.published, "asked": self.asked})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        Thread(target=self._server.serve_forever, daemon=True).start()
        self._address = f"http://127.0.0.1:{self._server.server_port}"

    def disconnect(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def load(self, source: str = "acme/nli", **environment: str) -> str:
        """What a new process prints that loads the model: its settings, or why it cannot."""
        program = (
            "import json\nfrom evenhand.errors import UserError\n"
            "from evenhand.raters.verifier.onnx_model import OnnxModel\n"
            f"try:\n    print(json.dumps(dict(OnnxModel({source!r}).settings)))\n"
            "except UserError as error:\n    print(error)\n"
        )
        code, out, err = self.run("-c", program, **environment)
        assert code == 0, err
        return out

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a new process of Python."""
        unset = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        own = {"HF_ENDPOINT": self._address, "HF_HUB_CACHE": str(self.cache), "HF_HUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**unset, **own, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout, done.stderr

    @property
    def snapshot(self) -> Path:
        return self.cache / "models--acme--nli" / "snapshots" / COMMIT


@pytest.fixture
def machine(tmp_path: Path) -> Generator[Machine]:
    made = Machine(tmp_path)
    try:
        yield made
    finally:
        made.disconnect()


def test_a_model_is_fetched_once_and_needs_no_network_afterwards(machine: Machine, tmp_path: Path):
    for name in ("README.md", "modeling.py", "model.safetensors", "onnx/model_quantized.onnx"):
        (machine.published / name).parent.mkdir(exist_ok=True)
        (machine.published / name).write_text("not needed", encoding="utf-8")
    before = set(tmp_path.rglob("*"))
    settings = json.loads(machine.load())
    assert settings["revision"] == COMMIT
    assert settings["model"].partition("@")[2] == str(OnnxModel(str(machine.published)).settings["model"])[-16:]
    names = {one.name for one in machine.snapshot.iterdir()}
    assert names == {"config.json", "tokenizer.json", "model.onnx", "SHA256SUMS"}
    assert all(one.is_relative_to(machine.cache) for one in set(tmp_path.rglob("*")) - before)
    machine.asked.clear()
    assert json.loads(machine.load()) == settings
    assert machine.asked == []
    machine.disconnect()
    assert json.loads(machine.load()) == settings
    assert json.loads(machine.load(HF_HUB_OFFLINE="1")) == settings


def test_data_beside_the_weights_is_fetched_and_verified(machine: Machine):
    shutil.copytree(NETWORKS / "external", machine.published, dirs_exist_ok=True)
    assert json.loads(machine.load())["revision"] == COMMIT
    data = (machine.snapshot / "model.onnx_data").resolve()
    data.write_bytes(bytes(len(data.read_bytes())))
    assert "model.onnx_data: damaged or replaced" in machine.load()


def test_a_damaged_or_swapped_file_of_the_cache_is_detected(machine: Machine):
    machine.load()
    blob = (machine.snapshot / "model.onnx").resolve()
    blob.write_bytes((NETWORKS / "modernbert" / "model.onnx").read_bytes())
    assert "model.onnx: damaged or replaced" in machine.load()
    assert f"delete {machine.cache / 'models--acme--nli'} to fetch it again" in machine.load()
    shutil.rmtree(machine.cache / "models--acme--nli")
    assert json.loads(machine.load())["revision"] == COMMIT


def test_without_a_network_the_error_says_what_to_do(machine: Machine):
    assert "acme/other: this model cannot be fetched" in machine.load("acme/other")
    machine.disconnect()
    for environment in ({}, {"HF_HUB_OFFLINE": "1"}):
        told = machine.load(**environment)
        assert "acme/nli: this model cannot be fetched" in told
        assert "check the name, the connection, HF_HUB_OFFLINE and HF_ENDPOINT" in told


def test_the_command_line_fetches_a_model_and_ends_with_exit_code_2_without_a_network(machine: Machine, tmp_path: Path):
    halo_study(tmp_path, 2).close()
    judge = ("-m", "evenhand", "judge", str(tmp_path / "study.db"), "--rater", "nli=verifier(onnx:acme/nli)")
    code, out, err = machine.run(*judge, TQDM_POSITION="-1")  # with its progress, although this is not a terminal
    assert (code, out.startswith("nli: 2 of 2 units done"), "model.onnx: 100%" in err) == (0, True, True), err
    shutil.rmtree(machine.cache)
    machine.disconnect()
    code, out, err = machine.run(*judge)
    assert (code, out, err.startswith("error: acme/nli: this model cannot be fetched")) == (2, "", True)


def test_a_repository_without_onnx_weights_or_that_is_too_large_is_refused(machine: Machine):
    with (machine.published / "model.onnx_data").open("wb") as file:
        file.truncate(model_files.LARGEST)
    assert "its files have 4.0 GB, and at most 4 GB are fetched" in machine.load()
    (machine.published / "model.onnx").rename(machine.published / "model_int8.onnx")
    assert "there are model_int8.onnx: name one, as in acme/nli/model_int8.onnx" in machine.load()
    assert json.loads(machine.load("acme/nli/model_int8.onnx"))["revision"] == COMMIT
