"""Protocols that ask questions: the criterion that takes the answer, and the text in which it is looked for."""

from collections.abc import Mapping, Sequence

from evenhand.errors import UserError
from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Item, Span
from evenhand.scales import Text

_BETWEEN = "\n\n"


def answer_criterion(protocol: Protocol) -> Criterion:
    """The criterion whose answer is a text or `<Unanswerable>`. Raises UserError where the protocol asks no question
    that could be answered so."""
    fitting = [one for one in protocol.criteria if isinstance(one.scale, Text) and one.scale.unanswerable]
    if protocol.rule.of != "question" or not fitting:
        raise UserError(
            f"quest-eval answers questions, and {protocol.name} asks none: it needs a protocol whose unit is `question "
            "from FIELD`, with a criterion of scale {type: text, unanswerable: true}, such as rag-quest-eval"
        )
    return fitting[0]


class RatedText:
    """What is rated of one item, field by field in `texts` and as one text; places in that lead back to the fields."""

    def __init__(self, protocol: Protocol, item: Item) -> None:
        self.texts: Mapping[str, str] = {
            name: field_text(item.fields[name]) for name in rated_fields(protocol) if name in item.fields
        }
        self.text = _BETWEEN.join(self.texts.values())

    def span(self, start: int, end: int) -> Span | None:
        """A range of the text as a span of a field; None where it goes beyond the field in which it begins."""
        place = 0
        for name, text in self.texts.items():
            if place <= start < place + len(text):
                return Span(name, start - place, end - place) if end <= place + len(text) else None
            place += len(text) + len(_BETWEEN)
        return None


def rated_fields(protocol: Protocol) -> Sequence[str]:
    """The fields in which answers are looked for: what is rated; failing that, all texts that raters see."""
    texts = [name for name in protocol.shown_fields() if protocol.item.fields[name].kind not in ("label", "number")]
    return [name for name in texts if protocol.item.fields[name].role == "rated"] or texts
