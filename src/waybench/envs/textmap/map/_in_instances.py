"""Maps within instances: JSON encoding and decoding, truncation, and names of published games."""

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from waybench.core import (
    DataError,
    EpisodeRecord,
    Instance,
    Json,
    UsageError,
    check_fields,
    is_array,
    is_object,
    unknown,
)
from waybench.envs.textmap.map._load import load_map, read_edges, read_names
from waybench.envs.textmap.map._place_map import Edge, PlaceMap, Step

MOST_PLACES, MOST_EDGES, MOST_STEPS = 2_000, 20_000, 20_000
LATEST_CUTOFF = 1_000_000
LONGEST_NAME = 1_000  # characters; the same limit as for names in answers
LONGEST_TEXT = 1 << 24  # characters of a map as JSON

DATA_SET = "mango"  # data set of the published maps
PARTS = ("edges.json", "locations.json", "actions.json", "walkthrough")  # files of a map

Locate = Callable[[str, str], Path]

_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_EDGE_KEYS = ("src_node", "dst_node", "action", "seen_in_forward", "seen_in_reversed")
_NAMED_KEYS = ("seen_in_forward_answerable", "seen_in_reversed_answerable")


@dataclass(frozen=True, slots=True)
class MapInstance(Instance):
    """Base class of instances: a map and the beginning of its walkthrough that is shown.

    Attributes:
        map: The map. Its walkthrough ends one step after the cutoff at the latest.
        cutoff: The last step of the walkthrough that is shown.
    """

    map: PlaceMap
    cutoff: int

    @property
    def level(self) -> int:
        """Size class of the map: level k has at least 2 ** (k + 1) and fewer than 2 ** (k + 2) places."""
        return size_class(len(self.map.places))

    @abstractmethod
    def question_json(self) -> dict[str, Json]:
        """Return the instance as JSON, without the map."""

    def to_json(self) -> Json:
        """Return the instance with its whole map, so that a record needs no other file."""
        return {"map": map_json(self.map), **self.question_json()}

    def canonical(self) -> str:
        """Return the instance as JSON with sorted keys."""
        texts = {"map": _map_text(self.map)} | {key: _sorted_json(value) for key, value in self.question_json().items()}
        return f"{{{','.join([f'{_sorted_json(key)}:{texts[key]}' for key in sorted(texts)])}}}"


def size_class(places: int) -> int:
    """Return the level of a map with this number of places, at least 1; see `MapInstance.level`."""
    return max(1, places.bit_length() - 2)


def cut(place_map: PlaceMap, cutoff: int) -> PlaceMap:
    """Return a map without the steps that an instance with this cutoff does not need."""
    steps = place_map.steps[: cutoff + 2]
    return place_map if len(steps) == len(place_map.steps) else replace(place_map, steps=steps)


def map_name(record: EpisodeRecord) -> str:
    """Return the name of the map of a record's instance."""
    return str(record.instance["map"]["name"])


def map_json(place_map: PlaceMap) -> Json:
    """Return a map as the JSON of instances."""
    return {
        "name": place_map.name,
        "places": list(place_map.places),
        "actions": list(place_map.actions),
        "edges": [list(edge) for edge in place_map.edges],
        "steps": [[step.action, step.observation] for step in place_map.steps],
    }


@lru_cache(maxsize=4)
def _map_text(place_map: PlaceMap) -> str:
    """Return a map as JSON with sorted keys; cached, since many questions share one."""
    return _sorted_json(map_json(place_map))


def read_map(data: dict[str, Json]) -> PlaceMap:
    """Read the map of an instance; repeated maps are cached.

    Args:
        data: The instance as JSON.

    Raises:
        DataError: If there is none, or it is invalid.
    """
    if "map" not in data:
        raise DataError('map: missing; give the map, or (with `waybench score`) a published game\'s name as "game"')
    try:
        text = json.dumps(data["map"])
    except (ValueError, TypeError, RecursionError):
        raise DataError("map: it is not a map") from None
    if len(text) > LONGEST_TEXT:
        raise DataError(f"map: it has {len(text)} characters as JSON; at most {LONGEST_TEXT} are read")
    return _parse_map(text)


def read_number(data: dict[str, Json], key: str, low: int, high: int, what: str) -> int:
    """Read an integer of an instance.

    Raises:
        DataError: If it is not an integer from `low` to `high`; the message asks for `what`.
    """
    value = data.get(key)
    if type(value) is not int or not low <= value <= high:
        raise DataError(f"{key}: give {what}, a whole number from {low} to {high}")
    return value


