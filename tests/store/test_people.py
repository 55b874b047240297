"""Every promise of `store/people/` about tasks and the plan, on every back end."""

import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from evenhand.assignment import Plan, Purpose, Task, repeats_among
from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.load import read_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Status, Unit
from evenhand.store.items import ItemUnits
from evenhand.store.people.tasks import TaskCounts
from evenhand.store.store import Store, create_store, open_store
from tests.postgres import engine_of
from tests.processes import FORKS

TEXT = """
name: reply-check
version: "1"
title: Reply check
item:
  fields:
    reply: {role: rated}
    topic: {role: context, kind: label, required: false}
strata: [topic]
unit: UNIT
criteria:
  - id: tone
    question: How friendly is it?
    scale: {type: ordinal, levels: {1: {label: Cold, anchor: Cold.}, 2: {label: Warm, anchor: Warm.}}}
  - {id: comment, question: "What else?", scale: {type: text}, required: false}
"""
EXAMPLES = """
examples:
  - {title: First, fields: {reply: Go away.}, ratings: {tone: 1}}
  - {title: Second, fields: {reply: Dear friend.}, ratings: {tone: 2}}
"""
PLAIN = read_protocol(TEXT.replace("UNIT", "item"), "plain.yaml")
TAUGHT = read_protocol(TEXT.replace("UNIT", "item") + EXAMPLES, "taught.yaml")
SENTENCES = read_protocol(TEXT.replace("UNIT", "sentence of reply"), "sentences.yaml")
AT_ONCE = 1e-9
"""Minutes after which a claim lapses, where it is to lapse before the next call."""


def whole(n: int) -> Iterator[ItemUnits]:
    for number in range(1, n + 1):
        item = Item(f"i{number}", {"reply": f"Reply {number}.", "topic": "odd" if number % 2 else "even"})
        yield item, [Unit(item.id, item.id, 1)]


def rated(item: str, rater: str, value: int = 1, **more: Any) -> Rating:
    return Rating(unit=item, criterion="tone", rater=rater, digest=PLAIN.digest, value=value, **more)


@pytest.fixture
def study(store_location: str) -> Generator[Store, None, None]:
    """Twelve items, and ann, ben and cem to rate them."""
    with create_store(store_location, PLAIN, "plain.yaml", whole(12)) as made:
        for name in ("ann", "ben", "cem"):
            made.people.admit(name, "rater")
        yield made


def given(study: Store, rater: str, most: int = 100) -> list[Task]:
    """Everything somebody is given when they finish one thing after the other."""
    done: list[Task] = []
    while len(done) < most and (task := study.people.tasks.next(rater)) is not None:
        study.people.tasks.finish(rater, task.number)
        done.append(task)
    return done


def items(tasks: list[Task]) -> list[str | None]:
    return [task.item for task in tasks]


def held(study: Store) -> Counter[str]:
    """How many people have each item in hand or have done it."""
    counts: Counter[str] = Counter()
    for member in study.people.members():
        for task in study.people.tasks.all(member.rater):
            if task.state != "returned" and task.purpose in (Purpose.RATE, Purpose.GOLD):
                counts[str(task.item)] += 1
    return counts


ALL = [f"i{number}" for number in range(1, 13)]


# Sharing out


def test_without_an_overlap_everybody_is_given_every_item_once(study: Store) -> None:
    orders = [items(given(study, name)) for name in ("ann", "ben", "cem")]
    assert [sorted(map(str, order)) for order in orders] == [sorted(ALL)] * 3
    assert len({tuple(order) for order in orders}) == 3, "each in an order of their own"


def test_batches_are_worked_through_one_after_the_other(study: Store) -> None:
    study.people.tasks.set_plan(Plan(batch=4, seed=3))
    first, second = (items(given(study, name)) for name in ("ann", "ben"))
    for start in (0, 4, 8):
        batch = first[start : start + 4]
        assert set(batch) == set(second[start : start + 4])
        assert sum(int(str(item)[1:]) % 2 for item in batch) == 2, "half of the items are odd, and of each batch"


def test_an_overlap_gives_each_item_to_so_many_people(study: Store) -> None:
    study.people.tasks.set_plan(Plan(overlap=2))
    for name in ("ann", "ben", "cem"):
        given(study, name)
    assert held(study) == dict.fromkeys(ALL, 2)
    assert [counts.done for counts in study.people.tasks.count().values()] == [12, 12, 0]


