"""Metrics of games in which the best action has to be learned: scores, regret and learning curves.

Their proofs have a number "worst", how much worse than the best action the worst one is at the start.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import fsum
from typing import NamedTuple

from waybench.core import EpisodeRecord, Metric, Range, ReferenceScores, Series
from waybench.smartplay._humans import human_metric, scaled_metric
from waybench.smartplay._metrics import action_turns, agent_metrics, final_score


def best_of(values: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return which action has the highest value (the first of several), and what each of them gives away."""
    highest = max(values)
    return values.index(highest), tuple(highest - value for value in values)


def symmetric_reward(stake: float, default_steps: int) -> Callable[[int | None], tuple[float, float]]:
    """Return the function from most steps to the range of the rewards' sum, where a step wins or loses a stake.

    Args:
        stake: What a step brings or takes at most.
        default_steps: Most steps where they are not given.
    """

    def bounds(steps: int | None) -> tuple[float, float]:
        most = stake * (steps or default_steps)
        return -most, most

    return bounds


def chance_scores(actions: Callable[[EpisodeRecord], int]) -> Callable[[EpisodeRecord], ReferenceScores]:
    """Return the function from a record to the expected scores of random choices and of the best ones.

    With k actions a random choice is the best one in 1/k of the steps. A constant reply is no better: before anything
    is learned each action is as likely to be the best one.

    Args:
        actions: EpisodeRecord -> number of actions.
    """

    def scores(record: EpisodeRecord) -> ReferenceScores:
        steps = float(record.options["steps"])
        return ReferenceScores(steps / actions(record), {}, steps, chance=True)

    return scores


class Learning(NamedTuple):
    """The metrics and series of a game of chance.

    Attributes:
        metrics: Of an episode.
        series: Of its steps.
    """

    metrics: tuple[Metric, ...]
    series: tuple[Series, ...]


def learning_metrics(
    best: str,
    setting: Callable[[EpisodeRecord], str | None],
    actions: Callable[[EpisodeRecord], int],
    players: str,
    stake: Callable[[EpisodeRecord], float],
) -> Learning:
    """Return what a game is measured by in which one action is the best and a step counts in which it is taken.

    Args:
        best: What the best action is, as the end of a sentence.
        setting: EpisodeRecord -> the published name of its setting; None if it is none of the registered ones.
        actions: EpisodeRecord -> number of actions.
        players: A sentence with the scores of a random and of the optimal player.
        stake: EpisodeRecord -> what a step brings or takes at most.
    """

    def steps(record: EpisodeRecord) -> int:
        return record.options["steps"]

    def scores(record: EpisodeRecord) -> Range:
        return 0, steps(record)

    def reward(record: EpisodeRecord) -> Range:
        most = stake(record) * steps(record)
        return -most, most

    def regrets(record: EpisodeRecord) -> Range:
        return 0, 2 * stake(record) * steps(record)  # the best action could win as much as another one loses

    score = Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        range=scores,
        ceiling=lambda record: float(steps(record)),
        doc=f"Steps in which the action was {best} (section 4.2).",
    )

    def expected(record: EpisodeRecord) -> tuple[float, float]:
        found = chance_scores(actions)(record)
        assert found.nothing is not None and found.ceiling is not None
        return found.nothing, found.ceiling

    metrics = agent_metrics(
        score,
        human_metric(setting, scores),
        scaled_metric(expected, players, scores),
        replace(_REGRET, range=regrets),
        steps=steps,
        reward=reward,
    )
    return Learning(metrics, (_OPTIMAL, replace(_REGRET_SO_FAR, range=regrets)))


def _regrets(record: EpisodeRecord) -> list[float]:
    lost = float(record.proof["worst"])
    return [float(turn.events.get("regret", lost)) for turn in action_turns(record)]


_REGRET = Metric(
    name="regret",
    of=lambda record: fsum(_regrets(record)),
    title="Regret",
    low=0,
    better="lower",
    doc="Sum over steps of the highest expected reward minus that of the action taken, regardless of luck. A lost "
    "step counts as the worst action at the start.",
)

_OPTIMAL = Series(
    name="optimal",
    of=lambda record: [float(turn.events.get("optimal", False)) for turn in action_turns(record)],
    title="Share of best actions",
    low=0,
    high=1,
    doc="Whether the action was the best one; its mean over episodes, step by step, is the learning curve. A lost "
    "step counts as not the best.",
)
_REGRET_SO_FAR = Series(
    name="regret_so_far",
    of=lambda record: list(accumulate(_regrets(record))),
    title="Regret so far",
    low=0,
    better="lower",
    doc="The regret of all steps up to this one.",
)
