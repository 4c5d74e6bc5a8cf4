"""Maps within instances: JSON, truncation, renamed and similar places."""

import json
import re
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
    Metric,
    Stream,
    UsageError,
    check_known_fields,
    is_array,
    is_object,
    unknown_name_message,
)
from waybench.envs.textmap._place_map import (
    STEP_KEYS,
    Edge,
    PlaceMap,
    WalkthroughStep,
    load_map,
    read_edges,
    read_names,
)

MetricFunction = Callable[[EpisodeRecord], float | None]
LONGEST_NAME = 1_000  # characters; parsers of replies reject longer names
MARK = re.compile(r"\s*\([^()]*\)\Z")  # what follows a name in parentheses
_MOST_TRIES = 1000  # draws of a new name
MOST_PLACES, MOST_EDGES, MOST_STEPS = 2_000, 20_000, 20_000
LATEST_CUTOFF = 1_000_000
LONGEST_TEXT = 1 << 24  # characters of a map as JSON
DATA_SET = "mango"  # data set of the published maps
PARTS = ("edges.json", "locations.json", "actions.json", "walkthrough")  # files of a map
_PLAIN_TRIES = 20  # draws of a new name before a number is appended


def last_event(record: EpisodeRecord, name: str) -> Json:
    """Return an event of the last turn by its name; None without turns or event, as after an unreadable answer."""
    return record.turns[-1].events.get(name) if record.turns else None


def share_metric(
    name: str, compute: MetricFunction, title: str, doc: str, *, better: str = "higher", labels: tuple[str, ...] = ()
) -> Metric:
    """Return a metric from 0 to 1 with the given attributes."""
    return Metric(name=name, of=compute, title=title, low=0, high=1, better=better, doc=doc, labels=labels)


def edit_distance(first: str, second: str) -> int:
    """Return the Levenshtein distance: the least number of characters to insert, delete or substitute.

    Computes the dynamic programming table column by column, with the differences between adjacent rows as bits of two
    integers (Myers 1999, Hyyrö 2003). The time depends on the length of the shorter name only, in practice.
    """
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    if not short:
        return len(long)
    positions: dict[str, int] = {}
    for index, character in enumerate(long):
        positions[character] = positions.get(character, 0) | 1 << index
    mask = (1 << len(long)) - 1
    last_row = 1 << (len(long) - 1)
    # Vertical differences of the current column: rows that are one more or one less than the row above.
    increases, decreases, edits = mask, 0, len(long)
    for character in short:
        matches = positions.get(character, 0)
        diagonal_zeros = (((matches & increases) + increases) ^ increases) | matches | decreases
        # Horizontal differences: rows that are one more or one less than in the column before.
        across_increases = decreases | (mask & ~(diagonal_zeros | increases))
        across_decreases = increases & diagonal_zeros
        edits += bool(across_increases & last_row) - bool(across_decreases & last_row)
        across_increases = (across_increases << 1 | 1) & mask
        increases = ((across_decreases << 1) & mask) | (mask & ~(diagonal_zeros | across_increases))
        decreases = across_increases & diagonal_zeros
    return edits


@lru_cache(maxsize=4096)
def name_similarity(first: str, second: str) -> float:
    """Return 1 - d / l, with d the edit distance in lower case and l the longer length (spec, section 5.2).

    Spaces and brackets count. Two empty names have similarity 0, as published. Names of more than 1,000 characters have
    similarity 0 with any name, to bound the time.
    """
    first, second = first.lower(), second.lower()
    longer = max(len(first), len(second))
    if longer == 0 or longer > LONGEST_NAME:
        return 0.0
    return 1 - edit_distance(first, second) / longer