def test_tasks_are_numbered_without_gaps_and_keep_their_item(study: Store, store_location: str) -> None:
    tasks = given(study, "ann")
    assert [task.number for task in tasks] == list(range(1, 13))
    with open_store(store_location) as again:
        assert items(list(again.people.tasks.all("ann"))) == items(tasks)
        assert [task.number for task in again.people.tasks.all("ann", after=3, limit=2)] == [4, 5]
        assert again.people.tasks.all("nobody") == []
        for wrong in (0, 13, 2**40):
            assert again.people.tasks.find("ann", wrong) is None


def test_a_task_says_when_it_was_opened_touched_and_finished(study: Store) -> None:
    before = datetime.now(UTC)
    task = study.people.tasks.next("ann")
    assert task is not None
    assert (task.rater, task.number, task.purpose, task.example) == ("ann", 1, Purpose.RATE, None)
    assert before <= task.opened == task.touched <= datetime.now(UTC)
    assert (task.expires - task.touched).total_seconds() == 3600
    assert (task.state, task.finished) == ("open", None)
    study.people.tasks.touch("ann", 1)
    touched = study.people.tasks.find("ann", 1)
    assert touched is not None
    assert touched.touched > task.touched
    assert touched.opened == task.opened
    study.people.tasks.finish("ann", 1)
    done = study.people.tasks.find("ann", 1)
    assert done is not None
    assert done.state == "done"
    assert done.finished is not None
    study.people.tasks.finish("ann", 1)
    study.people.tasks.touch("ann", 1)
    assert study.people.tasks.find("ann", 1) == done


def test_the_open_task_comes_again_until_it_is_done_and_pages_may_fetch_ahead(study: Store) -> None:
    people = study.people
    numbers = [people.tasks.next("ann"), people.tasks.next("ann"), people.tasks.next("ann", holding=[1])]
    assert [task.number for task in numbers if task] == [1, 1, 2]
    third = people.tasks.next("ann", holding=[1, 2])
    assert third is not None
    assert people.tasks.next("ann", holding=[1, 2, 3]) is None, "three are enough in one pair of hands"
    lowest = people.tasks.next("ann", holding=[1])
    assert lowest is not None
    assert lowest.number == 2
    people.tasks.finish("ann", 2)
    after = people.tasks.next("ann", holding=[1, 3])
    assert after is not None
    assert after.number == 4


def test_a_share_is_the_most_somebody_is_given(study: Store) -> None:
    study.people.tasks.set_plan(Plan(share=5))
    study.people.admit("dee", "rater", share=2)
    assert [len(given(study, name)) for name in ("ann", "dee")] == [5, 2]


def test_who_is_paused_is_given_what_is_in_hand_and_nothing_new(study: Store) -> None:
    people = study.people
    task = people.tasks.next("ann")
    assert task is not None
    for paused, plan in ((True, Plan()), (False, Plan(paused=True))):
        people.update("ann", paused=paused)
        people.tasks.set_plan(plan)
        again = people.tasks.next("ann")
        assert again is not None
        assert again.number == task.number
        assert people.tasks.next("ann", holding=[1]) is None
    people.tasks.finish("ann", 1)
    assert people.tasks.next("ann") is None, "the plan is paused"
    people.update("ann", paused=True)
    people.tasks.set_plan(Plan())
    assert people.tasks.next("ann") is None
    people.update("ann", paused=False)
    people.tasks.set_plan(Plan(paused=True))
    assert people.tasks.next("ann") is None
    people.tasks.set_plan(Plan())
    task = people.tasks.next("ann")
    assert task is not None
    assert task.number == 2


def test_a_task_that_is_reopened_comes_again_before_anything_new(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, share=4))
    first = given(study, "ann", most=3)
    done = people.tasks.find("ann", 2)
    assert done is not None
    people.tasks.reopen("ann", 2)
    again = people.tasks.next("ann")
    assert again is not None
    assert (again.number, again.item, again.state, again.finished) == (2, first[1].item, "open", None)
    assert again.expires > done.expires
    assert people.tasks.count("ann") == {"ann": TaskCounts(open=1, done=2)}
    people.tasks.reopen("ann", 2)
    assert held(study) == dict.fromkeys(map(str, items(first)), 1), "it has been hers all the time"
    assert len(given(study, "ben")) == 4
    assert set(map(str, items(list(people.tasks.all("ben"))))).isdisjoint(map(str, items(first)))
    people.tasks.finish("ann", 2)
    assert [task.number for task in given(study, "ann")] == [4], "the share is still four"
    with pytest.raises(StudyError, match="has no task 9"):
        people.tasks.reopen("ann", 9)


