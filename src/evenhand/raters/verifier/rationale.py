"""What a verifier found, in words: the rationale beside its label."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.text import counted
from evenhand.verify.verifier import Label, Verdict

LONGEST = 240
"""Characters of a claim, a quotation or a reader's reasons that are repeated in a rationale."""
QUOTES = 3

_SAYS = {
    Label.SUPPORTED: "The evidence supports",
    Label.CONTRADICTED: "The evidence contradicts",
    Label.NO_EVIDENCE: "The evidence neither supports nor contradicts",
    Label.DISPUTED: "There is evidence for and against",
    Label.NO_CLAIM: "There is no claim to be checked in",
}
_IN_SHORT = {
    Label.SUPPORTED: "supported",
    Label.CONTRADICTED: "contradicted",
    Label.NO_EVIDENCE: "without evidence",
    Label.DISPUTED: "disputed",
    Label.NO_CLAIM: "without a claim",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """One sentence: the claim as it was read, what became of it, its evidence, and what the reader said of it."""

    claim: str
    verdict: Verdict
    quotes: Sequence[str] = ()
    words: str | None = None
    reply: str | None = None


def in_words(verdict: Verdict, checked: Sequence[Checked], telling: Checked) -> str:
    """Which sentence decided and on what; where there are several, what became of them all."""
    parts = list[str]()
    if len(checked) > 1:
        numbers = Counter(one.verdict.label for one in checked)
        told = ", ".join(f"{numbers[label]:,} {_IN_SHORT[label]}" for label in Label if numbers[label])
        parts.append(f"{counted(len(checked), 'sentence')}: {told}.")
    parts.append(f"{_SAYS[telling.verdict.label]} {_quoted([telling.claim])}")
    if telling.quotes:
        parts.append(f"It rests on {_quoted(telling.quotes[:QUOTES])}")
    if telling.words:
        parts.append(f"The reader: {_short(telling.words)}")
    if telling.verdict.notes:
        parts.append(f"Checks: {'; '.join(telling.verdict.notes)}.")
    return " ".join(parts)


def _quoted(texts: Sequence[str]) -> str:
    """The end of a sentence: texts in quotation marks, and a full stop unless the last of them has one."""
    short = list(map(_short, texts))
    return ", ".join(f"“{text}”" for text in short) + ("" if short[-1].endswith((".", "!", "?", "…")) else ".")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
