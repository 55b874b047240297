"""Every promise of `store/people.py` about who may, on every back end."""

import hashlib
from collections.abc import Generator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy

from evenhand.errors import StudyError
from evenhand.protocol.load import read_protocol
from evenhand.records import Item, Kind, RaterRef, Unit, now
from evenhand.store.people.access import MOST_SESSIONS, Account, Invite, Member
from evenhand.store.store import Store, create_store, open_store

PROTOCOL = read_protocol(
    """
name: short
version: "1"
title: Short
item: {fields: {reply: {role: rated}}}
criteria: [{id: comment, question: "What do you say?", scale: {type: text}}]
""",
    "short.yaml",
)


@pytest.fixture
def study(store_location: str) -> Generator[Store, None, None]:
    with create_store(store_location, PROTOCOL, "p", [(Item("i1", {"reply": "x"}), [Unit("i1", "i1", 1)])]) as made:
        made.ratings.add([], raters=[RaterRef("bot", Kind.MODEL)])
        made.ratings.add([], raters=[RaterRef("guest", Kind.PERSON, "2")])
        yield made


def invite(name: str | None = None, **more: object) -> Invite:
    made = Invite("invite-1", "rater", name, 1, None, now(), None)
    return replace(made, **more)  # pyright: ignore[reportArgumentType]


ANN, OWNER = Account("rater", "ann"), Account("owner")
HOUR = timedelta(hours=1)


def test_an_invite_is_found_by_its_token_while_it_is_good(study: Store, store_location: str) -> None:
    people = study.people
    named = invite("ann", share=5, expires=now() + timedelta(days=1))
    people.access.add_invite(named, "token 1")
    people.access.add_invite(invite(id="invite-2", expires=now()), "token 2")
    people.access.add_invite(invite(id="invite-3", seats=7, role="adjudicator"), "token 3")
    with open_store(store_location) as again:
        assert again.people.access.find_invite("token 1") == named
        assert again.people.access.find_invite("token 2") is None
        assert again.people.access.find_invite("\ud83d") is None
        assert [one.id for one in again.people.access.invites()] == ["invite-1", "invite-2", "invite-3"]
    assert people.access.revoke_invite("invite-1")
    assert not people.access.revoke_invite("invite-1")
    assert not people.access.revoke_invite("\0")
    assert people.access.find_invite("token 1") is None
    assert people.access.invites()[0].revoked is not None


def test_only_the_digest_of_a_token_is_kept(study: Store, store_location: str, tmp_path: Path) -> None:
    people = study.people
    people.access.add_invite(invite("ann"), "the token of the invite")
    people.admit("ann", "rater")
    people.access.open_session("the token of the session", ANN, HOUR)
    study.backup(tmp_path / "copy.db")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'copy.db'}")
    with engine.connect() as connection:
        kept = {connection.exec_driver_sql(f"SELECT token FROM {table}").scalar() for table in ("invites", "sessions")}
    engine.dispose()
    tokens = (b"the token of the invite", b"the token of the session")
    assert kept == {hashlib.sha256(token).hexdigest() for token in tokens}
    assert not any(token in (tmp_path / "copy.db").read_bytes() for token in tokens)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (invite("bot"), "known as a model"),
        (invite("judge"), "is here as an adjudicator and cannot be a rater"),
        (invite(" "), "cannot be a rater's id"),
        (invite("x" * 201), "cannot be a rater's id"),
        (invite("a\0"), "cannot be a rater's id"),
        (invite("ann", seats=0), "at least one seat"),
        (invite("ann", share=0), "at least one seat, and a share"),
    ],
)
def test_an_invite_that_nobody_could_use_is_refused(study: Store, wrong: Invite, why: str) -> None:
    study.people.admit("judge", "adjudicator")
    study.people.access.add_invite(invite("ben", id="taken"), "token")
    with pytest.raises(StudyError, match=why):
        study.people.access.add_invite(wrong, "another token")
    assert len(study.people.access.invites()) == 1


def test_who_joins_is_a_member_and_a_rater_and_may_come_again(study: Store) -> None:
    people = study.people
    people.access.add_invite(invite("ann", share=5), "token")
    made = people.access.join(invite("ann"), "ann", {"STUDY_ID": "7"})
    assert (made.rater, made.role, made.share, made.source) == ("ann", "rater", 5, {"STUDY_ID": "7"})
    assert (made.paused, made.training_over, made.joined) == (False, False, made.seen)
    assert RaterRef("ann", Kind.PERSON) in study.ratings.raters()
    again = people.access.join(invite("ann"), "ann", {"SESSION_ID": "8"})
    assert again.source == {"STUDY_ID": "7", "SESSION_ID": "8"}
    assert again.joined == made.joined < again.seen
    assert people.members() == [again]
    assert people.member("ann") == again
    assert people.member("\ud83d") is None
    assert people.access.invites()[0].joined == 1
    with pytest.raises(StudyError, match="for 'ann' only"):
        people.access.join(invite("ann"), "ben", {})


def test_a_person_who_rated_before_joins_by_a_named_invite_and_stays_who_they_were(study: Store) -> None:
    study.people.access.add_invite(invite("guest"), "token")
    study.people.access.join(invite("guest"), "guest", {})
    assert study.ratings.raters() == [RaterRef("bot", Kind.MODEL), RaterRef("guest", Kind.PERSON, "2")]