def test_a_reopened_task_that_nobody_renews_goes_back(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, claim_minutes=AT_ONCE))
    mine = given(study, "ann", most=1)
    people.tasks.reopen("ann", 1)
    given(study, "ben")
    assert mine[0].item in items(list(people.tasks.all("ben")))
    people.tasks.reopen("ann", 1)
    returned = people.tasks.find("ann", 1)
    assert returned is not None
    assert returned.state == "returned", "only what is done can be reopened"


def test_a_repeat_can_be_reopened(study: Store) -> None:
    study.people.tasks.set_plan(Plan(repeat_every=3, repeat_after=1))
    tasks = given(study, "ann", most=4)
    repeat = next(task for task in tasks if task.purpose is Purpose.REPEAT)
    assert study.people.tasks.count("ann") == {"ann": TaskCounts(done=4, repeats_done=1)}
    study.people.tasks.reopen("ann", repeat.number)
    again = study.people.tasks.next("ann")
    assert again is not None
    assert (again.number, again.purpose) == (repeat.number, Purpose.REPEAT)
    assert study.people.tasks.count("ann") == {"ann": TaskCounts(done=3, open=1, repeats_open=1)}


def test_only_members_are_given_tasks_and_adjudicators_none(study: Store) -> None:
    study.people.admit("judge", "adjudicator")
    assert study.people.tasks.next("judge") is None
    for call in (study.people.tasks.next, study.people.tasks.give_back):
        with pytest.raises(StudyError, match="not a member"):
            call("nobody")
    with pytest.raises(StudyError, match="has no task 1"):
        study.people.tasks.finish("ann", 1)
    with pytest.raises(StudyError, match="has no task"):
        study.people.tasks.touch("ann", 2**40)


def test_an_item_without_units_is_not_given_out(store_location: str) -> None:
    empty: ItemUnits = (Item("none", {"reply": ""}), [])
    full: ItemUnits = (Item("some", {"reply": "One."}), [Unit("some#1", "some", 1, "One.")])
    with create_store(store_location, SENTENCES, "s", [empty, full]) as made:
        made.people.admit("ann", "rater")
        assert items(given(made, "ann")) == ["some"]
        with pytest.raises(StudyError, match="nothing to rate"):
            made.people.tasks.reassign("none", "ann")


# What was rated in another way


def test_ratings_from_elsewhere_count_and_are_not_asked_for_again(study: Store) -> None:
    people = [RaterRef("ann", Kind.PERSON), RaterRef("guest", Kind.PERSON), RaterRef("judge", Kind.PERSON)]
    study.people.admit("judge", "adjudicator")
    theirs = [rated(item, "ann") for item in ALL[:4]] + [rated(item, "guest") for item in ALL[:6]]
    theirs += [rated(item, "judge") for item in ALL] + [rated(item, "bot") for item in ALL]
    study.ratings.add(theirs, raters=[*people, RaterRef("bot", Kind.MODEL)])
    study.people.tasks.set_plan(Plan(overlap=2))
    assert sorted(map(str, items(given(study, "ann")))) == sorted(ALL[4:])
    given(study, "ben")
    given(study, "cem")
    assert held(study) == {**dict.fromkeys(ALL[4:6], 1), **dict.fromkeys(ALL[6:], 2)}


def test_items_from_elsewhere_are_counted_and_those_in_other_hands_may_return(study: Store) -> None:
    tasks = study.people.tasks
    tasks.set_plan(Plan(overlap=1))
    study.ratings.add([rated(item, "ann") for item in ALL[:11]], raters=[RaterRef("ann", Kind.PERSON)])
    tasks.prepare()
    assert [tasks.elsewhere(name) for name in ("ann", "ben")] == [11, 0]
    assert tasks.next("ben") is not None
    assert (tasks.next("cem"), tasks.may_return("cem"), tasks.may_return("ben")) == (None, True, False)
    tasks.finish("ben", 1)
    assert (tasks.next("cem"), tasks.may_return("cem")) == (None, False)
    assert [tasks.elsewhere(name) for name in ("ann", "ben")] == [11, 0], "what was given is not from elsewhere"


def test_what_is_imported_after_the_start_is_not_asked_for_again(study: Store) -> None:
    study.people.tasks.prepare()
    study.ratings.add([rated(item, "ann") for item in ALL[2:]])
    assert sorted(map(str, items(given(study, "ann")))) == ["i1", "i2"]
    assert len(given(study, "ben")) == 12


