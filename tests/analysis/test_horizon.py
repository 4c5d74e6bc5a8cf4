"""Horizons: found where they are known, wide where little is known, and not said beyond what was tried."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.episodes import MAZE, detour, item, logged, played
from tests.analysis.test_frames import group, row
from waybench.core import play_to_end, policy
from waybench.envs import registry
from waybench.reporting.tables._horizons import horizon_cell
from waybench.results import LoggedEpisode, Row, horizon_frame, rows
from waybench.results.estimates import item_difficulties
from waybench.results.formatting import p_text
from waybench.results.horizons import Horizon, horizons
from waybench.results.horizons._horizons import ALTERNATIVES, headline_horizons, success_curves
from waybench.results.horizons._references import ReferenceHorizon, below_reference_text
from waybench.results.horizons._searches import search_results
from waybench.results.horizons._text import (
    compare_horizons,
    difficulty_text,
    horizon_context,
    horizon_parts,
    horizon_table_text,
    horizon_text,
    reference_text,
)
from waybench.results.results import Cluster
from waybench.results.stats import FIXED_DESIGN, Fit
from waybench.results.stats._curves import CurvePrior, Curves, Trials, quantiles
from waybench.results.stats._fit import fit_curves
from waybench.results.stats._horizon_ratios import horizon_order

PLACES = np.array([5, 7, 9, 11, 13, 17, 21, 27, 33, 41.0])


def logistic(middle: float, slope: float, lapse: float = 0.0) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (1 - lapse) / (1 + np.exp(slope * (np.log2(x) - math.log2(middle))))


def exact(rates: Callable[[np.ndarray], np.ndarray], trials: float) -> Trials:
    """Return what so many trials at each place come to where chance plays no part."""
    return Trials(PLACES, rates(PLACES) * trials, np.full(len(PLACES), trials))


@pytest.mark.parametrize("middle", [8.0, 15.0, 30.0])
@pytest.mark.parametrize("slope", [2.0, 4.0])
def test_a_known_horizon_is_found(middle: float, slope: float) -> None:
    fit = Fit(Curves(CurvePrior(), PLACES[0], PLACES[-1]), exact(logistic(middle, slope), 400))
    value, low, high = fit.horizon(0.5, 0.9)
    assert value == pytest.approx(middle, rel=0.03)
    assert low < middle < high
    at_80 = middle * 2 ** (-math.log(4) / slope)  # where 1 / (1 + exp(slope * x)) is 0.8
    assert fit.horizon(0.8, 0.9)[0] == pytest.approx(at_80, rel=0.06)


def test_a_lapse_is_no_difficulty() -> None:
    fit = Fit(Curves(CurvePrior(), PLACES[0], PLACES[-1]), exact(logistic(15, 4, lapse=0.1), 400))
    truth = 15 * 2 ** (-math.log(0.5 / 0.4) / 4)  # where 0.9 / (1 + exp(4 x)) is 0.5
    assert fit.horizon(0.5, 0.9)[0] == pytest.approx(truth, rel=0.03)
    assert float(fit.weights @ fit.curves.lapse) == pytest.approx(0.1, abs=0.03)


def test_more_trials_say_more_and_clusters_say_less() -> None:
    widths = []
    for trials in (5, 20, 80):
        _, low, high = Fit(Curves(CurvePrior(), PLACES[0], PLACES[-1]), exact(logistic(15, 3), trials)).horizon(
            0.5, 0.9
        )
        widths.append(math.log2(high / low))
    assert widths[0] > 1.6 * widths[1] > 2.5 * widths[2]
    at = np.repeat(PLACES, 12)
    solved = (np.arange(len(at)) // 4 % 3 < 3 * logistic(15, 3)(at)).astype(float)  # four trials of an item are alike
    apart = fit_curves(CurvePrior(), at, solved, list(range(len(at))))
    together = fit_curves(CurvePrior(), at, solved, [number // 4 for number in range(len(at))])
    assert apart.design == 1
    assert 2 < together.design <= 5
    ends = [fit.horizon(0.5, 0.9) for fit in (apart, together)]
    assert ends[1][2] / ends[1][1] > 1.2 * ends[0][2] / ends[0][1]


def test_quantiles_of_what_is_never_reached() -> None:
    values, weights = np.array([-np.inf, 1.0, 2.0, 3.0]), np.array([0.4, 0.2, 0.2, 0.2])
    assert quantiles(values, weights, (0.3, 0.7)) == [-np.inf, pytest.approx(2.0)]
    assert quantiles(np.array([-np.inf]), np.array([1.0]), (0.5,)) == [-np.inf]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rates",
    [logistic(15, 3), logistic(15, 8), logistic(15, 1.2), logistic(13, 4, lapse=0.1), lambda x: 0.97 ** (1.6 * x)],
    ids=["usual", "steep", "shallow", "lapses", "errors at a rate"],
)
def test_intervals_of_90_percent_hold_the_truth_that_often(rates: Callable[[np.ndarray], np.ndarray]) -> None:
    rng, repeats = np.random.default_rng(7), 400
    fine = np.linspace(2, 80, 20_001)
    truth = fine[np.argmin(np.abs(rates(fine) - 0.5))]
    curves, trials = Curves(CurvePrior(), PLACES[0], PLACES[-1]), np.full(len(PLACES), 10.0)
    held = 0
    for _ in range(repeats):
        solved = rng.binomial(10, rates(PLACES)).astype(float)
        _, low, high = Fit(curves, Trials(PLACES, solved, trials)).horizon(0.5, 0.9)
        held += low <= truth <= high
    # With 400 repeats a share of 90 % is found within 4.5 percentage points in 997 of 1,000 cases.
    assert 0.85 < held / repeats < 0.95


LADDER = group()


def tried(level: int, number: int, attempt: int, *, solved: bool, perfect: bool) -> Row:
    """Return the row of an attempt at a maze."""
    maze = f"{level}-{number}"
    return row(
        LADDER,
        **{"level": level, "item": maze, "instance": maze, "cluster": Cluster(maze), "index": number},
        **{"attempt": attempt, "end": "solved" if solved else "failed"},
        metrics={"score": 100.0 if perfect else 50.0 * solved},
        axes={"dimension": float(level)},
    )


def climb(rng: np.random.Generator, middle: float, slope: float, apart: float, perfect: float) -> list[Row]:
    """Return a ladder: ten mazes a dimension, up to three attempts until one is perfect, up to where none is solved.

    Args:
        rng: Where chance comes from.
        middle: The dimension at which half of the attempts solve a maze of middling difficulty.
        slope: How success falls with the dimension's doublings, on the logistic scale.
        apart: Standard deviation of the difficulties of one dimension's mazes, likewise.
        perfect: Share of the solving attempts that are perfect.
    """
    made: list[Row] = []
    for level in (5, 7, 9, 11, 13, 15, 17, 19, 21, 25, 29, 33, 41):
        reached = False
        for number in range(10):
            chance = 1 / (1 + math.exp(slope * math.log2(level / middle) + rng.normal(0, apart)))
            for attempt in (1, 2, 3):
                solved = rng.random() < chance
                best = solved and rng.random() < perfect
                made.append(tried(level, number, attempt, solved=solved, perfect=best))
                reached |= solved
                if best:
                    break
        if not reached:
            break
    return made


def test_attempts_that_end_with_a_perfect_one_do_not_move_a_horizon() -> None:
    # Half of the mazes of every dimension are always solved at once, the others never: three attempts at each of those.
    made = [
        tried(level, number, attempt, solved=good, perfect=good)
        for level in (5, 7, 9, 13)
        for number in range(10)
        for good in [number % 2 == 0 or level == 5]
        for attempt in ((1,) if good else (1, 2, 3))
    ]
    (curve,) = success_curves(made)
    assert [(place.at, place.solved, place.items, place.trials) for place in curve.bins] == [
        (5.0, 1.0, 10, 10),
        *((level, 0.5, 10, 20) for level in (7.0, 9.0, 13.0)),
    ]
    half = curve.horizons[0]
    assert (half.items, half.trials, half.clusters) == (40, 70, 40)
    # As if each maze had been tried once: three attempts that all fail are no three failures.
    once = success_curves(each for each in made if each.attempt == 1)[0].horizons[0]
    assert half.value == pytest.approx(once.value, rel=0.01)


def test_a_plateau_is_said_not_to_fit() -> None:
    shares = {5: 20, 7: 20, 9: 12, 13: 12, 17: 12, 21: 12, 29: 12, 41: 12, 57: 1}
    made = [
        tried(level, number, 1, solved=number < solved, perfect=number < solved)
        for level, solved in shares.items()
        for number in range(20)
    ]
    half = of(horizons(made), "dimension")
    assert not half.curve_fits
    assert half.high == 57  # the last level with 12 of 20 is 41
    assert half.to_json()["curve_fits"] is False
    assert horizon_parts(half).mark == "the fitted curve does not match"
    assert "any falling success rate may cross 50 %" in horizon_context(half)
    assert "any falling success rate may cross the share" in horizon_table_text(horizons(made))
    falling = of(horizons(climb(np.random.default_rng(1), 13.0, 4, 0.0, 1.0)), "dimension")
    assert falling.curve_fits
    assert not horizon_parts(falling).mark


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slope", "apart", "perfect"),
    [(4, 0.0, 1.0), (4, 0.0, 0.5), (4, 1.5, 1.0), (4, 1.5, 0.5), (6, 3.0, 1.0)],
    ids=["alike", "alike, half perfect", "apart", "apart, half perfect", "far apart"],
)
def test_intervals_of_ladders_hold_the_truth(
    monkeypatch: pytest.MonkeyPatch, slope: float, apart: float, perfect: float
) -> None:
    monkeypatch.setattr("waybench.results.horizons._horizons.ALTERNATIVES", {})  # they take most of the time
    # The truth is a tested level here, at an end of the gap, which would hold it always: the posterior is tested alone.
    monkeypatch.setattr(Fit, "widened_horizon", Fit.horizon)
    rng, repeats, truth = np.random.default_rng(11), 400, 13.0
    held = 0
    for _ in range(repeats):
        half = of(horizons(climb(rng, truth, slope, apart, perfect)), "dimension")
        held += (half.low or 0) <= truth <= (half.high or math.inf)
    assert 0.85 < held / repeats < 0.95


def test_a_trial_of_many_attempts_says_more_than_one_and_no_more_than_they_do() -> None:
    at, rng = np.repeat(PLACES, 40), np.random.default_rng(5)
    chance = np.repeat(logistic(15, 3)(PLACES), 40)
    once = (rng.random(len(at)) < chance).astype(float)
    often = rng.binomial(9, chance) / 9
    every = list(range(len(at)))
    widths = [
        math.log2(high / low)
        for fit in (
            fit_curves(CurvePrior(), at, once, every),
            fit_curves(CurvePrior(), at, often, every, [9] * len(at)),
            fit_curves(CurvePrior(), at, often, [number // 40 for number in every], [9] * len(at)),
        )
        for _, low, high in [fit.horizon(0.5, 0.9)]
    ]
    assert widths[1] == pytest.approx(widths[0] / 3, rel=0.25)  # nine times as many attempts
    assert fit_curves(CurvePrior(), at, often, every, [9] * len(at)).design == pytest.approx(1 / 9, rel=0.2)
    assert widths[2] >= widths[1] * 0.7
    assert fit_curves(CurvePrior(), at, np.repeat(often[::40], 40), every, [9] * len(at)).design >= 1 / 9


def test_a_band_holds_the_rates_that_the_posterior_does() -> None:
    fit = Fit(Curves(CurvePrior(), PLACES[0], PLACES[-1]), exact(logistic(15, 3), 12))
    at = np.array([6.0, 15.0, 30.0])
    low, high = fit.rate_band(at, 0.9)
    # Drawn from the posterior one curve at a time.
    drawn = np.random.default_rng(3).choice(len(fit.weights), size=20_000, p=fit.weights)
    rates = fit.curves.rates(at)[drawn]
    assert low == pytest.approx(np.quantile(rates, 0.05, axis=0), abs=0.01)
    assert high == pytest.approx(np.quantile(rates, 0.95, axis=0), abs=0.01)
    assert (low < fit.expected_rates(at)).all()
    assert (fit.expected_rates(at) < high).all()
    wider = fit.rate_band(at, 0.99)
    assert (wider[0] < low).all()
    assert (wider[1] > high).all()


def test_a_curve_falls_from_the_easiest_to_the_hardest_that_was_tried() -> None:
    found = success_curves(rows(climbed("noisy-0.1", (5, 9, 17, 33))))
    first = found[0]
    assert [each.axis for each in found] == ["dimension", "minimum", "junctions"]
    assert (first.line[0].at, first.line[-1].at) == (5, 33)
    rates = [each.rate for each in first.line]
    assert rates == sorted(rates, reverse=True)
    assert all(0 <= each.low < each.rate < each.high <= 1 for each in first.line)
    assert list(first.horizons) == [
        each for each in horizons(rows(climbed("noisy-0.1", (5, 9, 17, 33)))) if each.axis == "dimension"
    ]
    assert [(place.at, place.items) for place in first.bins] == [(5, 6), (9, 6), (17, 6), (33, 6)]
    # The curve is at a half where the horizon is.
    (half,) = headline_horizons(each for curve in found for each in curve.horizons).values()
    assert half == first.horizons[0]
    assert half.value is not None
    nearest = min(first.line, key=lambda each: abs(math.log2(each.at / half.value)))
    assert nearest.rate == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    ("value", "text"), [(9.124, "9.12"), (13.0, "13"), (104.2, "104"), (1240.4, "1,240"), (0.5, "0.5")]
)
def test_difficulties_in_words(value: float, text: str) -> None:
    assert difficulty_text(value) == text


def climbed(player: str, levels: tuple[int, ...], model: str = "m", mazes: int = 6) -> list[LoggedEpisode]:
    return [
        logged(play_to_end(MAZE, item(level, number), policy(player), {"requests": 1}).record(), model)
        for level in levels
        for number in range(mazes)
    ]


def of(found: list[Horizon], axis: str, share: float = 0.5) -> Horizon:
    (one,) = (each for each in found if (each.axis, each.share) == (axis, share))
    return one


def test_a_player_that_errs_at_a_rate_reaches_less_far_the_more_it_errs() -> None:
    reached = []
    for rate in (0.02, 0.1):
        found = horizons(rows(climbed(f"noisy-{rate}", (5, 7, 9, 13, 21, 33))))
        one = of(found, "dimension")
        assert (one.side, one.easiest, one.hardest, one.trials, one.clusters) == ("", 5, 33, 36, 36)
        assert one.sensitivity.keys() == ALTERNATIVES.keys()
        assert not of(found, "minimum").sensitivity
        reached.append(one)
    assert reached[0].value is not None
    assert reached[1].value is not None
    assert reached[0].value > 1.4 * reached[1].value


def test_nothing_is_said_beyond_what_was_tried() -> None:
    far = of(horizons(rows(played("oracle", (5, 7, 9)))), "dimension")
    assert (far.value, far.high, far.side) == (None, None, "beyond")
    assert horizon_text(far) == "above 9"
    lost = [*played("null", (5,)), *played("null", (7,))]
    near = of(horizons(rows(lost)), "dimension")
    assert (near.value, near.low, near.side) == (None, None, "below")
    assert horizon_text(near).startswith("below 5")


def test_one_place_alone_and_a_teacher_have_no_horizon() -> None:
    assert [each.axis for each in horizons(rows(played("random", (5,)))) if each.axis == "dimension"] == []
    assert horizons(rows([])) == []
    assert horizon_table_text([]) == ""


def test_the_table_of_horizons() -> None:
    table = horizon_table_text(horizons(rows([*climbed("noisy-0.1", (5, 9, 17), "a"), *played("oracle", (5, 7))])))
    title, first, rule, *lines, success, intervals = table.splitlines()
    lines = [line for line in lines if not line.startswith("[")]
    chance, constant = lines.pop(-2), lines.pop()
    assert success == (
        "Success, regardless of the score: the exit is reached within"
        " one and a half times the steps of a shortest path."
    )
    assert intervals.startswith("In brackets: the 90 % interval")
    assert title == "Mazes (AliciaBench): horizons, by dimension"
    assert first.split() == ["50", "%", "80", "%"]
    assert set(rule) == {"-"}
    assert [line.split()[0] for line in lines] == ["a", "waybench/oracle"]
    assert "above 7" in lines[1]
    assert chance.split() == ["random", "player", "below", "5", "below", "5"]
    assert constant.split() == ["best", "constant", "reply", "below", "5", "below", "5"]


def test_marks_of_horizons_are_numbered_below_the_table() -> None:
    """Written into the cells they made tables of 167 columns."""
    episodes = [*climbed("noisy-0.5", (5, 9, 17), "a"), *climbed("random", (5, 9, 17), "b")]
    found = horizons(rows(episodes))
    table = horizon_table_text(found)
    assert max(map(len, table.splitlines()[:-2])) <= 120
    marks = {horizon_parts(horizon).mark for horizon in found if horizon.axis == "dimension"} - {""}
    assert marks
    for mark in marks:
        assert table.count(mark) == 1
        [number] = [line.split()[0] for line in table.splitlines() if line.endswith(f"] {mark}")]
        assert f"{number}" in table.split(mark)[0]


@pytest.mark.parametrize("levels", [(5, 7), (5, 9), (5, 7, 9, 13), (5, 101)])
@pytest.mark.parametrize("mazes", [1, 2, 10])
def test_who_solves_everything_has_a_horizon_beyond_it(levels: tuple[int, ...], mazes: int) -> None:
    made = [tried(level, one, 1, solved=True, perfect=True) for level in levels for one in range(mazes)]
    for each in horizons(made):
        assert (each.side, each.value, each.high) == ("beyond", None, None)
        assert set(each.sides.values()) == {"beyond"}
        assert horizon_text(each).startswith(f"above {levels[-1]}")
    failed = [tried(level, one, 1, solved=False, perfect=False) for level in levels for one in range(mazes)]
    for each in horizons(failed):
        assert (each.side, each.value, each.low) == ("below", None, None)
        assert horizon_text(each).startswith(f"below {levels[0]}")


def test_a_steep_step_is_located_no_better_than_the_levels_tested() -> None:
    levels = (29, 41, 49, 69, 101)
    made = [tried(level, one, 1, solved=level < 60, perfect=level < 60) for level in levels for one in range(10)]
    half = of(horizons(made), "dimension")
    assert (half.low, half.high) == (49, 69)


def test_too_few_items_are_said_to_be_too_few() -> None:
    two = horizons([tried(level, 0, 1, solved=True, perfect=True) for level in (5, 9)])
    assert [horizon_text(each) for each in two] == ["above 9 (too few items for an interval)"] * 2
    assert [each.known for each in two] == [False, False]
    many = [tried(level, one, 1, solved=True, perfect=True) for level in (5, 9) for one in range(60)]
    half = horizons(many)[0]
    assert half.known
    assert "too few" not in horizon_text(half)


def test_every_axis_comes_with_what_counts_as_solved() -> None:
    for entry in registry.built_in:
        environment = registry.load(entry.id)
        assert bool(environment.difficulty.axes) == bool(environment.difficulty.success), environment.id


def test_a_detour_solves_a_maze_and_is_no_success() -> None:
    maze = item(9)
    minimum = maze.proof["minimum"]
    assert minimum % 4 == 0, "so that one and a half times the minimum is an even number of steps too many"
    made = rows(logged(detour(maze, extra)) for extra in (0, minimum // 2, minimum // 2 + 2))
    assert [each.end for each in made] == ["solved"] * 3
    assert [each.succeeded for each in made] == [True, True, False]


def test_horizons_searches_and_difficulties_count_successes_alone() -> None:
    """Solved by a long way, every maze of every dimension: no horizon, wherever success is looked at."""
    levels = (5, 9, 13, 17)
    plan = {"axis": "dimension", "share": 0.5, "precision": 0.3, "most": 60, "budget": None, "batch": 4}
    wandered = [
        replace(logged(detour(maze, 2 * maze.proof["minimum"])), design={**plan, "lowest": 5.0, "highest": 17.0})
        for level in levels
        for maze in MAZE.source(level=level).head(6)
    ]
    made = rows(wandered)
    assert all(each.end == "solved" for each in made)
    assert {each.side for each in horizons(made) if each.axis == "dimension"} == {"below"}
    (found,) = search_results(wandered, made)
    assert found.stop == "below"
    straight = rows(logged(detour(maze, 0), "b") for level in levels for maze in MAZE.source(level=level).head(6))
    (index,) = item_difficulties([*made, *straight])
    assert index.gain is None, "no player's success falls with the level"


def test_a_horizon_that_a_random_player_has_is_marked() -> None:
    chance = of(horizons(rows(climbed("random", (5, 7, 9, 13), mazes=10))), "dimension")
    assert chance.above_references is False
    assert horizon_text(chance).endswith("; not above a random player's")
    far = of(horizons(rows(climbed("noisy-0.02", (5, 9, 17, 33), mazes=12))), "dimension")
    assert (far.above_references, far.mark) == (True, "")
    assert [(each.player, each.side, each.easiest) for each in far.references] == [
        ("random", "below", 5.0),
        ("constant", "below", 5.0),
    ]
    # Two mazes: whatever the estimate, the interval holds a random player's horizon.
    few = of(horizons([tried(level, 0, 1, solved=level == 5, perfect=False) for level in (5, 9)]), "dimension")
    assert few.above_references is None, "the rows are of a version that was not measured"
    other = few.group
    now = replace(other, version=MAZE.version, options=(("protocol", "paper"),))
    made = [replace(tried(level, 0, 1, solved=level == 5, perfect=False), group=now) for level in (5, 9)]
    few = of(horizons(made), "dimension")
    assert few.mark == "not clearly above a random player's"
    assert few.alternative("axis: linear").mark == ""


def test_references_in_words() -> None:
    random, constant = (ReferenceHorizon(player, None, "below", 5.0, 9.0) for player in ("random", "constant"))
    assert reference_text([random, constant]) == "a random player and the best constant reply: below 5"
    better = replace(constant, value=6.25, side="")
    assert reference_text([random, better]) == "a random player: below 5, the best constant reply: 6.25"
    assert reference_text([]) == ""
    assert (random.bound, better.bound, replace(random, side="beyond").bound) == (5.0, 6.25, math.inf)
    assert below_reference_text(6.0, 5.5, [random, better]) == "not above the best constant reply's"
    assert below_reference_text(7.0, 5.5, [random, better]) == "not clearly above the best constant reply's"
    assert below_reference_text(7.0, 6.5, [random, better]) == ""
    assert below_reference_text(7.0, 0.0, []) == ""


def tries(model: str, task: str, counts: dict[int, int], trials: int = 10) -> list[Row]:
    """Return the rows of a model that solves so many mazes of each dimension."""
    return [
        replace(tried(level, number, 1, solved=number < solved, perfect=number < solved), group=of_model)
        for of_model in [replace(LADDER, model=model, task=task)]
        for level, solved in counts.items()
        for number in range(trials)
    ]


def test_a_plateau_that_may_be_below_the_share_is_said_in_the_same_words_everywhere() -> None:
    steady = tries("m", "t", dict.fromkeys((5, 7, 9, 13, 17), 17) | {21: 1, 29: 0}, trials=20)
    half, most = (of(horizons(steady), "dimension", share) for share in (0.5, 0.8))
    assert half.side == ""
    assert (most.value, most.low, most.side) == (None, None, "plateau")
    assert most.high is not None
    assert horizon_text(most) == f"the plateau may be below 80 % (at most {difficulty_text(most.high)})"
    assert most.to_json()["side"] == "plateau"
    assert most.order < half.order
    (line,) = [line for line in horizon_frame([most]).records() if line["share"] == 0.8]
    assert (line["value"], line["low"], line["side"]) == (None, None, "plateau")
    table = horizon_table_text(horizons(steady))
    assert "the plateau may be below 80 % (at most" in table
    assert "too few easy items were played to tell whether the success rate is above 80 % anywhere" in table
    assert "too few easy items" in horizon_context(most)
    assert "too few easy items" not in horizon_context(half)
    assert horizon_cell(most).text == "the plateau may be below 80 %"
    never = of(horizons(tries("m", "t", dict.fromkeys((5, 7, 9, 13, 17), 24) | {29: 0}, trials=40)), "dimension", 0.8)
    assert (never.side, horizon_text(never)) == ("never", "never reaches 80 %")


def test_p_values_of_horizons_are_adjusted_over_all_pairs_at_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.results.horizons._horizons.ALTERNATIVES", {})
    falls = {
        "near": (8, 7, 3, 3, 2, 0, 0, 0),
        "middle": (10, 10, 8, 7, 4, 2, 0, 0),
        "far": (10, 10, 10, 8, 8, 7, 4, 1),
    }
    levels = (5, 7, 9, 13, 17, 21, 29, 41)
    made = [
        row
        for task, names in (("one", ("near", "middle", "far")), ("two", ("middle", "far")))
        for name in names
        for row in tries(name, task, dict(zip(levels, falls[name], strict=True)))
    ]
    curves = {(curve.group.model, curve.group.task): curve for curve in success_curves(made)}
    pairs = [("near", "far"), ("middle", "far"), ("near", "middle"), ("middle", "far")]  # the last at the other task
    fits = {name: curve_fit(levels, counts) for name, counts in falls.items()}
    plain = [horizon_order(fits[one], fits[other]).p for one, other in pairs]
    assert max(plain) < 0.2
    assert len({*plain}) == 3
    # Holm: the least of four p values counts four times, the next three times, ..., none less than one before it.
    expected, greatest = {}, 0.0
    for rank, number in enumerate(sorted(range(4), key=lambda number: plain[number])):
        greatest = max(greatest, plain[number] * (4 - rank))
        expected[number] = min(1.0, greatest)
    assert curves["far", "one"].p_adjusted is None
    assert curves["near", "one"].p_adjusted == pytest.approx(expected[0])
    assert curves["middle", "one"].p_adjusted == pytest.approx(expected[1])
    assert curves["middle", "two"].p_adjusted == pytest.approx(expected[3])
    compared = compare_horizons(
        [row for row in made if row.group.model == "middle"], [row for row in made if row.group.model == "far"]
    )
    assert [pair.adjusted for pair in compared] == pytest.approx([min(1, 2 * plain[1])] * 2)
    assert [pair.to_json()["p"] for pair in compared] == pytest.approx([plain[1]] * 2)
    assert f"; p {p_text(min(1, 2 * plain[1]))})" in compared[0].text


def curve_fit(levels: tuple[int, ...], counts: tuple[int, ...]) -> Fit:
    at = np.repeat(np.array(levels, dtype=np.float64), 10)
    solved = np.concatenate([np.arange(10) < count for count in counts]).astype(np.float64)
    return fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
