"""Questions as instances: a map, the beginning of its walkthrough, and what is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from waybench.core import DataError, Json, is_object, plural
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
    map_json,
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

RELEASED_LABELS, PAPER_LABELS = "released", "paper"
LABELS: dict[str, Rule] = {RELEASED_LABELS: "released", PAPER_LABELS: "tables"}
"""What users call the rules of labels -> the rules."""


@dataclass(frozen=True, slots=True)
class MapQuestion(MapInstance):
    """One question about a map.

    Attributes:
        source: The place where the way begins.
        target: The place where it ends: the answer to a question for a destination.
        path: The moves whose destination is asked for; empty if a route is.
        rule: How a route's difficulty is labelled; see `Rule`.
    """

    source: str
    target: str
    path: tuple[Edge, ...] = ()
    rule: Rule = "released"

    @property
    def actions(self) -> tuple[str, ...]:
        """What is typed on the way whose destination is asked for; empty if a route is."""
        return tuple(edge.action for edge in self.path)

    @property
    def labels(self) -> Labels:
        """From which steps on it can be asked, and is easy."""
        return path_labels(self.path) if self.path else self._routes.labels(self.source, self.target)

    @property
    def difficulty(self) -> Difficulty | None:
        """How hard it is for who has read what is shown; None if it cannot be answered."""
        if self.path:
            return self.labels.difficulty(self.cutoff)
        return self._routes.difficulty(self.source, self.target, self.cutoff, self.rule)

    @property
    def answerable_from(self) -> int:
        """The step from which on it can be answered; 9999 if it never can."""
        return self.labels.answerable_from(self.rule)

    @property
    def easy_from(self) -> int:
        """The step from which on it is easy; 9999 if it never is."""
        if self.rule == "released":
            return self.labels.easy_from()
        # In the rule of the tables a route is easy or not whatever is shown, as soon as it can be answered.
        return self.answerable_from if self._routes.is_walked(self.source, self.target) else NEVER

    @property
    def shortest(self) -> int | None:
        """Number of moves of a shortest way on the whole map; None if there is none."""
        return self._routes.shortest(self.source, self.target)

    @property
    def _routes(self) -> "Routes":
        from waybench.envs.textmap.map import routes  # numpy is loaded where there is something to count

        return routes(self.map)

    def to_json(self) -> Json:
        """Return the question with its whole map, so that a record needs no other file."""
        return {"map": map_json(self.map), **self.question_json(), "cutoff": self.cutoff}

    def question_json(self) -> dict[str, Json]:
        """Return what is asked, without the map, as JSON."""
        out: dict[str, Json] = {"src": self.source, "dst": self.target}
        if self.path:
            out["actions"], out["path"] = list(self.actions), [edge.target for edge in self.path]
        if self.rule != "released":
            out["labels"] = PAPER_LABELS
        return out


def decode_route(data: Json) -> MapQuestion:
    """Read a question for a route.

    Raises:
        DataError: If it is none; the message names the field.
    """
    if is_object(data) and not {"actions", "path"}.isdisjoint(data):
        raise DataError("actions: a question for a route has none; moves whose destination is asked for are of another")
    return route_on(*_read_prefix(data), data)


def decode_destination(data: Json) -> MapQuestion:
    """Read a question for a destination. Its "dst" and "path" can be left out where the moves lead to one place only.

    Raises:
        DataError: If it is none; the message names the field.
    """
    return destination_on(*_read_prefix(data), data)


def route_on(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a question for a route on a map that has been read; see `decode_route`."""
    question = _question(place_map, cutoff, data)
    if not question.target:
        raise DataError("dst: it is missing; give the place where the route is to end")
    if question.source == question.target:
        raise DataError("dst: it is the same place as src; a route leads to another one")
    labels = data.get("labels", RELEASED_LABELS)
    if labels not in LABELS:
        raise DataError(f'labels: give "{RELEASED_LABELS}" or "{PAPER_LABELS}", or leave it out')
    return replace(question, rule=LABELS[labels])


def destination_on(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    """Read a question for a destination on a map that has been read; see `decode_destination`."""
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
        raise DataError("dst: it is missing, and these moves can lead to several places: give the one that is meant")
    # Of several paths to one place, that which can be asked about first.
    path = min(paths, key=lambda path: (path_labels(path).known_named, path_labels(path).forward_named))
    return replace(question, target=path[-1].target, path=path)


def _ways(place_map: PlaceMap, source: str, actions: Sequence[str]) -> list[tuple[Edge, ...]]:
    """Return the simple paths that some moves make from a place; one move can lead to several places."""
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
        ways = longer[:1000]  # two ambiguous moves one after the other are rare, and ten are made up
    return ways


def _read_prefix(data: Json) -> tuple[PlaceMap, int]:
    if not is_object(data):
        raise DataError('instance: give a question, {"map": {...}, "src": "...", "dst": "...", "cutoff": 70}')
    place_map = read_map(data)
    cutoff = read_number(data, "cutoff", 0, LATEST_CUTOFF, "the last step that is shown")
    return cut(place_map, cutoff), cutoff


def _question(place_map: PlaceMap, cutoff: int, data: dict[str, Json]) -> MapQuestion:
    source = read_place(place_map, "src", data.get("src"))
    target = read_place(place_map, "dst", data["dst"]) if "dst" in data else ""
    return MapQuestion(place_map, cutoff, source, target)
