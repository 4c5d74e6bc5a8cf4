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
    "The random player finds the best machine in one step of so many machines, the optimal one in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
)
