"""The design of a run, which the metadata of its samples declare.

That is a search's settings, a ladder's levels, or the place of an item in the stream of a comparison.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from waybench.core._game import Json

DESIGN = "waybench_search"  # where a sample's metadata have it, as JSON; the name is older than ladders' levels
_LEVELS = "levels"  # the design of a ladder has it, and that of a search does not
_STREAM = "stream"  # the design of a sample that a comparison plays has it
_MOST_LEVELS = 100_000  # a log may come from outside
_MOST = 10**9  # greater than any level

# Parameters of tasks that say how much of an item is shown, where that is counted in tokens; the first one turns it on.
SHOWN = ("prefix_tokens", "tokenizer")

Levels = range | tuple[int, ...]


def max_failed_levels(best_of: bool) -> int:
    """Return the number of consecutive levels without a success after which a ladder ends.

    Where an environment does not count the best of several attempts (`Scoring.best_of`), one level without success is
    more often bad luck.
    """
    return 1 if best_of else 2


def has_ladder_ended(failed_levels: Sequence[bool], best_of: bool) -> bool:
    """Return whether a ladder ends after the levels played so far.

    `failed_levels` says of each level, easiest first, whether all its items had a result and none a success. Nothing
    follows from an infrastructure error, nor from an episode that does not replay.
    """
    patience = max_failed_levels(best_of)
    return len(failed_levels) >= patience and all(failed_levels[-patience:])


def ladder_design(levels: Sequence[int]) -> dict[str, Json]:
    """Return the design of a ladder as JSON: its first and last level and the step, or a list of the levels."""
    if isinstance(levels, range):
        return {_LEVELS: {"first": levels[0], "last": levels[-1], "step": levels.step}}
    return {_LEVELS: list(levels)}


def ladder_levels(design: Mapping[str, Json]) -> Levels:
    """Return the levels of a ladder's design, rising; none for other designs or damaged ones."""
    levels: Any = design.get(_LEVELS)
    if isinstance(levels, Mapping):
        ends = _bounded_integers([cast(Mapping[str, Any], levels).get(name) for name in ("first", "last", "step")])
        if ends is None or ends[2] < 1 or (ends[1] - ends[0]) // ends[2] >= _MOST_LEVELS:
            return ()
        return range(ends[0], ends[1] + 1, ends[2])
    listed = _bounded_integers(levels)
    return () if listed is None or len(listed) > _MOST_LEVELS else tuple(sorted(set(listed)))


def is_search_design(design: Mapping[str, Json]) -> bool:
    """Return whether a design is that of a search for a horizon."""
    return bool(design) and _LEVELS not in design and _STREAM not in design


class StreamPosition(NamedTuple):
    """The place of an item in the stream of items that a comparison plays until it is decided.

    Attributes:
        stream: The name of the stream, which no other one has.
        unit: The number of the unit that the item is in, from 0.
    """

    stream: str
    unit: int
    items: int
    attempts: int


def stream_design(position: StreamPosition) -> dict[str, Json]:
    """Return the design of a sample at a position of a stream, as JSON."""
    return {_STREAM: dict(position._asdict())}


def is_stream_design(design: Mapping[str, Json]) -> bool:
    """Return whether a design is that of a sample in a stream."""
    return _STREAM in design


def stream_position(design: Mapping[str, Json]) -> StreamPosition | None:
    """Return the position that a design declares; None if it declares none, or a damaged one."""
    place: Any = design.get(_STREAM)
    if not isinstance(place, Mapping):
        return None
    fields = cast(Mapping[str, Any], place)
    numbers = _bounded_integers([fields.get(name) for name in ("unit", "items", "attempts")])
    if numbers is None or numbers[0] < 0 or min(numbers[1:]) < 1 or not isinstance(fields.get("stream"), str):
        return None
    return StreamPosition(fields["stream"], *numbers)


def design_of_run(design: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the part of a sample's design that all samples of its run share."""
    place = stream_position(design)
    return design if place is None else {_STREAM: {"stream": place.stream}}


def _bounded_integers(values: object) -> list[int] | None:
    """Return a list from outside if it has only integers below 10**9 in size; otherwise None."""
    if not isinstance(values, list):
        return None
    listed = cast(list[Any], values)
    return listed if all(type(value) is int and abs(value) < _MOST for value in listed) else None
