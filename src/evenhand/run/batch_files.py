"""Prompts out to a file, replies back in: for a chat window, a service's batch queue, or a program of one's own.

A prompt's id says which part of the study it is about, how many worked examples it shows, and what it reads: a reply
that comes back for a prompt that would read otherwise by now is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

from evenhand.errors import InputError, RaterFailure, UserError
from evenhand.files import replacing
from evenhand.formats.problems import Problems
from evenhand.formats.ratings.reader import named_rater
from evenhand.formats.tables.table import InputTable, Sheet
from evenhand.formats.tables.table_files import open_table, write_table
from evenhand.llm.base import Reply, Request
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.wire import NotACompletion, body_of, reply_of
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judgement, RatingTask
from evenhand.raters.llm_judge.parse import read_reply
from evenhand.raters.llm_judge.prompt import Prompts
from evenhand.raters.llm_judge.rater import judgement_of
from evenhand.raters.options import RaterOptions
from evenhand.records import Kind, RaterRef, Rating, Unit, new_id, now
from evenhand.run.counters import RaterCounters
from evenhand.run.judge import has_rated
from evenhand.settings import Secret, Settings
from evenhand.store.items import ItemUnits
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store
from evenhand.version import __version__

COLUMNS = ("id", "item", "unit", "prompt", "reply")
GROUP = 100
_ID = re.compile(r"(?P<item>\d{1,12})\.(?P<position>\d{1,9})\.(?P<shots>\d{1,4})\.(?P<digest>[0-9a-f]{16})")
CONFIG = "replies from files"
_PARAMETERS = "offline"


def write_prompts(
    store: Store, path: str | Path, options: RaterOptions, *, limit: int | None = None, overwrite: bool = False
) -> int:
    """Every prompt of a study as a table with an empty column for the reply, and how many there are."""
    prompts = Prompts(store.protocol, shots=options.shots, together=_together(store.protocol, options))

    def rows() -> Iterator[Sequence[object]]:
        for prompt_id, task, _ in _prompts(store, prompts, options, limit):
            units = ", ".join(str(unit.position) for unit in task.units)
            yield prompt_id, task.item.id, units, prompts.text(task), None

    return write_table(path, Sheet(COLUMNS, rows()), overwrite=overwrite)


def write_batch(
    store: Store,
    path: str | Path,
    model: str,
    options: RaterOptions,
    *,
    limit: int | None = None,
    overwrite: bool = False,
) -> int:
    """Every prompt of a study as a batch file of OpenAI's format, for one model, and how many there are."""
    if Path(path).suffix.lower() != ".jsonl":
        raise UserError(f"{path}: a batch file is JSON Lines; give it a name that ends in .jsonl")
    # The key is not written; the endpoint only says how this service wants its requests.
    endpoint = endpoint_of(f"openai:{model}", Settings({"OPENAI_API_KEY": Secret("none")}))
    # Reasoning models refuse a temperature, and nobody can adapt to that in a queue: it is there only if it is wanted.
    form = replace(endpoint.dialect, temperature=options.temperature is not None)
    prompts = Prompts(store.protocol, shots=options.shots, together=_together(store.protocol, options))
    count = 0
    with replacing(Path(path), overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8") as file:
        for count, (prompt_id, _, request) in enumerate(_prompts(store, prompts, options, limit), start=1):  # noqa: B007
            body = body_of(request, model, form).decode()
            head = f'{{"custom_id":{json.dumps(prompt_id)},"method":"POST","url":"/v1/chat/completions"'
            file.write(f'{head},"body":{body}}}\n')
    return count


def _prompts(
    store: Store, prompts: Prompts, options: RaterOptions, limit: int | None
) -> Iterator[tuple[str, RatingTask, Request]]:
    protocol = store.protocol
    together = _together(protocol, options)
    shots = len(protocol.examples) if options.shots is None else min(options.shots, len(protocol.examples))
    left = limit
    for number, (item, units) in enumerate(_work(store)):
        # Sentences that are asked about together are never torn apart by a limit.
        chosen = units if left is None or together else units[:left]
        for some in _calls(chosen, together):
            task = RatingTask(item, some)
            request = _request(prompts, task, options)
            position = 0 if together else task.units[0].position
            yield f"{number}.{position}.{shots}.{request.digest[:16]}", task, request
        left = None if left is None else left - len(chosen)
        if left is not None and left <= 0:
            return


def _together(protocol: Protocol, options: RaterOptions) -> bool:
    return options.together and protocol.rule.of == "sentence"


def _calls(units: Sequence[Unit], together: bool) -> Sequence[tuple[Unit, ...]]:
    """The units of each prompt: all of an item's, or one."""
    if together:
        return [tuple(units)] if units else []
    return [(unit,) for unit in units]


def _work(store: Store) -> Iterator[ItemUnits]:
    """Every item with all of its units, those without any included: items are numbered by their place."""
    items = store.items.all()
    while some := list(islice(items, GROUP)):
        units = store.items.units_of([item.id for item in some])
        yield from ((item, units.get(item.id, ())) for item in some)


def _request(prompts: Prompts, task: RatingTask, options: RaterOptions) -> Request:
    temperature = options.temperature or 0.0
    return prompts.request(
        task, max_tokens=options.max_tokens or 4096, temperature=temperature, seed=options.seed, logprobs=0
    )


@dataclass(frozen=True, slots=True)
class _Returned:
    """A reply that came back: its row, its prompt's id taken apart, and the reply or why there is none."""

    row: int
    item: int
    position: int
    shots: int
    digest: str
    reply: Reply | RaterFailure


def read_replies(store: Store, path: str | Path, rater: str) -> RaterCounters:
    """Bring the replies in a file into a study as ratings by `rater`: all of them, or, where a row is wrong, none.

    The file is the table that `write_prompts` made, with the replies filled in, or what a batch queue gave back. A
    reply that cannot be read is a failure with its reason. Rows without a reply are passed over.
    """
    ref = _rater(store, rater)
    table = open_table(path)
    _check(store, table)
    counters = RaterCounters(rater)
    problems = Problems(table.source)
    for some in _groups(_returned(table, problems)):
        tasks = _tasks(store, some, problems)
        replies, ratings = list[StoredReply](), list[Rating]()
        keys = [ReplyKey(request.digest, rater, _PARAMETERS) for _, _, request in tasks]
        before = store.replies.find(keys)
        for (returned, task, _), key in zip(tasks, keys, strict=True):
            kept = _kept(key, returned.reply, before.get(key))
            replies += [kept] if kept and kept is not before.get(key) else []
            for judgement in _judgements(store, task, returned.reply, kept):
                its_ratings = judgement.ratings(store.protocol, rater)
                counters.add_ratings(its_ratings)
                ratings += its_ratings
        store.replies.add(replies)
        store.ratings.add(ratings, raters=[ref], keep_same=True)
    return counters


def _rater(store: Store, name: str) -> RaterRef:
    """The rater that replies from files are kept under. Raises UserError for a name that others rate under."""
    named = named_rater(name)
    assert named is not None, "an empty name is refused"
    known = next((ref for ref in store.ratings.raters() if ref.id == named), None)
    if known is not None and known.kind is not Kind.MODEL:
        raise UserError(f"{named!r} is known here as a {known.kind}; replies are a model's: choose another rater id")
    if known is not None and known.config != CONFIG and has_rated(store, named):
        raise UserError(
            f"{named!r} has rated here in another way, by `evenhand judge` or from a file of ratings; both would "
            "be mixed with these: choose another rater id"
        )
    return RaterRef(named, Kind.MODEL, __version__, CONFIG)


def _check(store: Store, table: InputTable) -> None:
    """Read all of it once and store nothing. Raises InputError with every row that cannot be used."""
    problems = Problems(table.source)
    rows: dict[str, int] = {}
    for some in _groups(_returned(table, problems)):
        for returned, task, _ in _tasks(store, some, problems):
            first = min(rows.setdefault(unit.id, returned.row) for unit in task.units)
            if first != returned.row:
                what = f"row {first} has a reply about the same"
                problems.add(what, row=returned.row, fix="keep one reply for each unit")
    problems.raise_if_any()
    if not rows:
        raise InputError(table.source, "there is no reply in it; fill the column reply in first")


def _returned(table: InputTable, problems: Problems) -> Iterator[_Returned]:
    columns = {name.strip().casefold(): place for place, name in enumerate(table.columns)}
    queue = "custom_id" in columns
    name, content = ("custom_id", "response") if queue else ("id", "reply")
    if name not in columns or content not in columns:
        raise InputError(
            table.source,
            "the columns id and reply are needed, as `evenhand prompts` writes them, or custom_id and response, as a "
            f"batch queue does; there are: {', '.join(table.columns)}",
        )
    for row, cells in table.rows(problems):
        reply = _from_queue(cells, columns) if queue else _by_hand(cells[columns["reply"]])
        found = _ID.fullmatch(str(cells[columns[name]] or "").strip())
        if found is None:
            problems.add(f"{cells[columns[name]]!r} is not the id of a prompt", row=row, column=name,
                         fix="keep the ids that `evenhand prompts` wrote")  # fmt: skip
        elif reply is not None:
            item, position, shots = (int(found[part]) for part in ("item", "position", "shots"))
            yield _Returned(row, item, position, shots, found["digest"], reply)


def _by_hand(cell: object) -> Reply | None:
    if isinstance(cell, dict | list):
        return Reply(json.dumps(cell, ensure_ascii=False))
    text = "" if cell is None else str(cell)
    return Reply(text) if text.strip() else None


def _from_queue(cells: Sequence[object], columns: Mapping[str, int]) -> Reply | RaterFailure:
    """One line of a batch's output, or of its errors."""
    response = cells[columns["response"]]
    error = cells[columns["error"]] if "error" in columns else None
    fields = cast("dict[str, object]", response) if isinstance(response, dict) else {}
    status, body = fields.get("status_code"), fields.get("body")
    if status == 200 and not error:
        try:
            return reply_of(json.dumps(body).encode())
        except NotACompletion:
            return RaterFailure("the reply is not a chat completion", json.dumps(body))
    reason = f"request refused ({status})" if status else "the batch gave no reply"
    return RaterFailure(reason, json.dumps(error or body or response))


class _PromptForms:
    """Prompts by the number of worked examples and by whether they ask about all units of an item."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._known: dict[tuple[int, bool], Prompts] = {}

    def of(self, returned: _Returned) -> Prompts:
        together = returned.position == 0 and self._protocol.rule.of != "item"
        form = (returned.shots, together)
        if form not in self._known:
            self._known[form] = Prompts(self._protocol, shots=returned.shots, together=together)
        return self._known[form]


def _tasks(
    store: Store, some: Sequence[_Returned], problems: Problems
) -> Sequence[tuple[_Returned, RatingTask, Request]]:
    """What each reply is about, by the study as it is now."""
    there = store.items.count()
    inside = [returned for returned in some if returned.item < there]
    items = dict(zip((returned.item for returned in inside),
                     store.items.at([returned.item for returned in inside]), strict=True))  # fmt: skip
    units = store.items.units_of([item.id for item in items.values()])
    prompts = _PromptForms(store.protocol)
    found: list[tuple[_Returned, RatingTask, Request]] = []
    for returned in some:
        item = items.get(returned.item)
        its_units = units.get(item.id, ()) if item else ()
        chosen = [unit for unit in its_units if returned.position in (0, unit.position)]
        if item is not None and chosen:
            task = RatingTask(item, tuple(chosen))
            request = _request(prompts.of(returned), task, RaterOptions())
            if request.digest.startswith(returned.digest):
                found.append((returned, task, request))
                continue
        problems.add(
            "this prompt is not one of this study as it is now",
            row=returned.row,
            fix="another study, or its protocol has changed since; write the prompts again, or adopt the protocol they "
            "were made under",
        )
    return found


def _kept(key: ReplyKey, reply: Reply | RaterFailure, before: StoredReply | None) -> StoredReply | None:
    """The reply as it is to be stored; the one that is there where it says the same."""
    if isinstance(reply, RaterFailure):
        return None
    if before is not None and before.reply == reply:
        return before
    return StoredReply(new_id(), key, reply, now())


def _judgements(
    store: Store, task: RatingTask, reply: Reply | RaterFailure, kept: StoredReply | None
) -> Sequence[Judgement]:
    if isinstance(reply, RaterFailure) or kept is None:
        failure = reply if isinstance(reply, RaterFailure) else RaterFailure("empty reply")
        return [Judgement(unit, failure=failure) for unit in task.units]
    reading = read_reply(store.protocol, task, reply)
    return [judgement_of(unit, reading, replace(reply, id=kept.id)) for unit in task.units]


def _groups(returned: Iterator[_Returned]) -> Iterator[Sequence[_Returned]]:
    while some := list(islice(returned, GROUP)):
        yield some
