"""The column `check` of the files that go out and come back: which protocol and which texts a row was made for.

A rating file carries no protocol. Without this column, a sheet made under another wording, or for other items with the
same ids, would come back as if nothing had happened.
"""

import re

from evenhand.formats.items import content_hash
from evenhand.formats.tables.cells import text_of
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Unit
from evenhand.text import quoted

CHECK = "check"

DIGITS = 12
"""Of the protocol's digest: the check of a rating in a long file, and the beginning of any other."""
_PATTERN = re.compile(r"(?P<protocol>[0-9a-f]{12})(?:-(?P<content>[0-9a-f]{8}))?")
_ANYWAY = f"or delete the column {CHECK} to import the file anyway"


def unit_check(protocol: Protocol, item: Item, unit: Unit) -> str:
    """The check of a row to fill in: the digest, and a hash of everything that the rater is shown."""
    return f"{protocol.digest[:DIGITS]}-{_content_hash(protocol, item, unit)}"


def refused(content: object, protocol: Protocol, item: Item | None, unit: Unit | None) -> tuple[str, str] | None:
    """What is wrong with a row's check and what to do about it; None if it fits. A blank one is ignored."""
    try:
        text = (text_of(content) or "").strip()
    except ValueError as error:
        return f"{error}; a check is one", f"leave it as it was, {_ANYWAY}"
    found = _PATTERN.fullmatch(text)
    if not text:
        return None
    if found is None:
        return f"{quoted(text)} is not a check that Evenhand wrote", f"leave it as it was, {_ANYWAY}"
    here = protocol.digest[:DIGITS]
    if found["protocol"] != here:
        return (
            f"made under another version of the protocol: its digest begins with {found['protocol']}, and that of the "
            f"current protocol with {here}",
            f"go back to that version with: evenhand protocol adopt STUDY {found['protocol']}, {_ANYWAY}",
        )
    if found["content"] is None or item is None or unit is None:
        return None
    if found["content"] != _content_hash(protocol, item, unit):
        what = "this sheet was made for other items or other texts: the study has something else under this id"
        return what, f"import it into the study it was made from, {_ANYWAY}"
    return None


def _content_hash(protocol: Protocol, item: Item, unit: Unit) -> str:
    shown = {name: item.fields[name] for name in protocol.shown_fields if name in item.fields}
    return content_hash([shown, unit.text], 4)
