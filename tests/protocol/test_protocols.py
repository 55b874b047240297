"""The built-in protocols against the documents they come from: every value here was carried over by hand."""

import json

import jsonschema
import pytest

from evenhand.generation.check import PROVENANCE
from evenhand.protocol.completion import is_asked
from evenhand.protocol.load import PROTOCOLS, available, load_protocol, protocol_schema, protocol_text, read_protocol
from evenhand.protocol.model import (
    AgreementMeasure,
    AnswerMeasure,
    ClassificationMeasure,
    Criterion,
    MeanMeasure,
    ProportionMeasure,
    Protocol,
    RetrievalMeasure,
)
from evenhand.scales import Nominal, Ordinal, Text

BUILT_IN = ["ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy"]
CANNOT_ASSESS = "Can't confidently assess or no claim"
FIVE = ("relevance", "accuracy", "completeness", "fluency", "kg_alignment")
SIX = ("correctness", "clarity", "tone", "actionability", "coherence", "emotion")


def levels(criterion: Criterion) -> dict[int, str]:
    assert isinstance(criterion.scale, Ordinal)
    return {level: anchor.label for level, anchor in criterion.scale.levels.items()}


def labels(criterion: Criterion) -> list[str]:
    assert isinstance(criterion.scale, Nominal)
    return list(criterion.scale.labels)


def test_the_six_are_there() -> None:
    assert set(BUILT_IN) <= set(available())


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_protocol_loads_under_its_file_name(name: str) -> None:
    protocol = load_protocol(name)
    assert protocol.name == name
    assert protocol.language == "en"
    assert len(protocol.instructions) > 500


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_protocol_fits_the_published_schema(name: str) -> None:
    tree, problems = PROTOCOLS.parse(protocol_text(name)[0], name)
    as_json = json.loads(json.dumps(tree.value))
    assert problems == []
    jsonschema.validate(as_json, protocol_schema())


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_study_can_keep_a_built_in_protocol_and_read_it_back(name: str) -> None:
    protocol = load_protocol(name)
    assert read_protocol(protocol.canonical(), "study") == protocol


@pytest.mark.parametrize("name", BUILT_IN)
def test_worked_examples_are_complete(name: str) -> None:
    """A shot must look like a finished rating: all fields that are needed, every question that would be asked."""
    protocol = load_protocol(name)
    assert len(protocol.examples) >= 3
    needed = {field for field, spec in protocol.item.fields.items() if spec.required}
    for example in protocol.examples:
        assert needed <= set(example.fields)
        asked = {
            c.id
            for c in protocol.criteria
            if c.required and is_asked(c, example.ratings, protocol.example_field(example))
        }
        assert asked <= set(example.ratings)
        # Also where people are asked for none: a model may be, with --reasons.
        assert set(example.rationales) == {c for c in asked if not isinstance(protocol.criterion(c).scale, Text)}
        assert set(example.evidence) == asked
        assert example.confidence is not None
        if (field := protocol.example_field(example)) is not None:
            assert example.unit is not None
            assert example.unit in str(example.fields[field])


@pytest.mark.parametrize("name", BUILT_IN)
def test_worked_examples_show_the_range_of_every_closed_scale(name: str) -> None:
    protocol = load_protocol(name)
    for criterion in protocol.criteria:
        shown = {example.ratings[criterion.id] for example in protocol.examples if criterion.id in example.ratings}
        if isinstance(criterion.scale, Nominal):
            assert shown == set(criterion.scale.values)
        if isinstance(criterion.scale, Ordinal):
            assert max(map(int, shown)) - min(map(int, shown)) >= 3


@pytest.mark.parametrize(
    ("name", "cluster"),
    [
        ("ai-detection", "document_id"),
        ("feedback", "submission_id"),
        ("halo-claims", "document_id"),
        ("halo-support", "document_id"),
        ("neureg-qa", "chunk_id"),
        ("rag-quest-eval", "document_id"),
        ("stem-accuracy", "article_id"),
    ],
)
def test_every_protocol_may_say_which_items_belong_together(name: str, cluster: str) -> None:
    protocol = load_protocol(name)
    field = protocol.item.fields[cluster]
    assert protocol.cluster == cluster
    assert (field.kind, field.required, field.shown) == ("label", False, False)


