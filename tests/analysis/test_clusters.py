"""Questions about one map are one cluster: averages over questions and over maps, and their intervals."""

from dataclasses import replace
from statistics import mean, variance

import numpy as np
import pytest
from scipy import stats

from tests.analysis.episodes import played
from tests.analysis.maps import answered, corridor, easy
from tests.analysis.searches import searched
from waybench.core import Usage
from waybench.results import Estimate, LoggedEpisode, overall, rows
from waybench.results._tables import episode_frame
from waybench.results.comparisons import item_scores
from waybench.results.estimates._bounds import cluster_values
from waybench.results.results import Cluster, ItemKey
from waybench.results.results._measured_row import measured_row
from waybench.results.results._rows import ItemValues

MAPS = [corridor("small", 3), corridor("middle", 4), corridor("large", 6)]
QUESTIONS = [6, 12, 30]  # ordered pairs of places, half of them easy


def only(episodes: list[LoggedEpisode]) -> Estimate:
    (found,) = overall(rows(episodes))
    return found


SIX_MAPS = [*MAPS, corridor("small again", 3), corridor("middle again", 4), corridor("large again", 6)]


def right(number: int) -> list[LoggedEpisode]:
    """Return episodes in which so many questions of six maps are answered, the first ones, and no other can be read."""
    return [
        episode
        for place_map in SIX_MAPS
        for position, episode in enumerate(answered("oracle", [place_map], protocol="sound"))
        if position < number
    ] + [
        episode
        for place_map in SIX_MAPS
        for position, episode in enumerate(answered("null", [place_map], protocol="sound"))
        if position >= number
    ]


def test_micro_and_macro_by_hand() -> None:
    found = only([replace(episode, model="m") for episode in right(6)])
    micro, macro = found.metrics["success"], found.macro["success"]
    assert micro.value == pytest.approx(36 / 96)
    assert macro.value == pytest.approx(mean([1, 6 / 12, 6 / 30]))
    assert (micro.n, micro.clusters, macro.n, macro.clusters) == (96, 6, 6, 6)
    # Wilson's for as many trials as have the ratio's error: residuals of the maps' totals, linearised, each over one
    # minus the map's share of the questions. Shares of 1/16, 1/8 and 5/16, twice each, have 3.322 degrees of freedom.
    squares = [(6 - 36 / 96 * size) ** 2 / (1 - size / 96) for size in 2 * QUESTIONS]
    assert QUESTIONS == [6, 12, 30]
    assert (micro.low, micro.high) == pytest.approx(wilson(36 / 96, sum(squares) / 96**2, 3.3219987))
    # One map in three is all right: a third of half a value is added at either bound, (1/6) (0.5667² + 0.4333²) / 36.
    added = (0.5666667**2 + 0.4333333**2) / 216
    error = variance(2 * [1, 0.5, 0.2]) / 6 + added
    assert (macro.low, macro.high) == pytest.approx(wilson(macro.value, error, 5))


def wilson(share: float, error: float, freedom: float) -> tuple[float, float]:
    """Return the shares p at which (share - p)² is t² of the error that is due at p."""
    reach = stats.t.ppf(0.975, freedom) ** 2 * error / (share * (1 - share))
    low, high = sorted(np.roots([1 + reach, -(2 * share + reach), share**2]))
    return float(low), float(high)


def test_without_the_maps_the_interval_would_be_too_narrow() -> None:
    found = only([replace(episode, model="m") for episode in right(6)])
    apart = [replace(row, cluster=Cluster(row.instance)) for row in rows(replace(e, model="m") for e in right(6))]
    (narrow,) = overall(apart)
    wide, small = found.metrics["success"], narrow.metrics["success"]
    assert wide.value == small.value
    assert wide.high is not None
    assert small.high is not None
    assert wide.high > small.high


def test_one_map_gives_no_interval() -> None:
    found = only(answered(lambda question: "oracle" if easy(question) else "random", MAPS[-1:]))
    assert found.metrics["success"].low is None
    assert found.macro["success"].n == 1


