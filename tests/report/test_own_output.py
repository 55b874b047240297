from pathlib import Path

from evenhand.study import Study
from tests.chat_server import ChatServer
from tests.run.judging import supported


def test_a_model_that_judges_its_own_output_is_flagged(tmp_path: Path):
    texts = {"question": "When?", "context": "It was in 1990.", "generated_answer": "In 1990."}
    rows = [{"id": str(place), **texts, "model": "small" if place < 3 else "large"} for place in range(5)]
    with ChatServer(supported()) as server, Study.create(tmp_path / "s.db", "halo-support", rows) as study:
        study.judge(f"own={server.url}#small", f"other={server.url}#medium", progress=False)
        study.judge(f"panel=jury({server.url}#large, {server.url}#medium)", progress=False)
        found = study.report()
        study.report(tmp_path / "r.html")
        study.report(tmp_path / "r.txt")
    assert dict(found.report.source.own_output) == {"own": 3, "panel": 2}
    assert "own rated its own output in 3 units" in (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "A judge of its own output" in (tmp_path / "r.html").read_text(encoding="utf-8")
