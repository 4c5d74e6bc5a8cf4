"""What the report knows of single families: their words, and who draws their boards."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of environments is spoken of and drawn.

    Attributes:
        level: What a level is called.
        item: What an item is called.
        items: The same for several.
        drawer: "module:function" of (instance, turns, *, board_id, reuse) -> SVG; "" if there is none. The function
            lets no text of a reply into its drawing.
        legend: What is seen in a drawing, in one sentence.
        reference: What a drawing shows besides what was done, for a switch that hides it (class "reference").
    """

    level: str = "level"
    item: str = "item"
    items: str = "items"
    drawer: str = ""
    legend: str = ""
    reference: str = ""

    def draw(self) -> Callable[..., str] | None:
        """Return the function that draws a board, loaded now."""
        module, _, name = self.drawer.partition(":")
        return getattr(import_module(module), name) if module else None


_FAMILIES: dict[str, Any] = {
    "maze": Family(
        level="dimension",
        item="maze",
        items="mazes",
        drawer="waybench.envs.maze._draw:draw",
        legend=(
            "The ring is the entrance, the square the exit. The line is the way walked, pale and wide around it what "
            "was walked more than once. A dot marks where a request ended, and a cross where a movement hit a wall or "
            "the edge; nothing of that movement was carried out."
        ),
        reference="a shortest path (dashed)",
    ),
}


def family(env_id: str) -> Family:
    """Return what is known of an environment's family; for an unknown one, plain words and no drawing."""
    return _FAMILIES.get(env_id.partition("/")[0], Family())
