from pathlib import Path

import pytest

from evenhand.errors import UserError
from evenhand.records import Status
from evenhand.study import Study
from tests.chat_server import ChatServer
from tests.generation.writing import system_of, writes


def test_a_detector_judges_predictions_from_the_text_alone(tmp_path: Path):
    rows = [
        {"id": str(place), "text": f"Firstly, it is vital {place}.", "label": "human", "prediction": prediction}
        for place, prediction in enumerate(("AI", "machine-generated", "human", "martian"))
    ]
    with ChatServer(writes({"reasons": "It counts its points.", "prediction": "AI"})) as server:
        with Study.create(tmp_path / "s.db", "ai-detection", rows) as study:
            study.judge(f"detector=ai-detection({server.url}#m)", progress=False)
            found = {rating.unit: rating for rating in study.ratings()}
        user = [str(call.body["messages"][1]["content"]) for call in server.calls]
        assert "Human" in system_of(server.calls[0])
    assert [found[str(place)].value for place in range(3)] == ["correct", "correct", "incorrect"]
    assert found["0"].rationale == "AI: It counts its points."
    assert found["3"].status is Status.FAILED
    assert len(user) == 3
    assert not any("machine" in text or "human" in text for text in user)


def test_the_labels_of_a_detector_can_be_chosen(tmp_path: Path):
    row = {"id": "1", "text": "A draft, revised.", "label": "Hybrid", "prediction": "mixed"}
    with ChatServer(writes({"reasons": "Two styles.", "prediction": "Hybrid"})) as server:
        with Study.create(tmp_path / "s.db", "ai-detection", [row]) as study:
            study.judge(f"three=ai-detection({server.url}#m, Human, AI, Hybrid)", progress=False)
            study.judge(f"two=ai-detection({server.url}#m)", progress=False)
            found = {rating.rater: rating for rating in study.ratings()}
        assert ['"Hybrid"' in system_of(call) for call in server.calls[:2]] == [True, False]
    assert found["three"].value == "correct"
    assert found["two"].status is Status.FAILED


@pytest.mark.parametrize(
    ("protocol", "spec"),
    [("halo-support", "ai-detection(http://127.0.0.1:1/v1#m)"), ("ai-detection", "ai-detection"),
     ("ai-detection", "ai-detection(verifier)"), ("ai-detection", "ai-detection(http://127.0.0.1:1/v1#m, Human)"),
     ("ai-detection", "ai-detection(http://127.0.0.1:1/v1#m, Human, Robot)")],
)  # fmt: skip
def test_wrong_use_of_the_detector(tmp_path: Path, protocol: str, spec: str):
    row = {"text": "t", "label": "AI", "prediction": "AI", "question": "q", "context": "c", "generated_answer": "a"}
    with Study.create(tmp_path / "s.db", protocol, [row]) as study, pytest.raises(UserError):
        study.judge(spec, progress=False)
