"""The design of a run, which the metadata of its samples declare.

A design has a search's settings, a ladder's levels, or the position of an item in the stream of a comparison.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from waybench.core._game import Json

DESIGN = "waybench_search"  # the key of the design in a sample's metadata, older than designs of ladders
_LEVELS = "levels"  # a key of the designs of ladders, which those of searches do not have
_STREAM = "stream"  # a key of the designs of samples that a comparison plays
_MOST_LEVELS = 100_000  # a log may come from outside
_MOST_SIZE = 10**9  # greater than any level

# Parameters of tasks that say how many tokens of an item are shown; without the first one all are.
SHOWN = ("prefix_tokens", "tokenizer")

Levels = range | tuple[int, ...]


def max_failed_levels(best_of: bool) -> int:
    """Return the number of consecutive levels without a success after which a ladder ends.

    It is 2 where an environment does not count the best of several attempts (`Scoring.best_of`): there a single level
    without success is more often bad luck.
    """
    return 1 if best_of else 2


def has_ladder_ended(failed_levels: Sequence[bool], best_of: bool) -> bool:
    """Return whether a ladder ends after the levels played so far.

    `failed_levels` says of each level, easiest first, whether all its items had a result and none a success. Episodes
    with an infrastructure error, and episodes that do not replay, have no result.
    """
    n_failures = max_failed_levels(best_of)
    return len(failed_levels) >= n_failures and all(failed_levels[-n_failures:])


def ladder_design(levels: Sequence[int]) -> dict[str, Json]:
    """Return the design of a ladder as JSON: its first and last level and the step, or a list of the levels."""
    if isinstance(levels, range):
        return {_LEVELS: {"first": levels[0], "last": levels[-1], "step": levels.step}}
    return {_LEVELS: list(levels)}


def ladder_levels(design: Mapping[str, Json]) -> Levels:
    """Return the levels of a ladder's design, in ascending order; () for other designs or damaged ones."""
    levels: Any = design.get(_LEVELS)
    if isinstance(levels, Mapping):
        numbers = _bounded_integers([cast(Mapping[str, Any], levels).get(name) for name in ("first", "last", "step")])
        if numbers is None:
            return ()
        first, last, step = numbers
        if step < 1 or (last - first) // step >= _MOST_LEVELS:
            return ()
        return range(first, last + 1, step)
    level_list = _bounded_integers(levels)
    return () if level_list is None or len(level_list) > _MOST_LEVELS else tuple(sorted(set(level_list)))


def is_search_design(design: Mapping[str, Json]) -> bool:
    """Return whether a design is that of a search for a horizon."""
    return bool(design) and _LEVELS not in design and _STREAM not in design


class StreamPosition(NamedTuple):
    """The position of an item in the stream of items that a comparison plays until it is decided.

    Attributes:
        stream: The name of the stream, which no other stream has.
        unit: The number of the item's unit, from 0: items are added to a comparison by units.
        items: Number of items of a unit.
        attempts: Number of attempts at an item.
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
    position: Any = design.get(_STREAM)
    if not isinstance(position, Mapping):
        return None
    fields = cast(Mapping[str, Any], position)
    numbers = _bounded_integers([fields.get(name) for name in ("unit", "items", "attempts")])
    if numbers is None or not isinstance(fields.get("stream"), str):
        return None
    unit, items, attempts = numbers
    return None if unit < 0 or min(items, attempts) < 1 else StreamPosition(fields["stream"], unit, items, attempts)


def design_of_run(design: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the part of a sample's design that all samples of its run share."""
    position = stream_position(design)
    return design if position is None else {_STREAM: {"stream": position.stream}}


def _bounded_integers(values: object) -> list[int] | None:
    """Return a list from outside if it has only integers below 10**9 in size; otherwise None."""
    if not isinstance(values, list):
        return None
    numbers = cast(list[Any], values)
    return numbers if all(type(number) is int and abs(number) < _MOST_SIZE for number in numbers) else None