def test_an_item_rated_in_part_is_given_out(store_location: str) -> None:
    units = [Unit(f"a#{n}", "a", n, f"{n}.") for n in (1, 2)]
    with create_store(store_location, SENTENCES, "s", [(Item("a", {"reply": "1. 2."}), units)]) as made:
        made.people.admit("ann", "rater")
        one = Rating(unit="a#1", criterion="tone", rater="ann", digest=SENTENCES.digest, value=1)
        made.ratings.add([one, replace(one, id="b" * 32, value=2)])
        assert items(given(made, "ann")) == ["a"]


# Going back


def test_a_claim_that_lapsed_goes_to_others(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, batch=12, claim_minutes=AT_ONCE))
    lost = people.tasks.next("ann")
    assert lost is not None
    people.tasks.set_plan(Plan(overlap=1, batch=12))
    assert len(given(study, "ben")) == 12
    task = people.tasks.find("ann", 1)
    assert task is not None
    assert task.state == "returned"
    assert people.tasks.next("ann") is None, "somebody else took it"
    assert held(study) == dict.fromkeys(ALL, 1)
    people.tasks.finish("ann", 1)
    assert held(study)[str(lost.item)] == 2, "what was rated after all is done, too"


def test_a_claim_that_lapsed_comes_back_to_its_rater_while_it_is_free(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, claim_minutes=AT_ONCE))
    first = people.tasks.next("ann")
    again = people.tasks.next("ann")
    assert first is not None
    assert again is not None
    assert (again.number, again.item, again.state) == (1, first.item, "open")
    assert held(study) == {str(first.item): 1}


def test_an_answer_takes_a_lapsed_task_up_again(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, claim_minutes=AT_ONCE))
    people.admit("judge", "adjudicator")
    assert people.tasks.next("ann") is not None
    people.tasks.next("judge")
    lapsed = people.tasks.find("ann", 1)
    assert lapsed is not None
    assert lapsed.state == "returned"
    people.tasks.set_plan(Plan(overlap=1))
    people.tasks.touch("ann", 1)
    task = people.tasks.find("ann", 1)
    assert task is not None
    assert task.state == "open"
    assert task.item not in items(given(study, "ben"))


def test_what_is_given_back_goes_to_those_who_have_gone_past_it(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, batch=2))
    kept = [people.tasks.next("ann", holding=range(1, n)) for n in (1, 2, 3)]
    assert len(given(study, "ben")) == 9
    assert people.tasks.next("ben") is None
    assert people.tasks.give_back("ann", number=2) == 1
    assert people.tasks.give_back("ann", number=2) == 0
    assert items(given(study, "ben")) == [kept[1].item if kept[1] else None]
    assert people.tasks.give_back("ann") == 2
    assert people.tasks.next("ann") is None, "what was taken out of one's hands does not come back by itself"
    assert len(given(study, "cem")) == 2
    assert held(study) == dict.fromkeys(ALL, 1)
    assert people.tasks.count() == {
        "ann": TaskCounts(returned=3),
        "ben": TaskCounts(done=10),
        "cem": TaskCounts(done=2),
    }


def test_an_item_is_reassigned_whatever_the_overlap(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1))
    given(study, "ann")
    task = people.tasks.reassign("i5", "ben")
    assert (task.number, task.item, task.purpose, task.state) == (1, "i5", Purpose.RATE, "open")
    assert people.tasks.reassign("i5", "ben") == task
    people.tasks.give_back("ben")
    assert people.tasks.reassign("i5", "ben").state == "open"
    assert people.tasks.next("cem") is None
    people.admit("judge", "adjudicator")
    for item, rater, why in (("i99", "ben", "no item"), ("i1", "eve", "not a member"), ("i1", "judge", "adjudicator")):
        with pytest.raises(StudyError, match=why):
            people.tasks.reassign(item, rater)


def test_a_larger_overlap_opens_what_everybody_went_past_and_a_smaller_one_closes(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, batch=3))
    assert len(given(study, "ann")) == 12
    assert people.tasks.next("ben") is None
    people.tasks.set_plan(Plan(overlap=2, batch=3))
    assert len(given(study, "ben", most=5)) == 5
    people.tasks.set_plan(Plan(overlap=1, batch=3))
    assert people.tasks.next("ben") is None
    people.tasks.set_plan(Plan(batch=3))
    assert len(given(study, "ben")) == 7
    assert len(given(study, "cem")) == 12


# Known answers, repeats, worked examples


