"""Raters built from their specs, outside a run: their chats are not recorded."""

from evenhand.llm.base import Chat
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions
from evenhand.raters.registry import RaterContext, rater_of
from evenhand.run.recorded_chat import connect_model


def build(spec: str, protocol: Protocol, options: RaterOptions = RATER_DEFAULTS) -> Rater:
    def connect(target: str | Chat) -> Chat:
        return connect_model(target, RUN_DEFAULTS, print) if isinstance(target, str) else target

    return rater_of(spec, RaterContext(protocol, connect, options))