def test_neureg_qa_asks_five_criteria_on_the_five_levels_of_the_document() -> None:
    protocol = load_protocol("neureg-qa")
    assert protocol.unit == "item"
    assert tuple(c.id for c in protocol.criteria) == FIVE
    assert [c.title for c in protocol.criteria] == ["Relevance", "Accuracy", "Completeness", "Fluency", "KG Alignment"]
    for criterion in protocol.criteria:
        assert levels(criterion) == {1: "Very Poor", 2: "Poor", 3: "Fair", 4: "Good", 5: "Excellent"}


def test_neureg_qa_items_and_strata() -> None:
    protocol = load_protocol("neureg-qa")
    fields = protocol.item.fields
    assert {name: (spec.role, spec.kind, spec.required) for name, spec in fields.items() if name not in PROVENANCE} == {
        "question": ("rated", "text", True),
        "answer": ("rated", "text", True),
        "source": ("evidence", "text", True),
        "triples": ("evidence", "triples", True),
        "question_type": ("context", "label", False),
        "shot_type": ("context", "label", False),
        "chunk_id": ("context", "label", False),
    }
    assert protocol.strata == ("question_type", "shot_type", "generated_by")
    assert list(fields["question_type"].labels or {}) == ["factual", "relational", "comparative", "inferential"]
    assert list(fields["shot_type"].labels or {}) == ["zero", "one", "few"]
    assert not fields["shot_type"].shown
    assert "three example questions" in (fields["shot_type"].labels or {})["few"].definition


def test_neureg_qa_measures() -> None:
    assert load_protocol("neureg-qa").measures == (
        MeanMeasure(name="mean", kind="mean", criteria=FIVE),
        MeanMeasure(name="sd", kind="sd", criteria=FIVE),
        MeanMeasure(name="overall_mean", kind="mean", together=True, criteria=FIVE),
        MeanMeasure(name="overall_sd", kind="sd", together=True, criteria=FIVE),
        AgreementMeasure(name="majority", kind="majority", criteria=FIVE),
        AgreementMeasure(name="exact_match", kind="exact_match", between="majority-model", criteria=FIVE),
        AgreementMeasure(name="macro_f1", kind="macro_f1", between="majority-model", criteria=FIVE),
    )


def test_rag_quest_eval_answers_the_reference_s_questions_without_seeing_it() -> None:
    protocol = load_protocol("rag-quest-eval")
    assert protocol.rule == ("question", ("reference",))
    assert [c.id for c in protocol.criteria] == ["answer"]
    assert protocol.criterion("answer").scale == Text(type="text", unanswerable=True)
    assert list(protocol.shown_fields) == ["generated", "question"]
    assert protocol.item.fields["reference"].role == "reference"
    assert not protocol.item.fields["question"].required


def test_rag_quest_eval_has_both_readings_of_precision() -> None:
    assert load_protocol("rag-quest-eval").measures == (
        AnswerMeasure(name="recall", kind="answered", criterion="answer"),
        AnswerMeasure(name="precision", kind="answer_f1", criterion="answer", over="answered"),
        AnswerMeasure(name="precision_all", kind="answer_f1", criterion="answer", over="all"),
    )


def test_rag_quest_eval_example_repeats_the_documents_arithmetic() -> None:
    """Two of three questions are answered, with F1 0.5 and 1: recall 2/3, precision 0.75."""
    answers = [example.ratings["answer"] for example in load_protocol("rag-quest-eval").examples]
    assert answers == ["March 2019", "Ines Calder", "<Unanswerable>"]
    shared = {"March", "2019"} & {"May", "2019"}
    assert 2 * len(shared) / (2 + 2) == 0.5


def test_feedback_asks_six_criteria_an_overall_rating_and_improvements() -> None:
    protocol = load_protocol("feedback")
    assert tuple(c.id for c in protocol.criteria) == (*SIX, "overall", "improvements")
    for name in SIX:
        assert levels(protocol.criterion(name)) == {
            1: "Unacceptable",
            2: "Poor",
            3: "Average",
            4: "Good",
            5: "Excellent",
        }
    assert levels(protocol.criterion("overall"))[3] == "Fair/Adequate"
    assert protocol.lead.id == "overall"
    assert isinstance(protocol.criterion("improvements").scale, Text)
    assert not protocol.criterion("improvements").required


