"""Difficulty axes of questions: path length, steps shown and moves to infer."""

from collections.abc import Mapping

from waybench.core import Axis, EpisodeRecord, Json
from waybench.envs.textmap.map import reached

_Edges = Mapping[
    str, list[tuple[str, str, bool]]
]  # place -> (action, place after, whether the move has to be inferred)


def _length(record: EpisodeRecord) -> float | None:
    actions = record.instance.get("actions")
    length = len(actions) if actions else record.proof["shortest"]
    return float(length) if length else None


def _inferred(record: EpisodeRecord) -> float | None:
    if record.proof["difficulty"] != "hard":
        return None
    instance: Mapping[str, Json] = record.instance
    known = _known_moves(instance)
    path = instance.get("path")
    count = (
        _count_least(known, instance["src"], instance["dst"])
        if path is None
        else _count_along(known, instance["src"], instance)
    )
    return float(count) if count else None


def _known_moves(instance: Mapping[str, Json]) -> _Edges:
    """Return the moves that a reader of the prefix can know, by source."""
    moves: dict[str, list[tuple[str, str, bool]]] = {}
    for source, target, action, forward, reverse, *_ in instance["map"]["edges"]:
        walked = reached(forward, instance["cutoff"])
        if walked or reached(reverse, instance["cutoff"]):
            moves.setdefault(source, []).append((action, target, not walked))
    return moves


def _count_along(known: _Edges, at: str, instance: Mapping[str, Json]) -> int:
    """Return the number of given moves that have to be inferred."""
    count = 0
    for action, after in zip(instance["actions"], instance["path"], strict=True):
        count += any(edge == (action, after, True) for edge in known.get(at, ()))
        at = after
    return count


def _count_least(known: _Edges, start: str, end: str) -> int | None:
    """Return the least number of inferred moves of a shortest path; None if there is no path."""
    frontier, visited = {start: 0}, {start}
    while frontier and end not in frontier:
        following: dict[str, int] = {}
        for place, count in frontier.items():
            for _, after, inferred in known.get(place, ()):
                if after not in visited:
                    following[after] = min(following.get(after, count + inferred), count + inferred)
        visited |= following.keys()
        frontier = following
    return frontier.get(end)


AXES = (
    Axis(
        name="path_length",
        title="Path length",
        of=_length,
        doc="Moves of the given path, or of a shortest path on the whole map for a route question.",
    ),
    Axis(
        name="inferred",
        title="Inferred moves",
        of=_inferred,
        doc="Moves that must be inferred from their opposites, on the given path or on a shortest path that the shown "
        "steps determine. Only hard questions.",
    ),
    Axis(
        name="prefix",
        title="Steps shown",
        of=lambda record: float(record.instance["cutoff"]),
        doc="Steps of the walkthrough shown.",
    ),
)

# What may make one question harder than another with a path of the same length.
ITEM_VARIABLES = (
    Axis(
        name="inferred_moves",
        title="Inferred moves",
        of=lambda record: 0.0 if record.proof["difficulty"] == "easy" else _inferred(record),
        doc="Moves on the path that must be inferred from their opposites; 0 for an easy question.",
    ),
    Axis(
        name="first_answerable",
        title="First answerable at step",
        of=lambda record: float(record.proof["answerable_from"]) if record.proof["answerable"] else None,
        doc="The step of the walkthrough from which the question is answerable.",
    ),
    next(axis for axis in AXES if axis.name == "prefix"),
    Axis(
        name="places",
        title="Places",
        of=lambda record: float(len(record.instance["map"]["places"])),
        doc="Places of the whole map.",
    ),
    Axis(
        name="choices",
        title="Ways out of the start",
        of=lambda record: float(len(_known_moves(record.instance).get(record.instance["src"], ()))),
        doc="Known moves out of the place where the path starts.",
    ),
)
