"""`waybench power`: what it prints, and what it refuses."""

from pathlib import Path

import pytest
from scipy import stats

from tests.analysis.foreign import RIGHT, WRONG, ask
from tests.cli.support import Command, one_line_error


def test_items_for_a_difference(command: Command) -> None:
    lines = command("power", "--detect", 0.1, "--disagree", 0.3, "--families", 5).stdout.splitlines()
    assert lines[0] == "To detect a difference of 0.1 with a power of 0.8, two-sided at 0.05:"
    assert lines[1] == "  the same items for both models: 230"
    # The normal approximation (Connor, Biometrics 43, 1987) has 234 and 348.
    assert lines[2] == "  in each of 5 families, at worst: 344"
    assert lines[3] == "  other items for each model: 405 each"
    assert lines[4] == "  assumed: one model solves 0.5 of the items, they disagree on 0.3, one attempt at each"


def test_a_difference_for_items(command: Command) -> None:
    lines = command("power", "--items", 230, "--disagree", 0.3).stdout.splitlines()
    assert lines[0] == "With 230 items and a power of 0.8, two-sided at 0.05:"
    assert lines[1] == "  the same items for both models: differences from 0.100"
    assert "none, however large" in command("power", "--items", 3).stdout


def test_clusters(command: Command) -> None:
    out = command("power", "--detect", 0.05, "--cluster", 20, "--icc", 0.1).stdout
    assert "2,320 in 116 clusters" in out


def test_a_pilot(command: Command, tmp_path: Path) -> None:
    ask(tmp_path, "good", lambda number: RIGHT)
    ask(tmp_path, "poor", lambda number: RIGHT if number % 3 else WRONG)
    out = command("power", "--detect", 0.1, "--pilot", tmp_path).stdout
    # They disagree on 4 of 12: 80 % sure on at most D = 0.497, of which up to 4 of 12 come with a chance of 0.2.
    assert stats.binom.cdf(4, 12, 0.497) == pytest.approx(0.2, abs=0.002)
    assert "from the pilot: two models, 12 items, disagreeing on at most 0.497 of them, a rough guess" in out
    # The normal approximation has 388.
    assert "the same items for both models: 387\n" in out
    assert "other items for each model: 403 each" in out


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], "give either --detect or --items"),
        (["--detect", 0.1, "--items", 10], "give either --detect or --items"),
        (["--detect", 0.8], "choose another --rate"),
        (["--detect", 1.5], "--detect"),
        (["--detect", 0.1, "--attempts", 2, "--disagree", 0.2], "single attempts"),
        (["--detect", 0.1, "--pilot", "nowhere"], "no folder"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("power", *args))