def test_feedback_asks_reasons_and_confidence() -> None:
    ask = load_protocol("feedback").ask
    assert (ask.rationale, ask.confidence, ask.notes, ask.evidence) == ("required", "required", "optional", "off")


def test_feedback_instructions_have_the_four_steps() -> None:
    instructions = load_protocol("feedback").instructions
    assert [step for step in range(1, 10) if f"**Step {step}:" in instructions] == [1, 2, 3, 4]
    for quality in ("objective", "precise", "aware of teaching"):
        assert f"*{quality}*" in instructions


def test_feedback_columns_of_the_document_map_themselves() -> None:
    protocol = load_protocol("feedback")
    fields = protocol.item.fields
    assert {"text", "generated_texts"} <= set(fields["feedback"].aliases)
    assert "criteria" in fields["criterion"].aliases
    assert [name for name, spec in fields.items() if spec.required] == ["feedback"]
    assert protocol.strata == ("domain", "generated_by")


def test_feedback_measures() -> None:
    assert load_protocol("feedback").measures == (
        MeanMeasure(name="mean", kind="mean", criteria=(*SIX, "overall")),
        MeanMeasure(name="sd", kind="sd", criteria=(*SIX, "overall")),
        MeanMeasure(name="combined_mean", kind="mean", criteria=SIX, together=True),
        AgreementMeasure(
            name="human_model_match", kind="percent_match", criteria=(*SIX, "overall"), between="person-model"
        ),
        AgreementMeasure(name="human_model_kappa", kind="kappa", criteria=(*SIX, "overall"), between="person-model"),
    )


def test_feedback_first_example_has_the_top_level_throughout() -> None:
    first = load_protocol("feedback").examples[0]
    assert dict(first.ratings) == dict.fromkeys((*SIX, "overall"), 5)


def test_halo_support_has_the_columns_of_the_document() -> None:
    protocol = load_protocol("halo-support")
    assert {
        name: (spec.role, spec.kind, spec.required)
        for name, spec in protocol.item.fields.items()
        if name not in PROVENANCE
    } == {
        "question": ("context", "text", True),
        "context": ("evidence", "passages", True),
        "generated_answer": ("rated", "text", True),
        "gold_answer": ("reference", "text", False),
        "document_id": ("context", "label", False),
        "question_type": ("context", "label", False),
        "shot_type": ("context", "label", False),
        "retrieved_ids": ("context", "ids", False),
        "relevant_ids": ("reference", "ids", False),
    }
    assert not {"retrieved_ids", "relevant_ids"}.intersection(protocol.shown_fields)
    assert protocol.strata == ("question_type", "shot_type", "generated_by")
    support = protocol.criterion("support")
    assert support.columns == ("human_label",)
    assert dict(support.model_columns) == {"auto_label": "auto"}
    assert protocol.ask.notes == "optional"


def test_halo_support_labels() -> None:
    assert labels(load_protocol("halo-support").criterion("support")) == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]


def test_halo_support_measures_and_targets() -> None:
    protocol = load_protocol("halo-support")
    of = ("support",)
    shares = {"supported": "SUPPORTED", "contradicted": "CONTRADICTED", "no_evidence": "NO EVIDENCE"}
    assert protocol.measures == (
        *(
            ProportionMeasure(name=name, kind="proportion", criterion="support", any_of=(label,))
            for name, label in shares.items()
        ),
        AgreementMeasure(name="percent_match", kind="percent_match", between="person-model", criteria=of),
        AgreementMeasure(name="kappa", kind="kappa", between="person-model", criteria=of),
        AgreementMeasure(name="kappa_raters", kind="kappa", between="all", criteria=of),
        AgreementMeasure(name="per_label", kind="per_label", between="person-model", criteria=of),
        AgreementMeasure(name="confusion", kind="confusion", between="person-model", criteria=of),
        RetrievalMeasure(name="retrieval", kind="retrieval", retrieved="retrieved_ids", relevant="relevant_ids"),
    )
    assert [(target.measure, target.at_least) for target in protocol.targets] == [
        ("percent_match", 0.85),
        ("kappa", 0.70),
    ]


