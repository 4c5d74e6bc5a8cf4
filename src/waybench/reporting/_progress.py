"""Progress of writing a report."""

from typing import Protocol


class Progress(Protocol):
    """Callback for the progress of a report."""

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """Show it.

        Args:
            stage: What is being done: "episodes" or "pages".
            done: How many of these are done.
            total: How many there are; 0 where that is not known.
        """
        ...


def no_progress(stage: str, done: int, total: int, /) -> None:
    """Show nothing."""
