"""One item for each built-in protocol, and for prompts and replies in general: tasks, bodies, a made-up protocol."""

import json
from collections.abc import Mapping, Sequence
from functools import cache

from evenhand.llm.base import Reply
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.llm_judge.prompt import PromptCase
from evenhand.records import FieldValue, Item, Triple
from evenhand.units import Claim, Question, split

NAMES = ["ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy"]

FIELDS: Mapping[str, Mapping[str, FieldValue]] = {
    "ai-detection": {"text": "The culvert was cleared in 2016.", "label": "human", "prediction": "AI"},
    "feedback": {"feedback": "A fine essay. Add a source.", "submission": "My essay.", "domain": "History"},
    "halo-claims": {
        "question": "Where is the harbour?",
        "context": ("The harbour lies north of the town.", "It was dredged in 1998."),
        "generated_answer": "The harbour lies north of the town, I think.",
        "gold_answer": "It is north of the town.",
    },
    "halo-support": {
        "question": "Where is the harbour?",
        "context": ("The harbour lies north of the town.", "It was dredged in 1998."),
        "generated_answer": "North of the town.",
        "gold_answer": "In the north.",
    },
    "neureg-qa": {
        "question": "Who runs the library?",
        "answer": "The county runs it.",
        "source": "The county runs the library and pays two drivers.",
        "triples": (Triple("County", "runs", "Library"), Triple("County", "pays", "Drivers")),
        "question_type": "factual",
        "shot_type": "few",
    },
    "rag-quest-eval": {
        "generated": "The bridge was opened in March.",
        "reference": "The viaduct, Ostermann's last work, was opened in May.",
        "question": "Tell me about the bridge.",
    },
    "stem-accuracy": {
        "question": "How good is it?",
        "article": "It reached 0.91 on 600 images.",
        "response": "It reached 0.91. Training took a day. Here is a summary.",
    },
}
CLAIMS = [
    Claim("The harbour lies north of the town", "generated_answer"),
    Claim("It is north of the town.", "gold_answer"),
]
QUESTIONS = [
    Question("When was it opened?", "in May indeed", "key information"),
    Question("Who built it?", "Ostermann"),
]

EVIDENCE = read_protocol(
    """
name: evidence
version: "1"
title: All that can be asked
item:
  fields:
    question: {role: context}
    source: {role: evidence, kind: passages}
    answer: {role: rated}
    grade: {role: rated, kind: number, required: false}
    secret: {role: reference, required: false, shown: false}
criteria:
  - id: quality
    name: Overall quality
    question: How good is it?
    overall: true
    scale:
      type: ordinal
      levels:
        1: {label: Bad, anchor: bad}
        2: {label: Fair, anchor: fair}
        3: {label: Good, anchor: good}
  - id: certainty
    question: How sure does it sound?
    when: {criterion: quality, at_most: 2}
    scale: {type: percent}
  - id: remark
    question: Anything else?
    required: false
    scale: {type: text}
ask: {rationale: required, evidence: required, confidence: required, notes: required}
""",
    "evidence.yaml",
)
EVIDENCE_FIELDS: Mapping[str, FieldValue] = {
    "question": "What is it?",
    "source": ("The  mill stands\nby the “old” bridge — since 1820.", "It burned in 1901."),
    "answer": "A mill by the old bridge.",
    "grade": 2.5,
    "secret": "hush-hush",
}


@cache
def protocol_named(name: str) -> Protocol:
    return EVIDENCE if name == "evidence" else load_protocol(name)


def tasks(name: str, fields: Mapping[str, FieldValue] | None = None) -> Sequence[PromptCase]:
    """The tasks of the sample item: each unit by itself, and all of them together where there are several."""
    protocol = protocol_named(name)
    known = EVIDENCE_FIELDS if name == "evidence" else FIELDS[name]
    item = Item("case", fields if fields is not None else known)
    units = list(split(protocol, item, {"case": CLAIMS if protocol.rule.of == "claim" else QUESTIONS}))
    groups = [[unit] for unit in units] + ([units] if len(units) > 1 else [])
    return [PromptCase.of(protocol, item, group) for group in groups]


def one(name: str) -> PromptCase:
    return tasks(name)[0]


def together(name: str) -> PromptCase:
    return tasks(name)[-1]


def says(body: object, finish: str = "stop") -> Reply:
    return Reply(body if isinstance(body, str) else json.dumps(body), finish)