def test_halo_support_examples_follow_the_documents_six() -> None:
    """Twice over: stated by the context, gone against, and not spoken of."""
    protocol = load_protocol("halo-support")
    assert [example.ratings["support"] for example in protocol.examples] == [
        "SUPPORTED",
        "CONTRADICTED",
        "NO EVIDENCE",
        "SUPPORTED",
        "CONTRADICTED",
        "NO EVIDENCE",
    ]
    assert [example.notes is not None for example in protocol.examples] == [False] * 3 + [True] * 3


def test_stem_accuracy_asks_of_each_sentence_of_the_response() -> None:
    protocol = load_protocol("stem-accuracy")
    assert protocol.rule == ("sentence", ("response",))
    assert labels(protocol.criterion("accuracy")) == [
        "Accurate",
        "Disputed",
        "Unsupported",
        "Inaccurate",
        CANNOT_ASSESS,
    ]
    assert labels(protocol.criterion("severity")) == ["Severe", "Not Severe"]


@pytest.mark.parametrize(
    ("accuracy", "asked"),
    [
        ("Accurate", False),
        ("Disputed", True),
        ("Unsupported", True),
        ("Inaccurate", True),
        (CANNOT_ASSESS, False),
        (None, False),
    ],
)
def test_stem_accuracy_asks_severity_only_of_the_three_bad_ones(accuracy: str | None, asked: bool) -> None:
    protocol = load_protocol("stem-accuracy")
    values = {"accuracy": accuracy} if accuracy else {}
    assert is_asked(protocol.criterion("severity"), values) is asked


def test_stem_accuracy_measures_leave_out_what_could_not_be_assessed() -> None:
    measures = load_protocol("stem-accuracy").measures
    facts = [
        (m.name, m.criterion, m.any_of, m.also and (m.also.criterion, m.also.any_of), m.exclude)
        for m in measures
        if isinstance(m, ProportionMeasure)
    ]
    assert facts == [
        ("accurate", "accuracy", ("Accurate",), None, (CANNOT_ASSESS,)),
        ("inaccurate", "accuracy", ("Inaccurate",), None, (CANNOT_ASSESS,)),
        ("severely_inaccurate", "accuracy", ("Inaccurate",), ("severity", ("Severe",)), (CANNOT_ASSESS,)),
    ]
    assert len(measures) == 3


def test_ai_detection_shows_text_label_and_prediction() -> None:
    protocol = load_protocol("ai-detection")
    assert {name: (spec.role, spec.kind) for name, spec in protocol.item.fields.items() if name not in PROVENANCE} == {
        "text": ("evidence", "text"),
        "label": ("reference", "label"),
        "prediction": ("rated", "label"),
        "document_id": ("context", "label"),
    }
    assert list(protocol.shown_fields) == ["text", "label", "prediction"]
    assert labels(protocol.criterion("verdict")) == ["correct", "incorrect"]
    assert protocol.ask.rationale == "required"


def test_ai_detection_measures() -> None:
    kinds = [
        (m.name, m.kind, m.truth, m.prediction)
        for m in load_protocol("ai-detection").measures
        if isinstance(m, ClassificationMeasure)
    ]
    assert kinds == [
        (k, k, "label", "prediction") for k in ("accuracy", "precision", "recall", "f1", "confusion_matrix")
    ]


def test_ai_detection_examples_call_a_prediction_right_when_it_is_the_label() -> None:
    for example in load_protocol("ai-detection").examples:
        right = example.fields["label"] == example.fields["prediction"]
        assert example.ratings["verdict"] == ("correct" if right else "incorrect")


def anchors(protocol: Protocol) -> list[str]:
    ordinal = [c.scale for c in protocol.criteria if isinstance(c.scale, Ordinal)]
    nominal = [c.scale for c in protocol.criteria if isinstance(c.scale, Nominal)]
    return [a.anchor for scale in ordinal for a in scale.levels.values()] + [
        label.definition for scale in nominal for label in scale.labels.values()
    ]


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_two_levels_or_labels_have_the_same_description(name: str) -> None:
    texts = anchors(load_protocol(name))
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", available())
def test_where_a_generated_item_comes_from_is_kept_from_raters(name: str) -> None:
    protocol = load_protocol(name)
    for field in set(PROVENANCE) - {"input_id"}:
        spec = protocol.item.fields[field]
        assert (spec.kind, spec.required, spec.shown) == ("label", False, False)
    assert protocol.cluster is not None  # where `input_id` is read to, if nothing else is
    assert "generated_by" in protocol.strata
