"""Prompts out to a file, replies back in: for a chat window, a service's batch queue, or a program of one's own.

A prompt's id says which part of the study it is about, how many worked examples it shows, and what it reads: a reply
that comes back for a prompt that would read otherwise by now is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, cast

from evenhand.errors import InputError, Problems, RaterFailure, UserError
from evenhand.files import replacing
from evenhand.formats.ratings.ratings_reader import named_rater
from evenhand.formats.tables.table import InputTable, Sheet
from evenhand.formats.tables.table_files import open_table, write_table
from evenhand.llm.base import Reply, Request
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.wire import NotACompletion, body_of, reply_of
from evenhand.protocol.completion import Judgement, ratings_of
from evenhand.raters.llm_judge.parse import read_reply
from evenhand.raters.llm_judge.prompt import TOGETHER, PromptCase, Prompts
from evenhand.raters.options import RaterOptions
from evenhand.records import Kind, RaterRef, Rating, new_id, now
from evenhand.run.progress import RaterCounters
from evenhand.run.worker import check_name
from evenhand.settings import Settings
from evenhand.store.database import batches
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store
from evenhand.store.work import limited
from evenhand.text import quoted, some_of
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
    rows = (
        (prompt_id, case.item.id, ", ".join(str(unit.position) for unit in case.units), prompts.text(case), None)
        for prompt_id, case, _, prompts in _prompts(store, options, limit)
    )
    return write_table(path, Sheet(COLUMNS, rows), overwrite=overwrite)


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
    # The endpoint only says how this service wants its requests.
    endpoint = endpoint_of(f"openai:{model}", Settings(), need_key=False)
    # Reasoning models refuse a temperature, and nobody can adapt to that in a queue: it is there only if it is wanted.
    form = replace(endpoint.dialect, temperature=options.temperature is not None)
    count = 0
    with replacing(Path(path), overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8") as file:
        for prompt_id, _, request, _ in _prompts(store, options, limit):
            body = body_of(request, model, form).decode()
            head = f'{{"custom_id":{json.dumps(prompt_id)},"method":"POST","url":"/v1/chat/completions"'
            file.write(f'{head},"body":{body}}}\n')
            count += 1
    return count


def _prompts(
    store: Store, options: RaterOptions, limit: int | None
) -> Iterator[tuple[str, PromptCase, Request, Prompts]]:
    """Each prompt's id, what it is about, and its request, with the prompts that made it."""
    protocol = store.protocol
    together = options.together and protocol.rule.of in TOGETHER
    prompts = Prompts(protocol, shots=options.shots, together=together)
    shots = len(protocol.examples) if options.shots is None else min(options.shots, len(protocol.examples))
    for number, (item, units) in enumerate(limited(store.items.work(), limit, together)):
        for some in [units] if together and units else [[unit] for unit in units]:
            case = PromptCase.of(protocol, item, some)
            request = prompts.request(
                case,
                max_tokens=options.max_tokens or 4096,
                temperature=options.temperature or 0.0,
                seed=options.seed,
            )
            position = 0 if together else some[0].position
            yield f"{number}.{position}.{shots}.{request.digest[:16]}", case, request, prompts


def read_replies(store: Store, path: str | Path, rater: str) -> RaterCounters:
    """Bring the replies in a file into a study as ratings by `rater`: all of them, or, where a row is wrong, none.

    The file is the table that `write_prompts` made, with the replies filled in, or what a batch queue gave back. A
    reply that cannot be read is a failure with its reason. Rows without a reply are passed over.
    """
    ref = _rater(store, rater)
    table = open_table(path)
    _check(store, table)
    counters = RaterCounters(rater)
    for group in _returned(store, table, Problems(table.source)):
        replies, ratings = list[StoredReply](), list[Rating]()
        keys = [ReplyKey(one.digest, rater, _PARAMETERS) for one in group]
        stored = dict(store.replies.find(keys))
        for one, key in zip(group, keys, strict=True):
            case, reply = one.case, one.reply
            if isinstance(reply, RaterFailure):
                judgements: Sequence[Judgement] = [Judgement(unit, failure=reply) for unit in case.units]
            else:
                if key not in stored or stored[key].reply != reply:
                    stored[key] = StoredReply(new_id(), key, reply, now())
                    replies.append(stored[key])
                judgements = read_reply(store.protocol, case, reply).judgements(case, replace(reply, id=stored[key].id))
            for judgement in judgements:
                its_ratings = ratings_of(store.protocol, rater, judgement)
                counters.add_ratings(its_ratings)
                ratings += its_ratings
        store.replies.add(replies)
        store.ratings.add(ratings, raters=[ref], keep_same=True)
    return counters