class Renaming:
    """New names for the places of a map."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        # Prose has the names without their marks, capitalised or not.
        plain = {_without_mark(old).lower(): _without_mark(new) for old, new in names.items()}
        self._plain = {old: new for old, new in plain.items() if old}
        longest_first = sorted(self._plain, key=lambda name: (-len(name), name))
        pattern = "|".join(map(re.escape, longest_first)) or "(?!)"  # (?!) never matches
        self._in_prose = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)

    def rename_place(self, name: str) -> str:
        """Return the new name of a place."""
        return self._names[name]

    def rename_edge(self, edge: Edge) -> Edge:
        """Return a move between the renamed places."""
        return edge._replace(source=self.rename_place(edge.source), target=self.rename_place(edge.target))

    def rename_in_text(self, text: str) -> str:
        """Return a text with the new names of all places that it names; case and other words stay."""

        def replacement(match: re.Match[str]) -> str:
            """Return the new name of a match, with the capitals of the old one."""
            old, new = match[0], self._plain[match[0].lower()]
            return new.title() if old.istitle() else new.capitalize() if old[0].isupper() else new

        return self._in_prose.sub(replacement, text)

    def rename_map(self, place_map: PlaceMap) -> PlaceMap:
        """Return the map with the new names in its places, moves and observations. Actions stay."""
        return replace(
            place_map,
            places=tuple(map(self.rename_place, place_map.places)),
            edges=tuple(map(self.rename_edge, place_map.edges)),
            steps=tuple(
                WalkthroughStep(step.number, step.action, self.rename_in_text(step.observation))
                for step in place_map.steps
            ),
        )


def _without_mark(name: str) -> str:
    """Return a name without its mark, the parentheses at its end; the name itself if nothing else is in it."""
    return MARK.sub("", name) or name


@lru_cache(maxsize=64)
def draw_renaming(places: tuple[str, ...], draw_name: Callable[[Stream], str], *purpose: str | int) -> Renaming:
    """Return new names for places, all different from each other and from the old names (cached).

    `draw_name` returns some name in lower case; `purpose` is the key of its random stream. Marks, such as the machine
    id in parentheses after a name, are shuffled among the places that have a mark.
    """
    rng = Stream("isomorph", "places", *purpose)
    used_names = {_without_mark(place).lower() for place in places}
    marks = {place: place.removeprefix(_without_mark(place)) for place in places}
    marked_places = [place for place in places if marks[place]]
    shuffled_marks = [marks[place] for place in marked_places]
    rng.shuffle(shuffled_marks)
    new_marks = dict(zip(marked_places, shuffled_marks, strict=True))
    are_capitalised = sum(place[:1].isupper() for place in places) * 2 > len(places)  # most of the old names
    new_names: dict[str, str] = {}
    for place in places:
        name = draw_name(rng)
        for attempt in range(2, _MOST_TRIES):
            if name not in used_names:
                break
            name = draw_name(rng) if attempt < _PLAIN_TRIES else f"{draw_name(rng)} {attempt}"
        used_names.add(name)
        new_names[place] = (name.title() if are_capitalised else name) + new_marks.get(place, "")
    return Renaming(new_names)


Locate = Callable[[str, str], Path]

_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class MapInstance(Instance):
    """Base class of instances: a map, and the cutoff, the last step of its walkthrough that is shown.

    The map's walkthrough may have one more step, which tells where the move after the cutoff leads.
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
        texts = {"map": _map_text(self.map)} | {key: _sorted_json(value) for key, value in self.question_json().items()}
        return f"{{{','.join([f'{_sorted_json(key)}:{texts[key]}' for key in sorted(texts)])}}}"


def size_class(n_places: int) -> int:
    """Return the level of a map by its number of places, at least 1; see `MapInstance.level`."""
    return max(1, n_places.bit_length() - 2)


def truncate_map(place_map: PlaceMap, cutoff: int) -> PlaceMap:
    """Return a map with the steps that an instance with this cutoff needs: from 0 to the step after the cutoff."""
    steps = place_map.steps[: cutoff + 2]
    return place_map if len(steps) == len(place_map.steps) else replace(place_map, steps=steps)


def map_name(record: EpisodeRecord) -> str:
    """Return the name of a record's map."""
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
    """Read the map of an instance; repeated maps are cached."""
    if "map" not in data:
        raise DataError('map: missing; give the map, or (with `waybench score`) a published game\'s name as "game"')
    try:
        text = json.dumps(data["map"])
    except (ValueError, TypeError, RecursionError):
        raise DataError("map: it is not a map") from None
    if len(text) > LONGEST_TEXT:
        raise DataError(f"map: it has {len(text)} characters as JSON; at most {LONGEST_TEXT} are read")
    return _parse_map(text)


def read_number(data: dict[str, Json], key: str, low: int, high: int, description: str) -> int:
    """Read an integer from `low` to `high` of an instance; the error message asks for `description`."""
    value = data.get(key)
    if type(value) is not int or not low <= value <= high:
        raise DataError(f"{key}: give {description}, a whole number from {low} to {high}")
    return value


