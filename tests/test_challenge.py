"""The challenge set keeps its promises: size, balance, minimal pairs, and a split in which nothing is shared."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import pytest

from training import challenge_dev, challenge_dev_b, close_dev, close_dev_b, close_test, free_test, short_dev, teaching
from training.challenge import Case, Wording, cases
from training.challenge_fill import Template

Split = Literal["dev", "test"]
SPLITS: list[tuple[Split, Wording]] = [("dev", "close"), ("test", "close"), ("dev", "free"), ("test", "free")]
every_part = pytest.mark.parametrize(("split", "wording"), SPLITS)
ALL: list[tuple[Split, Wording]] = [*SPLITS, ("dev", "short")]
with_short = pytest.mark.parametrize(("split", "wording"), ALL)
KINDS = {"numbers", "units", "dates", "names", "negation", "opposites", "quantifiers"}


def by_pair(split: Split, wording: Wording) -> dict[str, list[Case]]:
    pairs: dict[str, list[Case]] = defaultdict(list)
    for case in cases(split, wording):
        pairs[case.pair].append(case)
    return pairs


@pytest.mark.parametrize("wording", ["close", "free"])
def test_there_are_at_least_forty_templates_and_four_hundred_pairs(wording: Wording) -> None:
    assert len({case.template for case in (*cases("dev", wording), *cases("test", wording))}) >= 40
    assert len(by_pair("dev", wording)) + len(by_pair("test", wording)) >= 400


@every_part
def test_each_split_has_half_of_every_kind(split: Split, wording: Wording) -> None:
    kinds = Counter(group[0].kind for group in by_pair(split, wording).values())
    assert set(kinds) == KINDS
    assert len(set(kinds.values())) == 1


@with_short
def test_a_pair_has_one_evidence_and_each_label_once(split: Split, wording: Wording) -> None:
    silent = 0
    for group in by_pair(split, wording).values():
        assert len({(case.evidence, case.template, case.kind) for case in group}) == 1
        assert Counter(case.label for case in group[:2]) == {"supported": 1, "contradicted": 1}
        assert [case.label for case in group[2:]] in ([], ["no_evidence"])
        assert len({case.claim for case in group}) == len(group)
        silent += len(group) == 3
    assert 0.3 <= silent / len(by_pair(split, wording)) <= 0.4


@with_short
def test_the_changed_claim_is_the_same_but_for_little(split: Split, wording: Wording) -> None:
    for supported, contradicted, *_ in by_pair(split, wording).values():
        one, two = Counter(supported.claim.split()), Counter(contradicted.claim.split())
        assert sum((one & two).values()) >= 0.5 * min(one.total(), two.total()) or one == two, supported.pair


@with_short
def test_no_slot_is_left_and_the_evidence_is_short(split: Split, wording: Wording) -> None:
    for case in cases(split, wording):
        assert not re.search(r"[{}]", case.claim + case.evidence)
        assert case.claim.endswith(".")
        assert 1 <= len(re.findall(r"[.!?](?:\s|$)", case.evidence)) <= 6


@pytest.mark.parametrize("split", ["dev", "test"])
def test_no_freely_worded_claim_is_a_copied_sentence(split: Split) -> None:
    assert not [case.claim for case in cases(split, "free") if case.claim.rstrip(".") in case.evidence]


def test_no_template_is_in_two_parts() -> None:
    names = [{case.template for case in cases(split, wording)} for split, wording in ALL]
    names.append({template.name for template in teaching.TEMPLATES})
    assert sum(map(len, names)) == len(set[str]().union(*names))


def test_no_sentence_of_a_template_is_in_two_parts() -> None:
    def sentences(templates: Sequence[Template]) -> set[str]:
        texts = (text for one in templates for text in (one.evidence, one.supported, one.contradicted, one.nothing))
        return {re.sub(r"\{\w+\}", "", sentence) for text in texts for sentence in text.split(". ")}

    modules = (challenge_dev, challenge_dev_b, close_dev, close_dev_b, close_test, free_test, short_dev, teaching)
    parts = [sentences(module.TEMPLATES) for module in modules]
    for one, other in combinations(parts, 2):
        assert not one & other


@pytest.mark.parametrize("wording", ["close", "free"])
def test_the_set_is_always_the_same(wording: Wording) -> None:
    assert cases("dev", wording) == cases("dev", wording)
    assert len({case.claim + case.evidence for case in cases("test", wording)}) == len(cases("test", wording))