def test_known_answers_are_hidden_among_the_items(study: Store) -> None:
    study.ratings.add([rated(item, "expert") for item in ALL[:3]], raters=[RaterRef("expert", Kind.PERSON)])
    study.people.admit("expert", "rater")
    study.people.tasks.set_plan(Plan(overlap=2, gold="expert", gold_every=4))
    tasks = given(study, "ann")
    gold = [task for task in tasks if task.purpose is Purpose.GOLD]
    assert sorted(str(task.item) for task in gold) == ALL[:3]
    assert len(tasks) == len(set(items(tasks))) == 12
    assert tasks[3].purpose is Purpose.GOLD
    assert [task.purpose for task in given(study, "expert")] == [Purpose.RATE] * 9
    assert len(given(study, "ben")) == 12, "the expert is none of the two"
    late = given(study, "cem")
    assert items(late) == [], "all were rated by two people"
    study.people.tasks.set_plan(Plan(overlap=3, gold="expert", gold_every=4))
    assert [task.purpose for task in given(study, "cem")].count(Purpose.GOLD) == 3


def test_whoever_has_the_known_answers_counts_for_no_item(study: Store) -> None:
    people = study.people
    for name in ("expert", "other"):
        study.ratings.add([rated(item, name) for item in ALL[:4]], raters=[RaterRef(name, Kind.PERSON)])
    plan = Plan(overlap=1, gold_every=1000)
    people.tasks.set_plan(plan)
    assert sorted(map(str, items(given(study, "ann")))) == sorted(ALL[4:]), "four were rated before"
    people.tasks.set_plan(plan.model_copy(update={"gold": "expert", "overlap": 2}))
    assert sorted(map(str, items(given(study, "ann")))) == sorted(ALL[:4]), "beside the other, one is wanted"
    assert len(given(study, "ben")) == 8
    people.tasks.set_plan(plan.model_copy(update={"overlap": 2}))
    people.tasks.set_plan(plan.model_copy(update={"gold": "expert", "overlap": 3}))
    assert len(given(study, "ben")) == 4
    assert held(study) == dict.fromkeys(ALL, 2)
    assert len(given(study, "cem")) == 8, "the four have three people: the other, ann and ben"


def test_known_answers_are_given_beyond_the_overlap(study: Store) -> None:
    study.ratings.add([rated(item, "expert") for item in ALL[:6]], raters=[RaterRef("expert", Kind.PERSON)])
    study.people.tasks.set_plan(Plan(overlap=1, gold="expert", gold_every=2, share=6))
    known: list[str | None] = []
    for name in ("ann", "ben"):
        tasks = given(study, name)
        assert [task.purpose for task in tasks][1::2] == [Purpose.GOLD] * 3, "every second one, and others by chance"
        known += [task.item for task in tasks if task.purpose is Purpose.GOLD]
    assert set(known) <= set(ALL[:6])
    assert max(Counter(known).values()) > 1, "some were given to several people"


def test_known_answers_that_come_later_are_found_when_asked_for(study: Store) -> None:
    expert = RaterRef("expert", Kind.RULE)
    study.ratings.add([], raters=[expert])
    study.people.tasks.set_plan(Plan(gold="expert", gold_every=2))
    assert [task.purpose for task in given(study, "ann", most=2)] == [Purpose.RATE] * 2
    study.ratings.add([rated(item, "expert") for item in ALL])
    study.people.tasks.prepare()
    assert {task.purpose for task in given(study, "ann")} == {Purpose.GOLD}


def test_a_repeat_is_an_earlier_item_at_a_distance_and_counts_for_nobody(study: Store) -> None:
    study.people.tasks.set_plan(Plan(overlap=1, share=12, repeat_every=3, repeat_after=4))
    tasks = given(study, "ann")
    # Thing 3 comes too early; 6, 9, 12 and 15 repeat number 6 - 4 - 1 = 1, then 4, 7 and 10.
    repeats = [(task.number, task.item) for task in tasks if task.purpose is Purpose.REPEAT]
    assert repeats == [(n, tasks[n - 6].item) for n in (6, 9, 12, 15)]
    ordinary = [task for task in tasks if task.purpose is Purpose.RATE]
    assert sorted(str(task.item) for task in ordinary) == sorted(ALL)
    assert held(study) == dict.fromkeys(ALL, 1)


@pytest.mark.parametrize(
    ("every", "after"), [(1, 1), (1, 3), (2, 1), (2, 4), (3, 4), (5, 2), (12, 1), (13, 1), (4, 12)]
)
def test_how_many_repeats_come_is_known_beforehand(store_location: str, every: int, after: int) -> None:
    plan = Plan(repeat_every=every, repeat_after=after)
    with create_store(store_location, PLAIN, "plain.yaml", whole(12)) as made:
        made.people.tasks.set_plan(plan)
        for share in (1, 5, 11, 12):
            made.people.admit(f"of-{share}", "rater", share=share)
            tasks = given(made, f"of-{share}")
            assert len(tasks) == share + repeats_among(share, plan), share


