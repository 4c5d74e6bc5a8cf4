"""What games of chance share in which the best action has to be learned: scores, regret and learning curves.

Their proofs have a number "worst", how much worse than the best action the worst one is at the start.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

from waybench.agent._environment import agent_metrics, asked, final_score
from waybench.agent._humans import human_metric, scaled_metric
from waybench.core import EpisodeRecord, Metric, Series


def best_of(values: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return which action has the highest value (the first of several), and what each of them gives away."""
    highest = max(values)
    return values.index(highest), tuple(highest - value for value in values)


def learning_metrics(
    best: str,
    setting: Callable[[EpisodeRecord], str | None],
    actions: Callable[[EpisodeRecord], int],
    players: str,
) -> tuple[Metric, ...]:
    """Return the metrics of a game in which one action is the best and a step counts in which it is taken.

    Args:
        best: What the best action is, as the end of a sentence.
        setting: EpisodeRecord -> the published name of its setting; None if it is none of the registered ones.
        actions: EpisodeRecord -> number of actions.
        players: A sentence that says what a random and the optimal player come to.
    """
    score = Metric(
        name="score",
        of=final_score,
        title="Score",
        low=0,
        ceiling=lambda record: float(record.options["steps"]),
        doc=f"Steps in which the action was {best} (section 4.2).",
    )

    def expected(record: EpisodeRecord) -> tuple[float, float]:
        steps = float(record.options["steps"])
        return steps / actions(record), steps

    return agent_metrics(score, human_metric(setting), scaled_metric(expected, players), _REGRET)


def _regrets(record: EpisodeRecord) -> list[float]:
    lost = float(record.proof["worst"])
    return [float(turn.events.get("regret", lost)) for turn in asked(record)]


_REGRET = Metric(
    name="regret",
    of=lambda record: float(sum(_regrets(record))),
    title="Regret",
    low=0,
    better="lower",
    doc="Sum over steps of the highest expected reward less that of the action taken, whatever luck it had. A lost "
    "step is charged as the worst action at the start would be.",
)

LEARNING = (
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
        of=lambda record: list(accumulate(_regrets(record))),
        title="Regret so far",
        low=0,
        better="lower",
        doc="The regret of all steps up to this one.",
    ),
)
