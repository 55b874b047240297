"""The bundled protocols, by keyboard alone and by mouse alone: what was said is what is stored."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from evenhand.assignment import Plan, Purpose
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Rating, Span, Status, Value
from evenhand.study import Study
from tests.browser.person import (
    CANNOT_ASSESS,
    LEAVE_OUT,
    Answer,
    Hand,
    Keyboard,
    Mouse,
    UnitAnswers,
    ratings,
    saved,
    sign_in,
)
from tests.browser.serving import Serve, Served

TASKS = 2
"""Items that are rated; one if each has several units, whose answers differ as well."""


def neureg_qa(task: int, position: int) -> UnitAnswers:
    levels = (5, 4, 3, 2, 1) if task == 1 else (1, 3, 5, CANNOT_ASSESS, 4)
    titles = ("Relevance", "Accuracy", "Completeness", "Fluency", "KG Alignment")
    return UnitAnswers({title: Answer(level) for title, level in zip(titles, levels, strict=True)})


def rag_quest_eval(task: int, position: int) -> UnitAnswers:
    said = ("a family of merchants", UNANSWERABLE, "In 1805; “on Mill Street”, 2nd floor?", CANNOT_ASSESS)
    return UnitAnswers({"Answer": Answer(said[(task + position) % len(said)])})


def feedback(task: int, position: int) -> UnitAnswers:
    levels = (1, 2, 3, 4, 5, 3, 2) if task == 1 else (5, 5, CANNOT_ASSESS, 1, 2, 2, 4)
    titles = ("Correctness", "Clarity", "Tone", "Actionability", "Coherence", "Emotion", "Overall Rating")
    answers = {
        title: Answer(level, why=f"{title} 1, because u said so?" if level != CANNOT_ASSESS else None)
        for title, level in zip(titles, levels, strict=True)
    }
    more = Answer("Name one source, please.\nAnd its page.") if task == 1 else Answer(LEAVE_OUT)
    notes = "Took long." if task == 1 else None
    return UnitAnswers({**answers, "Suggested improvements": more}, sure=70 + task, notes=notes)


def halo_support(task: int, position: int) -> UnitAnswers:
    if task == 1:
        return UnitAnswers({"Support": Answer("NO EVIDENCE")}, notes="x marks nothing; s is a letter")
    return UnitAnswers({"Support": Answer("SUPPORTED")})


def halo_claims(task: int, position: int) -> UnitAnswers:
    """What is said of a claim of the gold answer; of the others, the first."""
    labels = ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE", CANNOT_ASSESS)
    titles = ("Support by the context", "Support by the generated answer")
    answers = {title: Answer(labels[(task + position + n) % 4]) for n, title in enumerate(titles)}
    return UnitAnswers(answers, notes="as the text says" if answers[titles[0]].value == "SUPPORTED" else None)


def stem_accuracy(task: int, position: int) -> UnitAnswers:
    accuracy = ("Accurate", "Disputed", "Unsupported", "Inaccurate", "Can't confidently assess or no claim")[
        position % 5
    ]
    asked = accuracy in ("Disputed", "Unsupported", "Inaccurate")
    severity = {"Severity": Answer("Severe" if (task + position) % 2 else "Not Severe")} if asked else {}
    return UnitAnswers({"Accuracy": Answer(accuracy), **severity})


def ai_detection(task: int, position: int) -> UnitAnswers:
    verdict = "correct" if task == 1 else "incorrect"
    return UnitAnswers({"Verdict": Answer(verdict, why=f"The label says so, {task} time(s).")})


ANSWERS: Mapping[str, Callable[[int, int], UnitAnswers]] = {
    "neureg-qa": neureg_qa,
    "rag-quest-eval": rag_quest_eval,
    "feedback": feedback,
    "halo-claims": halo_claims,
    "halo-support": halo_support,
    "stem-accuracy": stem_accuracy,
    "ai-detection": ai_detection,
}


@pytest.mark.parametrize("make_hand", [Keyboard, Mouse])
@pytest.mark.parametrize("protocol", ANSWERS)
def test_what_is_said_on_the_page_is_what_the_study_holds(
    page: Page, shared: Serve, protocol: str, make_hand: type[Hand]
) -> None:
    served = shared(protocol, plan=Plan(training="offered"))
    rater = make_hand.__name__.lower()
    began = time.monotonic()
    page.goto(f"{sign_in(page, served.invite(rater))}/rate")
    hand = make_hand(page)
    hand.skip_training()
    expect(page.get_by_text("Training 1 of")).to_have_count(0)
    tasks = TASKS if load_protocol(protocol).unit == "item" else 1
    said = {task: rate_task(page, hand, protocol, task) for task in range(1, tasks + 1)}
    saved(page)
    wall_time = time.monotonic() - began
    found = ratings(served, rater)
    assert {place: content(rating) for place, rating in by_place(served, rater, found).items()} == expected(
        served, said
    )
    asked = [rating for rating in found if rating.status is not Status.NOT_ASKED]
    everything = [rating.seconds for rating in ratings(served, rater, history=True)]
    assert all(rating.seconds is not None for rating in asked)
    assert 0 < sum(seconds or 0 for seconds in everything) < wall_time
    assert all(rating.visible == () for rating in found)


def rate_task(page: Page, hand: Hand, protocol: str, task: int) -> list[UnitAnswers]:
    """Rates one item to its end; what was said about each of its units."""
    expect(page.locator("#progress-words")).to_have_text(re.compile(f"^{task - 1} of "))
    here = page.evaluate("location.hash")
    step = page.locator("h2.step")
    several = re.fullmatch(r"(Sentence|Question|Claim) 1 of (\d+)", step.inner_text())
    units = int(several[2]) if several else 1
    said: list[UnitAnswers] = []
    for position in range(1, units + 1):
        if several:
            expect(step).to_have_text(f"{several[1]} {position} of {units}")
        given = ANSWERS[protocol](task, position)
        answers = {title: one for title, one in given.answers.items() if is_asked(page, protocol, title)}
        said.append(replace(given, answers=answers))
        hand.rate(said[-1])
    page.wait_for_function("(before) => location.hash !== before", arg=here)
    return said


def is_asked(page: Page, protocol: str, title: str) -> bool:
    """Whether something is asked that is not asked about every claim, which the server checks as well."""
    of = next((one.of for one in load_protocol(protocol).criteria if one.title == title), None)
    source = page.locator(".claim-source figcaption")
    return of is None or source.inner_text() == load_protocol(protocol).titles[of]


Place = tuple[int, int, str]
"""Which of a rater's tasks, which of its units, which criterion."""