@pytest.fixture
def school(store_location: str) -> Generator[Store, None, None]:
    with create_store(store_location, TAUGHT, "taught.yaml", whole(3)) as made:
        made.people.admit("ann", "rater")
        yield made


def test_worked_examples_come_first_one_at_a_time_and_in_order(school: Store) -> None:
    people = school.people
    first = people.tasks.next("ann")
    assert first is not None
    assert (first.purpose, first.item, first.example) == (Purpose.TRAINING, None, 0)
    assert people.tasks.next("ann", holding=[1]) is None
    people.tasks.finish("ann", 1)
    tasks = given(school, "ann")
    assert [(task.number, task.example) for task in tasks] == [(2, 1), (3, None), (4, None), (5, None)]
    member = people.member("ann")
    assert member is not None
    assert member.training_over
    assert people.tasks.count() == {"ann": TaskCounts(training=2, done=3)}
    people.tasks.reopen("ann", 1)
    assert people.tasks.count() == {"ann": TaskCounts(training=2, done=3)}, "worked examples stay done"


def test_training_ends_when_it_is_skipped_or_switched_off(school: Store) -> None:
    people = school.people
    people.admit("ben", "rater")
    assert people.tasks.next("ann") is not None
    people.update("ann", training_over=True)
    assert [task.purpose for task in given(school, "ann")] == [Purpose.RATE] * 3
    people.tasks.next("ben")
    people.tasks.set_plan(Plan(training="off"))
    assert [task.purpose for task in given(school, "ben")] == [Purpose.RATE] * 3


# Trials


def trial(unit: str, value: int = 1, **more: Any) -> Rating:
    known: dict[str, Any] = {"criterion": "tone", "rater": "ann", "digest": TAUGHT.digest, **more}
    return Rating(unit=unit, value=value, **known)


def test_trials_are_kept_apart_from_ratings_and_in_one_line(school: Store, store_location: str) -> None:
    people = school.people
    people.tasks.next("ann")
    first = trial("example:0", rationale="\0\ud83d", seconds=1.5, confidence=50.0)
    people.trials.add(1, [first])
    people.trials.add(1, [first])
    second = trial("example:0", 2, supersedes=first.id)
    comment = Rating(unit="example:0", criterion="comment", rater="ann", digest=TAUGHT.digest, status=Status.SKIPPED)
    people.trials.add(1, [second, comment])
    with pytest.raises(ConflictError):
        people.trials.add(1, [trial("example:0")])
    with pytest.raises(ConflictError):
        people.trials.add(1, [trial("example:0", supersedes=first.id)])
    with open_store(store_location) as again:
        assert list(again.people.trials.all("ann")) == [(1, second), (1, comment)]
        assert list(again.people.trials.all("ann", number=2)) == list(again.people.trials.all("\ud83d")) == []
        assert list(again.people.trials.all()) == [(1, second), (1, comment)]
        assert list(again.ratings.all(every_digest=True, history=True)) == []


def test_a_trial_belongs_to_a_task_that_takes_trials(school: Store) -> None:
    people = school.people
    people.tasks.set_plan(Plan(repeat_every=2, repeat_after=1, training="off"))
    tasks = given(school, "ann")
    assert [task.purpose for task in tasks[:4]] == [Purpose.RATE, Purpose.RATE, Purpose.RATE, Purpose.REPEAT]
    repeated = str(tasks[3].item)
    answer = trial(repeated, 2)
    people.trials.add(4, [answer])
    assert list(people.trials.all(number=4)) == [(4, answer)]
    other = next(f"i{n}" for n in (1, 2, 3) if f"i{n}" != repeated)
    for number, wrong, why in (
        (4, trial(other), "is not one of task 4"),
        (1, trial(str(tasks[0].item)), "is for ratings"),
        (99, trial(repeated), "no task 99"),
        (4, trial(repeated, rater="eve"), "no task 4"),
        (4, trial(repeated, digest="0" * 64), "no task 4"),
        (4, trial(repeated, criterion="mood"), "no criterion 'mood'"),
        (4, trial(repeated, 3), "is not a whole number from 1 to 2"),
    ):
        with pytest.raises(StudyError, match=why):
            people.trials.add(number, [trial(repeated, supersedes=answer.id), wrong])
    with pytest.raises(StudyError, match="cannot be stored"):
        people.trials.add(4, [trial(repeated, id="\0", supersedes=answer.id)])
    assert list(people.trials.all(number=4)) == [(4, answer)]


