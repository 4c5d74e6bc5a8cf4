"""Timing two ways of doing the same work against each other."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Two ways, measured in turn.

    Attributes:
        what: What is done.
        ours: Seconds, our way.
        theirs: Seconds, the way it is compared with.
        against: What that is.
        count: How much work one measurement did.
        unit: What is counted.
    """

    what: str
    ours: float
    theirs: float
    against: str
    count: int
    unit: str

    def line(self) -> str:
        """Return the comparison as one line of a table."""
        rate = self.count / self.ours
        return (
            f"| {self.what} | {rate:,.0f} {self.unit}/s | {self.count / self.theirs:,.0f} {self.unit}/s | "
            f"{self.against} | {self.ours / self.theirs:.2f} |"
        )


@dataclass(frozen=True)
class Memory:
    """Two ways, by the memory that they take beyond what both begin with.

    Attributes:
        what: What is done.
        ours: Bytes, our way.
        theirs: Bytes, the way it is compared with.
        against: What that is.
    """

    what: str
    ours: int
    theirs: int
    against: str

    def line(self) -> str:
        """Return the comparison as one line of a table."""
        ours, theirs = (f"{size / 1e6:,.1f} MB" for size in (self.ours, self.theirs))
        return f"| {self.what} | {ours} | {theirs} | {self.against} | {self.ours / self.theirs:.2f} |"


def compare(
    what: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    against: str,
    count: int,
    unit: str,
    rounds: int = 5,
) -> Comparison:
    """Measure both in turn, after one unmeasured round, and take the fastest round of each.

    What else the machine does can only add to a time; alternating makes it hit both alike.
    """
    measured: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for way, seconds in zip((ours, theirs), measured, strict=True):
            began = time.perf_counter()
            way()
            if number:
                seconds.append(time.perf_counter() - began)
    return Comparison(what, min(measured[0]), min(measured[1]), against, count, unit)
