"""Which criterion is about support, and what becomes of a verdict on each kind of scale."""

from collections.abc import Sequence

import pytest

from evenhand.errors import UserError
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.verifier.support_labels import FITTING, Support, meaning, question_field, supports_of
from evenhand.verify.verifier import SupportLabel, Verdict

THREE = {SupportLabel.SUPPORTED: 0.5, SupportLabel.CONTRADICTED: 0.3, SupportLabel.NO_EVIDENCE: 0.2}


def first_support(protocol: Protocol) -> Support:
    return supports_of(protocol)[0]


def protocol_with(labels: Sequence[str], *, evidence: str = "evidence", unit: str = "item") -> Protocol:
    scale = "\n".join(f"        {label}: {{definition: so}}" for label in labels)
    return read_protocol(
        f"""
name: made-up
version: "1"
title: Made up
item:
  fields:
    source: {{role: {evidence}}}
    answer: {{role: rated}}
    remark: {{role: context}}
unit: {unit}
criteria:
  - id: tone
    question: Is it polite?
    scale: {{type: nominal, labels: {{Polite: {{definition: yes it is}}, Rude: {{definition: no it is not}}}}}}
  - id: backing
    question: Is it backed?
    scale:
      type: nominal
      labels:
{scale}
""",
        "made-up.yaml",
    )


@pytest.mark.parametrize(
    ("label", "outcome"),
    [
        ("SUPPORTED", SupportLabel.SUPPORTED),
        ("Fully-Supported", SupportLabel.SUPPORTED),
        ("entailment", SupportLabel.SUPPORTED),
        ("REFUTES", SupportLabel.CONTRADICTED),
        ("Not Enough_Info", SupportLabel.NO_EVIDENCE),
        ("not_entailment", SupportLabel.NO_EVIDENCE),
        ("notSupported", SupportLabel.NO_EVIDENCE),
        ("Can't confidently assess or no claim", SupportLabel.NO_CLAIM),
        ("Disputed", SupportLabel.DISPUTED),
        ("supported by friends", None),
        ("LABEL_0", None),
        ("Polite", None),
    ],
)
def test_a_label_is_known_by_its_name(label: str, outcome: SupportLabel | None):
    assert meaning(label) is outcome


def test_the_built_in_protocols_that_fit_are_those_that_the_error_names():
    for name in (
        "ai-detection",
        "feedback",
        "halo-claims",
        "halo-support",
        "neureg-qa",
        "rag-quest-eval",
        "stem-accuracy",
    ):
        protocol = load_protocol(name)
        if name in FITTING:
            assert first_support(protocol).labels[SupportLabel.SUPPORTED] in ("SUPPORTED", "Accurate")
        else:
            with pytest.raises(
                UserError, match=rf"^{name}: the verifier cannot rate .* fits halo-support, halo-claims and stem-"
            ):
                first_support(protocol)


def test_all_that_a_protocol_lacks_is_said_at_once():
    with pytest.raises(UserError) as error:
        first_support(protocol_with(["Good", "Bad"], evidence="context"))
    assert "lacks a field with the role evidence" in str(error.value)
    assert 'and a criterion, asked about every unit, whose labels have one for "supported"' in str(error.value)
    with pytest.raises(UserError, match="lacks units that are items, sentences or claims; these are questions"):
        first_support(protocol_with(["Supported", "Neutral"], unit="question from answer"))


def test_five_outcomes_have_their_own_labels_under_document_004():
    support = first_support(load_protocol("stem-accuracy"))
    assert support.criterion.id == "accuracy"
    assert {outcome: support.label(Verdict(outcome, THREE)) for outcome in SupportLabel} == {
        SupportLabel.SUPPORTED: "Accurate",
        SupportLabel.CONTRADICTED: "Inaccurate",
        SupportLabel.NO_EVIDENCE: "Unsupported",
        SupportLabel.DISPUTED: "Disputed",
        SupportLabel.NO_CLAIM: "Can't confidently assess or no claim",
    }


def test_where_labels_are_fewer_the_nearest_one_is_given():
    three = first_support(load_protocol("halo-support"))
    # Of the three outcomes of a disputed claim the likeliest counts; a text without a claim finds no backing.
    assert three.label(Verdict(SupportLabel.DISPUTED, THREE)) == "SUPPORTED"
    assert three.label(Verdict(SupportLabel.NO_CLAIM, {})) == "NO EVIDENCE"
    two = first_support(protocol_with(["Attributable", "Not attributable"]))
    assert two.criterion.id == "backing"
    assert two.label(Verdict(SupportLabel.CONTRADICTED, THREE)) == "Not attributable"
    assert two.label(Verdict(SupportLabel.SUPPORTED, THREE)) == "Attributable"


def test_probabilities_of_outcomes_that_share_a_label_add_up():
    two = first_support(protocol_with(["Not attributable", "Attributable"]))
    assert two.distribution(Verdict(SupportLabel.SUPPORTED, THREE)) == (
        ("Not attributable", 0.5),
        ("Attributable", 0.5),
    )
    three = first_support(load_protocol("halo-support"))
    assert three.distribution(Verdict(SupportLabel.SUPPORTED, THREE)) == (
        ("SUPPORTED", 0.5),
        ("CONTRADICTED", 0.3),
        ("NO EVIDENCE", 0.2),
    )


def test_what_has_no_probability_gets_none():
    five = first_support(load_protocol("stem-accuracy"))
    assert five.distribution(Verdict(SupportLabel.DISPUTED, THREE)) == ()
    assert five.distribution(Verdict(SupportLabel.NO_CLAIM, {})) == ()
    # Without a label of its own the disputed claim has that of an outcome, which has a probability.
    assert first_support(load_protocol("halo-support")).distribution(Verdict(SupportLabel.DISPUTED, THREE)) != ()


def test_a_question_is_known_by_its_name_or_alias():
    assert question_field(load_protocol("halo-support")) == "question"
    assert question_field(protocol_with(["Supported", "Neutral"])) is None
