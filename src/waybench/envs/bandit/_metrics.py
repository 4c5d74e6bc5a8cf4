"""Metrics of slot machines."""

from waybench.core import EpisodeRecord
from waybench.envs.bandit._instance import PUBLISHED, decode
from waybench.smartplay import chance_scores, learning_metrics


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of the machines' setting; None if it is none of the registered ones."""
    return PUBLISHED.get(decode(record.instance).setting or "")


def _arms(record: EpisodeRecord) -> int:
    return len(record.instance["arms"])


reference_scores = chance_scores(_arms)
MEASURES = learning_metrics(
    "the one with the highest expected reward",
    setting,
    _arms,
    "With k machines, the random player finds the best one in 1/k of the steps, the optimal player in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
)
