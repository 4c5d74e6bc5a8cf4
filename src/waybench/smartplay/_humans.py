"""Scores on common scales: against people, and between a random and the optimal player."""

from collections.abc import Callable
from typing import NamedTuple

from waybench._package_data import read_toml
from waybench.core import EpisodeRecord, Metric, Range
from waybench.smartplay._metrics import final_score

Scale = tuple[float, float]  # the scores that are 0 and 1 on it


class Baseline(NamedTuple):
    """The published scores of a setting.

    Attributes:
        name: A short name for charts.
        human: Mean score of people.
        least: The least score possible.
        steps: Most steps of an episode.
    """

    name: str
    human: float
    least: float
    steps: int


HUMANS = {setting: Baseline(**figures) for setting, figures in read_toml(__file__, "published.toml")["humans"].items()}


def human_metric(
    setting: Callable[[EpisodeRecord], str | None],
    scores: Callable[[EpisodeRecord], Range],
    score: Callable[[EpisodeRecord], float] = final_score,
    *,
    far_bounds: bool = False,
) -> Metric:
    """Return the score on the human scale.

    Args:
        setting: EpisodeRecord -> the published name of its setting; None if it is none of the registered ones.
        scores: EpisodeRecord -> the range of its score.
        score: EpisodeRecord -> its score.
        far_bounds: Whether no player comes near the greatest score.
    """

    def scale(record: EpisodeRecord) -> Scale | None:
        human_scores, steps = HUMANS.get(setting(record) or ""), record.options["steps"]
        if human_scores is None or steps not in (None, human_scores.steps):
            return None
        return human_scores.least, human_scores.human

    return Metric(
        name="human",
        of=_on(scale, score),
        title="Human-normalised score",
        range=_range_on(scale, scores),
        far_bounds=far_bounds,
        doc="(score - min) / (human - min) with the published human scores (appendix D; its formula is printed "
        "with human - score, which would give 0 for people). Only for settings and numbers of steps with published "
        "human scores.",
    )


def scaled_metric(
    expected: Callable[[EpisodeRecord], Scale | None],
    players: str,
    scores: Callable[[EpisodeRecord], Range],
    score: Callable[[EpisodeRecord], float] = final_score,
) -> Metric:
    """Return the score on a scale from a random player's to the optimal one's.

    Args:
        expected: EpisodeRecord -> expected scores of the random and of the optimal player on the same instance with the
            same number of steps; None where they are not known or equal.
        players: A sentence that says who these two are.
        scores: EpisodeRecord -> the range of its score.
        score: EpisodeRecord -> its score.
    """
    return Metric(
        name="scaled",
        of=_on(expected, score),
        title="Oracle-normalised score",
        range=_range_on(expected, scores),
        doc="(score - random) / (oracle - random) with the expected scores of a random and of the optimal player on "
        f"this very instance: 0 is chance level, 1 the best expected score. {players}",
    )


def _on(
    scale: Callable[[EpisodeRecord], Scale | None], score: Callable[[EpisodeRecord], float]
) -> Callable[[EpisodeRecord], float | None]:
    def scaled(record: EpisodeRecord) -> float | None:
        ends = scale(record)
        return None if ends is None else _rescaled(score(record), ends)

    return scaled


def _range_on(
    scale: Callable[[EpisodeRecord], Scale | None], scores: Callable[[EpisodeRecord], Range]
) -> Callable[[EpisodeRecord], Range]:
    def between(record: EpisodeRecord) -> Range:
        ends, (low, high) = scale(record), scores(record)
        if ends is None:  # the score is not defined on this scale
            return None, None
        return None if low is None else _rescaled(low, ends), None if high is None else _rescaled(high, ends)

    return between


def _rescaled(score: float, scale: Scale) -> float:
    zero, human = scale
    return (score - zero) / (human - zero)
