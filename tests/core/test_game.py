"""Choosing among very many values."""

import pytest

from waybench.core import evenly_spaced_values


@pytest.mark.parametrize(
    ("values", "most", "chosen"),
    [
        (range(5), 5, [0, 1, 2, 3, 4]),
        (range(5), 4, [0, 2, 4]),
        (range(2**62), 4, [0, 2**60, 2**61, 3 * 2**60]),
        ((), 3, []),
        ("abc", 1, ["a"]),
    ],
)
def test_evenly_chosen(values: range, most: int, chosen: list[int]) -> None:
    assert evenly_spaced_values(values, most) == chosen
