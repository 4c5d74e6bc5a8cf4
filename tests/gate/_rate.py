"""Shares of simulated tables, and whether they agree with a level within three standard errors."""

from typing import NamedTuple


class Rate(NamedTuple):
    """How often something happened.

    Attributes:
        hits: Number of runs in which it did.
        runs: Number of runs.
    """

    hits: int
    runs: int

    @property
    def share(self) -> float:
        """The share of runs."""
        return self.hits / self.runs if self.runs else float("nan")

    @property
    def error(self) -> float:
        """Its standard error."""
        return (self.share * (1 - self.share) / self.runs) ** 0.5 if self.runs else float("nan")

    def allowance(self, level: float) -> float:
        """Return three standard errors of a share at a level."""
        return 3 * (level * (1 - level) / self.runs) ** 0.5

    def at_most(self, level: float) -> bool:
        """Return whether the share is not above a level by more than three standard errors."""
        return self.share <= level + self.allowance(level)

    def at_least(self, level: float) -> bool:
        """Return whether the share is not below a level by more than three standard errors."""
        return self.share >= level - self.allowance(level)

    def __str__(self) -> str:
        return f"{self.share:.3f} ± {self.error:.3f} ({self.hits} of {self.runs})"
