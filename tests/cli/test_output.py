"""What several commands write."""

import pytest

from waybench.cli._output import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (12_345, "12.3 kB"),
        (999_600, "1 MB"),
        (2.5e9, "2.5 GB"),
        (3e18, "3,000 PB"),
    ],
)
def test_a_size_has_a_unit_that_fits(size: float, text: str) -> None:
    assert size_text(size) == text
