"""Overlap scores: their means, and their correlation with people and models."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from evenhand.analysis.figures import PEOPLE
from evenhand.analysis.overlap_scores import Correlation, OverlapScore
from evenhand.report.html.elements import Section, aside, folded, join, note, table
from evenhand.report.html.plots import Row, estimate_cell, forest
from evenhand.report.html.view import View, grouped, words


def overlap_section(view: View) -> Section:
    """A section without a body if there are no scores."""
    scores = view.report.scores
    return Section("overlap", "Overlap scores", join(_parts(scores, view) if scores else ()))


def _parts(scores: Sequence[OverlapScore], view: View) -> Iterator[Markup]:
    yield note(
        "These scores count what a text has in common with its references, from 0 to 1. They do not judge: a wrong "
        "answer in the words of the reference scores high, and a right one in other words low. How far they put items "
        "in the same order as people do is below."
    )
    yield forest("Mean over items", list(map(_mean, scores)))
    yield from _strata(scores, view)
    yield from _correlations(scores, view)


def _mean(one: OverlapScore) -> Row:
    whole = one.means[0]
    left_out = ", ".join(f"{count:,} {words(status).lower()}" for status, count in whole.left_out.items())
    name = join([one.score, aside(f"left out: {left_out}") if left_out else None])
    return Row(name, _said(one), whole.estimate, "rule", group=one.rater)


def _said(one: OverlapScore) -> str:
    return f"{one.score} by {one.rater}"


def _strata(scores: Sequence[OverlapScore], view: View) -> Iterator[Markup]:
    """Strata down, scores across, for each field."""
    parts = [(one, mean) for one in scores for mean in one.means if mean.stratum is not None]
    for fields, some in grouped(parts, lambda pair: tuple(pair[1].stratum or ())).items():
        cells = {(str(mean.stratum), _said(one)): estimate_cell(mean.estimate) for one, mean in some}
        rows = [
            [" · ".join((some[0].stratum or {}).values()), *(cells.get((key, _said(one)), "–") for one in scores)]
            for key, some in grouped((mean for _, mean in some), lambda mean: str(mean.stratum)).items()
        ]
        title = view.fields(fields)
        heads = [title, *(_said(one) for one in scores)]
        yield folded(f"By {title}", table(f"Mean over items by {title}", heads, rows, "numbers"))


def _correlations(scores: Sequence[OverlapScore], view: View) -> Iterator[Markup]:
    """Spearman's ρ with people as a figure, and everything in a table."""
    pairs = [(one, found) for one in scores for found in one.correlations]
    people = grouped((pair for pair in pairs if pair[1].against == PEOPLE), lambda pair: _rating(pair[1], view))
    if not people:
        yield note("There are no ratings by people to compare the scores with.")
    else:
        caption = "Spearman's ρ with people: 1 is the same order of items, 0 an unrelated one, −1 the opposite"
        ranked = [(rating, one, found.spearman) for rating, some in people.items() for one, found in some]
        yield forest(caption, [Row(_said(one), _said(one), found, "rule", rating) for rating, one, found in ranked])
    rows = [
        [
            _said(one),
            view.rater(found.against),
            _rating(found, view),
            *map(estimate_cell, (found.spearman, found.kendall)),
        ]
        for one, found in pairs
    ]
    title, heads = "Correlation with people and models", ["score", "rater", "rating", "Spearman's ρ", "Kendall's τ-b"]
    yield folded(title, table(title, heads, rows, "numbers"))


def _rating(found: Correlation, view: View) -> str:
    """What an item's rating is here."""
    title = view.criterion(found.criterion)
    return title if found.label is None else f"{title}: share of {found.label}"
