"""Curves of success against difficulty: sums over all of them."""

import numpy as np
import pytest

from waybench.results.stats import FIXED_DESIGN, Array
from waybench.results.stats._curves import CurvePrior, Curves, Trials, monotone_bounds
from waybench.results.stats._fit import fit_curves


@pytest.mark.parametrize(
    "shape",
    [
        CurvePrior(),
        CurvePrior(guess={0.25: 1.0}, lapse={0.02: 1.0}),
        FIXED_DESIGN,
        CurvePrior(links=("normal",), log=False),
        CurvePrior().with_guess_rates({5.0: 0.3, 9.0: 0.1, 57.0: 0.02}),
    ],
)
def test_sums_are_those_of_the_rates(shape: CurvePrior) -> None:
    curves, rng = Curves(shape, 5, 101), np.random.default_rng(1)
    for at in (np.array([5.0, 21.0, 101.0]), np.array([9.0, 49.0, 57.0]), np.array([7.0])):
        weights = rng.random((2, len(curves.middle))) - 0.2
        assert curves.weighted_rate_sums(at, weights) == pytest.approx(weights @ curves.rates(at), rel=1e-9, abs=1e-9)


def test_where_a_share_is_reached_is_worked_out_once_and_stays() -> None:
    curves = Curves(CurvePrior(), 5, 101)
    first = curves.horizons(0.5)
    assert first.tolist() == Curves(CurvePrior(), 5, 101).horizons(0.5).tolist()
    assert curves.horizons(0.5) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0
    assert curves.horizons(0.9).tolist() != first.tolist()


_LUCK = {5.0: 0.3, 9.0: 0.1, 29.0: 0.05, 101.0: 0.01}


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_curves_with_luck_fall_to_a_share_where_their_rates_do(share: float) -> None:
    curves = Curves(FIXED_DESIGN.with_guess_rates(_LUCK), 5, 101)
    places = curves.horizons(share)
    for number in np.flatnonzero(np.isfinite(places))[::701]:
        rate = curves.rates(2 ** places[[number]], np.array([number]))
        assert rate.item() == pytest.approx(share, abs=1e-6)
    # A curve that has none is nowhere above the share, not even with the luck of the easiest items.
    unreached = np.isneginf(places)
    assert (curves.rates(np.array([5.0]), unreached) < share + 1e-9).all()
    assert unreached.any() == (share == 0.8)


@pytest.mark.parametrize("rates", [{5: 0.1, 9: 0.2}, {5: 0.5, 9: 0.2}, {5: 0.1, 9: -0.1}])
def test_guess_rates_that_rise_or_are_none_are_refused(rates: dict[float, float]) -> None:
    with pytest.raises(ValueError, match="never rise"):
        CurvePrior().with_guess_rates(rates)


@pytest.mark.parametrize("middle", [8.0, 12.0])
def test_known_guess_rates_take_luck_out_of_a_horizon(middle: float) -> None:
    at = np.geomspace(5, 101, 4_000)
    luck = np.interp(np.log2(at), np.log2(list(_LUCK)), list(_LUCK.values()))
    rates = luck + (1 - luck) / (1 + (at / middle) ** 4)
    true = float(at[np.argmin(np.abs(rates - 0.5))])
    places = np.repeat(_LADDER, 40)
    solved = np.interp(places, at, rates)  # the expected share of each trial
    horizons = [
        fit_curves(shape, places, solved, range(len(places))).horizon_position(0.5, 0.9).value
        for shape in (FIXED_DESIGN, FIXED_DESIGN.with_guess_rates(_LUCK))
    ]
    assert horizons[1] == pytest.approx(true, rel=0.02)
    assert abs(horizons[1] - true) < abs(horizons[0] - true)


_LADDER: Array = np.array([5.0, 9, 13, 21, 29, 35, 41, 49, 69, 101], dtype=np.float64)


def _steps(start: float, runs: int, items: int = 10) -> tuple[int, int]:
    """Return how many runs of a player that fails above a random step are held by plain and by spanned intervals."""
    rng, at = np.random.default_rng([21, 7, int(start)]), np.repeat(_LADDER, items)
    plain = spanned = 0
    for _ in range(runs):
        step = start * (float(_LADDER[start < _LADDER][0]) / start) ** rng.random()
        solved: Array = (at < step).astype(np.float64)
        fit = fit_curves(CurvePrior(), at, solved, range(len(at)))
        _, low, high = fit.horizon(0.5, 0.9)
        plain += low <= step <= high
        _, low, high = fit.widened_horizon(0.5, 0.9)
        spanned += low <= step <= high
    return plain, spanned


