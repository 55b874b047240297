"""Evenhand rates generated text against its evidence and reports how far each rater can be trusted.

The public names are those in `__all__`. They are loaded when first used, so that `import evenhand` and the command
line start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.errors import EvenhandError, InputError, ProtocolError, RaterFailure, StudyError, UserError
    from evenhand.evaluate_model.evaluator import EvaluateModel
    from evenhand.formats.items import ItemSource, items_from_frame, read_items
    from evenhand.generation.load import available_generators, load_generator
    from evenhand.generation.model import Generator
    from evenhand.item_generation import generate
    from evenhand.protocol.guideline import guideline
    from evenhand.protocol.load import available, load_protocol, read_protocol
    from evenhand.protocol.model import Protocol
    from evenhand.records import Answer, Item, Kind, RaterRef, Rating, Span, Status, Triple, Unit
    from evenhand.results import (
        AgreementResult,
        CalibrationResult,
        ComparisonResult,
        GenerationResult,
        ImportResult,
        MeasuresResult,
        ReportResult,
        RunEstimate,
        RunResult,
        TrustResult,
    )
    from evenhand.study import Study
    from evenhand.units import Claim, Question

__all__ = [
    "AgreementResult",
    "Answer",
    "CalibrationResult",
    "Claim",
    "ComparisonResult",
    "EvaluateModel",
    "EvenhandError",
    "GenerationResult",
    "Generator",
    "ImportResult",
    "InputError",
    "Item",
    "ItemSource",
    "Kind",
    "MeasuresResult",
    "Protocol",
    "ProtocolError",
    "Question",
    "RaterFailure",
    "RaterRef",
    "Rating",
    "ReportResult",
    "RunEstimate",
    "RunResult",
    "Span",
    "Status",
    "Study",
    "StudyError",
    "Triple",
    "TrustResult",
    "Unit",
    "UserError",
    "__version__",
    "available",
    "available_generators",
    "generate",
    "guideline",
    "items_from_frame",
    "load_generator",
    "load_protocol",
    "read_items",
    "read_protocol",
]

_NAMES_BY_MODULE = {
    "errors": "EvenhandError InputError ProtocolError RaterFailure StudyError UserError",
    "evaluate_model.evaluator": "EvaluateModel",
    "formats.items": "ItemSource items_from_frame read_items",
    "item_generation": "generate",
    "generation.load": "available_generators load_generator",
    "generation.model": "Generator",
    "protocol.guideline": "guideline",
    "protocol.load": "available load_protocol read_protocol",
    "protocol.model": "Protocol",
    "records": "Answer Item Kind RaterRef Rating Span Status Triple Unit",
    "results": (
        "AgreementResult CalibrationResult ComparisonResult GenerationResult ImportResult MeasuresResult ReportResult "
        "RunEstimate RunResult TrustResult"
    ),
    "study": "Study",
    "units": "Claim Question",
}
_MODULES = {name: f"evenhand.{module}" for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
