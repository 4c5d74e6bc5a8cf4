"""Metrics of Rock Paper Scissors."""

from waybench.core import EpisodeRecord
from waybench.envs.rps._game import NAMES
from waybench.envs.rps._instance import PUBLISHED, decode
from waybench.smartplay import learning_metrics


def setting(record: EpisodeRecord) -> str | None:
    """Return the published name of the match's setting; None if it is none of the registered ones."""
    return PUBLISHED.get(decode(record.instance).setting or "")


MEASURES = learning_metrics(
    "the one with the highest expected score",
    setting,
    lambda record: len(NAMES),
    "The random player makes the best choice in one round of three, the optimal one in every round.",
    lambda record: max(record.instance["wins"]),
)
