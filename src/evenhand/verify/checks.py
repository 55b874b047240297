"""A claim checked against its evidence without a network: numbers, dates, names, negation, opposites, plain overlap.

Each check answers from 0 to 1, and says in words what it found against the claim. Weighing them is the verifier's part.
"""

from dataclasses import dataclass

from evenhand.verify.binding import Binding
from evenhand.verify.clauses_checked import Clauses
from evenhand.verify.evidence import Article
from evenhand.verify.meanings import (
    amounts_checked,
    hedges_checked,
    negations_checked,
    opposites_checked,
    polarity_checked,
)
from evenhand.verify.mentions import KINDS, mentions
from evenhand.verify.overlap import copied, disorder, length, novel, plain, replaced, shares
from evenhand.verify.quantities import dates_checked, numbers_checked
from evenhand.verify.scene import Scene
from evenhand.verify.who import names_checked, swap_checked

NAMES: tuple[str, ...] = (
    "window_share",
    "sentence_share",
    "article_share",
    "copied_run",
    "copied_pairs",
    "disorder",
    "novel_words",
    "replaced_words",
    "inserted_words",
    "numbers_agree",
    "numbers_conflict",
    "numbers_missing",
    "dates_agree",
    "dates_conflict",
    "dates_missing",
    "names_agree",
    "names_conflict",
    "names_missing",
    "sides_kept",
    "sides_swapped",
    "denies",
    "negation_agrees",
    "negation_differs",
    "opposite_denied",
    "opposite",
    "amounts_agree",
    "amounts_conflict",
    "surer",
    "clause_share",
    *(f"clause_{kind}_{said}" for kind in KINDS for said in ("agree", "conflict")),
    "names_instead",
    "clause_negation_agrees",
    "clause_negation_differs",
    "conflict",
    "clause_conflict",
    *(f"{kind}_bound" for kind in KINDS),
    *(f"{kind}_elsewhere" for kind in KINDS),
    "elsewhere",
    "polarity_agrees",
    "polarity_differs",
    "plain_share",
    "plain_missing",
    "evidence_length",
)


@dataclass(frozen=True, slots=True)
class Findings:
    """The checks' answers in the order of `NAMES`, and what speaks against the claim, in words."""

    features: tuple[float, ...]
    notes: tuple[str, ...]


def findings(claim: str, window: str, article: Article) -> Findings:
    """Hold a claim against a passage of an article; what the passage lacks is looked for in the whole article."""
    scene = Scene(claim, window, article)
    numbers, dates, names = numbers_checked(scene), dates_checked(scene), names_checked(scene)
    swap, negation, opposite = swap_checked(scene), negations_checked(scene), opposites_checked(scene)
    amounts, hedges = amounts_checked(scene), hedges_checked(scene)
    instead, between = replaced(scene)
    clauses, binding, polarity = Clauses(scene), Binding(scene), polarity_checked(scene)
    mentioned = mentions(scene)
    bound = [binding.held(kind, mentioned[kind]) for kind in KINDS]
    near = [clauses.held(mentioned[kind]) for kind in KINDS]
    denying = clauses.negation()
    features = (
        *shares(scene),
        *copied(scene),
        disorder(scene),
        novel(scene),
        instead,
        between,
        *(numbers.agrees, numbers.conflicts, numbers.missing),
        *(dates.agrees, dates.conflicts, dates.missing),
        *(names.agrees, names.conflicts, names.missing),
        *(swap.agrees, swap.conflicts),
        *(negation.missing, negation.agrees, negation.conflicts),
        *(opposite.agrees, opposite.conflicts),
        *(amounts.agrees, amounts.conflicts),
        hedges.conflicts,
        clauses.closeness,
        *(part for one in near for part in (one.agrees, one.conflicts)),
        near[KINDS.index("names")].missing,
        *(denying.agrees, denying.conflicts),
        # The strongest of each sort: what a conflict is worth is then learnt from conflicts of every kind.
        max(one.conflicts for one in (numbers, dates, swap, negation, opposite, amounts)),
        max(one.conflicts for kind, one in zip(KINDS, near, strict=True) if kind != "names"),
        *(one.agrees for one in bound),
        *(one.conflicts for one in bound),
        max(one.conflicts for one in bound),
        *(polarity.agrees, polarity.conflicts),
        *plain(scene),
        length(scene),
    )
    checks = (numbers, dates, names, *bound, swap, negation, opposite, amounts, hedges)
    notes = (note for check in checks for note in check.notes)
    return Findings(features, tuple(dict.fromkeys(notes))[:6])
