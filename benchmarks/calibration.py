"""Simulated players of several shapes: does the search for a horizon hold what it says, and what does it save?

`python -m benchmarks.calibration` prints the tables of docs/evidence.md; it takes some minutes.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from statistics import fmean
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from waybench.envs.maze import ALICIA
from waybench.evaluation._adaptive import strata_of_levels
from waybench.results.stats import FIXED_DESIGN, Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import Candidate, simulate_search
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import fit_curves

Rates = Callable[[float], float]
assert ALICIA.difficulty.horizon is not None
PLACES = ALICIA.difficulty.horizon.levels
MAZES, ATTEMPTS = 10, 3  # of each dimension, as published
LAST = 101


def _logistic(middle: float, slope: float, lapse: float = 0.0, guess: float = 0.0) -> Rates:
    return lambda x: guess + (1 - lapse - guess) / (1 + math.exp(slope * math.log2(x / middle)))


def _steps(middle: float) -> Rates:
    """Return a player that errs at the same rate in every step, of which there are about 0.36 * N**1.6."""
    return lambda x: 0.5 ** ((x / middle) ** 1.6)


def _probit(middle: float) -> Rates:
    return lambda x: 0.5 * math.erfc(2.2 * math.log2(x / middle) / math.sqrt(2))


def _kinds(middle: float) -> Rates:
    """Return a player that finds its way in two thirds of the mazes twice as far as in the others."""
    far, near = _logistic(middle * 1.35, 5), _logistic(middle * 0.675, 5)
    return lambda x: (2 * far(x) + near(x)) / 3


PLAYERS: dict[str, Callable[[float], Rates]] = {
    "usual": lambda middle: _logistic(middle, 3),
    "steep": lambda middle: _logistic(middle, 8),
    "shallow": lambda middle: _logistic(middle, 1.5),
    "fails one in ten by chance": lambda middle: _logistic(middle, 4, lapse=0.1),
    "errs at a rate in each step": _steps,
    "probit": _probit,
    "mazes of two kinds": _kinds,
}


class Saved(NamedTuple):
    """What the published ladder takes, and what a search for an interval as narrow as the ladder's.

    Attributes:
        episodes: The ladder's episodes.
        searched: Those of a search for the fewest episodes.
        bound: Those of the best design, which knows the player's curve but for its place and slope.
        tokens: The ladder's tokens.
        searched_tokens: Those of a search for the fewest tokens.
        token_bound: Those of the best design.
    """

    episodes: float
    searched: float
    bound: float
    tokens: float
    searched_tokens: float
    token_bound: float


class Run(NamedTuple):
    """One simulated player.

    Attributes:
        held: Whether the interval held the truth.
        trials: Episodes of the search.
        stop: Why it stopped.
        apart: What is saved if attempts at one maze are independent.
        alike: What is saved if attempts at one maze all have the same result.
    """

    held: bool
    trials: int
    stop: str
    apart: Saved | None
    alike: Saved | None


def horizon(rates: Rates, share: float) -> float:
    """Return where a falling curve is a share, by bisection."""
    low, high = 1.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rates(middle) > share else (low, middle)
    return low


@cache
def tokens(level: int) -> float:
    """Return about how many tokens an episode takes, as the program estimates it before a search.

    Seven sizes are measured; the tokens of others are interpolated on logarithmic scales.
    """
    known_tokens = _known_tokens()
    return float(np.exp(np.interp(math.log(level), np.log(list(known_tokens)), np.log(list(known_tokens.values())))))


@cache
def _known_tokens() -> dict[int, float]:
    options = ALICIA.resolve_options({"protocol": "sound"})
    sources = {level: ALICIA.source(level=level, protocol="sound") for level in (5, 9, 15, 25, 41, 69, 101)}
    assert ALICIA.difficulty.axes
    return {
        int(stratum.difficulty): stratum.tokens.cost(None)
        for stratum in strata_of_levels(ALICIA, options, ALICIA.difficulty.axes[0], sources, None)
    }


def best_design(rates: Rates, share: float, costs: Sequence[float]) -> float:
    """Return the least cost of a unit of information about log2 of the horizon, in a design that knows the truth.

    It is the c-optimal design for the place of a curve with a known form and an unknown slope (Elfving, Annals of
    Mathematical Statistics 23, 1952), with costs of trials: a linear program.

    Args:
        rates: The curve.
        share: The success rate at the horizon.
        costs: Cost of a trial at each of `PLACES`.
    """
    truth, step = horizon(rates, share), 1e-4
    at = np.log2(np.array(PLACES, dtype=np.float64) / truth)
    p = np.array([rates(level) for level in PLACES])
    slope = np.array([(rates(truth * 2 ** (x + step)) - rates(truth * 2 ** (x - step))) / (2 * step) for x in at])
    spread = np.sqrt(np.clip(p * (1 - p), 1e-9, None))
    # Moving the place by m changes a rate by -slope * m, and stretching the curve about it by s, by slope * x * s.
    gradients = np.stack([slope / spread, slope * at / spread]) / np.sqrt(np.array(costs))
    solution = linprog(np.ones(2 * len(at)), A_eq=np.hstack([gradients, -gradients]), b_eq=[1, 0])
    assert solution.fun is not None, "the design cannot tell the place"
    return float(solution.fun) ** 2


def search(
    rates: Rates, rule: StoppingRule, rng: np.random.Generator, by_tokens: bool = False
) -> tuple[list[Trial], str, Seeker]:
    """Let a player be searched, for the fewest episodes or tokens."""
    seeker = Seeker(rule, PLACES[0], PLACES[-1])
    candidates = [Candidate(level, tokens(level) if by_tokens else 1.0) for level in PLACES]
    return *simulate_search(seeker, candidates, [rates(level) for level in PLACES], rng), seeker


def ladder(rates: Rates, rng: np.random.Generator, alike: bool) -> list[tuple[int, int, bool]]:
    """Let a player climb as published; return dimension, number of the attempt and success of each episode."""
    episodes: list[tuple[int, int, bool]] = []
    for level in range(PLACES[0], LAST + 1, 2):
        reached = False
        for _ in range(MAZES):
            solved = False
            for attempt in range(ATTEMPTS):
                solved = bool(rng.random() < rates(level)) if not (alike and attempt) else solved
                episodes.append((level, attempt, solved))
                reached |= solved
                if solved:
                    break
        if not reached:
            break
    return episodes


def saved(
    rates: Rates, rng: np.random.Generator, alike: bool, share: float, batch: int, reported: bool
) -> Saved | None:
    """Compare the ladder with searches for an interval as narrow; None if the ladder's interval has an end missing.

    Args:
        rates: The curve.
        rng: Chance.
        alike: Whether attempts at one maze all have the same result.
        share: The success rate at the horizon.
        batch: Episodes of a round of the search.
        reported: Whether the ladder's interval is that of reports, with guesses and gaps between levels; otherwise it
            is that of the posterior alone, as a search has it.
    """
    climbed = ladder(rates, rng, alike)
    # Of attempts that are alike the first says all; independent ones are as good as attempts at other mazes.
    telling = [episode for episode in climbed if not (alike and episode[1])]
    at, solved = (np.array([episode[k] for episode in telling], dtype=np.float64) for k in (0, 2))
    fit = fit_curves(FIXED_DESIGN if reported else CurvePrior(), at, solved, list(range(len(telling))))
    _, low, high = fit.widened_horizon(share, 0.9) if reported else fit.horizon(share, 0.9)
    if low <= 0 or not math.isfinite(high):
        return None
    rule = StoppingRule(share=share, precision=(high - low) / (high + low), most=1_000, batch=batch)
    fewest, cheapest = (search(rates, rule, rng, by_tokens)[0] for by_tokens in (False, True))
    variance = (math.log2(high / low) / (2 * 1.645)) ** 2
    return Saved(
        len(climbed),
        len(fewest),
        best_design(rates, share, [1.0] * len(PLACES)) / variance,
        sum(tokens(level) for level, *_ in climbed),
        sum(tokens(int(trial.at)) for trial in cheapest),
        best_design(rates, share, [tokens(level) for level in PLACES]) / variance,
    )


def player(kind: str, number: int, rule: StoppingRule, compared: bool, reported: bool) -> Run:
    """Simulate one player of a kind."""
    rng = np.random.default_rng([list(PLAYERS).index(kind), number])
    rates = PLAYERS[kind](math.exp(rng.uniform(math.log(8), math.log(50))))
    truth = horizon(rates, rule.share)
    trials, stop, seeker = search(rates, rule, rng)
    reach = seeker.state(trials).horizon
    apart, alike = (
        saved(rates, rng, alike, rule.share, rule.batch, reported) if compared else None for alike in (False, True)
    )
    return Run(reach.low <= truth <= reach.high, len(trials), stop, apart, alike)


def line(kind: str, runs: list[Run]) -> str:
    """Return a line of the table."""
    held, reached = fmean(run.held for run in runs), fmean(run.stop == "precision" for run in runs)
    cells = [kind, f"{len(runs):,}", f"{held:.1%}", f"{reached:.0%}", f"{fmean(run.trials for run in runs):.0f}"]
    for name in ("apart", "alike"):
        values = [value for run in runs if (value := getattr(run, name)) is not None]
        if values:
            # Ratios of means over the same players, as for the episodes of one study of all of them.
            mean = Saved(*(fmean(value[k] for value in values) for k in range(6)))
            cells.append(f"{mean.searched / mean.episodes:.2f} ({mean.bound / mean.episodes:.2f})")
            cells.append(f"{mean.searched_tokens / mean.tokens:.2f} ({mean.token_bound / mean.tokens:.2f})")
    return "| " + " | ".join(cells) + " |"


HEAD = (
    *("players", "runs", "intervals that hold", "precision reached", "episodes"),
    *("ratio to the ladder (bound), attempts independent: episodes", "tokens"),
    *("attempts alike: episodes", "tokens"),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="players of each kind")
    parser.add_argument("--compared", type=int, default=60, help="those of them that climb the ladder, too")
    parser.add_argument("--precision", type=float, default=0.1)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--reported", action="store_true", help="the ladder's interval as reports give it")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    rule = StoppingRule(share=arguments.share, precision=arguments.precision, batch=arguments.batch)
    all_runs: list[Run] = []
    with ProcessPoolExecutor(arguments.processes) as pool:
        for kind in PLAYERS:
            calls = [
                (kind, number, rule, number < arguments.compared, arguments.reported)
                for number in range(arguments.runs)
            ]
            runs = [future.result() for future in [pool.submit(player, *call) for call in calls]]
            all_runs += runs
            print(line(kind, runs), flush=True)
    print(line("all", all_runs))


if __name__ == "__main__":
    main()
