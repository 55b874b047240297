"""The challenge set keeps its promises: size, balance, minimal pairs, and a split in which nothing is shared."""

import re
from collections import Counter, defaultdict

import pytest

from training import challenge_dev, challenge_final
from training.challenge import Case, cases

SPLITS = ("dev", "test")
KINDS = {"numbers", "units", "dates", "names", "negation", "opposites", "quantifiers"}


def by_pair(split: str) -> dict[str, list[Case]]:
    pairs: dict[str, list[Case]] = defaultdict(list)
    for case in cases("dev" if split == "dev" else "test"):
        pairs[case.pair].append(case)
    return pairs


def test_there_are_at_least_forty_templates_and_four_hundred_pairs() -> None:
    assert len({case.template for case in (*cases("dev"), *cases("test"))}) >= 40
    assert len(by_pair("dev")) + len(by_pair("test")) >= 400


@pytest.mark.parametrize("split", SPLITS)
def test_each_split_has_half_of_every_kind(split: str) -> None:
    kinds = Counter(group[0].kind for group in by_pair(split).values())
    assert set(kinds) == KINDS
    assert len(set(kinds.values())) == 1


@pytest.mark.parametrize("split", SPLITS)
def test_a_pair_has_one_evidence_and_each_label_once(split: str) -> None:
    silent = 0
    for group in by_pair(split).values():
        assert len({(case.evidence, case.template, case.kind) for case in group}) == 1
        assert Counter(case.label for case in group[:2]) == {"supported": 1, "contradicted": 1}
        assert [case.label for case in group[2:]] in ([], ["no_evidence"])
        assert len({case.claim for case in group}) == len(group)
        silent += len(group) == 3
    assert 0.3 <= silent / len(by_pair(split)) <= 0.4


@pytest.mark.parametrize("split", SPLITS)
def test_the_changed_claim_is_the_same_but_for_little(split: str) -> None:
    for supported, contradicted, *_ in by_pair(split).values():
        one, two = Counter(supported.claim.split()), Counter(contradicted.claim.split())
        assert sum((one & two).values()) >= 0.5 * min(one.total(), two.total()) or one == two, supported.pair


@pytest.mark.parametrize("split", SPLITS)
def test_no_claim_is_a_copied_sentence_and_no_slot_is_left(split: str) -> None:
    for case in cases("dev" if split == "dev" else "test"):
        assert case.claim.rstrip(".") not in case.evidence
        assert not re.search(r"[{}]", case.claim + case.evidence)
        assert case.claim.endswith(".")
        assert 1 <= len(re.findall(r"[.!?](?:\s|$)", case.evidence)) <= 6


def test_no_template_is_in_both_splits() -> None:
    assert not {case.template for case in cases("dev")} & {case.template for case in cases("test")}


def test_no_sentence_of_a_template_is_in_both_splits() -> None:
    def sentences(module: object) -> set[str]:
        templates = getattr(module, "TEMPLATES", ())
        texts = (text for one in templates for text in (one.evidence, one.supported, one.contradicted, one.nothing))
        return {re.sub(r"\{\w+\}", "", sentence) for text in texts for sentence in text.split(". ")}

    shared = sentences(challenge_dev) & sentences(challenge_final)
    assert not shared


def test_the_set_is_always_the_same() -> None:
    assert cases("dev") == cases("dev")
    assert cases("test")[0].pair == "library-books-0"
    assert len({case.claim + case.evidence for case in cases("test")}) == len(cases("test"))
