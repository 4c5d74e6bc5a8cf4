"""Reading episodes from Inspect logs and from files of records."""

from waybench.results.logs._guard import Skipped, skipped
from waybench.results.logs._inspect import Log, Seen, as_number, newest, read_samples, runs, to_stderr
from waybench.results.logs._logs import EpisodeBatches, NoEpisodesError, logged_models, read_logs, read_records
from waybench.results.logs._settings import (
    SCALARS,
    SERVER,
    SHOWN,
    LoggedEpisode,
    Origin,
    RunInfo,
    is_embedded,
    is_human,
    of_record,
    run_infos,
    settings_of_any,
)

__all__ = [
    "SCALARS",
    "SERVER",
    "SHOWN",
    "EpisodeBatches",
    "Log",
    "LoggedEpisode",
    "NoEpisodesError",
    "Origin",
    "RunInfo",
    "Seen",
    "Skipped",
    "as_number",
    "is_embedded",
    "is_human",
    "logged_models",
    "newest",
    "of_record",
    "read_logs",
    "read_records",
    "read_samples",
    "run_infos",
    "runs",
    "settings_of_any",
    "skipped",
    "to_stderr",
]