def read_place(place_map: PlaceMap, key: str, name: Json) -> str:
    """Read the name of a place of a map; `key` names the field in errors."""
    if not isinstance(name, str) or name not in place_map.places:
        message = unknown("place", name, place_map.places) if isinstance(name, str) else "give a place's name"
        raise DataError(f"{key}: {ascii(' '.join(message.split()))[1:-1][:300]}")
    return name


def read_texts(data: Any, key: str) -> list[str]:
    """Read a list of strings."""
    value = data.get(key)
    if not is_array(value) or not all(isinstance(text, str) for text in value):
        raise DataError(f"{key}: give a list of names")
    return [str(text) for text in value]


@lru_cache(maxsize=128)
def _parse_map(text: str) -> PlaceMap:
    """Parse a map; cached, since many questions share one."""
    data: Json = json.loads(text)
    if not is_object(data):
        raise DataError('map: give {"name": ..., "places": [...], "actions": [...], "edges": [...], "steps": [...]}')
    check_fields(data, ("name", "places", "actions", "edges", "steps"), "map")
    name = data.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise DataError("map: name: give the game's name")
    places, actions, rows = (
        _list(data, key, most)
        for key, most in (("places", MOST_PLACES), ("actions", MOST_EDGES), ("edges", MOST_EDGES))
    )
    places, actions = read_names(places, "map: places"), read_names(actions, "map: actions")
    long = next((name for name in (*places, *actions) if len(name) > LONGEST_NAME), None)
    if long is not None:
        raise DataError(f"map: the name {long[:40]!r} has more than {LONGEST_NAME} characters")
    records = [_record(row, number) for number, row in enumerate(rows)]
    edges = read_edges(records, "map: edges", frozenset(places), frozenset(actions))
    return PlaceMap(name, places, actions, edges, _steps(_list(data, "steps", MOST_STEPS)))


def _list(data: dict[str, Json], key: str, most: int) -> list[Json]:
    value = data.get(key)
    if not is_array(value) or not 1 <= len(value) <= most:
        raise DataError(f"map: {key}: give a list of 1 to {most}")
    return value


def _record(row: Json, number: int) -> Json:
    """Return the published record of a move, including the derived minimum steps."""
    if not is_array(row) or len(row) != len(Edge._fields):
        raise DataError(f"map: edges: record {number}: give a list of {len(Edge._fields)}, {', '.join(Edge._fields)}")
    record: dict[str, Json] = dict(zip((*_EDGE_KEYS, *_NAMED_KEYS), row, strict=True))
    steps = [step for step in row[3:] if type(step) is int]
    if len(steps) == len(row) - 3:
        record["edge_min_step"], record["edge_min_step_answerable"] = min(steps[:2]), min(steps[2:])
    return record


def _steps(rows: Sequence[Json]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for number, row in enumerate(rows):
        if not is_array(row) or len(row) != 2 or not all(isinstance(text, str) for text in row):
            raise DataError(f"map: steps: record {number}: give an action and an observation")
        action, observation = str(row[0]), str(row[1])
        try:
            (action + observation).encode()
        except UnicodeEncodeError:
            raise DataError(f"map: steps: record {number}: it has an unpaired surrogate") from None
        steps.append(Step(number, action, observation))
    return tuple(steps)


def resolve_game(data: Json, locate: Locate) -> Json:
    """Replace the name of a published game in an instance by its map.

    Args:
        data: An instance with "game", such as "zork1"; one that has a map is returned unchanged.
        locate: (data set, file) -> path.

    Raises:
        DataError: If the name of the game is invalid.
        UsageError: If its files are missing.
    """
    if not is_object(data) or "game" not in data or "map" in data:
        return data
    game, cutoff = data["game"], data.get("cutoff")
    if not isinstance(game, str) or not game.isascii() or not game.isalnum():
        raise DataError("game: give the name of a published game, such as zork1")
    place_map = published_map(game, locate)
    rest = {key: value for key, value in data.items() if key != "game"}
    return {"map": map_json(cut(place_map, cutoff) if type(cutoff) is int and cutoff >= 0 else place_map), **rest}


@lru_cache(maxsize=64)
def _load_cached(folder: Path, game: str) -> PlaceMap:
    return load_map(folder, game)


def published_map(game: str, locate: Locate) -> PlaceMap:
    """Return the map of a published game (cached).

    Args:
        game: The game's name.
        locate: (data set, file) -> path.

    Raises:
        UsageError: If there is no such game, or its files are missing.
    """
    paths = [locate(DATA_SET, f"{game}/{game}.{part}") for part in PARTS]
    folders = {path.parent for path in paths}
    if len(folders) > 1:
        raise UsageError(f"the files of {game} are in several folders ({', '.join(map(str, sorted(folders)))})")
    return _load_cached(folders.pop(), game)
