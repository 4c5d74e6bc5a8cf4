"""Simulated players of several shapes: does the search for a horizon hold what it says, and what does it save?

`python -m benchmarks.calibration` prints the table of docs/benchmarks.md; it takes some minutes.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import NamedTuple

import numpy as np

from waybench.psychometric import Goal, Offer, Seeker, Shape, Trial, fitted

Rates = Callable[[float], float]
PLACES = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)
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


class Run(NamedTuple):
    """One simulated player.

    Attributes:
        held: Whether the interval held the truth.
        trials: Episodes of the search.
        stop: Why it stopped.
        ladder: Episodes of the published ladder.
        matched: Episodes of a search for an interval as narrow as the ladder's.
    """

    held: bool
    trials: int
    stop: str
    ladder: int
    matched: int


def horizon(rates: Rates, share: float) -> float:
    """Return where a falling curve is a share, by bisection."""
    low, high = 1.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rates(middle) > share else (low, middle)
    return low


def search(rates: Rates, goal: Goal, rng: np.random.Generator) -> tuple[list[Trial], str, Seeker]:
    """Let a player be searched."""
    seeker = Seeker(goal, PLACES[0], PLACES[-1])
    offers = [Offer(place, 1.0) for place in PLACES]
    trials: list[Trial] = []
    while not (decision := seeker.next(trials, offers)).stop:
        trials += [Trial(PLACES[k], bool(rng.random() < rates(PLACES[k])), 1.0, 1.0) for k in decision.offers]
    return trials, decision.stop, seeker


def ladder(rates: Rates, rng: np.random.Generator) -> list[tuple[float, bool, int]]:
    """Let a player climb as published; return difficulty, success and maze of each episode."""
    episodes: list[tuple[float, bool, int]] = []
    for place in range(PLACES[0], LAST + 1, 2):
        reached = False
        for maze in range(MAZES):
            for _ in range(ATTEMPTS):
                solved = bool(rng.random() < rates(place))
                episodes.append((place, solved, place * MAZES + maze))
                reached |= solved
                if solved:
                    break
        if not reached:
            break
    return episodes


def simulated(kind: str, number: int, precision: float) -> Run:
    """Simulate one player of a kind."""
    rng = np.random.default_rng([list(PLAYERS).index(kind), number])
    middle = math.exp(rng.uniform(math.log(8), math.log(50)))
    rates = PLAYERS[kind](middle)
    truth = horizon(rates, 0.5)
    goal = Goal(precision=precision)
    trials, stop, seeker = search(rates, goal, rng)
    reach = seeker.state(trials).reach
    climbed = ladder(rates, rng)
    at, solved = (np.array([episode[k] for episode in climbed], dtype=np.float64) for k in (0, 1))
    # Attempts at one maze are independent here, which is to the ladder's advantage.
    _, low, high = fitted(Shape(), at, solved, list(range(len(climbed)))).reach(0.5, 0.9)
    matched, _, _ = search(rates, Goal(precision=(high - low) / (high + low), most=10_000), rng)
    return Run(reach.low <= truth <= reach.high, len(trials), stop, len(climbed), len(matched))


def line(kind: str, runs: list[Run]) -> str:
    """Return a line of the table."""
    held = fmean(run.held for run in runs)
    reached = fmean(run.stop == "precision" for run in runs)
    episodes, climbed, matched = (fmean(getattr(run, name) for run in runs) for name in ("trials", "ladder", "matched"))
    cells = (kind, len(runs), f"{held:.1%}", f"{reached:.0%}", f"{episodes:.0f}", f"{climbed:.0f}", f"{matched:.0f}")
    return "| " + " | ".join(map(str, (*cells, f"{matched / climbed:.2f}"))) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--precision", type=float, default=0.1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    print(
        "| players | runs | intervals that hold | precision reached | episodes | ladder's episodes | episodes for the "
        "ladder's width | ratio |\n|---|---|---|---|---|---|---|---|"
    )
    whole: list[Run] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for kind in PLAYERS:
            futures = [pool.submit(simulated, kind, number, given.precision) for number in range(given.runs)]
            runs = [future.result() for future in futures]
            whole += runs
            print(line(kind, runs), flush=True)
    print(line("all", whole))


if __name__ == "__main__":
    main()