def _rater(store: Store, name: str) -> RaterRef:
    """The rater that replies from files are kept under. Raises UserError for a name that others rate under."""
    named = named_rater(name)
    assert named is not None, "an empty name is refused"
    ref = RaterRef(named, Kind.MODEL, __version__, CONFIG)
    check_name(store, ref, {"spec": CONFIG}, "--rater ID")
    return ref


class _Returned(NamedTuple):
    """A reply that came back, or why there is none, with its row and what it is about."""

    row: int
    case: PromptCase
    digest: str
    reply: Reply | RaterFailure


def _check(store: Store, table: InputTable) -> None:
    """Read all of it once and store nothing. Raises InputError with every row that cannot be used."""
    problems = Problems(table.source)
    rows: dict[str, int] = {}
    for row, case, *_ in chain.from_iterable(_returned(store, table, problems)):
        first = min(rows.setdefault(unit.id, row) for unit in case.units)
        if first != row:
            problems.add(f"row {first} has a reply about the same", row=row, fix="keep one reply for each unit")
    problems.raise_if_any()
    if not rows:
        raise InputError(table.source, "there is no reply in it; fill the column reply in first")


def _returned(store: Store, table: InputTable, problems: Problems) -> Iterator[Sequence[_Returned]]:
    """The replies with what they are about, by the study as it is now, some at a time."""

    @cache
    def prompts(shots: int, together: bool) -> Prompts:
        return Prompts(store.protocol, shots=shots, together=together)

    count = store.items.count()
    for some in batches(_rows(table, problems), GROUP):
        numbers = [number for number in (int(found["item"]) for _, found, _ in some) if number < count]
        items = dict(zip(numbers, store.items.at(numbers), strict=True))
        units = store.items.units_of([item.id for item in items.values()])
        group = list[_Returned]()
        for row, found, reply in some:
            number, position, shots = (int(found[part]) for part in ("item", "position", "shots"))
            item = items.get(number)
            chosen = [unit for unit in (units.get(item.id, ()) if item else ()) if position in (0, unit.position)]
            if item is not None and chosen:
                case = PromptCase.of(store.protocol, item, chosen)
                together = position == 0 and store.protocol.rule.of != "item"
                digest = prompts(shots, together).request(case).digest
                if digest.startswith(found["digest"]):
                    group.append(_Returned(row, case, digest, reply))
                    continue
            problems.add(
                "this prompt is not one of this study as it is now",
                row=row,
                fix="another study, or its protocol has changed since; write the prompts again, or adopt the protocol "
                "they were made under",
            )
        yield group


def _rows(table: InputTable, problems: Problems) -> Iterator[tuple[int, re.Match[str], Reply | RaterFailure]]:
    """Rows with a reply: number, the parts of the prompt's id, and the reply or why there is none."""
    columns = {name.strip().casefold(): place for place, name in enumerate(table.columns)}
    queue = "custom_id" in columns
    name, content = ("custom_id", "response") if queue else ("id", "reply")
    if name not in columns or content not in columns:
        raise InputError(
            table.source,
            "the columns id and reply are needed, as `evenhand prompts` writes them, or custom_id and response, as a "
            f"batch queue does; there are: {some_of(table.columns)}",
        )
    for row, cells in table.rows(problems):
        cell = {column: cells[place] for column, place in columns.items()}
        reply = _from_queue(cell) if queue else _by_hand(cell["reply"])
        found = _ID.fullmatch(str(cell[name] or "").strip())
        if found is None:
            fix = "keep the ids that `evenhand prompts` wrote"
            problems.add(f"{quoted(cell[name])} is not the id of a prompt", row=row, column=name, fix=fix)
        elif reply is not None:
            yield row, found, reply


def _by_hand(cell: object) -> Reply | None:
    if isinstance(cell, dict | list):
        return Reply(json.dumps(cell, ensure_ascii=False))
    text = "" if cell is None else str(cell)
    return Reply(text) if text.strip() else None


def _from_queue(cell: Mapping[str, object]) -> Reply | RaterFailure:
    """One line of a batch's output, or of its errors."""
    response, error = cell["response"], cell.get("error")
    fields = cast("dict[str, object]", response) if isinstance(response, dict) else {}
    status, body = fields.get("status_code"), fields.get("body")
    if status == 200 and not error:
        try:
            return reply_of(json.dumps(body).encode())
        except NotACompletion:
            return RaterFailure("the reply is not a chat completion", json.dumps(body))
    reason = f"request refused ({status})" if status else "the batch gave no reply"
    return RaterFailure(reason, json.dumps(error or body or response))
