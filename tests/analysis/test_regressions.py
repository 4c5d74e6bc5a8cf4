"""What makes a map hard: its variables, and regressions on each of them (MANGO, section 3.3 and Table 10)."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.episodes import failed, played, variables
from tests.analysis.maps import answered, corridor
from waybench.envs.textmap._difficulty import map_variables, name_distance_and_similarity
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, WalkthroughStep
from waybench.results import rows
from waybench.results.estimates._bounds import ClusterVariables
from waybench.results.estimates._difficulty import Regression, regressions
from waybench.results.results._measured_row import measured_row
from waybench.results.stats._intervals import regression_line

MAPS = [corridor(f"m{places}", places, words=30 - 3 * places + places**2 % 5) for places in range(3, 10)]


def near(question: MapQuestion) -> str:
    """Know ways of up to two moves."""
    return "oracle" if abs(int(question.source[5:]) - int(question.target[5:])) < 3 else "constant"


def table(who: str = "", maps: list[PlaceMap] = MAPS, **options: str) -> dict[str, Regression]:
    episodes = answered(who or near, maps, **options)
    made = rows(episodes)
    return {found.metric: found for found in regressions(made, variables(made, episodes))}


def test_variables_of_a_small_map_by_hand() -> None:
    # Two ways are inferred: back to the red hall from the green one, and from the attic.
    edges = (
        Edge("red hall", "green hall", "east", 1, NEVER, 1, NEVER),
        Edge("green hall", "red hall", "west", NEVER, 1, NEVER, 1),
        Edge("green hall", "attic", "up", 2, NEVER, 2, NEVER),
        Edge("red hall", "attic", "climb", 4, NEVER, 4, NEVER),
        Edge("attic", "red hall", "climb", NEVER, 4, NEVER, 4),
        Edge("attic", "cellar", "fall", 9, NEVER, 9, NEVER),
    )
    steps = tuple(WalkthroughStep(number, "east", "word " * number) for number in range(6))
    place_map = PlaceMap(
        "m", ("red hall", "green hall", "attic", "cellar"), ("east", "west", "up", "climb", "fall"), edges, steps
    )
    found = map_variables(place_map, 4)
    assert (found.locations, found.explicit_edges, found.imputed_edges) == (3, 3, 2)
    # red hall and green hall share one word of two; the attic shares none.
    assert found.confusing_locations == 3
    assert found.alike_locations == 1
    # Easy: r-g, g-a, r-a, r-g-a. Hard: g-r, a-r, g-r-a, a-r-g, g-a-r.
    assert found.easy_length == 5 / 4
    assert found.hard_length == 8 / 5
    assert found.imputed_in_hard == 1
    assert found.scene_words == 2
    early = map_variables(place_map, 0)
    assert early == (0, 0, 0, 0, 0, None, None, None, 0)
    assert map_variables(place_map, 4, budget=3)[5:8] == (None, None, None)


def test_scores_of_names() -> None:
    assert name_distance_and_similarity("hall", ["hall"]) == (0, 0)
    assert name_distance_and_similarity("hall", []) == (0, 0)
    assert name_distance_and_similarity("hall", ["hall", "attic"]) == (1, 0)
    assert name_distance_and_similarity("long dark hall", ["long dark room"]) == pytest.approx((1 / 3, 2 / 3))
    assert name_distance_and_similarity("long dark hall", ["long dark room", "hall"]) == pytest.approx((2 / 3, 2 / 3))
    # A name in the same words, otherwise spaced, is no other name in words.
    assert name_distance_and_similarity("dark  hall", ["dark hall"]) == (0, 1)
    assert name_distance_and_similarity(" ", ["  "]) == (0, 1)


def test_slopes_are_those_of_the_normal_equations() -> None:
    hard = table()["mango_success_hard"]
    assert hard.clusters == len(MAPS)
    found = {slope.variable: slope for slope in hard.slopes}
    assert list(found) == [
        *("locations", "explicit_edges", "imputed_edges", "confusing_locations", "alike_locations"),
        *("hard_length", "imputed_in_hard", "scene_words"),
    ]
    # Of n places, n (n - 1) / 2 ways lead back, and 2 n - 3 of them have one or two moves.
    sizes = np.arange(3, 10)
    rates = (2 * sizes - 3) / (sizes * (sizes - 1) / 2)
    words = np.array([float(30 - 3 * n + n**2 % 5) for n in range(3, 10)])
    for name, x in (("locations", sizes.astype(float)), ("scene_words", words)):
        z = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).sum() / (len(x) - 1))
        design = np.column_stack([np.ones(len(x)), z])
        (_, beta), *_ = np.linalg.lstsq(design, rates, rcond=None)
        residuals = rates - design @ np.linalg.solve(design.T @ design, design.T @ rates)
        error = np.sqrt((residuals @ residuals) / (len(x) - 2) * np.linalg.inv(design.T @ design)[1, 1])
        p = 2 * stats.t.sf(abs(beta / error), len(x) - 2)
        reach = stats.t.ppf(0.975, len(x) - 2) * error
        slope = found[name]
        assert (slope.beta, slope.p) == pytest.approx((beta, p))
        assert (slope.low, slope.high) == pytest.approx((beta - reach, beta + reach))
        assert slope.clusters == len(MAPS)
    assert found["locations"].beta == pytest.approx(found["imputed_edges"].beta)


def test_a_line_that_is_none_says_why() -> None:
    few = table(maps=MAPS[:4])["mango_success_hard"]
    assert few.clusters == 4
    assert {slope.why for slope in few.slopes} == {"fewer than 5"}
    assert {slope.beta for slope in few.slopes} == {None}
    assert {slope.why for slope in table("oracle")["mango_success_hard"].slopes} == {"the score is the same for all"}
    alike = table(maps=[corridor(f"m{number}", 4) for number in range(6)])["mango_success_hard"]
    assert {slope.why for slope in alike.slopes} == {"the variable is the same for all"}
    nothing = table("null")["mango_success_hard"]
    assert (nothing.clusters, {slope.clusters for slope in nothing.slopes}) == (0, {0})
    assert json.dumps([nothing.to_json(), few.to_json()], allow_nan=False)


def test_line_by_hand() -> None:
    found = regression_line([1, 2, 3, 4, 5], [5, 4, 3, 2, 1])
    assert not isinstance(found, str)
    assert found[0] == pytest.approx(-np.std([1, 2, 3, 4, 5], ddof=1))
    assert found[3] == pytest.approx(0, abs=1e-12)


def test_each_map_is_one_observation_whatever_its_number_of_questions() -> None:
    found = table()["mango_success_easy"]
    assert {slope.clusters for slope in found.slopes} == {len(MAPS)}
    assert found.slopes[0].p is not None


def test_variables_are_those_of_what_was_shown() -> None:
    episodes = answered("oracle", [corridor("m", 5)])
    record = episodes[0].record
    less = replace(record, instance={**record.instance, "cutoff": 2}, options={**record.options, "protocol": "sound"})
    both = [*episodes, replace(episodes[0], record=less, model="b")]
    whole, part = (next(iter(some.values())) for some in variables(rows(both), both).values())
    assert (whole["locations"], part["locations"]) == (5, 3)
    mixed = [*episodes[1:], replace(episodes[0], record=replace(record, instance=less.instance))]
    (some,) = variables(rows(mixed), mixed).values()
    (mean,) = some.values()
    assert mean["locations"] == pytest.approx((19 * 5 + 3) / 20)


def test_what_does_not_count_has_no_variables() -> None:
    episodes = answered("oracle", [corridor("m", 3)], most=2)
    gone = [replace(episode, record=failed(episode.record)) for episode in episodes]
    assert variables(rows(gone), gone) == {}
    assert variables(rows(played("oracle", (5,))), played("oracle", (5,))) == {}
    assert regressions(rows(played("oracle", (5,))), {}) == []


def test_variables_are_worked_out_once_for_each_map(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(place_map: PlaceMap, *rest: Any) -> Any:
        asked.append(place_map.name)
        return map_variables(place_map, *rest)

    monkeypatch.setattr("waybench.envs.textmap._difficulty.map_variables", counted)
    maps = [corridor("a", 3), corridor("b", 4)]
    episodes = [*answered("oracle", maps), *answered("null", maps, model="other"), *answered("null", maps[:1], key="k")]
    found = ClusterVariables()
    made = [measured_row(episode) for episode in episodes]
    for one, episode in zip(made, episodes, strict=True):
        found.add(one, episode.record)
    assert sorted(asked) == ["a", "a", "b"]  # "a" of another set is another map
    known = found.by_group(made)
    assert known == variables(made, episodes)
    assert {(group.model, group.key): len(some) for group, some in known.items()} == {
        ("vendor/model", "mine"): 2,
        ("other", "mine"): 2,
        ("vendor/model", "k"): 1,
    }


def test_what_was_set_aside_later_has_no_variables() -> None:
    episodes = answered("oracle", [corridor("a", 3), corridor("b", 4)], most=2)
    found = ClusterVariables()
    made = [measured_row(episode) for episode in episodes]
    for one, episode in zip(made, episodes, strict=True):
        found.add(one, episode.record)
    excluded = [replace(one, exclusion_reason="repeated") if one.cluster.name == "a" else one for one in made]
    ((_, own),) = found.by_group(excluded).items()
    assert {cluster.name: each["locations"] for cluster, each in own.items()} == {"b": 4}
    with pytest.raises(ValueError, match="longer"):
        found.by_group(made[:-1])
