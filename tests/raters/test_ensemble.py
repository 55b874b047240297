import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from evenhand.errors import RaterFailure
from evenhand.protocol.completion import Judgement
from evenhand.protocol.load import load_protocol
from evenhand.raters.ensemble import all_of, combined, mode
from evenhand.records import Answer, Unit, Value
from evenhand.scales import Nominal, Ordinal

HALO = load_protocol("halo-support")
STEM = load_protocol("stem-accuracy")
NEUREG = load_protocol("neureg-qa")
QUEST = load_protocol("rag-quest-eval")
UNIT = Unit("x", "x", 1)


def votes(criterion: str, *values: object) -> Sequence[Judgement]:
    return [Judgement(UNIT, [Answer(criterion, value, rationale=f"because {value}")]) for value in values]


def failed(reason: str) -> Judgement:
    return Judgement(UNIT, failure=RaterFailure(reason, raw=f"raw of {reason}"))


def test_the_label_most_given_wins_with_its_rationale_and_the_shares_of_all():
    judgement = combined(HALO, UNIT, votes("support", "CONTRADICTED", "SUPPORTED", "supported"), "samples")
    (answer,) = judgement.answers
    assert (answer.value, answer.rationale) == ("SUPPORTED", "because SUPPORTED")
    assert dict(answer.distribution) == pytest.approx({"SUPPORTED": 2 / 3, "CONTRADICTED": 1 / 3})


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        # The mean of 1, 1, 4, 5, 5 is 3.2: of the two modes 1 and 5, 5 is nearer (1.8 against 2.2).
        ({1: 0.4, 4: 0.2, 5: 0.4}, 5),
        # 2 and 4 are equally near to the mean 3: the lower one.
        ({2: 0.5, 4: 0.5}, 2),
        # Rounding alone decides nothing: 0.1 + 0.2 is a little more than 0.3.
        ({2: 0.3, 4: 0.1 + 0.2, 5: 0.4 - 1e-17}, 5),
        ({3: 0.3, 4: 0.1 + 0.2, 2: 0.2, 5: 0.2}, 3),
    ],
)
def test_levels_with_the_same_share_are_told_apart_by_their_mean(shares: dict[Value, float], expected: int):
    scale = NEUREG.criteria[0].scale
    assert isinstance(scale, Ordinal)
    assert mode(shares, scale) == expected


def test_labels_with_the_same_share_are_told_apart_by_the_order_of_the_protocol():
    scale = HALO.criteria[0].scale
    assert isinstance(scale, Nominal)
    assert mode({"NO EVIDENCE": 0.5, "CONTRADICTED": 0.5}, scale) == "CONTRADICTED"


def test_the_reply_that_is_named_is_one_that_says_so():
    votes_with_replies = [
        Judgement(UNIT, [Answer("support", value)], reply=name)
        for name, value in (("a", "NO EVIDENCE"), ("b", "SUPPORTED"), ("c", "SUPPORTED"))
    ]
    assert combined(HALO, UNIT, votes_with_replies, "samples").reply == "b"


def test_only_what_was_said_counts_not_how_sure_each_was():
    # By their odds the first two would lose: 0.4 + 0.4 + 1.0 for NO EVIDENCE of 3.
    unsure = (("SUPPORTED", 0.6), ("NO EVIDENCE", 0.4))
    given = [Judgement(UNIT, [Answer("support", "SUPPORTED", distribution=unsure)])] * 2
    given.append(Judgement(UNIT, [Answer("support", "NO EVIDENCE")]))
    (answer,) = combined(HALO, UNIT, given, "members").answers
    assert answer.value == "SUPPORTED"
    assert dict(answer.distribution) == pytest.approx({"SUPPORTED": 2 / 3, "NO EVIDENCE": 1 / 3})


def test_all_votes_have_ended_before_the_failure_of_one_is_told():
    ended: list[int] = []

    async def vote(number: int) -> int:
        await asyncio.sleep(0.01 * number)
        if number == 0:
            raise RuntimeError("stopped")
        ended.append(number)
        return number

    with pytest.raises(RuntimeError, match="stopped"):
        asyncio.run(whole([vote(0), vote(1), vote(2)]))
    assert ended == [1, 2]


async def whole(votes: list[Coroutine[Any, Any, int]]) -> Sequence[int]:
    return await all_of(votes)


def test_a_follow_up_counts_only_the_votes_that_were_asked():
    bad = Judgement(UNIT, [Answer("accuracy", "Inaccurate"), Answer("severity", "Severe")])
    good = Judgement(UNIT, [Answer("accuracy", "Accurate")])
    answers = {answer.criterion: answer for answer in combined(STEM, UNIT, [bad, good, bad], "samples").answers}
    assert (answers["accuracy"].value, answers["severity"].value) == ("Inaccurate", "Severe")
    assert answers["severity"].distribution == (("Severe", 1.0),)
    assert [answer.criterion for answer in combined(STEM, UNIT, [good, good, bad], "samples").answers] == ["accuracy"]


def test_half_of_the_votes_are_not_enough():
    judgement = combined(HALO, UNIT, [*votes("support", "SUPPORTED"), failed("timed out")], "samples")
    assert judgement.failure is not None
    assert judgement.failure.reason == "1 of 2 samples usable; most often: timed out"
    assert judgement.failure.raw == "raw of timed out"
    enough = combined(HALO, UNIT, [*votes("support", "SUPPORTED", "SUPPORTED"), failed("timed out")], "samples")
    assert enough.failure is None


def test_a_text_is_the_one_that_most_gave_and_confidence_the_mean():
    given = [
        Judgement(UNIT, [Answer("answer", text, confidence=confidence)])
        for text, confidence in (("1902", 80.0), ("in 1902", 70.0), ("1902", 60.0))
    ]
    (answer,) = combined(QUEST, UNIT, given, "members").answers
    assert (answer.value, answer.confidence, answer.distribution) == ("1902", 70.0, ())
