"""Instances of route and destination questions: a map, a prefix of its walkthrough and the question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from waybench.core import DataError, Json, check_fields, is_object, plural
from waybench.envs.textmap.map import (
    LATEST_CUTOFF,
    NEVER,
    Difficulty,
    Edge,
    Labels,
    MapInstance,
    PlaceMap,
    Rule,
    cut,
    path_labels,
    published_map,
    read_map,
    read_number,
    read_place,
    read_texts,
    resolve_game,
    size_class,
)

if TYPE_CHECKING:
    from waybench.envs.textmap.map import Routes

__all__ = [
    "MapQuestion",
    "cut",
    "decode_destination",
    "decode_route",
    "destination_on",
    "published_map",
    "resolve_game",
    "route_on",
    "size_class",
]

_FIELDS = ("map", "game", "cutoff", "src", "dst")
RELEASED_LABELS, PAPER_LABELS = "released", "paper"
LABELS: dict[str, Rule] = {RELEASED_LABELS: "released", PAPER_LABELS: "tables"}
"""What users call the rules of labels -> the rules."""


@dataclass(frozen=True, slots=True)
class MapQuestion(MapInstance):
    """One question about a map.

    Attributes:
        source: The place where the path starts.
        target: The place where it ends, which is the answer to a destination question.
        path: The given moves of a destination question; empty for a route question.
        rule: How the difficulty of a route is labelled; see `Rule`.
    """

    source: str
    target: str
    path: tuple[Edge, ...] = ()
    rule: Rule = "released"

    @property
    def actions(self) -> tuple[str, ...]:
        """The given actions of a destination question; empty for a route question."""
        return tuple(edge.action for edge in self.path)

    @property
    def labels(self) -> Labels:
        """The steps from which the question is answerable and easy."""
        return _labels_of_path(self.path) if self.path else self._routes.labels(self.source, self.target)

    @property
    def difficulty(self) -> Difficulty | None:
        """The difficulty for a reader of what is shown; None if the question is not answerable."""
        if self.path:
            return self.labels.difficulty(self.cutoff)
        return self._routes.difficulty(self.source, self.target, self.cutoff, self.rule)

    @property
    def answerable_from(self) -> int:
        """The step from which the question is answerable; 9999 for never."""
        return self.labels.answerable_from(self.rule)

    @property
    def easy_from(self) -> int:
        """The step from which the question is easy; 9999 for never."""
        if self.rule == "released":
            return self.labels.easy_from()
        # Under the tables' rule it does not depend on the cutoff whether an answerable route is easy.
        return self.answerable_from if self._routes.is_walked(self.source, self.target) else NEVER

    @property
    def shortest(self) -> int | None:
        """Number of moves of a shortest path on the whole map; None if there is none."""
        return self._routes.shortest(self.source, self.target)

    @property
    def _routes(self) -> "Routes":
        from waybench.envs.textmap.map import routes  # imports numpy, so only when it is needed

        return routes(self.map)

    def question_json(self) -> dict[str, Json]:
        """Return the question as JSON, without the map."""
        return {**self.ends_json(), "cutoff": self.cutoff}

    def ends_json(self) -> dict[str, Json]:
        """Return the question as JSON, without the map and the cutoff."""
        out: dict[str, Json] = {"src": self.source, "dst": self.target}
        if self.path:
            out["actions"], out["path"] = list(self.actions), [edge.target for edge in self.path]
        if self.rule != "released":
            out["labels"] = PAPER_LABELS
        return out


@lru_cache(maxsize=64)
def _labels_of_path(path: tuple[Edge, ...]) -> Labels:
    return path_labels(path)


def decode_route(data: Json) -> MapQuestion:
    """Read a route question.

    Raises:
        DataError: If it is invalid; the message names the field.
    """
    if is_object(data) and not {"actions", "path"}.isdisjoint(data):
        raise DataError("actions: only destination questions have moves; remove them from a route question")
    return route_on(*_read_prefix(data), data)


def decode_destination(data: Json) -> MapQuestion:
    """Read a destination question. "dst" and "path" are optional if the moves lead to one place only.

    Raises:
        DataError: If it is invalid; the message names the field.
    """
    return destination_on(*_read_prefix(data), data)


def route_on(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a route question on a given map; see `decode_route`."""
    check_fields(data, (*_FIELDS, "labels"))
    question = _question(place_map, cutoff, data)
    if not question.target:
        raise DataError("dst: missing; give the place where the route ends")
    if question.source == question.target:
        raise DataError("dst: the same place as src; give another place")
    labels = data.get("labels", RELEASED_LABELS)
    if labels not in LABELS:
        raise DataError(f'labels: give "{RELEASED_LABELS}" or "{PAPER_LABELS}", or leave it out')
    return replace(question, rule=LABELS[labels])


def destination_on(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a destination question on a given map; see `decode_destination`."""
    check_fields(data, (*_FIELDS, "actions", "path"))
    question = _question(place_map, cutoff, data)
    actions = read_texts(data, "actions")
    if not 1 <= len(actions) <= len(place_map.places):
        raise DataError(
            f"actions: {plural(len(actions), 'move')}; give from 1 to {len(place_map.places)}, a simple path"
        )
    paths = _ways(place_map, question.source, actions)
    if "path" in data:
        path_places = read_texts(data, "path")
        paths = [path for path in paths if [edge.target for edge in path] == path_places]
    if "dst" in data:
        paths = [path for path in paths if path[-1].target == question.target]
    if not paths:
        raise DataError("actions: no simple path of the map makes these moves from src (to dst, along path)")
    if len({path[-1].target for path in paths}) > 1:
        raise DataError("dst: missing, and these moves can lead to several places: give one of them")
    # Of several paths to one place, take the one that is answerable first.
    path = min(paths, key=lambda path: (path_labels(path).known_named, path_labels(path).forward_named))
    return replace(question, target=path[-1].target, path=path)


def _ways(place_map: PlaceMap, source: str, actions: Sequence[str]) -> list[tuple[Edge, ...]]:
    """Return the simple paths from a place with the given actions; one action can lead to several places."""
    ways: list[tuple[Edge, ...]] = [()]
    for action in actions:
        longer: list[tuple[Edge, ...]] = []
        for way in ways:
            visited = {source, *(edge.target for edge in way)}
            here = way[-1].target if way else source
            longer += [
                (*way, edge)
                for edge in place_map.edges
                if edge.source == here and edge.action == action and edge.target not in visited
            ]
        ways = longer[:1000]  # two ambiguous actions in a row are rare; only a made-up map has many
    return ways


def _read_prefix(data: Json) -> tuple[PlaceMap, int]:
    if not is_object(data):
        raise DataError('instance: give a question, {"map": {...}, "src": "...", "dst": "...", "cutoff": 70}')
    place_map = read_map(data)
    cutoff = read_number(data, "cutoff", 0, LATEST_CUTOFF, "the last step shown")
    return cut(place_map, cutoff), cutoff


def _question(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    source = read_place(place_map, "src", data.get("src"))
    target = read_place(place_map, "dst", data["dst"]) if "dst" in data else ""
    return MapQuestion(place_map, cutoff, source, target)