def test_the_database_itself_refuses_to_change_a_trial(school: Store, store_location: str) -> None:
    school.people.tasks.next("ann")
    school.people.trials.add(1, [trial("example:0")])
    database = engine_of(store_location)
    for statement in ("UPDATE trials SET value = '2'", "DELETE FROM trials"):
        with pytest.raises(DBAPIError, match="append-only"), database.begin() as connection:
            connection.exec_driver_sql(statement)
    database.dispose()


# Plans


def test_a_plan_is_the_default_until_one_is_set(study: Store, store_location: str) -> None:
    assert study.people.tasks.plan() == Plan()
    plan = Plan(overlap=2, share=4, by=("topic",), claim_minutes=0.5, completion="https://example.org/done")
    study.people.tasks.set_plan(plan)
    with open_store(store_location) as again:
        assert again.people.tasks.plan() == plan


def test_a_plan_that_does_not_fit_the_study_is_refused(study: Store) -> None:
    for wrong, why in ((Plan(by=("reply",)), "valid are topic"), (Plan(gold="nobody"), "no rater 'nobody'")):
        with pytest.raises(StudyError, match=why):
            study.people.tasks.set_plan(wrong)
    assert study.people.tasks.plan() == Plan()


def test_the_order_is_fixed_once_work_was_given_out(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(seed=1))
    people.tasks.prepare()
    people.tasks.set_plan(Plan(seed=2))
    given(study, "ann", most=1)
    for wrong, what in ((Plan(seed=1), "seed"), (Plan(seed=2, batch=3), "batch"), (Plan(seed=2, by=()), "by")):
        with pytest.raises(StudyError, match=f"{what} of the plan cannot change any more"):
            people.tasks.set_plan(wrong)
    people.tasks.set_plan(Plan(seed=2, by=("topic",), overlap=5, share=3))


def test_what_was_revealed_cannot_be_hidden_again(study: Store) -> None:
    people = study.people
    people.tasks.set_plan(Plan(reveal="all"))
    people.tasks.set_plan(Plan(reveal="never"))
    people.tasks.set_plan(Plan(reveal="models"))
    given(study, "ann", most=1)
    with pytest.raises(StudyError, match="reveal can no longer be 'never'"):
        people.tasks.set_plan(Plan())
    people.tasks.set_plan(Plan(reveal="all"))


def test_a_changed_protocol_begins_anew_and_an_earlier_one_goes_on(study: Store, store_location: str) -> None:
    people = study.people
    people.tasks.set_plan(Plan(overlap=1, batch=4))
    before = given(study, "ann", most=5)
    with open_store(store_location) as other:
        other.protocols.adopt(PLAIN.model_copy(update={"version": "2"}), "changed.yaml")
    assert people.tasks.all("ann") == []
    people.tasks.set_plan(Plan(overlap=1, batch=3))
    assert len(given(study, "ben")) == 12
    assert study.protocol.version == "2", "who is given a task knows the protocol it is for"
    study.protocols.adopt(PLAIN, "plain.yaml")
    assert items(list(people.tasks.all("ann"))) == items(before)
    rest = given(study, "ben")
    assert sorted(map(str, items(rest) + items(before))) == sorted(ALL)
    assert [task.number for task in rest] == list(range(13, 20)), "no number is used again"
    first, *_, last = rest
    assert people.tasks.before("ben", first.number) == (0, None), "tasks of another protocol do not count"
    assert people.tasks.before("ben", last.number) == (6, last.number - 1)


# Many processes, ends of processes, copies


def _rate(location: str, rater: str, pipe: Pipe) -> None:
    with open_store(location) as opened:
        while (task := opened.people.tasks.next(rater)) is not None:
            opened.people.tasks.finish(rater, task.number)
    pipe.send(rater)
    pipe.close()


def test_people_in_several_processes_are_given_each_item_so_often_and_no_more(store_location: str) -> None:
    names = [f"rater {number}" for number in range(5)]
    with create_store(store_location, PLAIN, "p", whole(40)) as made:
        for name in names:
            made.people.admit(name, "rater")
        made.people.tasks.set_plan(Plan(overlap=3, batch=5))
    pipes: list[Pipe] = []
    children: list[BaseProcess] = []
    for name in names:
        mine, its = FORKS.Pipe(duplex=False)
        child = FORKS.Process(target=_rate, args=(store_location, name, its))
        child.start()
        its.close()
        pipes.append(mine)
        children.append(child)
    assert [pipe.recv() for pipe in pipes] == names
    for pipe, child in zip(pipes, children, strict=True):
        pipe.close()
        child.join()
    with open_store(store_location) as opened:
        assert held(opened) == {f"i{number}": 3 for number in range(1, 41)}
        for name in names:
            numbers = [task.number for task in opened.people.tasks.all(name)]
            assert numbers == list(range(1, len(numbers) + 1))


