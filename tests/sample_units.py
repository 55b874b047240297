"""The questions or claims that belong to a bundled sample."""

from importlib.resources import files
from pathlib import Path
from typing import TypedDict

from evenhand.formats.derived_units import DerivedUnits, read_claims, read_questions
from evenhand.protocol.load import load_protocol
from evenhand.units import Claim, Question


class GivenUnits(TypedDict, total=False):
    """Arguments of `Study.create`."""

    questions: DerivedUnits[Question]
    claims: DerivedUnits[Claim]


def units_of_sample(name: str) -> GivenUnits:
    folder = Path(str(files("evenhand.samples").joinpath(name)))
    questions, claims = folder / "questions.json", folder / "claims.json"
    if questions.exists():
        return {"questions": read_questions(questions)}
    return {"claims": read_claims(claims, load_protocol(name))} if claims.exists() else {}
