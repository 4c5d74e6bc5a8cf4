"""Puzzles by key."""

from collections.abc import Mapping

from waybench.core import Item, Json, Option, Source, Stream, UsageError
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


class HanoiSource(Source[Towers]):
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
        self._key, self._level = key, level
        self._free = options["positions"] == "free"
        self._published = Towers(RODS[0] * level, RODS[2] * level)

    @property
    def space(self) -> int | None:
        """One puzzle, if it is the published one."""
        return None if self._free else 1

    def item(self, index: int) -> Item[Towers]:
        """Return the item of this number."""
        towers = self._published
        if self._free:
            rng = Stream("hanoi", VERSION, self._key, self._level, index)
            towers = self._towers(rng)
            while distance(*towers.positions) < 1 << self._level - 1:
                towers = self._towers(rng)
        return Item(towers, f"{self._level}-{index}", self._level, self._key, index, prove(towers))

    def _towers(self, rng: Stream) -> Towers:
        start, goal = ("".join(rng.choice(RODS) for _ in range(self._level)) for _ in range(2))
        return Towers(start, goal)


def prove(towers: Towers) -> dict[str, Json]:
    """Return the number of moves of a shortest solution as "minimum"."""
    return {"minimum": distance(*towers.positions)}