Content = tuple[Status, Value | None, str | None, float | None, str | None, tuple[Span, ...]]


def content(rating: Rating) -> Content:
    return rating.status, rating.value, rating.rationale, rating.confidence, rating.notes, rating.evidence


def by_place(served: Served, rater: str, found: list[Rating]) -> Mapping[Place, Rating]:
    with Study.open(served.study) as study:
        tasks = [task for task in study.store.people.tasks.all(rater) if task.purpose is Purpose.RATE]
        items = [task.item for task in tasks if task.item is not None]
        units = {unit.id: unit for unit in study.store.items.units()}
    return {(items.index(units[one.unit].item) + 1, units[one.unit].position, one.criterion): one for one in found}


def expected(served: Served, said: Mapping[int, list[UnitAnswers]]) -> Mapping[Place, Content]:
    with Study.open(served.study) as study:
        protocol = study.protocol
    return {
        (task, position, criterion.id): expected_content(protocol, criterion, given)
        for task, units in said.items()
        for position, given in enumerate(units, 1)
        for criterion in protocol.criteria
    }


def expected_content(protocol: Protocol, criterion: Criterion, given: UnitAnswers) -> Content:
    answer = given.answers.get(criterion.title)
    if answer is None:
        return Status.NOT_ASKED, None, None, None, None, ()
    instead = {CANNOT_ASSESS: Status.CANNOT_ASSESS, LEAVE_OUT: Status.SKIPPED}
    status = instead.get(str(answer.value), Status.RATED)
    value = answer.value if status is Status.RATED else None
    leads = criterion.id == protocol.lead.id
    return status, value, answer.why, given.sure if leads else None, given.notes if leads else None, ()
