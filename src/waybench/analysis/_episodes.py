"""Episodes as the logs of one or many runs hold them."""

from dataclasses import dataclass

from waybench.core import EpisodeRecord


@dataclass(frozen=True, slots=True)
class LoggedEpisode:
    """One episode of a run.

    Attributes:
        model: The model as the user named it; "waybench/..." for the embedded players.
        task: The task's name, without its package.
        record: What happened.
        log: Path of the log file it comes from.
    """

    model: str
    task: str
    record: EpisodeRecord
    log: str = ""

    @property
    def embedded(self) -> bool:
        """Whether the player is one of waybench's own."""
        return self.model.startswith("waybench/")
