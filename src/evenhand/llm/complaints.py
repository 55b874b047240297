"""What a server says is wrong, from the shapes in which servers say it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

# Longer messages quote the prompt, whose words say nothing about the request.
READ = 400

_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


@dataclass(frozen=True, slots=True)
class Complaint:
    """`message`, `param` (the part of the request it is about) and `code` are in lower case; `said` is as it came."""

    message: str = ""
    param: str | None = None
    code: str = ""
    said: str = ""
    delay: float | None = None
    """Seconds to wait, where the body says so."""
    status: int | None = None
    """The status that the body gives, which counts where it travels inside a good one."""


def complaint_of(text: str) -> Complaint:
    """The error in a body; an empty one where the body has none."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return Complaint(message=text[:READ].lower(), said=text[:READ])
    if isinstance(body, list) and body:
        body = cast("list[object]", body)[0]
    if not isinstance(body, dict):
        return Complaint()
    fields = cast("dict[str, object]", body)
    error = fields.get("error")
    inner = cast("dict[str, object]", error) if isinstance(error, dict) else fields
    said = _message(error if isinstance(error, str) else inner.get("message", fields.get("detail", "")))[:READ]
    param = inner.get("param")
    code = inner.get("code")
    kinds = [inner.get(key) for key in ("code", "type", "status")]
    delay = _DELAY.search(text)
    return Complaint(
        message=said.lower(),
        param=param.lower().split(".")[0] if isinstance(param, str) and param else None,
        code=" ".join(kind.lower() for kind in kinds if isinstance(kind, str)),
        said=said,
        delay=float(delay[1]) if delay else None,
        status=code if error is not None and isinstance(code, int) and 400 <= code < 600 else None,
    )


def _message(value: object) -> str:
    """A message, or the list of places and messages that FastAPI gives, without the input that it quotes."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    lines: list[str] = []
    for entry in cast("Sequence[object]", value):
        if isinstance(entry, dict):
            fields = cast("Mapping[str, object]", entry)
            place = fields.get("loc")
            where = ".".join(map(str, cast("list[object]", place))) if isinstance(place, list) else ""
            lines.append(f"{where}: {fields.get('msg', '')}")
    return "; ".join(lines)
