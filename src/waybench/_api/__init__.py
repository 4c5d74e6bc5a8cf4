"""The functions of `import waybench`."""

from waybench._api._episodes import EpisodeResult, Prompt, list_environments, load, play, score
from waybench._api._runs import Results, evaluate, read_logs, report
from waybench._api._scoring import score_and_record, score_line

__all__ = [
    "EpisodeResult",
    "Prompt",
    "Results",
    "evaluate",
    "list_environments",
    "load",
    "play",
    "read_logs",
    "report",
    "score",
    "score_and_record",
    "score_line",
]
