"""What a run declares of its design, as the metadata of its samples have it: a search's settings, a ladder's levels."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from waybench.core._game import Json

DESIGN = "waybench_search"  # where a sample's metadata have it, as JSON; the name is older than ladders' levels
_LEVELS = "levels"  # the design of a ladder has it, and that of a search does not
_MOST_LEVELS = 100_000  # a log may come from outside
_MOST = 10**9  # greater than any level

Levels = range | tuple[int, ...]


def levels_design(levels: Sequence[int]) -> dict[str, Json]:
    """Return the design of a ladder with some levels: their first, last and step, or a list where there is no step."""
    if isinstance(levels, range):
        return {_LEVELS: {"first": levels[0], "last": levels[-1], "step": levels.step}}
    return {_LEVELS: list(levels)}


def declared_levels(design: Mapping[str, Json]) -> Levels:
    """Return the levels that a design declares, rising; none if it is no ladder's, or cannot be read."""
    levels: Any = design.get(_LEVELS)
    if isinstance(levels, Mapping):
        ends = _integers([cast(Mapping[str, Any], levels).get(name) for name in ("first", "last", "step")])
        if ends is None or ends[2] < 1 or (ends[1] - ends[0]) // ends[2] >= _MOST_LEVELS:
            return ()
        return range(ends[0], ends[1] + 1, ends[2])
    listed = _integers(levels)
    return () if listed is None or len(listed) > _MOST_LEVELS else tuple(sorted(set(listed)))


def is_search(design: Mapping[str, Json]) -> bool:
    """Return whether a design is that of a search for a horizon."""
    return bool(design) and _LEVELS not in design


def _integers(values: object) -> list[int] | None:
    """Return a list from outside if it has integers alone, none larger than any level; None otherwise."""
    if not isinstance(values, list):
        return None
    listed = cast(list[Any], values)
    return listed if all(type(value) is int and abs(value) < _MOST for value in listed) else None
