"""Simulated players of several shapes: does the search for a horizon hold what it says, and what does it save?

`python -m benchmarks.calibration` prints the table of docs/evidence.md; it takes some minutes.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import NamedTuple

import numpy as np

from waybench.envs.maze import ALICIA
from waybench.stats import Candidate, Seeker, Shape, StoppingRule, Trial, fitted, simulated

Rates = Callable[[float], float]
assert ALICIA.horizon is not None
PLACES = ALICIA.horizon.levels
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
        searched: The search's.
        tokens: The ladder's tokens, a prompt's being as many as the cells of its maze.
        searched_tokens: The search's.
    """

    episodes: int
    searched: int
    tokens: int
    searched_tokens: int


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


def search(rates: Rates, rule: StoppingRule, rng: np.random.Generator) -> tuple[list[Trial], str, Seeker]:
    """Let a player be searched."""
    seeker = Seeker(rule, PLACES[0], PLACES[-1])
    candidates = [Candidate(place, 1.0) for place in PLACES]
    return *simulated(seeker, candidates, [rates(place) for place in PLACES], rng), seeker


def ladder(rates: Rates, rng: np.random.Generator, alike: bool) -> list[tuple[int, int, bool]]:
    """Let a player climb as published; return dimension, number of the attempt and success of each episode."""
    episodes: list[tuple[int, int, bool]] = []
    for place in range(PLACES[0], LAST + 1, 2):
        reached = False
        for _ in range(MAZES):
            solved = False
            for attempt in range(ATTEMPTS):
                solved = bool(rng.random() < rates(place)) if not (alike and attempt) else solved
                episodes.append((place, attempt, solved))
                reached |= solved
                if solved:
                    break
        if not reached:
            break
    return episodes


def saved(rates: Rates, rng: np.random.Generator, alike: bool) -> Saved:
    """Compare the ladder with a search for an interval as narrow."""
    climbed = ladder(rates, rng, alike)
    # Of attempts that are alike the first says all; independent ones are as good as attempts at other mazes.
    told = [episode for episode in climbed if not (alike and episode[1])]
    at, solved = (np.array([episode[k] for episode in told], dtype=np.float64) for k in (0, 2))
    _, low, high = fitted(Shape(), at, solved, list(range(len(told)))).horizon(0.5, 0.9)
    matched, _, _ = search(rates, StoppingRule(precision=(high - low) / (high + low), most=10_000), rng)
    return Saved(
        len(climbed), len(matched), sum(place**2 for place, *_ in climbed), sum(int(each.at) ** 2 for each in matched)
    )


def player(kind: str, number: int, precision: float, compared: bool) -> Run:
    """Simulate one player of a kind."""
    rng = np.random.default_rng([list(PLAYERS).index(kind), number])
    rates = PLAYERS[kind](math.exp(rng.uniform(math.log(8), math.log(50))))
    truth = horizon(rates, 0.5)
    trials, stop, seeker = search(rates, StoppingRule(precision=precision), rng)
    reach = seeker.state(trials).horizon
    apart, alike = (saved(rates, rng, alike) if compared else None for alike in (False, True))
    return Run(reach.low <= truth <= reach.high, len(trials), stop, apart, alike)


def line(kind: str, runs: list[Run]) -> str:
    """Return a line of the table."""
    held, reached = fmean(run.held for run in runs), fmean(run.stop == "precision" for run in runs)
    cells = [kind, f"{len(runs):,}", f"{held:.1%}", f"{reached:.0%}", f"{fmean(run.trials for run in runs):.0f}"]
    for name in ("apart", "alike"):
        found = [each for run in runs if (each := getattr(run, name)) is not None]
        episodes, searched, tokens, searched_tokens = (fmean(each[k] for each in found) for k in range(4))
        cells += [f"{searched:.0f} of {episodes:.0f} = {searched / episodes:.2f}", f"{searched_tokens / tokens:.2f}"]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    *("players", "runs", "intervals that hold", "precision reached", "episodes"),
    *("for the ladder's width, attempts independent", "tokens"),
    *("for the ladder's width, attempts alike", "tokens"),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="players of each kind")
    parser.add_argument("--compared", type=int, default=60, help="those of them that climb the ladder, too")
    parser.add_argument("--precision", type=float, default=0.1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    whole: list[Run] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for kind in PLAYERS:
            asked = [(kind, number, given.precision, number < given.compared) for number in range(given.runs)]
            runs = [future.result() for future in [pool.submit(player, *one) for one in asked]]
            whole += runs
            print(line(kind, runs), flush=True)
    print(line("all", whole))


if __name__ == "__main__":
    main()
