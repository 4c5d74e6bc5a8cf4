"""A reference that a player beats on the same items is no ceiling, for nobody."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.analysis.episodes import played
from waybench.results import Estimate, LoggedEpisode, by_level, overall
from waybench.results.references._measure import Reference, ReferenceScores
from waybench.results.results import exclude
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._measured_row import measured_row
from waybench.results.results._rows import ReferenceBounds, Row

LEVELS = (7, 9)


def players(*names: str) -> list[Row]:
    """Return rows of embedded players at the same mazes, rescaled by the oracle's score."""
    known, episodes = ReferenceLookup(), list[LoggedEpisode]()
    for name in names:
        episodes += played(name, LEVELS, attempts=1, model=name)
    return exclude(measured_row(each, anchors=known.scores(each.record, measured_row(each).group)) for each in episodes)


def lowered(rows: list[Row], of: Callable[[Row], bool]) -> list[Row]:
    """Return rows with a reference of half the oracle's score at some items, which were played themselves."""
    bounds = [ReferenceBounds(0.0, {}, 50.0 if of(each) else 100.0, name=each.item, was_played=True) for each in rows]
    return [replace(each, anchors=own) for each, own in zip(rows, bounds, strict=True)]


def known(estimates: list[Estimate]) -> dict[tuple[str, int | None], bool]:
    return {(each.group.model, each.level): each.rescaled is not None for each in estimates}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return players("oracle", "noisy-0.1", "random")


def test_nobody_beats_a_ceiling(rows: list[Row]) -> None:
    assert set(known(overall(rows)).values()) == {True}


def test_a_reference_that_is_beaten_rescales_nobody_s_score(rows: list[Row]) -> None:
    beaten = lowered(rows, lambda each: True)
    assert known(overall(beaten)) == {(name, None): False for name in ("oracle", "noisy-0.1", "random")}
    # The random player does not beat it, nor does it know of those who would.
    [alone] = overall([each for each in beaten if each.group.model == "random"])
    assert alone.rescaled is not None
    assert alone.rescaled.ceiling == 50.0


def test_it_is_a_ceiling_at_the_levels_where_nobody_beats_it(rows: list[Row]) -> None:
    found = known(by_level(lowered(rows, lambda each: each.level == 7)))
    assert not any(is_known for (_, level), is_known in found.items() if level == 7)
    assert found["oracle", 9]
    assert not known(overall(lowered(rows, lambda each: each.level == 7)))["oracle", None]


def test_one_better_item_does_not_make_a_better_player(rows: list[Row]) -> None:
    """Luck at one item is made up for by the others: what counts is the mean on the same items."""
    name = next(each.item for each in rows if each.group.model == "random" and each.level == 9)
    lucky = [
        replace(each, metrics={**each.metrics, "score": 101.0})
        if each.group.model == "random" and each.item == name
        else each
        for each in rows
    ]
    assert known(overall(lucky))["noisy-0.1", None]


def test_an_oracle_that_played_other_items_is_beaten_only_beyond_doubt(rows: list[Row]) -> None:
    """A perfect player has easier items than the oracle had every second time."""
    oracle = [each for each in rows if each.group.model == "oracle"]

    def is_known(ceiling: float, error: float) -> bool:
        anchors = ReferenceScores(
            silence=Reference(0.0),
            random=None,
            constant=None,
            reply="",
            ceiling=Reference(ceiling, error, 500),
            name="a",
        )
        scores = [
            replace(each, anchors=anchors, metrics={**each.metrics, "score": 90.0 + number})
            for number, each in enumerate(oracle)
        ]

        [total] = overall(scores)
        return total.rescaled is not None

    assert is_known(92.0, 1.0)
    assert not is_known(50.0, 1.0)
