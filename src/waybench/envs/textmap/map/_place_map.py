"""Maps of places: which moves lead from where to where, and at which step of a walkthrough they became known."""

from dataclasses import dataclass
from typing import NamedTuple

from waybench.core import UsageError, unknown

NEVER = 9999  # the step of what never happens, as the published files have it


class Edge(NamedTuple):
    """One move from one place to another.

    Attributes:
        source: The place where it begins.
        target: The place where it ends.
        action: What is typed.
        forward: Step of the walkthrough at which it is first made; `NEVER` if it is not.
        reverse: Step at which its opposite is first made, so that it can be inferred; `NEVER` if it is not.
        forward_named: As `forward`, but the first step at which a reader can also know both names.
        reverse_named: As `reverse`, likewise.
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
        """First step at which the move was made or could be inferred."""
        return min(self.forward, self.reverse)

    @property
    def known_named(self) -> int:
        """The same, the names of both places known as well."""
        return min(self.forward_named, self.reverse_named)

    @property
    def counted(self) -> int:
        """First step at which it was made or, if it never is, could be inferred: so the paper's tables count moves."""
        return self.forward if self.forward < NEVER else self.reverse


class Step(NamedTuple):
    """One block of a walkthrough.

    Attributes:
        number: From 0; number 0 has the action "Init".
        action: What was typed.
        observation: What the game answered.
    """

    number: int
    action: str
    observation: str


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """A directed multigraph of places, with the walkthrough that it was learnt from.

    Attributes:
        name: The game's name.
        places: All places, in the order in which prompts list them.
        actions: All actions of edges, likewise.
        edges: All moves; between two places there can be several, by different actions, and one action can lead from
            one place to several.
        steps: The walkthrough; its last step's number is the greatest.
    """

    name: str
    places: tuple[str, ...]
    actions: tuple[str, ...]
    edges: tuple[Edge, ...]
    steps: tuple[Step, ...]

    @property
    def last_step(self) -> int:
        """Number of the walkthrough's last step; 0 if it has none."""
        return self.steps[-1].number if self.steps else 0

    def check_place(self, name: str) -> None:
        """Check that a place is on the map.

        Raises:
            UsageError: If it is not.
        """
        if name not in self.places:
            raise UsageError(f"map {self.name}: {unknown('place', name, self.places)}")

    def edge(self, source: str, action: str, target: str) -> Edge:
        """Return the move of these names.

        Raises:
            UsageError: If there is none.
        """
        for edge in self.edges:
            if (edge.source, edge.action, edge.target) == (source, action, target):
                return edge
        raise UsageError(f"map {self.name}: no move {action[:80]!r} leads from {source[:80]!r} to {target[:80]!r}")