def test_an_open_invite_has_so_many_seats(study: Store) -> None:
    people = study.people
    open_invite = invite(seats=2)
    people.access.add_invite(open_invite, "token")
    for name in ("p1", "p2", "p1"):
        people.access.join(open_invite, name, {})
    with pytest.raises(StudyError, match="all 2 seats"):
        people.access.join(open_invite, "p3", {})
    assert [member.rater for member in people.members()] == ["p1", "p2"]
    assert people.access.invites()[0].joined == 2
    second = invite(id="invite-2", seats=2)
    people.access.add_invite(second, "token 2")
    with pytest.raises(StudyError, match="belongs to another person"):
        people.access.join(second, "p1", {})


@pytest.mark.parametrize("taken", ["guest", "ann", "kept", "bot", "judge", "", "x" * 201])
def test_an_open_invite_lets_nobody_be_somebody_else(study: Store, taken: str) -> None:
    people = study.people
    people.admit("ann", "rater")
    people.admit("judge", "adjudicator")
    people.access.add_invite(invite("kept", id="invite-2"), "token 2")
    people.access.add_invite(invite(seats=100), "token")
    with pytest.raises(StudyError):
        people.access.join(invite(), taken, {})
    assert [member.rater for member in people.members()] == ["ann", "judge"]


def test_an_invite_that_ended_lets_nobody_in(study: Store) -> None:
    people = study.people
    people.access.add_invite(invite("ann"), "token")
    people.access.revoke_invite("invite-1")
    people.access.add_invite(invite("ben", id="invite-2", expires=now()), "token 2")
    for one, name in ((invite("ann"), "ann"), (invite("ben", id="invite-2"), "ben"), (invite(id="none"), "cem")):
        with pytest.raises(StudyError, match="no longer valid"):
            people.access.join(one, name, {})


def test_the_owner_makes_members_without_an_invite(study: Store) -> None:
    people = study.people
    made = people.admit("ann", "rater")
    assert made == Member("ann", "rater", made.joined, made.seen)
    assert people.admit("ann", "rater", share=3).share == 3
    assert people.admit("ann", "rater").share == 3
    with pytest.raises(StudyError, match="is here as a rater and cannot be an adjudicator"):
        people.admit("ann", "adjudicator")
    with pytest.raises(StudyError, match="known as a model"):
        people.admit("bot", "rater")
    people.update("ann", paused=True)
    people.update("ann", training_over=True)
    people.seen("ann")
    later = people.member("ann")
    assert later is not None
    assert (later.paused, later.training_over) == (True, True)
    assert later.seen > made.seen
    for call in (people.seen, people.update):
        with pytest.raises(StudyError, match="not a member"):
            call("nobody")


def test_a_session_lasts_until_it_expires_or_is_closed(study: Store, store_location: str) -> None:
    people = study.people
    people.admit("ann", "rater")
    people.access.open_session("token 1", ANN, HOUR)
    people.access.open_session("token 2", OWNER, HOUR)
    people.access.open_session("token 3", ANN, timedelta(0))
    with open_store(store_location) as again:
        assert again.people.access.find_session("token 1") == ANN
        assert again.people.access.find_session("token 2") == OWNER
        assert again.people.access.find_session("token 3") is None
        assert again.people.access.find_session("token 4") is None
    people.access.close_session("token 1")
    people.access.close_session("token 1")
    assert people.access.find_session("token 1") is None
    assert people.access.find_session("token 2") == OWNER
    with pytest.raises(StudyError):
        people.access.open_session("token 5", Account("rater", "nobody"), HOUR)


def test_a_session_ends_with_its_invite(study: Store) -> None:
    access = study.people.access
    study.people.admit("ann", "rater")
    access.add_invite(invite("ann", id="over", expires=now()), "token 1")
    access.add_invite(invite("ann", id="open", expires=now() + HOUR), "token 2")
    access.open_session("short", ANN, HOUR, "over")
    access.open_session("long", ANN, HOUR, "open")
    assert (access.find_session("short"), access.find_session("long")) == (None, ANN)


def test_a_person_has_a_limited_number_of_sessions_and_the_newest_count(study: Store) -> None:
    access = study.people.access
    for name in ("ann", "ben"):
        study.people.admit(name, "rater")
    access.open_session("ben's", Account("rater", "ben"), HOUR)
    for number in range(3 * MOST_SESSIONS):
        access.open_session(f"ann {number}", ANN, HOUR)
        access.open_session(f"owner {number}", OWNER, HOUR)
    for who, account in (("ann", ANN), ("owner", OWNER)):
        found = [access.find_session(f"{who} {number}") for number in range(3 * MOST_SESSIONS)]
        assert found == [None] * (2 * MOST_SESSIONS) + [account] * MOST_SESSIONS
    assert access.find_session("ben's") == Account("rater", "ben")


def test_revoking_an_invite_ends_its_sessions_and_no_others(study: Store) -> None:
    people = study.people
    people.access.add_invite(invite("ann"), "token")
    people.access.join(invite("ann"), "ann", {})
    people.access.open_session("by the invite", ANN, HOUR, "invite-1")
    people.access.open_session("by the owner", ANN, HOUR)
    people.access.revoke_invite("invite-1")
    assert people.access.find_session("by the invite") is None
    assert people.access.find_session("by the owner") is not None
    assert people.member("ann") is not None
