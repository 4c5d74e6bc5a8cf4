"""One ability over families: how good are predicted scores, and do their intervals hold?

`python -m benchmarks.profiles` prints the tables of docs/evidence.md; it takes some minutes.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from waybench.core import play_to_end, policy
from waybench.envs import registry
from waybench.results import LoggedEpisode
from waybench.results.estimates._profiles import joint_data
from waybench.results.results import measure_episodes
from waybench.results.results._anchors import with_reference_bounds
from waybench.results.stats import Array
from waybench.results.stats._abilities import PROFILE_CONFIDENCE, FamilyResults, Interval, joint_abilities

FAMILIES, ITEMS = 6, 30
FIRST = 1_000  # key of the first simulation: those below were seen while priors and tails were chosen
SLOPE, ITEM_SPREAD, DEVIATION = 1.5, 1.0, 0.5

Rng = np.random.Generator


class Prediction(NamedTuple):
    """A score that was left out.

    Attributes:
        measured: The score.
        joint: What the joint model predicts.
        mean: The mean of the model's scores in the other families, with the interval of one more family.
        others: The mean of the other models' scores in the family.
        if_weak: What the joint model predicts for a model that is weak in the family.
    """

    measured: float
    joint: Interval
    mean: Interval
    others: float
    if_weak: Interval


def _one_ability(models: int, rng: Rng) -> Array:
    """Return abilities that consist of a general part and of small independent parts."""
    return rng.normal(size=(models, 1)) + DEVIATION * rng.normal(size=(models, FAMILIES))


def _two_abilities(models: int, rng: Rng) -> Array:
    """Return abilities of which half of the families share one, and the other half another, independent one."""
    both = rng.normal(size=(models, 2))
    return both[:, [0, 0, 0, 1, 1, 1]] + DEVIATION * rng.normal(size=(models, FAMILIES))


def _none(models: int, rng: Rng) -> Array:
    """Return abilities that have nothing in common."""
    return rng.normal(size=(models, FAMILIES))


def _outlier(models: int, rng: Rng) -> Array:
    """Return one ability, but the model that is predicted fails at the family that it was not run on."""
    families = _one_ability(models, rng)
    families[0, -1] -= 3
    return families


KINDS: dict[str, Callable[[int, Rng], Array]] = {
    "one ability and deviations": _one_ability,
    "two independent abilities": _two_abilities,
    "nothing in common": _none,
    "fails at the new family alone": _outlier,
}


def simulated(
    kind: str, models: int, number: int, *, guess: float = 0.0, skewed: bool = False, weakest: bool = False
) -> Prediction:
    """Simulate models, leave the first one out of the last family, and predict its score there.

    Args:
        kind: A key of `KINDS`.
        models: Number of models.
        number: The key of the simulation.
        guess: Share of items that are solved by guessing, which normalised scores do not know of.
        skewed: Whether difficulties have an exponential distribution in place of a normal one.
        weakest: Whether it is left out of the family in which its score is the lowest beside the other models' instead:
            the family is missing for its result.
    """
    rng = np.random.default_rng([list(KINDS).index(kind), models, number])
    abilities = KINDS[kind](models, rng)
    families: list[FamilyResults] = []
    for family in range(FAMILIES):
        slope, easiness = SLOPE * math.exp(0.3 * rng.normal()), rng.normal()
        level = rng.normal(size=(ITEMS, 1))
        noise = rng.exponential(size=ITEMS) - 1 if skewed else rng.normal(size=ITEMS)
        odds = easiness + slope * abilities[:, family] - (0.8 * level[:, 0] + ITEM_SPREAD * noise)[:, None]
        rates = guess + (1 - guess) / (1 + np.exp(-odds))
        solved = (rng.random((ITEMS, models)) < rates).astype(np.float64)
        families.append(FamilyResults(solved, level, np.full(ITEMS, 1 / ITEMS)))
    if not weakest:
        return left_out(families, 0, FAMILIES - 1)
    advantage = [_score(family, 0) - fmean(_score(family, other) for other in range(1, models)) for family in families]
    return left_out(families, 0, int(np.argmin(advantage)))


def left_out(families: Sequence[FamilyResults], model: int, family: int) -> Prediction:
    """Leave the results of a model in a family out, and predict its score."""
    scores = np.array(
        [[_score(family, number) for family in families] for number in range(families[0].shares.shape[1])]
    )
    shares = families[family].shares.copy()
    measured = scores[model, family]
    shares[:, model] = np.nan
    remaining = [table._replace(shares=shares) if number == family else table for number, table in enumerate(families)]
    abilities = joint_abilities(remaining)
    joint, if_weak = abilities.scores[model][family], abilities.weak_scores[model][family]
    assert if_weak is not None
    model_scores = [score for number, score in enumerate(scores[model]) if number != family and not math.isnan(score)]
    others = [score for number, score in enumerate(scores[:, family]) if number != model and not math.isnan(score)]
    reach = (
        float(stats.t.ppf((1 + PROFILE_CONFIDENCE) / 2, len(model_scores) - 1))
        * stdev(model_scores)
        * math.sqrt(1 + 1 / len(model_scores))
    )
    middle = fmean(model_scores)
    mean = Interval(middle, max(0, middle - reach), min(1, middle + reach))
    return Prediction(measured, joint, mean, fmean(others), if_weak)


def weak_line(name: str, predictions: Sequence[Prediction]) -> str:
    """Return a line of the table of families that are missing for their result."""
    cells = [name, str(len(predictions))]
    for intervals in ([each.joint for each in predictions], [each.if_weak for each in predictions]):
        pairs = list(zip(intervals, predictions, strict=True))
        bias = 100 * fmean(interval.value - prediction.measured for interval, prediction in pairs)
        held = fmean(
            interval.low - 1e-9 <= prediction.measured <= interval.high + 1e-9 for interval, prediction in pairs
        )
        cells += [f"{bias:+.0f}", f"{100 * held:.0f}%"]
    return f"| {' | '.join(cells)} |"


def _score(family: FamilyResults, model: int) -> float:
    """Return a model's score on the items that it was run on."""
    shares = family.shares[:, model]
    measured = ~np.isnan(shares)
    return (
        float(shares[measured] @ family.weights[measured] / family.weights[measured].sum())
        if measured.any()
        else math.nan
    )