def test_a_step_between_two_levels_is_not_located_better_than_the_gap() -> None:
    solved = (np.repeat(_LADDER, 10) < 60).astype(np.float64)
    fit = fit_curves(CurvePrior(), np.repeat(_LADDER, 10), solved, range(len(solved)))
    _, plain_low, plain_high = fit.horizon(0.5, 0.9)
    assert 49 < plain_low < plain_high < 69  # the prior alone says so
    median, low, high = fit.widened_horizon(0.5, 0.9)
    assert (low, high) == (49, 69)
    assert low < median < high


def test_spanned_intervals_hold_steps_that_plain_ones_miss() -> None:
    plain, spanned = _steps(49, runs=30)
    assert plain < 0.85 * 30
    assert spanned >= 0.85 * 30


def _counts(rates: Array, items: int = 40) -> tuple[Array, Array]:
    """Return the items of a ladder and which were solved, of players whose share of successes is exactly as given."""
    solved = np.concatenate([np.arange(items) < round(rate * items) for rate in rates.tolist()])
    return np.repeat(_LADDER, items), solved.astype(np.float64)


def _truths(kind: str, middle: float) -> Array:
    logistic = 1 / (1 + np.exp(3 * np.log2(_LADDER / middle)))
    plateau = 0.65 * (middle > _LADDER) + 0.3 * (middle / 2 > _LADDER)
    return np.asarray({"guesses": 0.25 + 0.75 * logistic, "plateau": plateau, "lapses": 0.9 * logistic}[kind])


@pytest.mark.parametrize("kind", ["guesses", "plateau"])
def test_intervals_hold_guesses_and_plateaus(kind: str) -> None:
    rng, runs, held, without = np.random.default_rng([21, 7, len(kind)]), 40, 0, 0
    at = np.repeat(_LADDER, 10)
    for _ in range(runs):
        middle = 15 * 4 ** rng.random()
        # Where 0.25 + 0.75 * logistic is one half: logistic is one third, an odds of 2 to 1 against.
        truth = middle * 2 ** (np.log(2) / 3) if kind == "guesses" else middle
        solved = (rng.random(len(at)) < np.repeat(_truths(kind, middle), 10)).astype(np.float64)
        _, low, high = fit_curves(FIXED_DESIGN, at, solved, range(len(at))).widened_horizon(0.5, 0.9)
        held += low <= truth <= high
        _, low, high = fit_curves(CurvePrior(), at, solved, range(len(at))).horizon(0.5, 0.9)
        without += low <= truth <= high
    assert without < 0.75 * runs
    assert held >= 0.85 * runs


def test_a_guess_rate_is_found_in_the_hardest_items() -> None:
    at, solved = _counts(_truths("guesses", 20))
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert float(fit.weights @ fit.curves.guess) == pytest.approx(0.25, abs=0.02)
    assert fit.horizon(0.5, 0.9)[0] == pytest.approx(20 * 2 ** (np.log(2) / 3), rel=0.05)
    at, solved = _counts(_truths("lapses", 20))
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert float(fit.weights @ fit.curves.guess) < 0.01


def test_a_plateau_is_no_fit_and_its_interval_comes_from_any_falling_curve() -> None:
    at, solved = _counts(np.array([1, 1, 0.95, 0.6, 0.6, 0.6, 0.6, 0.55, 0.6, 0.05]))
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert not fit.is_adequate
    _, low, high = fit.widened_horizon(0.5, 0.9)
    assert high == 101  # 69 is solved at 60 %, 101 at 5 %
    assert low < 69
    for kind in ("guesses", "lapses"):
        at, solved = _counts(_truths(kind, 20))
        assert fit_curves(FIXED_DESIGN, at, solved, range(len(at))).is_adequate


def test_bounds_of_falling_rates() -> None:
    at: Array = np.array([1.0, 2, 3, 4, 5])
    tens = np.full(5, 10.0)
    assert monotone_bounds(Trials(at, np.array([10.0, 10, 9, 0, 0]), tens), 0.5, 0.9) == (3, 4)
    # The rates 5/10 and 6/10 rise, so that both are pooled to 11/20, and either may be below one half.
    low, high = monotone_bounds(Trials(at, np.array([10.0, 5, 6, 1, 0]), tens), 0.5, 0.9)
    assert (low, high) == (1, 4)
    assert monotone_bounds(Trials(at, np.array([10.0, 5, 6, 1, 0]), tens), 0.5, 0.0) == (3, 4)
    # Likelihood ratio of 14 of 20 and one half is 2 * (14 ln 1.4 + 6 ln 0.6) = 3.29, between the quantiles of chi
    # squared with one degree of freedom at 90 % (2.71) and 95 % (3.84).
    pair = Trials(at[:2], np.array([14.0, 0]), np.array([20.0, 20]))
    assert monotone_bounds(pair, 0.5, 0.90) == (1, 2)
    assert monotone_bounds(pair, 0.5, 0.95) == (-np.inf, 2)
    assert monotone_bounds(Trials(at, tens, tens), 0.5, 0.9) == (5, np.inf)


