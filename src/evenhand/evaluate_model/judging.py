"""A model as a judge over a study: the one place where `EvaluateModel` meets raters and runs."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from evenhand.errors import NotAStudyError, StudyError, UserError
from evenhand.formats.items import Items
from evenhand.llm.base import Chat, RunError
from evenhand.llm.hugging_face import HuggingFaceChat
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judge, Task
from evenhand.raters.llm_judge import LlmJudge
from evenhand.raters.options import Asking, Calling
from evenhand.raters.prompt import Prompts
from evenhand.raters.registry import Workshop, judge_of
from evenhand.records import Item
from evenhand.run.judge import judge
from evenhand.run.order import Order
from evenhand.run.prices import parse_prices, prices_of
from evenhand.settings import Settings
from evenhand.study import Study
from evenhand.units import split

DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def device_of(device: str) -> str:
    """The device under the name that models know it by; `automap` is another word for `auto`."""
    name = "auto" if device == "automap" else device
    if not DEVICE.fullmatch(name):
        raise UserError(f"device: {device!r} is not known; valid are automap, auto, cpu, cuda, cuda:0, cuda:1, …, mps")
    return name


def prompts_of(protocol: Protocol, items: Sequence[Item]) -> list[str]:
    """The whole prompt of each item as one text, to be sent to a model by hand."""
    prompts = Prompts(protocol)
    return [prompts.text(Task(item, tuple(split(protocol, item)))) for item in items]


def make_judge(model: object, tokenizer: object | None, device: str, protocol: Protocol, asking: Asking) -> Judge:
    """The judge for a rater spec, a chat, or a Hugging Face model with its tokenizer."""
    if isinstance(model, str):
        if tokenizer is not None:
            raise UserError("tokenizer: it goes with a loaded model; with the name of a model, leave it out")
        settings = Settings.from_environment(os.environ)
        return judge_of(model, protocol, Workshop(settings, asking, Calling(device=device)))
    if tokenizer is not None:
        chat = HuggingFaceChat.of(model, tokenizer, device=device)
        return LlmJudge(chat.model, chat, protocol, asking, bounded=True)
    if hasattr(model, "complete") and hasattr(model, "pace"):
        known = cast("Chat", model)
        return LlmJudge(known.model, known, protocol, asking, bounded=False)
    raise UserError(
        f"model: a {type(model).__name__} without a tokenizer cannot be asked; give tokenizer=…, or as model a rater "
        "spec such as 'openai:MODEL', 'http://127.0.0.1:8080/v1#MODEL' or 'hf:FOLDER'"
    )


def run_judge(
    study: Study, rater: Judge, *, limit: int | None, again: bool, max_cost: float | None, price: str | None = None
) -> str | None:
    """Rate what is not rated yet; the answer says why it ended early, where it did.

    Raises UserError where no call can succeed; what came before is in the study.
    """
    said = parse_prices([price] if price else [])
    order = Order(limit=limit, again=again, max_cost=max_cost, prices=prices_of(rater.chats, said))
    outcome = judge(study, [rater], order)
    if isinstance(outcome.why, KeyboardInterrupt):
        raise outcome.why
    if isinstance(outcome.why, RunError):
        raise UserError(f"{rater.ref.id}: {outcome.why}") from outcome.why
    return None if outcome.why is None else str(outcome.why)


def study_at(location: str | Path, protocol: Protocol, items: Items, ids: Sequence[str]) -> Study:
    """The study at a place, made there where none is. One with another protocol or other items is refused."""
    study = _opened(location)
    if study is None:
        return Study.create(location, protocol, items)
    wrong = None
    if study.protocol.digest != protocol.digest:
        wrong = f"it rates under another protocol, {study.protocol.name} {study.protocol.digest[:12]}"
    elif [item.id for item in study.items()] != list(ids):
        wrong = "it holds other items than this dataset"
    if wrong:
        study.close()
        raise StudyError(f"{location}: this study cannot be gone on with: {wrong}; give another name for a new one")
    return study


def _opened(location: str | Path) -> Study | None:
    if "://" not in str(location):
        return Study.open(location) if Path(location).exists() else None
    try:
        return Study.open(location)
    except NotAStudyError:
        return None
