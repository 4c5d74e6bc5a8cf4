"""Reading episodes from Inspect logs and from files of records."""

from waybench.results.logs._guard import Skipped, skipped_part
from waybench.results.logs._inspect import newest_samples, read_samples
from waybench.results.logs._logs import EpisodeBatches, read_logs
from waybench.results.logs._settings import LoggedEpisode, is_embedded, is_human

__all__ = [
    "EpisodeBatches",
    "LoggedEpisode",
    "Skipped",
    "is_embedded",
    "is_human",
    "newest_samples",
    "read_logs",
    "read_samples",
    "skipped_part",
]
