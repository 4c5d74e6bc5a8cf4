"""Axes of difficulty, along which success falls."""

from collections.abc import Callable
from dataclasses import dataclass

from waybench.core._record import EpisodeRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A number that says how hard an item is, above 0; how far a player reaches on it is its horizon.

    Attributes:
        name: Its key in every output.
        title: Its name in tables and charts, in the singular where it counts something.
        of: EpisodeRecord -> the number, None where it is not known. It is a function of the item, whatever was done.
        doc: What it counts.
    """

    name: str
    title: str
    of: Callable[[EpisodeRecord], float | None]
    doc: str


def level_axis(name: str, doc: str) -> Axis:
    """Return the level as an axis.

    Args:
        name: What a level is called: "dimension".
        doc: What it counts.
    """
    return Axis(name=name, title=name.capitalize(), of=lambda record: float(record.item["level"]), doc=doc)


def proof_axis(name: str, title: str, doc: str, *, field: str = "") -> Axis:
    """Return a number of an item's proof as an axis.

    Args:
        name: Its key.
        title: Its name.
        doc: What it counts.
        field: The proof's field; the name by default.
    """

    def of(record: EpisodeRecord) -> float | None:
        value = record.proof.get(field or name)
        return float(value) if isinstance(value, int | float) else None

    return Axis(name=name, title=title, of=of, doc=doc)
