"""Maps of places: the moves between places, and the step of the walkthrough at which each becomes known."""

from dataclasses import dataclass
from typing import NamedTuple

from waybench.core import UsageError

NEVER = 9999  # step of an event that never happens, as in the published files


class Edge(NamedTuple):
    """One move from one place to another.

    Attributes:
        source: The place where it starts.
        target: The place where it ends.
        action: The command.
        forward: First step of the walkthrough that makes the move; `NEVER` if none does.
        reverse: First step that makes the opposite move, so that this one can be inferred; `NEVER` if none does.
        forward_named: As `forward`, but the first step at which a reader also knows both names.
        reverse_named: As `reverse`, but the first step at which a reader also knows both names.
    """

    source: str
    target: str
    action: str
    forward: int
    reverse: int
    forward_named: int
    reverse_named: int

    @property
    def known(self) -> int:
        """First step at which the move was made or can be inferred."""
        return min(self.forward, self.reverse)

    @property
    def known_named(self) -> int:
        """First step at which the move and the names of both places are known."""
        return min(self.forward_named, self.reverse_named)

    @property
    def counted(self) -> int:
        """First step at which the move is made or, if it never is, can be inferred, as in the tables of the paper."""
        return self.forward if self.forward < NEVER else self.reverse


class Step(NamedTuple):
    """One block of a walkthrough.

    Attributes:
        number: From 0; number 0 has the action "Init".
        action: The command.
        observation: The answer of the game.
    """

    number: int
    action: str
    observation: str


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """A directed multigraph of places, with the walkthrough that it was learned from.

    Attributes:
        name: The game's name.
        places: All places, in the order in which prompts list them.
        actions: All actions of edges, in the same sense.
        edges: All moves. Two places can have several moves between them, by different actions, and one action can lead
            from a place to several places.
        steps: The walkthrough, by number.
    """

    name: str
    places: tuple[str, ...]
    actions: tuple[str, ...]
    edges: tuple[Edge, ...]
    steps: tuple[Step, ...]

    def __hash__(self) -> int:
        """Hash the names alone: maps are looked up often, and their steps are long."""
        return hash((self.name, self.places, self.actions))

    @property
    def last_step(self) -> int:
        """Number of the walkthrough's last step; 0 if it has none."""
        return self.steps[-1].number if self.steps else 0

    def edge(self, source: str, action: str, target: str) -> Edge:
        """Return the move with these names.

        Raises:
            UsageError: If there is no such move.
        """
        for edge in self.edges:
            if (edge.source, edge.action, edge.target) == (source, action, target):
                return edge
        raise UsageError(f"map {self.name}: no move {action[:80]!r} leads from {source[:80]!r} to {target[:80]!r}")