def line(name: str, predictions: Sequence[Prediction]) -> str:
    """Return a line of a table."""

    def error(of: Callable[[Prediction], float]) -> float:
        return 100 * math.sqrt(fmean((of(prediction) - prediction.measured) ** 2 for prediction in predictions))

    def covered(of: Callable[[Prediction], Interval]) -> tuple[float, float]:
        held = fmean(
            of(prediction).low - 1e-9 <= prediction.measured <= of(prediction).high + 1e-9 for prediction in predictions
        )
        return held, 100 * fmean(of(prediction).high - of(prediction).low for prediction in predictions)

    joint, mean = covered(lambda prediction: prediction.joint), covered(lambda prediction: prediction.mean)
    cells = [
        name,
        str(len(predictions)),
        f"{error(lambda prediction: prediction.joint.value):.1f}",
        f"{error(lambda prediction: prediction.mean.value):.1f}",
        f"{error(lambda prediction: prediction.others):.1f}",
        f"{joint[0]:.0%}, {joint[1]:.0f} wide",
        f"{mean[0]:.0%}, {mean[1]:.0f} wide",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| {} | predictions | error, joint model | error, mean over own families | error, mean over other models | "
    "90 % interval, joint model | 90 % interval, own families |\n|---|---|---|---|---|---|---|"
)

PLAYERS = ("noisy-0.02", "noisy-0.05", "noisy-0.1", "noisy-0.2", "noisy-0.4", "heuristic", "random")
RUNS: tuple[
    tuple[str, tuple[int, ...], int, dict[str, Any]], ...
] = (  # environment, levels, items of each, options of play
    ("maze/alicia", (7, 11, 15, 21), 8, {"requests": 1}),
    ("search/dfs", (6, 10, 16), 8, {}),
    ("search/guessnum", (5, 10), 8, {}),
    ("textmap/route", (1, 2, 3), 10, {}),
    ("textmap/destination", (1, 2, 3), 10, {}),
    ("tilemap/gtb", (1, 2), 10, {}),
    ("hanoi/rods", (3, 4, 5), 6, {}),
    ("messenger/roles", (1, 2), 8, {}),
)


def embedded() -> tuple[list[FamilyResults], list[str], list[str]]:
    """Return the results of embedded players, their names and those of the families."""

    def episodes() -> Iterable[LoggedEpisode]:
        for env_id, levels, items, options in RUNS:
            env = registry.load(env_id)
            for level in levels:
                for item in env.source(level=level, protocol="sound").head(items):
                    for name in PLAYERS:
                        record = play_to_end(env, item, policy(name), {"protocol": "sound", **options}).record()
                        yield LoggedEpisode(f"waybench/{name}", "benchmark", record)

    measured, rows = measure_episodes(episodes())
    data = joint_data(with_reference_bounds((episode.record for episode in measured), rows), include_references=True)
    return list(data.results), list(data.models), [family.name for family in data.families]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="simulations of each kind")
    runs = parser.parse_args().runs
    numbers = range(FIRST, FIRST + runs)
    print(HEAD.format("simulated models"))
    for kind in KINDS:
        for models in (3, 6, 12):
            predictions = [simulated(kind, models, number) for number in numbers]
            print(line(f"{models}, {kind}", predictions), flush=True)
    first = next(iter(KINDS))
    for name, predictions in (
        ("6, one in five items guessed", [simulated(first, 6, number, guess=0.2) for number in numbers]),
        ("6, skewed difficulties", [simulated(first, 6, number, skewed=True) for number in numbers]),
    ):
        print(line(name, predictions), flush=True)
    print("\n| models, family left out | predictions | bias | 90 % interval | bias, if weak | 90 % interval, if weak |")
    print("|---|---|---|---|---|---|")
    for weakest in (False, True):
        for models in (3, 6, 12):
            predictions = [simulated(first, models, number, weakest=weakest) for number in numbers]
            print(weak_line(f"{models}, {'the weakest' if weakest else 'at random'}", predictions), flush=True)
    families, models, names = embedded()
    print("\n" + HEAD.format("embedded players, left out of"))
    every: list[Prediction] = []
    for index, name in enumerate(names):
        predictions = [left_out(families, number, index) for number in range(len(models))]
        every += predictions
        print(line(name, predictions), flush=True)
    print(line("all", every))
    few = [
        left_out([family._replace(shares=family.shares[:, list(chosen)]) for family in families], 0, index)
        for chosen in ((0, 2, 5), (1, 3, 6), (4, 2, 5), (5, 1, 4), (6, 0, 3))
        for index in range(len(families))
    ]
    print(line("all, three players at a time", few))


if __name__ == "__main__":
    main()
