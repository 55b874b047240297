"""Replies of models: stored as they came, found again by what they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from sqlalchemy import bindparam, select

from evenhand.llm.base import Choice, Reply, Usage
from evenhand.store.database import BATCH, Database, decode, encode, insert_rows, next_seq
from evenhand.store.schema import replies

_BY_ID = select(replies).where(replies.c.id == bindparam("id"))
_BY_KEY = select(replies).where(replies.c.key.in_(bindparam("numbers", expanding=True))).order_by(replies.c.seq)


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


@dataclass
class Replies:
    """The replies of models, append-only. When `add` returns, they are on the disk; when it raises, none is stored. A
    reply is known by its id: sent twice, it is stored once. Of several under one key the last one counts."""

    _database: Database

    def find(self, keys: Sequence[ReplyKey]) -> Mapping[ReplyKey, StoredReply]:
        """The last reply under each of these keys; a key without one is absent."""
        last: dict[ReplyKey, Any] = {}
        for start in range(0, len(keys), BATCH):
            asked = {"numbers": list(map(_number, keys[start : start + BATCH]))}
            last |= {_key(row): row for row in self._database.read(_BY_KEY, asked)}
        return {key: _stored(last[key]) for key in keys if key in last}

    def get(self, reply_id: str) -> StoredReply | None:
        return next(map(_stored, self._database.read(_BY_ID, {"id": reply_id})), None)

    def add(self, sent: Sequence[StoredReply]) -> None:
        """Store replies, in one transaction."""
        with self._database.transaction(lock=False) as connection:
            if connection.dialect.name != "sqlite":
                # Replies are numbered one writer at a time, but no writer of ratings waits for it.
                connection.exec_driver_sql("LOCK TABLE replies IN SHARE ROW EXCLUSIVE MODE")
            # The numbers of replies that are stored already stay free.
            rows = [_row(seq, stored) for seq, stored in enumerate(sent, next_seq(connection, replies))]
            insert_rows(connection, replies, rows, skip_known=True)


def _number(key: ReplyKey) -> int:
    """64 bits of a hash: keys that share it by chance are told apart by the other columns."""
    text = f"{key.prompt}\n{key.model}\n{key.parameters}\n{key.sample}"
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _key(row: Any) -> ReplyKey:
    return ReplyKey(row.prompt, row.model, row.parameters, row.sample)


def _row(seq: int, stored: StoredReply) -> tuple[Any, ...]:
    key, reply = stored.key, stored.reply
    body: dict[str, object] = {"text": reply.text, "finish": reply.finish}
    if reply.model:
        body["model"] = reply.model
    if reply.usage is not None:
        body["usage"] = (reply.usage.input, reply.usage.output, reply.usage.cached)
    if reply.choices:
        body["choices"] = [(choice.offset, choice.text, choice.alternatives) for choice in reply.choices]
    if reply.seconds is not None:
        body["seconds"] = reply.seconds
    names = key.prompt, key.model, key.parameters, key.sample
    return seq, stored.id, _number(key), *names, stored.at.isoformat(), encode(body)


def _stored(row: Any) -> StoredReply:
    body: dict[str, Any] = decode(row.body)
    body["usage"] = Usage(*body["usage"]) if "usage" in body else None
    body["choices"] = tuple(
        Choice(offset, chosen, tuple(map(tuple, alternatives)))
        for offset, chosen, alternatives in body.get("choices", ())
    )
    return StoredReply(row.id, _key(row), Reply(**body), datetime.fromisoformat(row.at))
