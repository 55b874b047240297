import json
import re
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.files import LIMIT
from evenhand.formats.chunks import chunks_of, distinct_ids
from tests.cli.calling import Caller

TEXT = "The ferry left at nine. It was late. Nobody minded. The bridge was opened in 1967 by the mayor."


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.chdir(tmp_path)
    return Caller(capsys)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_chunks_are_whole_sentences_with_stable_ids(tmp_path: Path):
    path = written(tmp_path, "a.txt", TEXT)
    found = chunks_of(path, 10)
    assert [chunk.source for chunk in found] == [
        "The ferry left at nine. It was late. Nobody minded.", "The bridge was opened in 1967 by the mayor.",
    ]  # fmt: skip
    assert all(TEXT[chunk.start : chunk.end] == chunk.source for chunk in found)
    # What comes before does not change the id of an unchanged chunk.
    more = written(tmp_path, "a.txt", f"A new first sentence with exactly nine words now. {TEXT}")
    assert found[1].id in {chunk.id for chunk in chunks_of(more, 10)}
    assert next(chunk.source for chunk in chunks_of(more, 1)) == "A new first sentence with exactly nine words now."


def test_chunks_may_overlap(tmp_path: Path):
    found = [chunk.source for chunk in chunks_of(written(tmp_path, "a.txt", TEXT), 12, overlap=1)]
    assert found == [
        "The ferry left at nine. It was late. Nobody minded.",
        "Nobody minded. The bridge was opened in 1967 by the mayor.",
    ]


def test_a_chunk_ends_with_its_section(tmp_path: Path):
    path = written(tmp_path, "a.md", "Before.\n\n# One\n\nFirst. Second.\n\nTwo\n---\n\nThird.\n")
    found = [(chunk.section, chunk.source) for chunk in chunks_of(path, 100)]
    assert found == [("", "Before."), ("One", "First. Second."), ("Two", "Third.")]


def test_a_comment_in_a_block_of_code_is_no_heading(tmp_path: Path):
    path = written(tmp_path, "a.md", "# One ##\n\nFirst.\n\n```sh\n# a comment\nls\n```\n\n# Two\n\nSecond.\n")
    found = [(chunk.section, chunk.source) for chunk in chunks_of(path, 100)]
    assert found == [("One", "First.\n\n```sh\n# a comment\nls\n```"), ("Two", "Second.")]


def test_equal_chunks_have_different_ids(tmp_path: Path):
    found = chunks_of(written(tmp_path, "a.txt", "Same here. Same here."), 2)
    assert len({chunk.id for chunk in distinct_ids(found)}) == 2


def test_chinese(tmp_path: Path):
    found = chunks_of(written(tmp_path, "a.txt", "长江大桥于1957年建成。这座桥很长。"), 6, language="zh")
    assert [chunk.source for chunk in found] == ["长江大桥于1957年建成。", "这座桥很长。"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b""), ("a.txt", b" \n "), ("a.txt", b"\xff\xfe\x00"), ("a.txt", b"a\x00b"), ("a.docx", b"x")],
)
def test_files_without_text(tmp_path: Path, name: str, content: bytes):
    with pytest.raises(InputError):
        chunks_of(written(tmp_path, name, content), 100)


def test_the_command_writes_what_a_generator_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    call, path = Caller(capsys), written(tmp_path, "a.txt", TEXT * 20)
    out = call.fine("chunks", path, "-o", tmp_path / "c.jsonl")
    assert "chunks from 1 file" in out
    out = call.fine("generate", "kg-triples", "--items", tmp_path / "c.jsonl", "-o", tmp_path / "t.jsonl", "--model",
                    "http://127.0.0.1:1/v1#m", "--dry-run")  # fmt: skip
    assert re.search(r"m: \d+ cells to write", out)


def test_documents_of_one_name_have_ids_of_their_own(call: Caller, tmp_path: Path):
    for folder in (tmp_path, tmp_path / "sub", tmp_path / "other"):
        folder.mkdir(exist_ok=True)
        written(folder, "a.txt", TEXT)
    written(tmp_path, "b.txt", TEXT)
    call.fine("chunks", "a.txt", "-o", "alone.jsonl")
    call.fine("chunks", "a.txt", "sub/a.txt", "other/a.txt", "b.txt", "-o", "c.jsonl")
    rows = [json.loads(line) for line in Path("c.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["document_id"] for row in rows] == ["a.txt", "sub/a.txt", "other/a.txt", "b.txt"]
    assert len({row["id"] for row in rows}) == 4
    assert not any("-" in row["id"] for row in rows)
    assert json.loads(Path("alone.jsonl").read_text(encoding="utf-8")) == rows[0]


@pytest.mark.parametrize(
    ("again", "said"), [("a.txt", "a.txt: given twice"), ("x/../a.txt", "x/../a.txt: given twice, first as a.txt")]
)
def test_a_file_given_twice_is_refused(call: Caller, tmp_path: Path, again: str, said: str):
    (tmp_path / "x").mkdir()
    written(tmp_path, "a.txt", TEXT)
    result = call("chunks", "a.txt", again, "-o", "c.jsonl")
    assert result.code == 2
    assert said in result.err
    assert not Path("c.jsonl").exists()


PDF = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj
4 0 obj <</Length 83>> stream
BT /F 12 Tf 20 150 Td (The ferry left at) Tj 0 -20 Td (nine. It was late.) Tj ET
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
trailer <</Root 1 0 R>>
startxref
0
%%EOF
"""


@pytest.mark.filterwarnings("ignore")
def test_pdf(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    pypdf = pytest.importorskip("pypdf")
    (chunk,) = chunks_of(written(tmp_path, "text.pdf", PDF), 100)
    assert (chunk.section, chunk.source) == ("page 1", "The ferry left at nine. It was late.")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    writer.write(tmp_path / "blank.pdf")
    for path in (tmp_path / "blank.pdf", written(tmp_path, "broken.pdf", b"not a PDF")):
        with pytest.raises(InputError):
            chunks_of(path, 100)
    assert not caplog.records, "only our own error says what is wrong"


@pytest.mark.parametrize("name", ["a.txt", "a.pdf"])
def test_what_is_larger_than_the_limit_is_not_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LIMIT, "1")
    with pytest.raises(InputError) as caught:
        chunks_of(written(tmp_path, name, "word " * 300_000), 100)
    assert LIMIT in str(caught.value)
