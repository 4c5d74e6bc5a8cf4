"""Scores on common scales: against people, and between a random and the optimal player."""

from collections.abc import Callable
from typing import NamedTuple

from waybench.agent._environment import final_score
from waybench.core import EpisodeRecord, Metric


class Baseline(NamedTuple):
    """What is published of a setting.

    Attributes:
        human: Mean score of people.
        least: The least score possible.
        steps: Most steps of an episode.
    """

    human: float
    least: float
    steps: int


# Table 4 of the paper, with the least scores and the steps of the published program (shared/specs/smartplay.md, 9).
# Three people played: three rounds of bandits and rock-paper-scissors, five of Messenger, one of the others. The names
# are the program's, without the version. No other setting has figures.
HUMANS = {
    "BanditTwoArmedHighLowFixed": Baseline(45, 0, 50),
    "RockPaperScissorBasic": Baseline(43, 0, 50),
    "Hanoi3Disk": Baseline(3, 0, 30),
    "MessengerL1": Baseline(1, -1, 4),
    "MessengerL2": Baseline(1, -1, 64),
    "Crafter": Baseline(2680, 0, 10_000),
    "MinedojoCreative0": Baseline(1, 0, 200),
}


def human_metric(
    setting: Callable[[EpisodeRecord], str | None], score: Callable[[EpisodeRecord], float] = final_score
) -> Metric:
    """Return the score on the human scale.

    Args:
        setting: EpisodeRecord -> the published name of its setting; None if it is none of the registered ones.
        score: EpisodeRecord -> its score.
    """

    def of(record: EpisodeRecord) -> float | None:
        known, steps = HUMANS.get(setting(record) or ""), record.options["steps"]
        if known is None or steps not in (None, known.steps):
            return None
        return (score(record) - known.least) / (known.human - known.least)

    return Metric(
        name="human",
        of=of,
        title="Human-normalised score",
        doc="(score - min) / (human - min) with the published figures of people (appendix D; its formula is printed "
        "with human - score, which would give 0 for people). Only for settings and numbers of steps that have some.",
    )


def scaled_metric(
    expected: Callable[[EpisodeRecord], tuple[float, float] | None],
    players: str,
    score: Callable[[EpisodeRecord], float] = final_score,
) -> Metric:
    """Return the score on a scale from a random player's to the optimal one's.

    Args:
        expected: EpisodeRecord -> expected scores of the random and of the optimal player on the same instance with the
            same number of steps; None where they are not known or equal.
        players: A sentence that says who these two are.
        score: EpisodeRecord -> its score.
    """

    def of(record: EpisodeRecord) -> float | None:
        scale = expected(record)
        return None if scale is None else (score(record) - scale[0]) / (scale[1] - scale[0])

    return Metric(
        name="scaled",
        of=of,
        title="Oracle-normalised score",
        doc="(score - random) / (oracle - random) with the expected scores of a random and of the optimal player on "
        f"this very instance: 0 is chance, 1 is all that can be had. {players}",
    )
