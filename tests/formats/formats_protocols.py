"""Small protocols and studies in memory for the tests of the formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.formats.ratings.ratings_reader import RatingsFile
from evenhand.formats.tables.table_files import open_table
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Rating, Unit

SUPPORT = read_protocol(
    """
name: support
version: "1"
title: Support
item:
  fields:
    question: {role: context, aliases: [query]}
    context: {role: evidence, kind: passages, delimiter: "|||"}
    answer: {role: rated}
    gold: {role: reference, required: false, shown: false}
    domain: {role: context, kind: label, required: false}
strata: [domain]
criteria:
  - id: support
    question: Does the context support the answer?
    columns: [human_label]
    model_columns: {auto_label: auto}
    scale:
      type: nominal
      labels:
        SUPPORTED: {definition: every claim is there}
        CONTRADICTED: {definition: something is said otherwise}
        NO EVIDENCE: {definition: nothing is there}
ask: {notes: optional}
""",
    "support.yaml",
)

GRADES = read_protocol(
    """
name: grades
version: "1"
title: Grades
item:
  fields:
    feedback: {role: rated}
    criterion: {role: context, required: false}
criteria:
  - id: clarity
    question: Is it clear?
    scale: &scale
      type: ordinal
      levels:
        1: {label: Bad, anchor: not at all}
        2: {label: Poor, anchor: hardly}
        3: {label: Fair, anchor: in part}
        4: {label: Good, anchor: mostly}
        5: {label: Excellent, anchor: fully}
  - {id: tone, question: "Is it kind?", scale: *scale}
  - {id: overall, question: "All in all?", overall: true, scale: *scale}
  - {id: improvements, question: "What would be better?", required: false, scale: {type: text}}
ask: {rationale: required, confidence: required, notes: optional}
""",
    "grades.yaml",
)

SENTENCES = read_protocol(
    """
name: sentences
version: "1"
title: Sentences
item:
  fields:
    response: {role: rated}
    facts: {role: evidence, kind: triples, required: false}
unit: sentence of response
criteria:
  - id: accuracy
    question: Is it accurate?
    scale:
      type: nominal
      labels:
        Accurate: {definition: it is}
        Inaccurate: {definition: it is not}
        "Can't say": {definition: no claim}
  - id: severity
    question: Is it severe?
    when: {criterion: accuracy, any_of: [Inaccurate]}
    scale:
      type: nominal
      labels: {Severe: {definition: it is}, Not severe: {definition: it is not}}
  - id: urgency
    question: How urgent is it?
    when: {criterion: severity, any_of: [Severe]}
    scale:
      type: ordinal
      levels: {1: {label: Low, anchor: l}, 2: {label: High, anchor: h}}
""",
    "sentences.yaml",
)


def item_units(*ids: str) -> Mapping[str, Sequence[Unit]]:
    return {item_id: [Unit(item_id, item_id, 1)] for item_id in ids}


def sentence_units(item_id: str, *sentences: str) -> Mapping[str, Sequence[Unit]]:
    units = [Unit(f"{item_id}#{n}", item_id, n, sentence) for n, sentence in enumerate(sentences, start=1)]
    return {item_id: units}


class Study:
    """A study's units and items, and the batches in which units were asked for."""

    def __init__(self, units: Mapping[str, Sequence[Unit]], items: Sequence[Item] = ()) -> None:
        self.units = units
        self.items = {item.id: item for item in items}
        self.asked: list[Sequence[str]] = []

    def units_of(self, item_ids: Sequence[str]) -> Mapping[str, Sequence[Unit]]:
        self.asked.append(item_ids)
        return {item_id: self.units[item_id] for item_id in item_ids if item_id in self.units}

    def items_of(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        return {item_id: self.items[item_id] for item_id in item_ids if item_id in self.items}


def imported(
    path: Path, protocol: Protocol, units: Mapping[str, Sequence[Unit]], items: Sequence[Item] = (), **options: Any
) -> tuple[list[Rating], RatingsFile]:
    file = RatingsFile(open_table(path), protocol, **options)
    study = Study(units, items)
    return list(file.ratings(study.units_of, study.items_of)), file


def item(item_id: str, **fields: Any) -> Item:
    return Item(item_id, fields)
