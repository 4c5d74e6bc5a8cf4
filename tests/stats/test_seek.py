"""The search for a horizon: it asks where it learns most for the price, and stops when it may."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from waybench.results.stats import Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import STOPS, Candidate, Decision, forecast_searches
from waybench.results.stats._curves import CurvePrior, Curves, Trials, monotone_bounds

PLACES = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)
Rates = Callable[[float], float]


def logistic(middle: float, slope: float = 4.0) -> Rates:
    return lambda x: 1 / (1 + math.exp(slope * math.log2(x / middle)))


def make_candidates(cost: Callable[[float], float] = lambda place: 1.0, left: int | None = None) -> list[Candidate]:
    return [Candidate(place, cost(place), left) for place in PLACES]


def searched(
    rates: Rates,
    rule: StoppingRule,
    candidates: Sequence[Candidate],
    seed: int = 0,
    budget: float | None = None,
    charged: float = 1.0,
) -> tuple[list[Trial], Decision, Seeker]:
    rng, seeker = np.random.default_rng(seed), Seeker(rule, PLACES[0], PLACES[-1])
    trials: list[Trial] = []
    left = list(candidates)
    while True:
        decision = seeker.next(trials, left, budget)
        if decision.stop:
            return trials, decision, seeker
        assert 0 < len(decision.candidates) <= rule.batch
        for number in decision.candidates:
            at, cost, remaining = left[number]
            assert remaining is None or remaining > 0
            left[number] = Candidate(at, cost, None if remaining is None else remaining - 1)
            trials.append(Trial(at, bool(rng.random() < rates(at)), cost * charged, cost))


@pytest.mark.parametrize("middle", [9.0, 20.0, 60.0])
def test_it_finds_the_horizon_to_the_precision(middle: float) -> None:
    trials, decision, seeker = searched(logistic(middle), StoppingRule(precision=0.15), make_candidates())
    horizon = seeker.state(trials).horizon
    assert decision == Decision(stop="precision")
    assert horizon.precision == (horizon.high - horizon.low) / (2 * horizon.value) <= 0.15
    assert horizon.low * 0.85 < middle < horizon.high * 1.15
    assert len(trials) < 120


@pytest.mark.slow
@pytest.mark.parametrize("results", [(), ((15, True), (25, False), (15, True), (21, True), (35, False))])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_result_that_tells_most_of_the_horizon_is_wanted(results: Sequence[tuple[int, bool]], share: float) -> None:
    """Against the mutual information from the joint distribution of horizon and result, one term after the other."""
    curves = Curves(CurvePrior(), PLACES[0], PLACES[-1])
    at, solved = (np.array([float(each[k]) for each in results]) for k in (0, 1))
    posterior = curves.posterior(curves.log_likelihood(Trials(at, solved, np.ones(len(at)))))
    low, high = math.log2(PLACES[0]), math.log2(PLACES[-1])
    width = (high - low) / round(20 * (high - low))
    told: list[float] = []
    for place in PLACES:
        joint: dict[tuple[int, bool], float] = {}
        rates = curves.rates(np.array([float(place)]))[:, 0]
        for reach, rate, weight in zip(curves.horizons(share), rates, posterior, strict=True):
            where = -1 if reach <= low else 1000 if reach > high else math.ceil((reach - low) / width - 1e-9)
            for result, chance in ((True, rate), (False, 1 - rate)):
                joint[where, result] = joint.get((where, result), 0.0) + weight * chance
        wheres = {where for where, _ in joint}
        of_where = {where: joint[where, True] + joint[where, False] for where in wheres}
        of_result = {result: sum(joint[where, result] for where in wheres) for result in (True, False)}
        told.append(sum(p * math.log(p / of_where[key[0]] / of_result[key[1]]) for key, p in joint.items() if p > 0))
    trials = [Trial(at, solved, 1.0, 1.0) for at, solved in results]
    for costs in ([1.0] * len(PLACES), [float(place) for place in PLACES]):
        candidates = [Candidate(place, cost) for place, cost in zip(PLACES, costs, strict=True)]
        (wanted,) = (
            Seeker(StoppingRule(share=share, batch=1), PLACES[0], PLACES[-1]).next(trials, candidates).candidates
        )
        assert wanted == int(np.argmax(np.array(told) / costs))


def test_more_precision_takes_more_trials() -> None:
    counts = [
        len(searched(logistic(20), StoppingRule(precision=to, most=2000), make_candidates())[0])
        for to in (0.3, 0.15, 0.075)
    ]
    assert counts[0] < counts[1] < counts[2] / 2


def test_it_asks_near_the_horizon() -> None:
    trials, _, _ = searched(logistic(20), StoppingRule(precision=0.1), make_candidates())
    near = sum(10 < trial.at < 40 for trial in trials)
    assert near > 0.75 * len(trials)


def test_of_equal_use_the_cheaper_is_asked() -> None:
    even, _, _ = searched(logistic(20), StoppingRule(precision=0.15), make_candidates())
    dear, _, _ = searched(logistic(20), StoppingRule(precision=0.15), make_candidates(lambda place: place**2))
    mean = [np.mean([trial.at for trial in trials]) for trials in (even, dear)]
    assert mean[1] < mean[0]
    assert sum(trial.at**2 for trial in dear) < sum(trial.at**2 for trial in even)


@pytest.mark.parametrize(("rate", "stop"), [(1.0, "beyond"), (0.0, "below")])
def test_it_ends_soon_where_the_horizon_is_out_of_range(rate: float, stop: str) -> None:
    trials, decision, _ = searched(lambda x: rate, StoppingRule(), make_candidates())
    assert decision.stop == stop
    assert 12 <= len(trials) <= 40


def test_the_cap_is_kept() -> None:
    trials, decision, _ = searched(logistic(20), StoppingRule(precision=0.02, most=30, batch=4), make_candidates())
    assert (len(trials), decision.stop) == (30, "cap")


def test_items_can_run_out() -> None:
    trials, decision, _ = searched(logistic(20), StoppingRule(precision=0.02), make_candidates(left=1))
    assert (len(trials), decision.stop) == (len(PLACES), "supply")
    assert sorted(trial.at for trial in trials) == list(PLACES)


@pytest.mark.parametrize("charged", [0.5, 1.0, 3.0])
def test_the_budget_is_kept_also_where_trials_are_dearer_than_told(charged: float) -> None:
    budget = 40.0
    trials, decision, _ = searched(
        logistic(20), StoppingRule(precision=0.02), make_candidates(), budget=budget, charged=charged
    )
    assert decision.stop == "budget"
    spent = charged * len(trials)
    assert (
        budget - 2 * charged < spent <= budget + 4 * max(0, charged - 1)
    )  # the first round is not yet known to be dear


def test_the_order_of_results_changes_nothing() -> None:
    trials, _, seeker = searched(logistic(20), StoppingRule(precision=0.1), make_candidates())
    some = trials[:24]
    expected = seeker.next(some, make_candidates())
    rng = np.random.default_rng(3)
    for _ in range(5):
        mixed = [some[number] for number in rng.permutation(len(some))]
        assert seeker.next(mixed, make_candidates()) == expected
    assert Seeker(StoppingRule(precision=0.1), PLACES[0], PLACES[-1]).next(some, make_candidates()) == expected


def test_a_cost_that_is_not_known_is_taken_for_what_others_say() -> None:
    seeker = Seeker(StoppingRule(), PLACES[0], PLACES[-1])
    unknown = seeker.state([Trial(9, True, None, 10.0), Trial(9, True, None, 10.0)])
    assert unknown.spent == 20
    half_known = seeker.state([Trial(9, True, None, 10.0), *(Trial(9, True, 30.0, 10.0) for _ in range(98))])
    assert half_known.spent == pytest.approx(98 * 30 + 30, rel=0.01)


def test_every_stop_has_words() -> None:
    assert STOPS.keys() == {"precision", "beyond", "below", "never", "budget", "cap", "supply"}


@pytest.mark.slow
def test_a_forecast_is_of_all_kinds_of_players_and_the_cheapest_first() -> None:
    rule = StoppingRule(precision=0.2)
    found = forecast_searches(rule, make_candidates(lambda place: place**2))
    assert [each.cost for each in found] == sorted(each.cost for each in found)
    assert all(12 <= each.trials <= rule.most for each in found)
    assert found[-1].cost > 3 * found[0].cost
    finer = forecast_searches(StoppingRule(precision=0.1), make_candidates(lambda place: place**2))
    assert sum(each.trials for each in finer) > 1.5 * sum(each.trials for each in found)


def flat(rate: float, middle: float) -> list[Trial]:
    """Return trials of who solves a share of all items up to a difficulty, and none of the harder ones."""
    return [Trial(at, at < middle and number < round(20 * rate), 1.0, 1.0) for at in PLACES[:9] for number in range(20)]


def test_a_search_does_not_end_by_precision_where_a_plateau_may_be_below_the_share() -> None:
    seeker = Seeker(StoppingRule(share=0.8, most=1000, precision=0.5), PLACES[0], PLACES[-1])
    state = seeker.state(flat(0.85, 21))
    assert 0.02 < state.fit.probability_unreached(0.8) < 0.98
    assert (state.plateau_side, state.stop_reason(PLACES[0], PLACES[-1])) == ("plateau", "")
    assert seeker.next(flat(0.85, 21), make_candidates()).candidates
    # Who lapses never reaches the share, and who does not has a horizon.
    assert seeker.state(flat(0.6, 21)).stop_reason(PLACES[0], PLACES[-1]) == "never"
    sure = seeker.state(flat(1.0, 21))
    assert (sure.plateau_side, sure.stop_reason(PLACES[0], PLACES[-1])) == ("", "precision")


def test_the_reported_interval_near_a_plateau_holds_what_falling_rates_allow() -> None:
    trials = [trial for trial in flat(0.9, 21) if trial.at > 8]
    state = Seeker(StoppingRule(share=0.8), PLACES[0], PLACES[-1]).state(trials)
    assert 0 < state.fit.probability_unreached(0.8) < 0.02
    bounds = monotone_bounds(state.fit.trials_done, 0.8, 0.8)
    assert state.reported_horizon.low <= bounds[0] < bounds[1] <= state.reported_horizon.high
    assert state.reported_horizon.high - state.reported_horizon.low > 1.3 * (state.horizon.high - state.horizon.low)
    half = Seeker(StoppingRule(share=0.5), PLACES[0], PLACES[-1]).state(trials)
    assert half.reported_horizon == half.horizon
