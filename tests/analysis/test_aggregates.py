"""Numbers of a set of episodes that are the mean of no metric: the Crafter score."""

import math
import random
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

import waybench
from benchmarks.crafter_score import coverage
from tests.analysis.episodes import estimate
from waybench.core import End, play_to_end, policy
from waybench.envs.crafter import crafter_score
from waybench.envs.crafter._environment import unlocked_achievements
from waybench.envs.crafter._ids import ACHIEVEMENTS
from waybench.results import Estimate, LoggedEpisode, Row, by_level, overall, rows
from waybench.results.estimates._measures import score_tables_text
from waybench.results.estimates._summary import summary_table
from waybench.results.results import Cluster
from waybench.results.stats import IntervalEstimate, LostAttempts, clustered_mean
from waybench.results.stats._intervals import jackknife_estimate

CRAFTER = waybench.load("crafter/survival")
(AGGREGATE,) = CRAFTER.scoring.aggregates
ALL = set(ACHIEVEMENTS)
HALF = set(ACHIEVEMENTS[::2])


def played(player: str, count: int = 3, steps: int = 60, model: str = "vendor/model") -> list[LoggedEpisode]:
    """Return what an embedded player does in some worlds."""
    options = {"wording": "one_question", "steps": steps}
    return [
        LoggedEpisode(model, "crafter", play_to_end(CRAFTER, item, policy(player), options).record())
        for item in CRAFTER.source().head(count)
    ]


@cache
def _played_row() -> Row:
    [row] = rows(played("noop", 1, 1))
    return row


def world(number: int, unlocked: Collection[str], attempt: int = 1, model: str = "vendor/model") -> Row:
    """Return the row of an episode that unlocked some achievements."""
    row, name = _played_row(), f"world {number}"
    made = {f"unlocked_{each}": float(each in unlocked) for each in ACHIEVEMENTS}
    return replace(
        row,
        group=replace(row.group, model=model),
        item=name,
        instance=name,
        index=number,
        cluster=Cluster(name),
        attempt=attempt,
        metrics={**row.metrics, **made},
    )


def lost(row: Row) -> Row:
    """Return the row of the same episode after an infrastructure error."""
    return replace(row, end=End.INFRASTRUCTURE, error=True, metrics=dict.fromkeys(row.metrics))


def only(some: Iterable[Row]) -> Estimate:
    [found] = by_level(some)
    return found


def test_scores_far_below_their_bound_have_the_interval_of_students_t() -> None:
    scores = [0.0, 0.0, 0.0, 0.0, 3.0, 51.0]  # of at most 1320 in 60 steps
    row = rows(played("noop", 1, 60))[0]
    some = [
        replace(
            row,
            item=str(number),
            instance=str(number),
            cluster=Cluster(str(number)),
            metrics={**row.metrics, "score": score},
            series={"unlocked": [0.0, score / 51]},
        )
        for number, score in enumerate(scores)
    ]
    found = only(some)
    mean = found.single
    half = stats.t.ppf(0.975, 5) * stats.sem(scores)
    # Four of six worlds without any achievement do not make 953 points plausible, nor 16 at the second step.
    assert mean is not None
    assert (mean.value, mean.low) == (9, 0)
    assert mean.high == pytest.approx(9 + half, rel=2e-3)
    first, second = found.curves["unlocked"].steps
    assert (first.value, first.low, first.high) == (0, None, None)
    assert second.high == pytest.approx((9 + half) / 51, rel=2e-3)


def score(some: Iterable[Row]) -> IntervalEstimate:
    return only(some).aggregates["crafter_score"]


def test_scores_by_hand() -> None:
    assert score([world(0, ALL), world(1, ALL)]).value == pytest.approx(100)
    assert score([world(0, set()), world(1, set())]).value == 0
    # Half of the achievements always, half never: exp(ln(101) / 2) - 1, far below the mean of 50.
    assert score([world(0, HALF), world(1, HALF)]).value == pytest.approx(math.sqrt(101) - 1)
    # All of them in one world of two: each rate is 50 %.
    assert score([world(0, ALL), world(1, set())]).value == pytest.approx(50)


def test_it_is_the_published_formula_of_real_episodes() -> None:
    episodes = [*played("oracle"), *played("random", model="other")]
    for found in estimate(episodes):
        records = [each.record for each in episodes if each.model == found.group.model]
        unlocked = [unlocked_achievements(record) for record in records]
        rates = {name: sum(name in names for names in unlocked) / len(unlocked) for name in ACHIEVEMENTS}
        assert found.aggregates["crafter_score"].value == pytest.approx(crafter_score(rates.values()), abs=1e-12)
        assert (found.aggregates["crafter_score"].n, len(set(rates.values())) > 1) == (3, True)
        assert [found.metrics[metric.name].value for metric in AGGREGATE.metrics] == pytest.approx([*rates.values()])