def test_a_horizon_outside_the_levels_has_no_gap() -> None:
    at = np.repeat(_LADDER, 3)
    fit = fit_curves(CurvePrior(), at, np.ones(len(at)), range(len(at)))
    assert fit.widened_horizon(0.5, 0.9) == fit.horizon(0.5, 0.9)
    assert fit.horizon(0.5, 0.9)[0] > 101


def test_a_plateau_that_may_be_below_the_share_leaves_no_value() -> None:
    at, solved = _counts(np.array([0.85, 0.8, 0.85, 0.8, 0.8, 0, 0, 0, 0, 0]), items=20)
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert 0.1 < fit.probability_unreached(0.8) < 0.9
    position = fit.horizon_position(0.8, 0.9)
    assert (position.side, position.low) == ("plateau", -np.inf)
    assert np.isnan(position.value)
    assert position.high == fit.widened_horizon(0.8, 0.9)[2]
    # The same trials leave no doubt at one half: no curve starts below it.
    half = fit.horizon_position(0.5, 0.9)
    assert (fit.probability_unreached(0.5), half.side) == (0, "")
    assert 29 <= half.value <= 35


def test_a_share_that_is_never_reached_is_said_not_to_be() -> None:
    at, solved = _counts(np.array([0.65] * 6 + [0.0] * 4), items=40)
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert fit.probability_unreached(0.8) > 0.9
    assert fit.horizon_position(0.8, 0.9)[::3] == (-np.inf, "never")


def test_who_fails_at_the_easiest_level_has_a_horizon_below_it_whatever_the_plateau() -> None:
    at, solved = np.repeat([5.0, 9.0], 10), np.repeat([1.0, 0.0, 0.0], [4, 6, 10])
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert fit.plateau_side(0.8) == "plateau"
    assert fit.horizon_position(0.8, 0.9)[2:] == (5, "below")
    nothing = fit_curves(FIXED_DESIGN, at, np.zeros(len(at)), range(len(at)))
    assert nothing.horizon_position(0.8, 0.9).side == "below"


def test_wide_gaps_between_isotonic_bounds_are_in_the_interval() -> None:
    at, solved = _counts(np.array([1, 1, 0.6, 0.5, 0.5, 0.6, 0.5, 0.4, 0, 0]), items=10)
    fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert fit.is_adequate
    bounds = monotone_bounds(fit.trials_done, 0.5, 0.8)
    assert bounds[1] > bounds[0] * 2**1.5
    least = monotone_bounds(fit.trials_done, 0.5, 0.4)
    _, low, high = fit.widened_horizon(0.5, 0.9)
    assert low <= bounds[0]
    assert high >= bounds[1]
    assert bounds[1] - bounds[0] > least[1] - least[0]
    # Where they are close, those at 40 % suffice.
    at, solved = _counts(np.array([1, 1, 1, 0.9, 0.6, 0.2, 0, 0, 0, 0]), items=10)
    steep = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
    assert steep.minimum_interval(0.5, 0.9) == monotone_bounds(steep.trials_done, 0.5, 0.4)


@pytest.mark.slow
def test_printed_horizons_near_a_plateau_hold_it() -> None:
    rng, runs = np.random.default_rng(11), 150
    at = np.repeat(_LADDER, 10)
    for lapse in (0.1, 0.15):
        printed = wrong = 0
        for _ in range(runs):
            middle = 12 * 3 ** rng.random()
            rates = (1 - lapse) / (1 + np.exp(5 * np.log2(at / middle)))
            truth = middle * 2 ** (np.log((1 - lapse) / 0.8 - 1) / 5)
            solved = (rng.random(len(at)) < rates).astype(np.float64)
            position = fit_curves(FIXED_DESIGN, at, solved, range(len(at))).horizon_position(0.8, 0.9)
            printed += position.side != "plateau"
            wrong += position.side != "plateau" and not position.low <= truth <= position.high
        assert wrong <= 0.15 * printed
        assert 0.15 * runs < printed < 0.85 * runs
