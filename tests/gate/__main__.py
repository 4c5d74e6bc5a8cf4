"""A table of what the results of simulated models say, and what they should: `python -m tests.gate`.

`--runs 0.2` makes a fifth of the simulated tables, and a NAME prints only the lines whose name it is part of.
`worlds --level 6 --runs 20` checks 4,000 worlds of Atlas of one level.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median

from tests.gate import _designs as designs
from tests.gate._contrasts import shown_costs, variance_ratios
from tests.gate._profile import predictions
from tests.gate._rate import Rate
from tests.gate._worlds import check_worlds, floor_rates
from waybench.envs.atlas._generate import LADDER

Line = tuple[str, Rate | str, str]  # what, how often, and what is wanted


def _same_maps(runs: int) -> Iterator[Line]:
    for maps in (5, 10, 20, 53):
        rate = designs.coverage_on_same_maps(maps, 5, max(20, runs * 10 // maps))
        yield f"family mean, two tasks on the same {maps} maps", rate, ".95"


def _wordings(runs: int) -> Iterator[Line]:
    for wordings in (2, 4):
        yield f"mean over {wordings} wordings, 20 items", designs.coverage_in_wordings(wordings, 20, runs), ".95"


def _apart(name: str, rates: Mapping[int, Rate]) -> Iterator[Line]:
    for count, rate in rates.items():
        yield f"{count} equal models apart, {name}", rate, "<= .05"


def _equal(runs: int) -> Iterator[Line]:
    tables = max(5, runs // 8)
    yield from _apart("one task", designs.equal_at_one_task(tables))
    yield from _apart("4 wordings", designs.equal_in_wordings(tables, 4))
    yield from _apart("8 wordings", designs.equal_in_wordings(tables // 2, 8))
    yield from _apart("two tasks on the same 20 maps", designs.equal_on_same_maps(tables))

    yield from _apart("ladders", designs.equal_on_ladders(tables))


def _third(runs: int) -> Iterator[Line]:
    changed = designs.third_models(runs // 3)
    yield "a third model changes the order of two means", changed.means, "0"
    yield "a third model sets two apart in ranks", changed.ranks, "0"
    yield "a third model changes a pair", changed.pairs, "0"


def _guessers(runs: int) -> Iterator[Line]:
    guessed = designs.guessers(max(5, runs // 10))
    for env, rate in guessed.by_task.items():
        yield f"a guesser is not above the floor, {env}", rate, ">= .95"
    yield "a guesser is not above the floor, mean of families", guessed.means, ">= .95"


def _horizons(runs: int) -> Iterator[Line]:
    yield "horizons of 12 equal models apart", designs.equal_horizons(max(5, runs // 8)), "<= .05"
    for lapse in (0.1, 0.15, 0.18, 0.22):
        said = designs.plateau(runs // 2, lapse)
        plateau = f"80 % horizon, lapse {lapse:.2f}"
        yield f"{plateau}: said to be open", said.unidentified, "-"
        yield f"{plateau}: printed and right", said.printed, ">= .80"
        yield f"{plateau}: printed and wrong, of all", said.wrong, "<= .05"


def _graded(runs: int) -> Iterator[Line]:
    power = designs.power_of_graded(runs)
    yield "graded difference .1, noise .1, 20 items: ranks apart", power.by_rank, ">= .75"
    yield "the same by verdict of compare", power.by_verdict, ">= .75"
    yield "ranks and pairs agree", power.agree, "1"
    size = designs.power_of_graded(runs, difference=0.0)
    yield "no graded difference, noise .1, 20 items: ranks apart", size.by_rank, "<= .05"


def _profile(runs: int) -> Iterator[Line]:
    yield "90 % prediction of a profile holds the run", predictions(max(5, runs // 6)), ".90"


def _contrasts(runs: int) -> Iterator[Line]:
    for what, cost, rate in shown_costs(runs, max(10, runs // 6)):
        yield f"Atlas, {what}: a cost of {100 * cost:.0f} points is shown", rate, "<= .05 for no cost"


def _pairing(runs: int) -> Iterator[Line]:
    for player, ratios in variance_ratios(max(2, runs // 20)):
        found = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        yield f"Atlas, {player}: variance of paired over unpaired", found, "-"


def _worlds(runs: int, levels: Sequence[int] = LADDER) -> Iterator[Line]:
    for level in levels:
        found = check_worlds(level, range(runs))
        yield f"Atlas, worlds of level {level} that networkx confirms", found.confirmed, "1"
        yield f"Atlas, worlds of level {level} with an earlier one's shape", found.repeated, "0" if level >= 6 else "-"


def _floors(runs: int) -> Iterator[Line]:
    for level in LADDER:
        for condition, rate, floor in floor_rates(level, max(2, runs)):
            yield f"Atlas, a random walk at level {level}, {condition}", rate, f"{floor:.3f}"


PARTS: Mapping[str, Callable[[int], Iterator[Line]]] = {
    "maps": _same_maps,
    "wordings": _wordings,
    "equal": _equal,
    "third": _third,
    "guesser": _guessers,
    "horizon": _horizons,
    "graded": _graded,
    "profile": _profile,
    "contrasts": _contrasts,
    "pairing": _pairing,
    "worlds": _worlds,
    "floors": _floors,
}
RUNS = 200


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.gate", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PARTS], metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--runs", type=float, default=1.0, help="a factor for the numbers of simulated tables")
    parser.add_argument("--level", type=int, choices=LADDER, help="the only level of worlds")
    arguments = parser.parse_args()
    started = time.process_time()
    print(f"{'what':<62}{'found ± standard error':<36}wanted")
    for name in arguments.names or PARTS:
        make = partial(_worlds, levels=[arguments.level]) if name == "worlds" and arguments.level else PARTS[name]
        for what, rate, wanted in make(round(RUNS * arguments.runs)):
            print(f"{what:<62}{rate!s:<36}{wanted}", flush=True)
    print(f"{time.process_time() - started:.0f} s of CPU time")


if __name__ == "__main__":
    main()