def test_attempts_at_an_item_are_averaged_first() -> None:
    name = ACHIEVEMENTS[3]
    some = [world(0, {name}, 1), world(0, set(), 2), world(0, set(), 3), world(1, set())]
    # One of three attempts at one world, none at the other: a rate of 1/6, and not the 1/4 of the episodes.
    found = score(some)
    assert found.value == pytest.approx(math.exp(math.log(1 + 100 / 6) / 22) - 1)
    assert (found.n, found.clusters) == (2, 2)


def test_infrastructure_errors_are_in_no_denominator() -> None:
    whole = [world(0, ALL), world(1, HALF), world(2, set())]
    found = score([*whole, lost(world(3, set())), lost(world(1, set(), 2))])
    assert replace(found, lost=None) == score(whole)
    assert only([lost(world(0, set())), lost(world(1, set()))]).aggregates == {}
    # At best, one more world with all achievements, and at another one half of the achievements in one of two attempts.
    failures, solved = (score([*whole, world(3, done), world(1, done, 2)]) for done in (set[str](), ALL))
    assert found.lost == LostAttempts(2, 5, failures.value, solved.value)


def test_an_item_without_one_of_the_metrics_is_left_out() -> None:
    half_known = world(2, ALL)
    half_known = replace(half_known, metrics={**half_known.metrics, "unlocked_wake_up": None})
    whole = [world(0, HALF), world(1, ALL)]
    assert score([*whole, half_known]) == score(whole)


def test_with_a_teacher_there_is_none() -> None:
    assert only([replace(world(0, ALL), guided=True), world(1, ALL)]).aggregates == {}


def test_what_cannot_tell_an_interval_has_none() -> None:
    assert score([world(0, HALF)]) == IntervalEstimate(score([world(0, HALF)]).value, None, None, 1, 1)
    alike = score([world(number, HALF) for number in range(5)])
    assert (alike.low, alike.high, alike.clusters) == (None, None, 5)
    # Worlds that were drawn together are one observation.
    together = [replace(world(number, some), cluster=Cluster("one")) for number, some in enumerate((HALF, ALL))]
    assert (score(together).low, score(together).n, score(together).clusters) == (None, 2, 1)
    six = [*together, *(world(number, set()) for number in range(2, 7))]
    assert (score(six).n, score(six).clusters) == (7, 6)
    assert score(six).low is not None
    assert score(six[:-1]).low is None


def test_a_jackknife_by_hand() -> None:
    def square(means: object) -> float:
        [mean] = means  # type: ignore[misc]
        return mean * mean

    # The mean of 1, 1, 1, 3, 3 and 3 squared is 4; without a 1 it is 11 / 5 squared, without a 3 it is 9 / 5 squared.
    # So pseudo-values are 24 - 24.2 and 24 - 16.2: their mean is 3.8, its standard error 4 / √5; t(5) at 97.5 % is
    # 2.5706.
    values, reach = [[1.0], [1.0], [1.0], [3.0], [3.0], [3.0]], 2.570582
    found = jackknife_estimate(values, "abcdef", square)
    assert found is not None
    assert (found.value, found.n, found.clusters) == (4, 6, 6)
    half = reach * 4 / math.sqrt(5)
    assert (found.low, found.high) == (pytest.approx(3.8 - half), pytest.approx(3.8 + half))
    # On the scale of its root the number is the mean: pseudo-values are the values.
    found = jackknife_estimate(values, "abcdef", square, 0, None, (math.sqrt, lambda root: root * root))
    assert found is not None
    half = reach / math.sqrt(5)
    assert (found.low, found.high) == (pytest.approx((2 - half) ** 2), pytest.approx((2 + half) ** 2))
    assert jackknife_estimate([], [], square) is None
    with pytest.raises(ValueError, match="one cluster for each value"):
        jackknife_estimate([[1.0]], [], square)


def test_of_a_plain_mean_it_is_the_interval_of_means() -> None:
    # Clusters of one size, for means of clusters of several sizes are ratios.
    values, clusters = [3.0, 5.0, 4.0, 9.0, 1.0, 2.5] * 2, [number // 2 for number in range(12)]
    found, plain = jackknife_estimate([[each] for each in values], clusters, sum), clustered_mean(values, clusters)
    assert found is not None
    assert plain is not None
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))


