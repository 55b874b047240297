"""Evenhand rates generated text against its evidence and says how far each rater can be trusted.

The public names are those in `__all__`. They are loaded when first used, so that `import evenhand` and the command
line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.errors import EvenhandError, InputError, ProtocolError, StudyError, UserError
    from evenhand.evaluate_model.pipeline import EvaluateModel
    from evenhand.formats.frames import items_from_frame
    from evenhand.formats.items import Items, read_items
    from evenhand.protocol.guideline import guideline
    from evenhand.protocol.load import available, load_protocol, read_protocol
    from evenhand.protocol.model import Protocol
    from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Triple, Unit
    from evenhand.reporting import make_report, write_report
    from evenhand.study import Study

_HOME = {
    "EvaluateModel": "evenhand.evaluate_model.pipeline",
    "EvenhandError": "evenhand.errors",
    "InputError": "evenhand.errors",
    "Item": "evenhand.records",
    "Items": "evenhand.formats.items",
    "Kind": "evenhand.records",
    "Protocol": "evenhand.protocol.model",
    "ProtocolError": "evenhand.errors",
    "RaterRef": "evenhand.records",
    "Rating": "evenhand.records",
    "Span": "evenhand.records",
    "Status": "evenhand.records",
    "Study": "evenhand.study",
    "StudyError": "evenhand.errors",
    "Triple": "evenhand.records",
    "Unit": "evenhand.records",
    "UserError": "evenhand.errors",
    "available": "evenhand.protocol.load",
    "guideline": "evenhand.protocol.guideline",
    "items_from_frame": "evenhand.formats.frames",
    "load_protocol": "evenhand.protocol.load",
    "make_report": "evenhand.reporting",
    "read_items": "evenhand.formats.items",
    "read_protocol": "evenhand.protocol.load",
    "write_report": "evenhand.reporting",
}

__all__ = [
    "EvaluateModel",
    "EvenhandError",
    "InputError",
    "Item",
    "Items",
    "Kind",
    "Protocol",
    "ProtocolError",
    "RaterRef",
    "Rating",
    "Span",
    "Status",
    "Study",
    "StudyError",
    "Triple",
    "Unit",
    "UserError",
    "__version__",
    "available",
    "guideline",
    "items_from_frame",
    "load_protocol",
    "make_report",
    "read_items",
    "read_protocol",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
