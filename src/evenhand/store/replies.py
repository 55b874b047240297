"""Replies of models: stored as they came, found again by what they answer."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, cast

from sqlalchemy import Connection, bindparam, select

from evenhand.errors import StudyError
from evenhand.llm.base import Choice, Reply, Usage
from evenhand.store.base import ReplyKey, StoredReply
from evenhand.store.rows import decode, encode, storable
from evenhand.store.schema import replies

_Row = tuple[int, str, int, str, str, str, int, str, str]
"""The columns of `replies` in their order."""

# Written once, as in `append`.
_COLUMNS = ", ".join(replies.columns.keys())
_LAST = "SELECT coalesce(max(seq), 0) FROM replies"
_BY_ID = select(replies).where(replies.c.id == bindparam("id"))
_BY_KEY = select(replies).where(replies.c.key.in_(bindparam("numbers", expanding=True)))


def append_replies(connection: Connection, location: str, batch: Sequence[StoredReply]) -> None:
    """Store those of a batch that are not there yet; of those that are, the numbers they would have had stay free."""
    for stored in batch:
        if not storable(stored.id) or not _storable(stored.key):
            raise StudyError(f"{location}: reply {stored.id!r}: its id or key has a character that cannot be stored")
    last: int = connection.exec_driver_sql(_LAST).scalar_one()
    rows = [_row(seq, stored) for seq, stored in enumerate(batch, last + 1)]
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    marks = ", ".join([mark] * len(replies.columns))
    connection.exec_driver_sql(f"INSERT INTO replies ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", rows)


def find_replies(connection: Connection, keys: Sequence[ReplyKey]) -> dict[ReplyKey, StoredReply]:
    """The last reply under each of these keys."""
    wanted = {key for key in keys if _storable(key)}
    if not wanted:
        return {}
    last: dict[ReplyKey, _Row] = {}
    for found in connection.execute(_BY_KEY, {"numbers": list(map(_number, wanted))}):
        row = cast("_Row", found)
        key = _key(row)
        if key in wanted and (key not in last or last[key][0] < row[0]):
            last[key] = row
    return {key: _stored(row, key) for key, row in last.items()}


def find_reply(connection: Connection, reply_id: str) -> StoredReply | None:
    found = connection.execute(_BY_ID, {"id": reply_id}).first() if storable(reply_id) else None
    if found is None:
        return None
    row = cast("_Row", found)
    return _stored(row, _key(row))


def _storable(key: ReplyKey) -> bool:
    return storable(key.prompt) and storable(key.model) and storable(key.parameters)


def _number(key: ReplyKey) -> int:
    """64 bits of a hash: keys that share it by chance are told apart by what the row says."""
    text = f"{key.prompt}\n{key.model}\n{key.parameters}\n{key.sample}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _key(row: _Row) -> ReplyKey:
    return ReplyKey(row[3], row[4], row[5], row[6])


def _row(seq: int, stored: StoredReply) -> _Row:
    key, at, body = stored.key, stored.at.isoformat(), reply_text(stored.reply)
    return seq, stored.id, _number(key), key.prompt, key.model, key.parameters, key.sample, at, body


def _stored(row: _Row, key: ReplyKey) -> StoredReply:
    return StoredReply(row[1], key, reply_from(row[8]), datetime.fromisoformat(row[7]))


def reply_text(reply: Reply) -> str:
    """A reply as JSON; what is not there is left out."""
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


def reply_from(text: str) -> Reply:
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