def simulated(rng: np.random.Generator, chances: np.ndarray, worlds: int) -> IntervalEstimate:
    """Return the score of some worlds in which each achievement has its chance, and some worlds are easier."""
    ease = 0.5 * rng.normal(size=(worlds, 1)) + math.sqrt(0.75) * rng.normal(size=(worlds, len(chances)))
    values = (ease < stats.norm.ppf(chances)).astype(float).tolist()
    found = jackknife_estimate(values, range(worlds), AGGREGATE.of, AGGREGATE.low, AGGREGATE.high, AGGREGATE.scale)
    assert found is not None
    return found


@pytest.mark.parametrize("worlds", [10, 30])
@pytest.mark.parametrize(("least", "most"), [(0.1, 0.9), (0.3, 0.98)])
def test_coverage(worlds: int, least: float, most: float) -> None:
    rng, chances = np.random.default_rng(5), np.linspace(least, most, 22)
    true, found = crafter_score(chances.tolist()), [simulated(rng, chances, worlds) for _ in range(300)]
    assert all(each.low is not None and each.high is not None for each in found)
    covered = sum((each.low or 0) <= true <= (each.high or 0) for each in found)
    assert 0.92 <= covered / 300 <= 0.99
    assert np.mean([each.value for each in found]) < true  # of few worlds the score itself is too low


def test_an_interval_holds_its_number_and_stays_within_the_bounds() -> None:
    rng = np.random.default_rng(6)
    found = [simulated(rng, np.full(22, 0.1), 6) for _ in range(200)]
    ends = [(each.low, each.value, each.high) for each in found if each.low is not None and each.high is not None]
    assert len(ends) > 100
    assert all(0 <= low <= value <= high <= 100 + 1e-9 for low, value, high in ends)


def test_the_order_of_episodes_changes_nothing() -> None:
    chance = random.Random(3)
    some = [
        world(number, {name for name in ACHIEVEMENTS if chance.random() < 0.4}, attempt)
        for number in range(30)
        for attempt in range(1, 8)
    ]
    first = score(some)
    for _ in range(5):
        chance.shuffle(some)
        assert score(some) == first


def test_table() -> None:
    some = [world(0, ALL), world(1, set()), world(0, HALF, model="other"), world(1, HALF, model="other")]
    table = score_tables_text(by_level(some), totals=overall(some))
    assert table.split("\n\n")[1] == (
        "Crafter (SmartPlay): Crafter score, higher is better     1\n"
        "----------------------------------------------------------\n"
        "other                                                  9.0\n"
        "vendor/model                                          50.0"
    )
    assert table.startswith("Crafter (SmartPlay)     1\n")
    gone = score_tables_text(by_level([lost(row) for row in some]))
    assert [line.split()[-1] for line in gone.split("\n\n")[1].splitlines()[2:]] == ["n/a*", "n/a*"]


def test_as_json() -> None:
    told = only([world(0, ALL), world(1, HALF)]).to_json()["aggregates"]["crafter_score"]
    assert told["value"] == pytest.approx(crafter_score([1.0] * 11 + [0.5] * 11))
    assert told["n"] == 2


SIZE = AGGREGATE.sample_size


def test_too_few_worlds_are_said_beside_the_score_in_a_terminal_and_as_json() -> None:
    assert SIZE is not None
    some = [world(number, HALF if number % 3 else ALL) for number in range(10)]
    (found,) = overall(some)
    note = found.too_few["crafter_score"]
    assert note.startswith("Crafter score: its interval takes 100 worlds, and there are 10. With 10 worlds, ")
    assert found.to_json()["too_few"] == {"crafter_score": note}
    lines = summary_table(some).splitlines()
    score = found.aggregates["crafter_score"]
    assert [line for line in lines if f"{score.value:.1f} [" in line and "]†" in line]
    assert f"† {note}" in lines
    assert note in score_tables_text(by_level(some)).splitlines()
    # Whatever the attempts at them are, a hundred worlds are enough.
    many = [world(number, HALF if number % 3 else ALL) for number in range(SIZE.fewest)]
    (enough,) = overall(many)
    assert enough.too_few == {}
    assert "†" not in summary_table(many)
    assert "its interval takes" not in score_tables_text(by_level(many))


@pytest.mark.parametrize("name", ["all 10 %", "ten 80 %, twelve 3 %", "1 to 95 %, most of them rare"])
def test_so_many_worlds_would_do(name: str) -> None:
    assert SIZE is not None
    assert coverage(name, 10, 200) < 0.91
    assert coverage(name, SIZE.fewest, 150) >= 0.92 - 2 * (0.92 * 0.08 / 150) ** 0.5