def test_maps_of_one_name_in_other_sets_and_levels_are_others() -> None:
    episodes = [*answered("oracle", [corridor("m", 3)]), *answered("oracle", [corridor("m", 9)])]
    other = answered("oracle", [corridor("m", 3)], key="other")
    assert {row.cluster for row in rows([*episodes, *other])} == {
        Cluster("m", "mine", 1),
        Cluster("m", "mine", 2),
        Cluster("m", "other", 1),
    }


def test_what_was_not_read_is_a_failure_and_in_no_average_of_the_paper() -> None:
    found = only(answered(lambda question: "oracle" if question.map.name == "large" else "", MAPS, protocol="paper"))
    assert (found.metrics["mango_success"].n, found.macro["mango_success"].clusters) == (30, 1)
    assert (found.metrics["success"].n, found.macro["success"].clusters) == (found.items, len(MAPS))
    silent = only(answered("null", MAPS))
    assert silent.macro.keys().isdisjoint({"mango_success", "mango_success_easy", "mango_spl"})
    assert {silent.macro[name].value for name in ("success", "success_easy", "spl")} == {0}
    assert only(answered("null", MAPS)).macro["parsed"].value == 0


def test_an_attempt_that_was_not_read_is_a_failure_and_in_no_average_of_the_paper() -> None:
    """Of three attempts at each question two cannot be read: the paper's rate is that of the one that can."""
    attempts = [
        replace(episode, record=replace(episode.record, attempt=attempt), model="m")
        for attempt, player in enumerate(("null", "oracle", "null"), start=1)
        for episode in answered(player, MAPS, protocol="paper")
    ]
    found = only(attempts)
    assert (found.metrics["mango_success"].value, found.macro["mango_success"].value) == (1, 1)
    assert (found.metrics["mango_left_out"].value, found.metrics["mango_left_out"].n) == (
        pytest.approx(2 / 3),
        found.items,
    )
    for name in ("success", "parsed"):
        assert (found.metrics[name].value, found.macro[name].value) == (
            pytest.approx(1 / 3),
            pytest.approx(1 / 3),
        )
    (compared,) = item_scores(rows(attempts))
    assert list(compared.values.values()) == [pytest.approx(1 / 3)] * len(compared.values)
    (published,) = item_scores(rows(attempts), "mango_success")
    assert set(published.values.values()) == {1}


def test_instances_without_clusters_are_their_own() -> None:
    for episodes in (played("oracle", (5,)), searched("random")):
        assert all(row.cluster == Cluster(row.instance) for row in rows(episodes))
        assert only(episodes).macro == {}


def test_what_does_not_replay_is_in_no_map() -> None:
    episodes = answered("oracle", MAPS[:1])
    broken = replace(episodes[0], record=replace(episodes[0].record, instance={"map": 3}))
    assert measured_row(broken, confirmed=False).cluster == Cluster(broken.record.instance_hash)
    assert measured_row(episodes[0]).cluster == Cluster("small", "mine", 1)


def test_figures_of_shares() -> None:
    a, b = Cluster("a"), Cluster("b")
    keys = [ItemKey(1, str(number), "", cluster) for number, cluster in enumerate((a, a, b))]
    for values, sizes in (([1, 0, 1], None), ([1, 2, 1], [4, 2, 1])):
        found = cluster_values(ItemValues(dict(zip(keys, values, strict=True)), sizes))
        assert found == {a: (0.5, 2), b: (1, 1)}


def test_share_of_tokens_that_were_cached() -> None:
    used = Usage(1000, 50, cached_tokens=900)
    found = only(answered("oracle", MAPS, usage=used))
    assert (found.input_tokens, found.cached_tokens, found.cached_share) == (1000, 900, 0.9)
    assert only(answered("oracle", MAPS)).cached_share is None
    assert only(answered("oracle", MAPS, usage=Usage(1000, 50))).cached_share == 0
    flat = episode_frame(rows(answered("oracle", MAPS, usage=used))).records()[0]
    assert (flat["cluster"], flat["cached_tokens"]) == ("small", 900)


def test_how_many_questions_there_are_is_no_setting() -> None:
    [group] = {row.group for row in rows(answered("oracle", MAPS))}
    settings = group.settings
    assert "questions" not in settings
    assert settings["difficulty"] == "both"  # as other options of the source are
