"""What a run declares of its design, and what of it is read from logs from outside."""

import json
from typing import Any

import pytest

from waybench.core._designs import Levels, is_search_design, ladder_design, ladder_levels


@pytest.mark.parametrize("levels", [range(5, 103, 2), range(5, 6), (1, 2, 5, 9)])
def test_levels_are_declared_in_few_words(levels: Levels) -> None:
    design = json.loads(json.dumps(ladder_design(levels)))
    assert ladder_levels(design) == levels
    assert not is_search_design(design)
    assert len(json.dumps(design)) < 60


@pytest.mark.parametrize(
    "levels",
    [
        *(None, 5, "5", [5, "7"], [5, True], [5.0], [10**30], list(range(200_000)), {}, {"first": 5, "last": 7}),
        *({"first": 5, "last": 7, "step": step} for step in (0, -2, True, 1.0, "1")),
        {"first": 0, "last": 10**8, "step": 1},
    ],
)
def test_levels_that_cannot_be_read_are_none(levels: Any) -> None:
    assert ladder_levels({"levels": levels}) == ()


def test_the_settings_of_a_search_are_no_levels() -> None:
    assert is_search_design({"axis": "dimension", "lowest": 5})
    assert not is_search_design({})
    assert ladder_levels({"axis": "dimension"}) == ()