def read_place(place_map: PlaceMap, key: str, name: Json) -> str:
    """Read the name of a place of a map; `key` names the field in errors."""
    if not isinstance(name, str) or name not in place_map.places:
        message = (
            unknown_name_message("place", name, place_map.places) if isinstance(name, str) else "give a place's name"
        )
        raise DataError(f"{key}: {ascii(' '.join(message.split()))[1:-1][:300]}")
    return name


def read_texts(data: Any, key: str) -> list[str]:
    """Read a list of strings of an instance."""
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
    check_known_fields(data, ("name", "places", "actions", "edges", "steps"), "map")
    name = data.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise DataError("map: name: give the game's name")
    places, actions, rows = (
        _read_list(data, key, most)
        for key, most in (("places", MOST_PLACES), ("actions", MOST_EDGES), ("edges", MOST_EDGES))
    )
    places, actions = read_names(places, "map: places"), read_names(actions, "map: actions")
    too_long = next((name for name in (*places, *actions) if len(name) > LONGEST_NAME), None)
    if too_long is not None:
        raise DataError(f"map: the name {too_long[:40]!r} has more than {LONGEST_NAME} characters")
    records = [_published_record(row, number) for number, row in enumerate(rows)]
    edges = read_edges(records, "map: edges", frozenset(places), frozenset(actions))
    return PlaceMap(name, places, actions, edges, _read_steps(_read_list(data, "steps", MOST_STEPS)))


def _read_list(data: dict[str, Json], key: str, most: int) -> list[Json]:
    """Read a list of 1 to `most` values of a map."""
    value = data.get(key)
    if not is_array(value) or not 1 <= len(value) <= most:
        raise DataError(f"map: {key}: give a list of 1 to {most}")
    return value


def _published_record(row: Json, number: int) -> Json:
    """Return a move's record in the published format, from its row in a map's JSON; errors name the row's `number`."""
    if not is_array(row) or len(row) != len(Edge._fields):
        raise DataError(f"map: edges: record {number}: give a list of {len(Edge._fields)}, {', '.join(Edge._fields)}")
    source, target, action, *steps = row
    record: dict[str, Json] = {"src_node": source, "dst_node": target, "action": action}
    record |= zip(STEP_KEYS, steps, strict=True)
    if all(type(step) is int for step in steps):  # `read_edges` rejects any other step before it reads the minimums
        forward, reverse, forward_named, reverse_named = steps
        record["edge_min_step"] = min(forward, reverse)
        record["edge_min_step_answerable"] = min(forward_named, reverse_named)
    return record


def _read_steps(rows: Sequence[Json]) -> tuple[WalkthroughStep, ...]:
    """Read the steps of a map: an action and an observation each."""
    steps: list[WalkthroughStep] = []
    for number, row in enumerate(rows):
        if not is_array(row) or len(row) != 2 or not all(isinstance(text, str) for text in row):
            raise DataError(f"map: steps: record {number}: give an action and an observation")
        action, observation = map(str, row)
        try:
            (action + observation).encode()
        except UnicodeEncodeError:
            raise DataError(f"map: steps: record {number}: it has an unpaired surrogate") from None
        steps.append(WalkthroughStep(number, action, observation))
    return tuple(steps)


def insert_published_map(data: Json, locate: Locate) -> Json:
    """Return an instance with the map of a published game in place of the game's name (field "game").

    Data without that field, or with a map already, is returned unchanged.
    """
    if not is_object(data) or "game" not in data or "map" in data:
        return data
    game, cutoff = data["game"], data.get("cutoff")
    if not isinstance(game, str) or not game.isascii() or not game.isalnum():
        raise DataError("game: give the name of a published game, such as zork1")
    place_map = published_map(game, locate)
    fields = {key: value for key, value in data.items() if key != "game"}
    return {
        "map": map_json(truncate_map(place_map, cutoff) if type(cutoff) is int and cutoff >= 0 else place_map),
        **fields,
    }


_load_cached = lru_cache(maxsize=64)(load_map)


def published_map(game: str, locate: Locate) -> PlaceMap:
    """Return the map of a published game (cached); `locate` returns the path of a file of a data set.

    Raises a UsageError if there is no such game, or its files are missing or in several folders.
    """
    paths = [locate(DATA_SET, f"{game}/{game}.{part}") for part in PARTS]
    folders = {path.parent for path in paths}
    if len(folders) > 1:
        raise UsageError(f"the files of {game} are in several folders ({', '.join(map(str, sorted(folders)))})")
    return _load_cached(folders.pop(), game)
