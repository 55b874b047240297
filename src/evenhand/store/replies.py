"""Replies of models: stored as they came, found again by what they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, cast

from sqlalchemy import bindparam, select

from evenhand.errors import StudyError
from evenhand.llm.base import Choice, Reply, Usage
from evenhand.store.database import Database, batches, decode, encode
from evenhand.store.schema import replies, storable

_Row = tuple[int, str, int, str, str, str, int, str, str]
"""The columns of `replies` in their order."""

_BY_ID = select(replies).where(replies.c.id == bindparam("id"))
_BY_KEY = select(replies).where(replies.c.key.in_(bindparam("numbers", expanding=True)))
_COLUMNS = ", ".join(replies.columns.keys())


@dataclass(frozen=True, slots=True)
class ReplyKey:
    """What a reply answers: `prompt` is the digest of all the model read; `sample` distinguishes repeated requests."""

    prompt: str
    model: str
    parameters: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A model's reply as it is stored: nothing has been read from it yet."""

    id: str
    key: ReplyKey
    reply: Reply
    at: datetime


class Replies:
    """The replies of models.

    Append-only. When `add` returns, the replies are on the disk; when it raises, none of them is stored. A reply is
    known by its id: sent twice, it is stored once. Of several replies under one key the last one counts; the others
    stay.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, keys: Sequence[ReplyKey]) -> Mapping[ReplyKey, StoredReply]:
        """The last reply under each of these keys; a key without one is absent."""
        last: dict[ReplyKey, _Row] = {}
        for some in batches(keys):
            wanted = {key for key in some if _storable(key)}
            with self._database.reading() as connection:
                for found in connection.execute(_BY_KEY, {"numbers": list(map(_number, wanted))}):
                    row = cast("_Row", found)
                    key = _key(row)
                    if key in wanted and (key not in last or last[key][0] < row[0]):
                        last[key] = row
        return {key: _stored(row, key) for key, row in last.items()}

    def get(self, reply_id: str) -> StoredReply | None:
        with self._database.reading() as connection:
            row = cast("_Row | None", connection.execute(_BY_ID, {"id": reply_id}).first())
        return None if row is None else _stored(row, _key(row))

    def add(self, replies: Sequence[StoredReply]) -> None:
        """Store replies, in one transaction."""
        if not replies:
            return
        with self._database.transaction(lock=False) as connection:
            for stored in replies:
                if not storable(stored.id) or not _storable(stored.key):
                    raise StudyError(f"reply {stored.id!r}: its id or key has a character that cannot be stored")
            if connection.dialect.name != "sqlite":
                # Replies are numbered one writer at a time, but no writer of ratings waits for it.
                connection.exec_driver_sql("LOCK TABLE replies IN SHARE ROW EXCLUSIVE MODE")
            last: int = connection.exec_driver_sql("SELECT coalesce(max(seq), 0) FROM replies").scalar_one()
            rows = [_row(seq, stored) for seq, stored in enumerate(replies, last + 1)]
            mark = "?" if connection.dialect.name == "sqlite" else "%s"
            marks = ", ".join([mark] * len(rows[0]))
            # The numbers of replies that are stored already stay free.
            connection.exec_driver_sql(
                f"INSERT INTO replies ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", rows
            )


def _storable(key: ReplyKey) -> bool:
    return storable(key.prompt) and storable(key.model) and storable(key.parameters)


def _number(key: ReplyKey) -> int:
    """64 bits of a hash: keys that share it by chance are told apart by the other columns."""
    text = f"{key.prompt}\n{key.model}\n{key.parameters}\n{key.sample}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _key(row: _Row) -> ReplyKey:
    return ReplyKey(row[3], row[4], row[5], row[6])


def _row(seq: int, stored: StoredReply) -> _Row:
    key, at, body = stored.key, stored.at.isoformat(), _text(stored.reply)
    return seq, stored.id, _number(key), key.prompt, key.model, key.parameters, key.sample, at, body


def _stored(row: _Row, key: ReplyKey) -> StoredReply:
    return StoredReply(row[1], key, _reply(row[8]), datetime.fromisoformat(row[7]))


def _text(reply: Reply) -> str:
    """A reply as JSON; what is missing is left out."""
    body: dict[str, object] = {"text": reply.text, "finish": reply.finish}
    if reply.model:
        body["model"] = reply.model
    if reply.usage is not None:
        body["usage"] = (reply.usage.input, reply.usage.output, reply.usage.cached)
    if reply.choices:
        body["choices"] = [(choice.offset, choice.text, choice.alternatives) for choice in reply.choices]
    if reply.seconds is not None:
        body["seconds"] = reply.seconds
    return encode(body)


def _reply(text: str) -> Reply:
    body: dict[str, Any] = decode(text)
    return Reply(
        text=body["text"],
        finish=body["finish"],
        usage=Usage(*body["usage"]) if "usage" in body else None,
        model=body.get("model", ""),
        choices=tuple(
            Choice(offset, chosen, tuple((other, odds) for other, odds in alternatives))
            for offset, chosen, alternatives in body.get("choices", ())
        ),
        seconds=body.get("seconds"),
    )
