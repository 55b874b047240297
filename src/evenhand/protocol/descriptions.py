"""Conditions, measures and targets in words, for the guideline."""

from collections.abc import Sequence

from evenhand.protocol.model import (
    AgreementMeasure,
    AnswerMeasure,
    Condition,
    MeanMeasure,
    Measure,
    ProportionMeasure,
    Protocol,
    Target,
)
from evenhand.records import UNANSWERABLE, Value

_AGREEMENT = {
    "percent_match": "how often two raters give the same answer",
    "kappa": "how far two raters agree beyond chance, Cohen's κ",
    "per_label": "how far two raters agree on each label by itself",
    "confusion": "how often each answer of one rater meets each answer of another",
    "majority": "how often all raters agree, more than half agree, or neither, and how often each is with the majority",
    "exact_match": "how often a model's answer is exactly the majority's",
    "macro_f1": "a model's F1 against the majority's answers, averaged over the labels or levels",
}
_BETWEEN = {
    "all": "any two raters",
    "person-model": "each person with each model",
    "majority-model": "each model with the people's majority",
}
_CLASSIFICATION = {
    "accuracy": "the share of items for which they agree",
    "precision": "of the items given a label, the share that have it; averaged over the labels",
    "recall": "of the items that have a label, the share given it; averaged over the labels",
    "f1": "the harmonic mean of precision and recall; averaged over the labels",
    "confusion_matrix": "how many items of each label were given each label",
}


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = [str(name) for name in names]
    return f" {last} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def condition_in_words(protocol: Protocol, condition: Condition) -> str:
    return f"{protocol.criterion(condition.criterion).title} is {_test(condition)}"


def asked_when(protocol: Protocol, condition: Condition) -> str:
    """When a criterion is asked, as a sentence for raters."""
    return f"Asked only when {condition_in_words(protocol, condition)}."


def measure_in_words(protocol: Protocol, measure: Measure) -> str:
    """What a measure is and what it is computed over."""
    if isinstance(measure, MeanMeasure):
        what = "mean" if measure.kind == "mean" else "standard deviation"
        if measure.together:
            return f"{what} of each unit's average over {_titles(protocol, measure.criteria)}"
        return f"{what} of {_titles(protocol, measure.criteria)}{_each(measure.criteria)}"
    if isinstance(measure, ProportionMeasure):
        return _proportion(protocol, measure)
    if isinstance(measure, AnswerMeasure):
        return _answers(measure)
    if isinstance(measure, AgreementMeasure):
        on = f"on {_titles(protocol, measure.criteria)}{_each(measure.criteria)}"
        if measure.kind == "majority":
            return f"{_AGREEMENT[measure.kind]}; {on}"
        return f"{_AGREEMENT[measure.kind]}; {_BETWEEN[measure.between]}, {on}"
    return f"{_CLASSIFICATION[measure.kind]}; {measure.prediction} against {measure.truth}"


def target_in_words(target: Target) -> str:
    return f"at least {target.at_least:g}"


def _proportion(protocol: Protocol, measure: ProportionMeasure) -> str:
    title = protocol.criterion(measure.criterion).title
    also = f" and {condition_in_words(protocol, measure.also)}" if measure.also else ""
    left_out = f", leaving out those where {title} is {_either(measure.exclude)}" if measure.exclude else ""
    return f"share of ratings where {title} is {_either(measure.any_of)}{also}, among all ratings{left_out}"


def _answers(measure: AnswerMeasure) -> str:
    left_out = "questions that the reference itself does not answer are left out"
    if measure.kind == "answered":
        return f"share of the questions with an answer other than {UNANSWERABLE}; {left_out}"
    over = (
        "over the answered questions"
        if measure.over == "answered"
        else f"over all questions, {UNANSWERABLE} counting as 0"
    )
    return f"token F1 of the answer and the reference's, averaged {over}; {left_out}"


def _test(condition: Condition) -> str:
    if condition.any_of is not None:
        return _either(condition.any_of)
    bounds = [f"at least {condition.at_least:g}"] if condition.at_least is not None else []
    bounds += [f"at most {condition.at_most:g}"] if condition.at_most is not None else []
    return " and ".join(bounds)


def _either(values: Sequence[Value]) -> str:
    return listed(values, "or")


def _titles(protocol: Protocol, criteria: Sequence[str]) -> str:
    return listed([protocol.criterion(name).title for name in criteria])


def _each(criteria: Sequence[str]) -> str:
    return ", each by itself" if len(criteria) > 1 else ""
