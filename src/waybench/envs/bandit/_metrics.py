"""Metrics of slot machines."""

from waybench.core import EpisodeRecord
from waybench.envs.bandit._instance import PUBLISHED, decode
from waybench.smartplay import learning_metrics


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of the machines' setting; None if it is none of the registered ones."""
    return PUBLISHED.get(decode(record.instance).setting or "")


MEASURES = learning_metrics(
    "the one with the highest expected reward",
    setting,
    lambda record: len(record.instance["arms"]),
    "With k machines, the random player finds the best one in 1/k of the steps, the optimal player in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
)
