"""Which parts of a request a server takes, learned from its refusals."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.llm.base import Request
from evenhand.llm.complaints import Complaint
from evenhand.llm.endpoints import Endpoint, LimitName

Structure = Literal["json_schema", "json_object", "none"]

_STRUCTURE = re.compile(r"response_format|json_schema|json_object|guided_json|structured_outputs?")
_LOOSELY = re.compile(r"\b(?:schema|strict|grammar|structured output)")
_REFUSED = re.compile(r"support|unrecogni|unknown|unexpected|allow|permit|enabled|default|deprecat|extra|cannot find")
_TOO_LONG = re.compile(r"context|too (?:large|long|many)|at most|exceed|reduce")


@dataclass(frozen=True, slots=True)
class Form:
    """What requests to one server are made of. `limits` are names of the token limit; the first one is in use."""

    structure: Structure
    limits: tuple[LimitName, ...]
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True
    hottest: float = 2.0


def first_form(endpoint: Endpoint) -> Form:
    """All that the server may take, as far as is known before it was asked."""
    other: LimitName = "max_tokens" if endpoint.limit == "max_completion_tokens" else "max_completion_tokens"
    return Form(
        structure="json_schema" if endpoint.structured else "none",
        limits=(endpoint.limit, other),
        seed=endpoint.seed,
        logprobs=endpoint.logprobs,
        hottest=endpoint.hottest,
    )


def lesser_form(form: Form, request: Request, complaint: Complaint) -> tuple[Form, str] | None:
    """The form without what the server complained of, and that in words; None where it complained of something else.

    Only what the request really had can have been refused. A reply that would be too long is no fault of the form.
    """
    structured = request.schema is not None and form.structure != "none"
    if structured and _says(complaint, _STRUCTURE):
        return _looser(form)
    if len(form.limits) > 1 and _names(complaint, form.limits[0]) and not _TOO_LONG.search(complaint.message):
        return replace(form, limits=form.limits[1:]), f"{form.limits[0]} (now {form.limits[1]})"
    if form.temperature and _names(complaint, "temperature"):
        return replace(form, temperature=False), "temperature"
    if form.logprobs and request.logprobs and (_names(complaint, "logprobs") or _names(complaint, "top_logprobs")):
        return replace(form, logprobs=False), "logprobs"
    if form.seed and request.seed is not None and _names(complaint, "seed"):
        return replace(form, seed=False), "seed"
    if structured and _says(complaint, _LOOSELY):
        return _looser(form)
    return None


def _looser(form: Form) -> tuple[Form, str]:
    if form.structure == "json_schema":
        return replace(form, structure="json_object"), "json_schema (now json_object)"
    return replace(form, structure="none"), "response_format"


def _says(complaint: Complaint, words: re.Pattern[str]) -> bool:
    return bool(words.search(complaint.param or complaint.message))


def _names(complaint: Complaint, part: str) -> bool:
    """Whether the part is what is complained of: a message may also quote a prompt that has the same word in it."""
    if complaint.param:
        return complaint.param == part
    return bool(re.search(rf"\b{part}\b", complaint.message) and _REFUSED.search(complaint.message))
