"""The verifier as a rater: units and fields in, labels, evidence, confidence and reasons out; on the built-in network
unless a test says otherwise."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RaterFailure, UserError
from evenhand.protocol.completion import Judgement
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol, field_text
from evenhand.raters.base import Rater
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.raters.verifier.claim_readers import LocalReader, Pair, Read, claim_reading
from evenhand.raters.verifier.verifier_rater import Verifier
from evenhand.records import Answer, FieldValue, Item, Kind, Rating, Status
from evenhand.run.estimate import estimate
from evenhand.run.judge import judge
from evenhand.store.items import ItemUnits
from evenhand.study import Study
from evenhand.units import split
from evenhand.verify.network import Reading
from tests.chat_server import CODE, Call, ChatServer, says
from tests.chat_server import Answer as Served
from tests.raters.building import build

HALO = load_protocol("halo-support")
STEM = load_protocol("stem-accuracy")

SUPPORTS, CONTRADICTS, NEITHER = Reading(0.9, 0.04, 0.06), Reading(0.05, 0.9, 0.05), Reading(0.1, 0.1, 0.8)


def halo(answer: str, context: FieldValue, question: str = "What is told?") -> ItemUnits:
    item = Item("x", {"question": question, "context": context, "generated_answer": answer})
    return (item, split(HALO, item))


def stem(response: str, article: str) -> ItemUnits:
    item = Item("x", {"question": "What is told?", "article": article, "response": response})
    return (item, split(STEM, item))


def judged(protocol: Protocol, task: ItemUnits, rater: Rater | None = None) -> Sequence[Judgement]:
    rater = rater or build("verifier", protocol)
    return asyncio.run(rater.rate_units(*task))


def answer_of(judgement: Judgement) -> Answer:
    assert judgement.failure is None, judgement.failure
    (answer,) = judgement.answers
    return answer


class Scripted:
    """A reader that says of each pair what its table says, by the first key that stands in the evidence."""

    def __init__(self, table: Mapping[str, Reading]) -> None:
        self._table = table

    def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
        return [next(said for key, said in self._table.items() if key in evidence) for evidence, _ in pairs]


def reading(table: Mapping[str, Reading], protocol: Protocol = STEM) -> Verifier:
    scripted = Scripted(table)
    return Verifier("v", "verifier", protocol, LocalReader(lambda: scripted, {"model": "table"}, calibrated=False))


# The built-in network


FRANCE = "Paris is the capital of France. It is located in the north-central part of the country."
EUROPE = "France is a country in Europe. It has a rich cultural history."
PEOPLE = (
    "Paris is the capital of France. It has a population of approximately 2.1 million people within the city limits."
)
KNOWN = "Paris is the capital of France. It is known for its art, culture, and history."


@pytest.mark.parametrize(
    ("context", "answer", "label"),
    [
        (FRANCE, "Paris is the capital of France.", "SUPPORTED"),
        (FRANCE, "Lyon is the capital of France.", "CONTRADICTED"),
        (EUROPE, "Paris is the capital of France.", "NO EVIDENCE"),
        (PEOPLE, "Paris has a population of about 2.1 million people.", "SUPPORTED"),
        (PEOPLE, "Paris has a population of 5 million people.", "CONTRADICTED"),
        (KNOWN, "Paris has a population of about 2.1 million people.", "NO EVIDENCE"),
    ],
)
def test_the_six_examples_of_document_003(context: str, answer: str, label: str):
    question = "What is the population of Paris?" if "population" in answer else "What is the capital of France?"
    item = Item("x", {"question": question, "context": (context,), "generated_answer": answer})
    (judgement,) = judged(HALO, (item, split(HALO, item)))
    assert answer_of(judgement).value == label


@pytest.mark.parametrize("example", HALO.examples, ids=[one.title for one in HALO.examples])
def test_the_worked_examples_of_document_003s_protocol(example: Any):
    item = Item("x", HALO.example_fields(example))
    (judgement,) = judged(HALO, (item, split(HALO, item)))
    answer = answer_of(judgement)
    assert answer.value == example.ratings["support"], answer.rationale


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        ("At the last count roughly {} people lived in Tallinn.", "450,000", "1.2 million"),
        ("The bridge over the Aln was opened in {}.", "1902", "1912"),
        ("The vaccine prevented {} of infections in adults.", "87%", "78%"),
        ("The tower is {} tall.", "324 metres", "342 metres"),
        ("The study followed {} patients for two years.", "twelve", "twenty"),
        ("The fee rose to {} in the second year.", "$3.4 million", "$4.3 million"),
    ],
)
def test_a_figure_that_differs_from_the_context_s_contradicts_it(sentence: str, right: str, wrong: str):
    context = (sentence.format(right), "The report was published by the county.")
    for figure, label in ((right, "SUPPORTED"), (wrong, "CONTRADICTED")):
        (judgement,) = judged(HALO, halo(sentence.format(figure), context))
        answer = answer_of(judgement)
        assert answer.value == label, answer.rationale


def test_an_answer_has_reasons_confidence_odds_and_evidence():
    context = ("Rain fell for a week.", "The bridge over the Aln was opened in 1902. It has three arches.")
    (judgement,) = judged(HALO, halo("The bridge was opened in 1902.", context))
    answer = answer_of(judgement)
    assert (answer.criterion, answer.value) == ("support", "SUPPORTED")
    odds = dict(answer.distribution)
    assert list(odds) == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]
    assert math.isclose(sum(odds.values()), 1.0)
    assert answer.confidence == pytest.approx(100 * odds["SUPPORTED"], abs=0.05)  # pyright: ignore[reportUnknownMemberType]
    assert "The evidence supports “The bridge was opened in 1902.”" in (answer.rationale or "")
    quotes = [field_text(context)[span.start : span.end] for span in answer.evidence]
    assert "The bridge over the Aln was opened in 1902." in quotes
    assert {span.field for span in answer.evidence} == {"context"}
    assert judgement.seconds is not None
    assert judgement.seconds > 0


def test_one_contradicted_sentence_makes_the_answer_contradicted_and_is_the_one_that_is_named():
    context = "The lighthouse was built in 1874. It is 31 metres high. The keeper left in 1990."
    task = halo("The lighthouse was built in 1874. It is 48 metres high.", context)
    answer = answer_of(judged(HALO, task)[0])
    assert answer.value == "CONTRADICTED", answer.rationale
    assert (answer.rationale or "").startswith("2 sentences: 1 supported, 1 contradicted. ")
    assert "contradicts “It is 48 metres high.”" in (answer.rationale or "")
    quotes = [context[span.start : span.end] for span in answer.evidence]
    assert quotes == ["It is 31 metres high."]


def test_a_bare_phrase_is_read_with_its_question():
    context = "Oslo has been the capital of Norway since 1814. Bergen is its second city."
    right, wrong = (
        answer_of(judged(HALO, halo(name, context, "What is the capital of Norway?"))[0]) for name in ("Oslo", "Lima")
    )
    assert (right.value, wrong.value) == ("SUPPORTED", "CONTRADICTED")
    assert "What is the capital of Norway? Oslo" in (right.rationale or "")


def test_sentences_without_a_claim_are_told_apart_from_those_without_evidence():
    task = stem("Here is a summary:\n\nThe engine weighs 40 kg.", "The engine weighs 40 kg and runs on diesel.")
    first, second = map(answer_of, judged(STEM, task))
    assert first.value == "Can't confidently assess or no claim"
    assert (first.confidence, first.distribution, first.evidence) == (None, (), ())
    assert second.value == "Accurate"


def test_severity_is_left_alone_and_that_is_no_failure(tmp_path: Path):
    item = Item("x", {"question": "?", "article": "The engine weighs 40 kg.", "response": "The engine weighs 90 kg."})
    with Study.create(tmp_path / "s.db", STEM, [item]) as study:
        outcome = judge(study.store, ["verifier"])
        ratings = {rating.criterion: rating for rating in study.ratings()}
    assert ratings["accuracy"].value == "Inaccurate"
    assert ratings["severity"].status is Status.CANNOT_ASSESS
    assert ratings["severity"].reason == "beyond the verifier: it only judges whether claims are supported"
    assert outcome.total.failed_units == 0


@pytest.mark.parametrize("context", ["", " \n ", ()])
def test_an_empty_context_is_no_evidence_for_anything(context: FieldValue):
    answer = answer_of(judged(HALO, halo("The bridge was opened in 1902.", context))[0])
    assert (answer.value, answer.evidence) == ("NO EVIDENCE", ())
    assert "no evidence is given" in (answer.rationale or "")


def test_an_empty_answer_is_a_failure_that_says_so():
    (judgement,) = judged(HALO, halo("  \n", "The bridge was opened in 1902."))
    assert judgement.failure is not None
    assert judgement.failure.reason == "there is no text to verify: generated_answer has no sentence"


def test_a_language_that_it_does_not_know_is_a_failure_of_that_sentence_alone():
    task = stem("The engine weighs 40 kg.\n\nДвигатель весит сорок килограммов.", "The engine weighs 40 kg.")
    known, unknown = judged(STEM, task)
    assert answer_of(known).value == "Accurate"
    assert unknown.failure is not None
    assert "Cyrillic" in unknown.failure.reason
    assert "verifier(onnx:mdeberta)" in unknown.failure.reason
    (whole,) = judged(HALO, halo("引擎重四十公斤。", "The engine weighs 40 kg."))
    assert whole.failure is not None


def test_a_megabyte_of_context_and_a_sentence_of_5000_words():
    filler = "".join(f"Parcel {n} was weighed at the counter and sent on to town {n % 97}. " for n in range(16_000))
    assert len(filler) > 1_000_000
    middle = filler.index("Parcel 8000 ")
    context = f"{filler[:middle]}The ferry Aurora sank off Tormund in 1931. {filler[middle:]}"
    answer = answer_of(judged(HALO, halo("The ferry Aurora sank off Tormund in 1931.", context))[0])
    assert answer.value == "SUPPORTED", answer.rationale
    assert "The ferry Aurora sank" in [context[span.start : span.end][:21] for span in answer.evidence]
    endless = "The ferry Aurora sank off Tormund and " + "then the rope and " * 1250 + "the mast went down."
    (judgement,) = judged(HALO, halo(endless, "The ferry Aurora sank off Tormund in 1931."))
    assert answer_of(judgement).value in HALO.criteria[0].scale.values
    assert len(answer_of(judgement).rationale or "") < 5_000


def test_the_same_rating_comes_out_of_the_study_whoever_asked_for_it(tmp_path: Path):
    items = [
        Item(f"i{n}", {"question": "When?", "context": f"It was built in {1900 + n}.", "generated_answer": text})
        for n, text in enumerate(["It was built in 1900.", "It was built in 1950.", ""])
    ]
    with Study.create(tmp_path / "s.db", HALO, items) as study:
        rater = build("verifier", HALO)
        assert judge(study.store, [rater], run=RunOptions(limit=1)).total.units == 1
        outcome = judge(study.store, ["verifier"], run=RunOptions(max_cost=0.01))
        again = judge(study.store, ["verifier"])
        ratings: Sequence[Rating] = list(study.ratings())
        (ref,) = study.store.ratings.raters()
    assert (outcome.total.units, again.total.units) == (2, 0)
    assert [rating.value for rating in ratings] == ["SUPPORTED", "CONTRADICTED", None]
    assert [rating.status for rating in ratings] == [Status.RATED, Status.RATED, Status.FAILED]
    assert (ref.id, ref.kind, ref.config) == ("verifier", Kind.MODEL, rater.ref.config)
    assert len(ref.config) == 64


# Any reader


def test_evidence_both_ways_is_disputed():
    article = "Low light lowers its accuracy. Snow was not tested. Lighting had no effect on its accuracy."
    table = {"Snow was not tested. L": NEITHER, "Low light": SUPPORTS, "Lighting": CONTRADICTS, "Snow": NEITHER}
    answer = answer_of(judged(STEM, stem("Low light lowers its accuracy.", article), reading(table))[0])
    assert (answer.value, answer.confidence, answer.distribution) == ("Disputed", None, ())
    assert (answer.rationale or "").startswith("There is evidence for and against “Low light lowers its accuracy.”")
    quotes = [article[span.start : span.end] for span in answer.evidence]
    assert quotes == ["Low light lowers its accuracy.", "Lighting had no effect on its accuracy."]


def test_the_same_claim_with_the_same_evidence_is_read_once():
    read = list[Pair]()

    class Counting(Scripted):
        def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
            read.extend(pairs)
            return super().read(pairs)

    rater = Verifier("v", "verifier", STEM, LocalReader(lambda: Counting({"": SUPPORTS}), {"model": "table"}))
    judgements = judged(STEM, stem("It burned.\n\nIt was rebuilt.\n\nIt burned.", "The mill burned."), rater)
    assert [answer_of(judgement).value for judgement in judgements] == ["Accurate"] * 3
    assert [claim for _, claim in read] == ["It burned.", "It was rebuilt."]


def test_numbers_that_are_none_are_a_failure_and_no_label():
    nan = Reading(math.nan, math.nan, math.nan)
    (judgement,) = judged(STEM, stem("It burned.", "The mill burned."), reading({"": nan}))
    assert judgement.failure is not None
    assert judgement.failure.reason == "the network's output is not a number"


def test_a_failed_reading_fails_its_own_unit_only():
    class Half(LocalReader):
        async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
            failure = RaterFailure("timed out", "raw")
            return [
                Read(None, failure, reply="r1", seconds=2.0) if "mast" in claim else Read(SUPPORTS, seconds=1.0)
                for _, claim in pairs
            ]

    half = Half(lambda: Scripted({}), {})
    first, second = judged(
        STEM,
        stem("It burned. The mast fell.", "The mill burned."),
        Verifier("v", "s", STEM, half),
    )
    assert answer_of(first).value == "Accurate"
    assert second.failure is not None
    assert (second.failure.reason, second.failure.raw, second.reply, second.seconds) == ("timed out", "raw", "r1", 2.0)
    (whole,) = judged(
        HALO,
        halo("It burned. The mast fell.", "The mill burned."),
        Verifier("v", "s", HALO, half),
    )
    assert whole.failure is not None


def test_one_text_is_worked_through_at_a_time():
    at_work, most = 0, 0

    class Watched:
        def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
            nonlocal at_work, most
            at_work += 1
            most = max(most, at_work)
            total = sum(n * n for n in range(200_000))
            at_work -= total > 0
            return [SUPPORTS] * len(pairs)

    rater = Verifier("v", "s", HALO, LocalReader(Watched, {}, calibrated=False))

    async def all_at_once() -> None:
        tasks = [halo("It burned.", "The mill burned.") for _ in range(6)]
        await asyncio.gather(*(rater.rate_units(*task) for task in tasks))

    asyncio.run(all_at_once())
    asyncio.run(all_at_once())  # in another event loop, too
    assert most == 1


# A language model as the reader


def reads(label: str, confidence: float = 80) -> str:
    return json.dumps(
        {"unit_code": CODE, "support": {"rationale": f"I say {label}.", "answer": label}, "confidence": confidence}
    )


def by_claim(call: Call) -> Served:
    """CONTRADICTED where the claim is about the mast, else SUPPORTED."""
    prompt = str(call.body["messages"][1]["content"])
    return says(reads("CONTRADICTED" if "mast" in prompt.rpartition("[begin claim")[2] else "SUPPORTED"))


ITEM = Item(
    "x",
    {
        "question": "What?",
        "context": "The mill burned. The mast stood.",
        "generated_answer": "It burned. The mast fell.",
    },
)


def test_a_language_model_reads_each_claim_and_its_words_and_replies_are_kept(tmp_path: Path):
    with ChatServer(by_claim) as server, Study.create(tmp_path / "s.db", HALO, [ITEM]) as study:
        spec = f"verifier({server.url}#m)"
        outcome = judge(study.store, [spec])
        (rating,) = study.ratings()
        reply = study.store.replies.get(rating.reply or "")
        asked = len(server.calls)
        again = judge(study.store, [f"second={spec}"])
        assert len(server.calls) == asked
    assert (outcome.total.units, again.total.units) == (1, 1)
    assert (rating.rater, rating.value, rating.confidence) == (spec, "CONTRADICTED", 80.0)
    assert "The reader: I say CONTRADICTED." in (rating.rationale or "")
    assert reply is not None
    assert json.loads(reply.reply.text)["support"]["answer"] == "CONTRADICTED"
    assert [span.field for span in rating.evidence] == ["context"] * len(rating.evidence)


def test_what_would_be_asked_is_known_beforehand(tmp_path: Path):
    with Study.create(tmp_path / "s.db", HALO, [ITEM]) as study:
        planned = estimate(study.store, ["verifier(http://127.0.0.1:9/v1#m)"])
        assert estimate(study.store, ["verifier"]).models == []
    (model,) = planned.models
    assert model.calls >= 2, "a call for each claim"
    assert planned.first is not None
    assert "It burned." in planned.first.messages[1].content.rpartition("[begin claim")[2]


def test_a_reply_that_cannot_be_used_is_asked_for_again_and_then_a_failure(tmp_path: Path):
    with ChatServer(says("no idea")) as server, Study.create(tmp_path / "s.db", HALO, [ITEM]) as study:
        judge(study.store, [f"v=verifier({server.url}#m)"])
        (rating,) = study.ratings()
        prompts = [call.prompt for call in server.calls]
    assert (rating.status, rating.reason, rating.raw) == (Status.FAILED, "not JSON", "no idea")
    assert any("could not be used" in prompt for prompt in prompts)


def test_samples_make_the_odds(tmp_path: Path):
    item = replace(ITEM, fields={**ITEM.fields, "context": "The mill burned.", "generated_answer": "The mill burned."})

    def in_turn(call: Call) -> Served:
        return says(reads("NO EVIDENCE" if call.number == 2 else "SUPPORTED"))

    with ChatServer(in_turn) as server, Study.create(tmp_path / "s.db", HALO, [item]) as study:
        judge(study.store, [f"v=verifier({server.url}#m)"], RaterOptions(samples=4))
        (rating,) = study.ratings()
    # Three of four samples: whatever confidence they state.
    assert (rating.value, rating.confidence) == ("SUPPORTED", 75.0)
    assert dict(rating.distribution) == {"SUPPORTED": 0.75, "CONTRADICTED": 0.0, "NO EVIDENCE": 0.25}


def test_a_stated_doubt_does_not_turn_a_label_into_another(tmp_path: Path):
    item = replace(ITEM, fields={**ITEM.fields, "context": "The mill burned.", "generated_answer": "The mill burned."})
    with ChatServer(says(reads("SUPPORTED", 10))) as server, Study.create(tmp_path / "s.db", HALO, [item]) as study:
        judge(study.store, [f"v=verifier({server.url}#m)"])
        (rating,) = study.ratings()
    assert (rating.value, rating.confidence) == ("SUPPORTED", 50.0)


def test_the_protocol_that_a_model_reads_under_gives_the_three_labels():
    assert claim_reading().criteria[0].scale.values == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]


# Specs


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("verifier()", "is not a verifier: valid are verifier"),
        ("verifier:large", "is not a verifier"),
        ("verifier(openai:m", "is not a verifier"),
        ("verifier(verifier)", "'verifier' is not a language model; name one, as in verifier.openai:MODEL."),
        ("verifier(mine=quest-eval)", "'mine=quest-eval' is not a language model"),
        ("verifier(carrier-pigeon)", "there is no rater 'carrier-pigeon'; valid are .*verifier"),
        ("jury(verifier, v=verifier)", "verifier is in .* twice"),
    ],
)
def test_a_spec_that_names_no_verifier_is_refused_with_what_is_valid(spec: str, why: str):
    with pytest.raises(UserError, match=why):
        build(spec, HALO)


def test_a_protocol_that_does_not_fit_is_refused():
    with pytest.raises(
        UserError, match=r"feedback: the verifier cannot rate .* fits halo-support, halo-claims and stem-accuracy"
    ):
        build("verifier", load_protocol("feedback"))


def test_the_settings_tell_set_ups_apart():
    box = build("verifier", HALO)
    model, other = (build(f"v=verifier(http://127.0.0.1:9/v1#{name})", HALO) for name in "ab")
    assert len({box.ref.config, model.ref.config, other.ref.config}) == 3
    assert build("mine=verifier", HALO).ref.config == box.ref.config
    assert (box.ref.id, model.ref.id, box.settings["spec"]) == ("verifier", "v", "verifier")


def test_a_jury_takes_it_as_a_member_and_leaves_severity_to_those_who_judge_it(tmp_path: Path):
    body = {"unit_code": CODE, "accuracy": {"answer": "Inaccurate"}, "severity": {"answer": "Severe"}}
    item = Item("x", {"question": "?", "article": "The engine weighs 40 kg.", "response": "The engine weighs 90 kg."})
    with ChatServer(says(json.dumps(body))) as server, Study.create(tmp_path / "s.db", STEM, [item]) as study:
        judge(study.store, [f"j=jury(verifier, {server.url}#m)"])
        values = {rating.criterion: rating.value for rating in study.ratings()}
    assert values == {"accuracy": "Inaccurate", "severity": "Severe"}
