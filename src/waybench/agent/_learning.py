"""What games of chance share in which the best action has to be learned: scores, regret and learning curves."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from waybench.agent._environment import asked, final_score
from waybench.core import EpisodeRecord, Metric, Series

Worst = Callable[[EpisodeRecord], float]


def best_of(values: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return which action has the highest value (the first of several), and what each of them gives away."""
    highest = max(values)
    return values.index(highest), tuple(highest - value for value in values)


def _regrets(record: EpisodeRecord, worst: Worst) -> list[float]:
    lost = worst(record)
    return [float(turn.events.get("regret", lost)) for turn in asked(record)]


def optimal_score(best: str) -> Metric:
    """Return the score of a game in which actions count that are the best one.

    Args:
        best: What the best action is, as the end of a sentence.
    """
    return Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        ceiling=lambda record: float(record.options["steps"]),
        doc=f"Steps in which the action was {best} (section 4.2).",
    )


def regret_metric(worst: Worst) -> Metric:
    """Return the regret of an episode.

    Args:
        worst: EpisodeRecord -> what a lost step is charged.
    """
    return Metric(
        name="regret",
        of=lambda record: float(sum(_regrets(record, worst))),
        title="Regret",
        low=0,
        better="lower",
        doc="Sum over steps of the highest expected reward less that of the action taken, whatever luck it had. A lost "
        "step is charged as the worst action at the start would be.",
    )


def learning_series(worst: Worst) -> tuple[Series, ...]:
    """Return the learning curves.

    Args:
        worst: EpisodeRecord -> what a lost step is charged.
    """
    return (
        Series(
            name="optimal",
            of=lambda record: [float(turn.events.get("optimal", False)) for turn in asked(record)],
            title="Share of best actions",
            low=0,
            high=1,
            doc="Whether the action was the best one; its mean over episodes, step by step, is the learning curve. A "
            "lost step was not.",
        ),
        Series(
            name="regret_so_far",
            of=lambda record: list(accumulate(_regrets(record, worst))),
            title="Regret so far",
            low=0,
            better="lower",
            doc="The regret of all steps up to this one.",
        ),
    )


def expected_by_chance(actions: Callable[[EpisodeRecord], int]) -> Callable[[EpisodeRecord], tuple[float, float]]:
    """Return the expected scores of a random and of the optimal player, where one action of so many is the best.

    Args:
        actions: EpisodeRecord -> number of actions.
    """

    def expected(record: EpisodeRecord) -> tuple[float, float]:
        steps = float(record.options["steps"])
        return steps / actions(record), steps

    return expected