def _claim_until_killed(location: str, rater: str, pipe: Pipe) -> None:
    with open_store(location) as opened:
        while (task := opened.people.tasks.next(rater)) is not None:
            pipe.send(task.number)
            opened.people.tasks.finish(rater, task.number)


def test_a_killed_process_leaves_nothing_half_given(store_location: str) -> None:
    with create_store(store_location, PLAIN, "p", whole(60)) as made:
        for name in ("ann", "ben"):
            made.people.admit(name, "rater")
        made.people.tasks.set_plan(Plan(overlap=1))
        acknowledged = 0
        for attempt in range(3):
            mine, its = FORKS.Pipe(duplex=False)
            process = FORKS.Process(target=_claim_until_killed, args=(store_location, "ann", its))
            process.start()
            its.close()
            for _ in range(3 + attempt):
                acknowledged = mine.recv()
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            mine.close()
            numbers = [task.number for task in made.people.tasks.all("ann")]
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) >= acknowledged
        mine_now = len(made.people.tasks.all("ann"))
        in_hand = made.people.tasks.count()["ann"].open
        assert in_hand <= 1
        assert len(given(made, "ben")) == 60 - mine_now
        assert held(made) == {f"i{number}": 1 for number in range(1, 61)}


def test_a_backup_has_people_tasks_and_trials(school: Store, tmp_path: Path) -> None:
    people = school.people
    people.tasks.set_plan(Plan(overlap=1))
    people.tasks.next("ann")
    people.trials.add(1, [trial("example:0")])
    people.update("ann", training_over=True)
    given(school, "ann", most=2)
    school.backup(tmp_path / "copy.db")
    with open_store(tmp_path / "copy.db") as copy:
        assert copy.people.members() == people.members()
        assert copy.people.tasks.plan() == people.tasks.plan()
        assert copy.people.tasks.all("ann") == people.tasks.all("ann")
        assert list(copy.people.trials.all()) == list(people.trials.all())
        assert items(given(copy, "ann")) == items(given(school, "ann"))


# The same time whatever the study's size


def test_every_statement_for_a_task_is_a_search_by_an_index(tmp_path: Path) -> None:
    location = str(tmp_path / "study.db")
    sent: dict[str, Any] = {}

    def note(_1: Any, _2: Any, statement: str, parameters: Any, _3: Any, _4: Any) -> None:
        if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
            sent.setdefault(statement, parameters)

    with create_store(location, TAUGHT, "p", whole(40)) as made:
        made.ratings.add([], raters=[RaterRef("expert", Kind.PERSON)])
        known = [Rating(unit=f"i{n}", criterion="tone", rater="expert", digest=TAUGHT.digest, value=1) for n in (1, 2)]
        made.ratings.add(known)
        for name in ("ann", "ben", "cem"):
            made.people.admit(name, "rater")
        plan = Plan(overlap=2, batch=5, gold="expert", gold_every=5, repeat_every=3, repeat_after=2, share=30)
        made.people.tasks.set_plan(plan)
        made.people.tasks.prepare()
        event.listen(sqlalchemy.Engine, "before_cursor_execute", note)
        try:
            given(made, "ann")
            made.people.tasks.reopen("ann", 5)
            made.people.tasks.set_plan(plan.model_copy(update={"claim_minutes": AT_ONCE}))
            made.people.tasks.next("ben")
            given(made, "ben", most=12)
            made.people.update("cem", training_over=True)
            for number in (1, 2):
                made.people.tasks.next("cem", holding=range(1, number))
                made.people.tasks.touch("cem", number)
            made.people.tasks.give_back("cem")
            made.people.tasks.set_plan(plan)
            given(made, "ben")
        finally:
            event.remove(sqlalchemy.Engine, "before_cursor_execute", note)
    assert len(sent) > 20
    database = engine_of(location)
    with database.connect() as connection:
        for statement, parameters in sent.items():
            plan_rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            walked = [row[3] for row in plan_rows if row[3].startswith("SCAN") and row[3] != "SCAN CONSTANT ROW"]
            assert not walked, f"{walked}: {statement}"
    database.dispose()
