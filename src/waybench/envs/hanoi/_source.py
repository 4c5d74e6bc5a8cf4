"""Puzzles by key."""

from collections.abc import Mapping

from waybench.core import Json, KeyedSource, Option, Stream, UsageError
from waybench.envs.hanoi._instance import MOST_DISKS, RODS, Towers
from waybench.envs.hanoi._solve import distance

VERSION = 1  # of the generator; part of every item's key
FEWEST = 3  # with fewer disks, random moves solve it

OPTIONS = (
    Option(
        name="positions",
        default="published",
        choices=("published", "free"),
        doc="Start and goal: all disks on rod A and then on rod C, or two positions drawn from the key, at least half "
        "of the greatest distance apart.",
    ),
)


class HanoiSource(KeyedSource[Towers]):
    """Puzzles drawn by key.

    Args:
        key: The set's key.
        level: Number of disks.
        options: `positions`.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not FEWEST <= level <= MOST_DISKS:
            raise UsageError(f"level {level}: give a number of disks from {FEWEST} to {MOST_DISKS}")
        super().__init__(key, level, prove)
        self._free = options["positions"] == "free"

    @property
    def space(self) -> int | None:
        """One puzzle, if it is the published one."""
        return None if self._free else 1

    def instance(self, index: int) -> Towers:
        """Return the puzzle of this number."""
        if not self._free:
            return Towers(RODS[0] * self.level, RODS[2] * self.level)
        rng = Stream("hanoi", VERSION, self.key, self.level, index)
        while True:
            start, goal = ("".join(rng.choice(RODS) for _ in range(self.level)) for _ in range(2))
            towers = Towers(start, goal)
            if distance(*towers.positions) >= 1 << self.level - 1:
                return towers


def prove(towers: Towers) -> dict[str, Json]:
    """Return the number of moves of a shortest solution as "minimum"."""
    return {"minimum": distance(*towers.positions)}
