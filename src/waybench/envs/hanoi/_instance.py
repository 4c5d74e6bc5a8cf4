"""Puzzles: where the disks are, and where they have to go."""

from dataclasses import dataclass
from functools import lru_cache

from waybench.core import DataError, Instance, Json, check_fields, is_object
from waybench.envs.hanoi._solve import Position

RODS = "ABC"
MOST_DISKS = 20


@dataclass(frozen=True, slots=True)
class Towers(Instance):
    """A puzzle.

    Attributes:
        start: The rod of each disk at the start, as letters, the smallest disk first.
        goal: The same for the end; it differs from the start.
    """

    start: str
    goal: str

    @property
    def level(self) -> int:
        """The number of disks."""
        return len(self.start)

    @property
    def setting(self) -> str | None:
        """The published name of the registered setting that this is; None if it is none."""
        published = self.level in (3, 4) and set(self.start) == {"A"} and set(self.goal) == {"C"}
        return f"Hanoi{self.level}Disk" if published else None

    @property
    def positions(self) -> tuple[Position, Position]:
        """Start and goal, with numbers for the rods."""
        return _position(self.start), _position(self.goal)

    def canonical(self) -> str:
        """Return start and goal."""
        return f"{self.start} {self.goal}"

    def to_json(self) -> Json:
        """Return {"start": "AAA", "goal": "CCC"}, the smallest disk first."""
        return {"start": self.start, "goal": self.goal}


@lru_cache(maxsize=4096)  # the same few positions are asked for again and again, here and in `_solve`
def _position(letters: str) -> Position:
    return tuple(map(RODS.index, letters))


def decode(data: Json) -> Towers:
    """Read {"start": "AAA", "goal": "CCC"}, the smallest disk first.

    Raises:
        DataError: If it is no such object.
    """
    check_fields(data, ("start", "goal"))
    values = [data.get(name) for name in ("start", "goal")] if is_object(data) and len(data) == 2 else []
    match values:
        case [str(start), str(goal)] if set(start + goal) <= set(RODS):
            if start != goal and 1 <= len(start) == len(goal) <= MOST_DISKS:
                return Towers(start, goal)
            raise DataError(
                f"instance: start and goal have 1 to {MOST_DISKS} letters, as many as each other, and differ"
            )
        case _:
            raise DataError('instance: give {"start": "AAA", "goal": "CCC"}, the rod of each disk, the smallest first')
