"""Whether larger models of a series are better: AQA-Bench, section 4.4."""

from dataclasses import dataclass

import pytest

from tests.analysis.episodes import MAZE, logged
from waybench.core import play_to_end, policy
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._trends import LARGER_BETTER, LARGER_WORSE, TOO_FEW, trend_effects, trends_text


@dataclass(frozen=True)
class Facts:
    size: float | None
    series: str
    name: str = ""


def episodes(player: str, model: str, count: int = 12) -> list[LoggedEpisode]:
    return [
        logged(play_to_end(MAZE, item, policy(player), {}).record(), model, "maze")
        for item in MAZE.source(level=9).head(count)
    ]


SIZES = {"lab/s": Facts(1e9, "Lab", "Small"), "lab/m": Facts(7e9, "Lab"), "lab/l": Facts(7e10, "Lab")}
RISING = {"lab/s": "random", "lab/m": "heuristic", "lab/l": "oracle"}


@pytest.mark.parametrize(("order", "verdict"), [(1, LARGER_BETTER), (-1, LARGER_WORSE)])
def test_a_series_that_rises_and_one_that_falls(order: int, verdict: str) -> None:
    players = dict(zip(RISING, list(RISING.values())[::order], strict=True))
    played = rows(each for model, player in players.items() for each in episodes(player, model))
    [effect] = trend_effects(played, SIZES)
    assert (effect.verdict, effect.series, effect.comparison.items) == (verdict, "Lab", 12)
    assert [member.name for member in effect.members] == ["Small", "lab/m", "lab/l"]
    means = [member.mean.value for member in effect.members]
    assert (effect.steps_down, means) == (0 if order == 1 else 2, sorted(means, reverse=order == -1))
    assert effect.slope.low is not None and effect.slope.high is not None
    assert (effect.slope.low > 0) == (order == 1) == (effect.slope.high > 0)
    assert effect.adjusted is not None and effect.adjusted < 0.05
    text = trends_text([effect])
    assert verdict in text and f"Small: {means[0]:.1f}" in text


def test_at_the_items_of_all_models_and_with_three_sizes() -> None:
    played = [
        each for model, player in RISING.items() for each in episodes(player, model, 4 if model == "lab/m" else 9)
    ]
    [effect] = trend_effects(rows(played), SIZES)
    assert (effect.comparison.items, effect.verdict) == (4, TOO_FEW)
    two = {name: facts for name, facts in SIZES.items() if name != "lab/m"}
    assert trend_effects(rows(played), two) == []
    assert trend_effects(rows(played), {**SIZES, "lab/m": Facts(None, "Lab")}) == []
    assert trend_effects(rows(played), {**SIZES, "lab/m": Facts(7e9, "Other")}) == []


def test_tests_of_all_series_are_one_family() -> None:
    more = {f"two/{name[-1]}": Facts(facts.size, "Two") for name, facts in SIZES.items()}
    played = rows(
        each
        for models in (SIZES, more)
        for model, player in zip(models, RISING.values(), strict=True)
        for each in episodes(player, model)
    )
    first, second = trend_effects(played, {**SIZES, **more})
    assert first.adjusted == second.adjusted == pytest.approx(2 * first.trend.test.p)
