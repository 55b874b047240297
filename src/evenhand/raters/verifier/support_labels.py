"""Which criterion of a protocol asks whether evidence supports a text, and which of its labels says what.

Labels are known by their names and aliases, whatever their case and whatever stands between their words. A protocol
may have all five outcomes or two: what is contradicted is "not supported" where there is no word for more.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import UserError
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Value
from evenhand.scales import Nominal
from evenhand.text import listed
from evenhand.verify.verifier import SupportLabel, Verdict

FITTING = ("halo-support", "halo-claims", "stem-accuracy")
"""The built-in protocols with such a criterion."""

_WORDS: Mapping[SupportLabel, Sequence[str]] = {
    SupportLabel.SUPPORTED: (
        "supported, supports, support, fully supported, entailed, entailment, entails, accurate, attributable, "
        "fully attributable, attributed, faithful, grounded, consistent"
    ).split(", "),
    SupportLabel.CONTRADICTED: (
        "contradicted, contradiction, contradicts, contradictory, refuted, refutes, refute, inaccurate"
    ).split(", "),
    SupportLabel.NO_EVIDENCE: (
        "no evidence, not enough info, not enough information, not enough evidence, insufficient evidence, neutral, "
        "unsupported, not supported, unverifiable, not verifiable, not entailed, not entailment, not attributable, "
        "not attributed, unattributable, extrapolatory, baseless, unfaithful, not faithful, ungrounded, not grounded, "
        "inconsistent, not consistent, hallucinated, hallucination"
    ).split(", "),
    SupportLabel.DISPUTED: "disputed, conflicting, conflicting evidence, mixed, mixed evidence".split(", "),
    SupportLabel.NO_CLAIM: (
        "no claim, no factual claim, cannot assess, can't assess, cannot confidently assess, "
        "can't confidently assess, cannot assess or no claim, can't confidently assess or no claim, not checkable, "
        "not check worthy"
    ).split(", "),
}


def _key(label: str) -> str:
    return re.sub(r"[\W\d_]+", "", label.casefold())


_MEANINGS: Mapping[str, SupportLabel] = {_key(word): label for label, words in _WORDS.items() for word in words}


def meaning(label: str) -> SupportLabel | None:
    """What a label's name says about support, where it says anything."""
    return _MEANINGS.get(_key(label))


def outputs_of(source: str, names: Mapping[int, str]) -> Sequence[Sequence[int]]:
    """Which outputs, named by id2label, mean supported, contradicted, neither; or UserError. The second may be none."""
    labels = {place: meaning(names[place]) for place in sorted(names)}
    outcomes = (SupportLabel.SUPPORTED, SupportLabel.CONTRADICTED, SupportLabel.NO_EVIDENCE)
    outputs = [[place for place, label in labels.items() if label is outcome] for outcome in outcomes]
    supported, _, neither = outputs
    if sum(map(len, outputs)) < len(labels) or not supported or not neither:
        told = ", ".join(names[place] for place in labels) or "none"
        raise UserError(
            f"{source}: the labels in its config.json ({told}) do not say what its outputs mean; valid are entailment, "
            "neutral and contradiction, or entailment and not_entailment, in any order: put them into id2label"
        )
    return outputs


@dataclass(frozen=True, slots=True)
class Support:
    """A criterion and the label of its scale for each outcome that it has one for."""

    criterion: Criterion
    labels: Mapping[SupportLabel, str]

    def label(self, verdict: Verdict) -> str:
        """The label for a verdict. Where the scale has none of its own:

        - a disputed claim gets the label of the likeliest outcome;
        - a contradicted one is not supported, and neither is a text that claims nothing: the evidence does not bear
          it out, and protocols with such scales want a label for every text.
        """
        if verdict.label in self.labels:
            return self.labels[verdict.label]
        return self.labels.get(verdict.likeliest, self.labels[SupportLabel.NO_EVIDENCE])

    def distribution(self, verdict: Verdict) -> tuple[tuple[Value, float], ...]:
        """How likely each label is; empty where the verdict is one that has no probability: disputed, or no claim."""
        disputed = verdict.label is SupportLabel.DISPUTED and SupportLabel.DISPUTED in self.labels
        if disputed or not verdict.probabilities:
            return ()
        shares: dict[str, float] = {}
        for outcome, share in verdict.probabilities.items():
            label = self.labels.get(outcome, self.labels[SupportLabel.NO_EVIDENCE])
            shares[label] = shares.get(label, 0.0) + share
        return tuple((label, shares[label]) for label in map(str, self.criterion.scale.values) if label in shares)


def supports_of(protocol: Protocol) -> Sequence[Support]:
    """The criteria that ask about support, the first one for the same units and the same evidence. Raises UserError
    where the protocol cannot be verified."""
    found: dict[object, Support] = {}
    for one in filter(None, map(_support, protocol.criteria)):
        found.setdefault((one.criterion.of, one.criterion.against), one)
    lacking = list[str]()
    if protocol.rule.of == "question":
        lacking.append("units that are items, sentences or claims; these are questions")
    if not (fields_of(protocol, "evidence") or (found and all(one.criterion.against for one in found.values()))):
        lacking.append("a field with the role evidence (a text, passages or triples) that raters see")
    if protocol.rule.of == "item" and not fields_of(protocol, "rated"):
        lacking.append("a text field with the role rated that raters see")
    if not found:
        lacking.append(
            'a criterion, asked about every unit, whose labels have one for "supported" (also: entailed, accurate, '
            'attributable) and one for "no evidence" (also: unsupported, not supported, not enough info, neutral)'
        )
    if lacking:
        raise UserError(
            f"{protocol.name}: the verifier cannot rate under this protocol, which lacks {'; and '.join(lacking)}. Of "
            f"the built-in ones it fits {listed(FITTING)}. A language model rates under any protocol: "
            "--rater openai:MODEL"
        )
    return list(found.values())


def question_field(protocol: Protocol) -> str | None:
    """The field with the question that a rated text answers, where the protocol has one under such a name."""
    names = {"question", "query"}
    fields = fields_of(protocol, "context")
    return next((name for name in fields if names & {name, *protocol.item.fields[name].aliases}), None)


def fields_of(protocol: Protocol, role: str) -> Sequence[str]:
    """The fields of a role that raters see and the verifier can read: texts, and of the evidence all kinds of it."""
    kinds = ("text", "passages", "triples") if role == "evidence" else ("text",)
    fields = protocol.item.fields.items()
    return [name for name, spec in fields if spec.role == role and spec.shown and spec.kind in kinds]


def _support(criterion: Criterion) -> Support | None:
    if not isinstance(criterion.scale, Nominal) or criterion.when is not None:
        return None
    labels: dict[SupportLabel, str] = {}
    for name, label in criterion.scale.labels.items():
        said = next(filter(None, map(meaning, (name, *label.aliases))), None)
        if said is not None:
            labels.setdefault(said, name)
    return Support(criterion, labels) if {SupportLabel.SUPPORTED, SupportLabel.NO_EVIDENCE} <= labels.keys() else None
