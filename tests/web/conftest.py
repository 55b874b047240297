from collections.abc import Generator
from pathlib import Path

import pytest

from evenhand.records import Item
from evenhand.study import Study
from tests.web.browsing import Browsers


@pytest.fixture
def study(tmp_path: Path) -> Generator[Study]:
    """A small study, open in this thread; the page opens it for itself."""
    items = [
        Item(
            f"q{number}",
            {
                "question": f"How far is it to place {number}?",
                "context": f"The road to place {number} is {number} km long.",
                "generated_answer": f"It is {number} km away.",
            },
        )
        for number in range(1, 13)
    ]
    with Study.create(tmp_path / "study.db", "halo-support", items) as made:
        yield made


@pytest.fixture
def client(study: Study) -> Generator[Browsers]:
    """The page of `study` with its browsers: `client.rater("ann").get("/api/form")`."""
    with Browsers(study) as browsers:
        yield browsers
