"""Six lines in a notebook: judge a study with the verifier and show the agreement."""

import os
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.html.page import fragment

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: no notebook is executed")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: no notebook is executed")

SIX_LINES = """\
import evenhand as eh
from importlib.resources import files
study = eh.Study.create(":memory:", "halo-support", str(files("evenhand.samples") / "halo-support" / "items.csv"))
study.import_ratings(str(files("evenhand.samples") / "halo-support" / "ratings.csv"))
study.judge("verifier")
study.agreement()"""
LOOP = "import asyncio; asyncio.get_running_loop(); print(repr(study)); study.close()"


@pytest.mark.filterwarnings("default")
def test_six_lines_judge_a_study_and_show_the_agreement(tmp_path: Path):
    cells = [nbformat.v4.new_code_cell(SIX_LINES), nbformat.v4.new_code_cell(LOOP)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    outputs: list[Any] = notebook.cells[0].outputs
    shown = next(output.data for output in outputs if output.output_type == "execute_result")
    assert shown["text/plain"].startswith("<AgreementResult: support;")
    html = shown["text/html"]
    assert html.startswith('<div class="evenhand-result">')
    assert "verifier" in html
    assert not [output for output in outputs if output.output_type == "error"]
    assert "<Study: " in notebook.cells[1].outputs[0].text
    if folder := os.environ.get("EVENHAND_TEST_NOTEBOOK"):  # to look at it in a browser
        (Path(folder) / "agreement.html").write_text(html, encoding="utf-8")


def test_styles_apply_to_nothing_outside_the_result():
    style = fragment([]).partition("<style>")[2].partition("</style>")[0]
    depth, selector, outside = 0, "", list[str]()
    for sign in style:
        if sign == "{":
            if depth == 0:
                outside.append(selector.strip())
            depth, selector = depth + 1, ""
        elif sign == "}":
            depth, selector = depth - 1, ""
        else:
            selector += sign
    assert depth == 0
    assert all(".evenhand-result" in one or one.startswith("@media") for one in outside)
