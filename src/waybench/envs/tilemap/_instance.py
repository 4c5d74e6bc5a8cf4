"""Tile maps: instances in the form of GameTraversalBenchmark's records, isomorphic ones, and proofs."""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple

from waybench.core import (
    DataError,
    Instance,
    Json,
    Stream,
    check_known_fields,
    is_array,
    is_object,
    isomorphic_appearance,
    plural,
)
from waybench.envs.spaces import transform_cell, transform_rows
from waybench.envs.spaces._lattice import REFLECTIONS, Floor

LARGEST = 100_000  # cells
LONGEST_LIST = 100_000  # characters of a list of tiles
# Fields of the published records; nothing reads the last four.
_FIELDS = (
    *("experiment_id", "story", "tile_mapping", "walkable_tiles", "interactive_object_tiles", "environment"),
    *("path_length", "objectives", "important_tiles", "width", "height", "astar_path"),
)
_LINE_BREAK = re.compile("\r\n?")
MOST_OBJECTIVES = 1000
PLAYER = "@"
WALL = "#"  # what cannot be walked on where a map does not say which tiles can


class Objective(NamedTuple):
    """A cell to be reached, which can be outside the map in a published record; `tile` is its tile by the record."""

    name: str
    tile: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class TileMap(Instance):
    """A map of characters with a player on it, and objectives to be reached one after the other.

    Attributes:
        rows: The map, row by row, all of one length, with exactly one "@".
        tiles: (name, character) of each kind of tile, in the order of the record.
        walkable: The list of characters that can be walked on, as the record's text: a Python list, perhaps with
            comments, which the published program takes for walkable tiles too.
        interactive: The list of interactive objects' characters, as the record's text.
        objectives: The objectives, in the order of play.
        path_length: The record's path length, by which the published score is scaled, and not a shortest tour's.
        id: The record's name.
        story: The story of the map; no player sees it.
    """

    rows: tuple[str, ...]
    tiles: tuple[tuple[str, str], ...]
    walkable: str
    interactive: str
    objectives: tuple[Objective, ...]
    path_length: int
    id: str = field(default="", compare=False)
    story: str = field(default="", compare=False)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0])

    @property
    def start(self) -> int:
        """The player's cell, row * width + column."""
        return "".join(self.rows).index(PLAYER)

    @property
    def level(self) -> int:
        """Size class: level k holds maps of 70 * 2 ** (k - 1) cells up to twice as many; smaller maps are level 1."""
        return max(1, (self.width * self.height // 70).bit_length())

    def canonical(self) -> str:
        """Return everything but id and story."""
        return repr((self.rows, self.tiles, self.walkable, self.interactive, self.objectives, self.path_length))

    def to_json(self) -> Json:
        """Return the record in the published form, without the fields that nothing reads.

        Names and what they stand for are pairs in a list here, for their order matters and an object has none.
        """
        return {
            "experiment_id": self.id,
            "story": self.story,
            "tile_mapping": [list(pair) for pair in self.tiles],
            "walkable_tiles": self.walkable,
            "interactive_object_tiles": self.interactive,
            "environment": "\n".join(self.rows),
            "path_length": self.path_length,
            "objectives": [[name, [tile, row, column]] for name, tile, row, column in self.objectives],
        }

    def floor(self, walkable: str) -> Floor:
        """Return the cells to stand on: those with one of the walkable characters, and the player's own."""
        signs = set(walkable) | {PLAYER}
        reversed_map = "".join(self.rows)[::-1]  # the first cell is the lowest bit
        bits = reversed_map.translate({ord(sign): "1" if sign in signs else "0" for sign in set(reversed_map)})
        return Floor(self.width, self.height, int(bits, 2))


def tile_list(text: str) -> str:
    """Return the characters of a Python list of characters as text, without comments; DataError for anything else."""
    signs = text[2::5]  # of "['a', 'b']"
    if text == str(list(signs)):  # as most lists are written, which is faster than Python's parser
        return signs
    try:
        value: Any = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        value = None
    if not is_array(value) or not all(isinstance(sign, str) and len(sign) == 1 for sign in value):
        raise DataError("give a list of single characters, such as ['a', 'b']")
    return "".join(value)


def decode(data: Json) -> TileMap:
    """Read a map in the form of the published records; all but "environment" and "objectives" may be left out.

    Left out, "walkable_tiles" are all characters of the map but "#", "path_length" is that of the shortest tour, and
    the others are empty. An objective outside the map is accepted, because the published records have four of them;
    see `objectives_outside`.

    Raises:
        DataError: For any other data; the message names the field.
    """
    if not is_object(data):
        raise DataError('instance: give a record, {"environment": "...", "objectives": {...}, ...}')
    check_known_fields(data, _FIELDS)
    rows = _read_rows(data)
    width = len(rows[0])
    if not width and any(rows):
        raise DataError("environment: row 0 is empty; remove the line break at the beginning")
    if not width or len(rows) * width > LARGEST:
        raise DataError(
            f"environment: {plural(len(rows), 'row')} of {plural(width, 'character')}; give 1 to {LARGEST} cells"
        )
    if not rows[-1]:
        raise DataError("environment: the last row is empty; remove it")
    ragged = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if ragged is not None:
        raise DataError(f"environment: row {ragged} has {plural(len(rows[ragged]), 'character')}, row 0 has {width}")
    for number, row in enumerate(rows):
        if not row.isprintable():
            column = next(column for column, sign in enumerate(row) if not sign.isprintable())
            raise DataError(f"environment: row {number}, column {column}: {row[column]!a} is no sign for a tile")
    players = sum(row.count(PLAYER) for row in rows)
    if players != 1:
        raise DataError(f'environment: it has {players} players; give exactly one "@"')
    tiles = _read_pairs(data.get("tile_mapping", {}), "tile_mapping")
    if tiles is None or not all(isinstance(sign, str) and len(sign) == 1 for _, sign in tiles):
        raise DataError('tile_mapping: give an object of single characters, such as {"Grass": "g"}')
    _read_text({"tile_mapping": "".join(name + sign for name, sign in tiles)}, "tile_mapping", LONGEST_LIST)
    every_tile = [sign for sign in dict.fromkeys("".join(rows)) if sign not in (PLAYER, WALL)]
    length = data.get("path_length", 0)
    if type(length) is not int or not 0 <= length <= LARGEST * MOST_OBJECTIVES:
        raise DataError("path_length: give a whole number of at least 0, or leave it out")
    case = TileMap(
        rows=rows,
        tiles=tuple((name, str(sign)) for name, sign in tiles),
        walkable=_read_tiles(data, "walkable_tiles", every_tile),
        interactive=_read_tiles(data, "interactive_object_tiles", []),
        objectives=_read_objectives(data.get("objectives"), rows),
        path_length=length,
        id=_read_text(data, "experiment_id", 1000) if "experiment_id" in data else "",
        story=_read_text(data, "story", LARGEST) if "story" in data else "",
    )
    if "path_length" in data:
        return case
    return replace(case, path_length=sum(leg or 0 for leg in tour_leg_lengths(case, tile_list(case.walkable))))


def _read_rows(data: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the rows of a map, given as a text of lines, a list of texts, or a list of lists of characters."""
    environment = data.get("environment")
    if not is_array(environment):
        text = _read_text(data, "environment", 2 * LARGEST + 10_000)
        return tuple(_LINE_BREAK.sub("\n", text).rstrip("\n").split("\n"))
    rows: list[str] = []
    for number, row in enumerate(environment[: LARGEST + 1]):
        if is_array(row) and all(isinstance(sign, str) and len(sign) == 1 and sign not in "\r\n" for sign in row):
            row = "".join(row)
        row = row.rstrip("\r\n") if isinstance(row, str) else row
        if not isinstance(row, str) or "\n" in row or "\r" in row:
            raise DataError(f"environment: row {number}: give a text, or a list of single characters")
        rows.append(row)
    return tuple(_read_text({"environment": "\n".join(rows)}, "environment", LARGEST + 10_000).split("\n"))


def _read_tiles(data: Mapping[str, Json], name: str, default: list[str]) -> str:
    """Return a list of tiles as the text of a Python list; the field has such a text, a list, or plain characters."""
    tiles = data.get(name, default)
    if is_array(tiles):
        if not all(isinstance(sign, str) and len(sign) == 1 for sign in tiles):
            raise DataError(f'{name}: give a list of single characters, such as ["a", "b"]')
        tiles = repr([str(sign) for sign in tiles])
    elif isinstance(tiles, str) and tiles and not set(tiles) & set("[](){},'\"# \n\t"):
        tiles = repr(list(tiles))
    text = _read_text({name: tiles}, name, LONGEST_LIST)
    try:
        tile_list(text)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return text


def _read_text(data: Any, name: str, max_characters: int) -> str:
    """Return a field's text; raise DataError for another value or too many characters."""
    value = data.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name}: missing, or not a string")
    if len(value) > max_characters:
        raise DataError(f"{name}: it has {len(value)} characters; at most {max_characters} are read")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{name}: it has an unpaired surrogate") from None
    return value


def _read_pairs(data: Json, field: str) -> list[tuple[str, Json]] | None:
    """Return the pairs of an object, or of a list of pairs (text, value); None for other data.

    A text that occurs twice is a DataError.
    """
    if is_object(data):
        return [(str(name), value) for name, value in data.items()]
    if not is_array(data):
        return None
    pairs: list[tuple[str, Json]] = []
    for pair in data:
        match pair:
            case [str(name), value]:
                pairs.append((name, value))
            case _:
                return None
    duplicate = next((name for name, count in Counter(name for name, _ in pairs).items() if count > 1), None)
    if duplicate is not None:
        raise DataError(f"{field}: {duplicate[:40]!r} occurs twice")
    return pairs


def _read_objectives(data: Json, rows: tuple[str, ...]) -> tuple[Objective, ...]:
    """Read objectives: {"name": ["tile", row, column]}, pairs of these, or [row, column] without a tile or a name."""
    if is_array(data) and all(is_array(cell) and cell and type(cell[0]) is int for cell in data):
        data = [[f"Objective {number}", cell] for number, cell in enumerate(data, start=1)]
    pairs = _read_pairs(data, "objectives")
    if pairs is None or not 1 <= len(pairs) <= MOST_OBJECTIVES:
        raise DataError(
            f'objectives: give from 1 to {MOST_OBJECTIVES}, as {{"name": ["tile", row, column]}} or [[row, column]]'
        )
    objectives: list[Objective] = []
    for name, value in pairs:
        is_readable = is_array(value) and bool not in map(type, value) and len(name) <= 1000  # True is an int, too
        match value if is_readable else None:
            case [int(row), int(column)] if 0 <= row < len(rows) and 0 <= column < len(rows[0]):
                objectives.append(Objective(name, rows[row][column], row, column))
            case [str(tile), int(row), int(column)]:
                if not (abs(row) <= LARGEST and abs(column) <= LARGEST and len(tile) <= 100):
                    raise DataError(f"objectives: {name[:40]!r} is too far away, or its tile too long")
                objectives.append(Objective(name, tile, row, column))
            case _:
                raise DataError(
                    f'objectives: {name[:40]!r}: give ["tile", row, column], or the [row, column] of a cell of the map'
                )
    for objective in objectives:
        _read_text({"objectives": objective.name + objective.tile}, "objectives", 2000)
    return tuple(objectives)


def objectives_outside(case: TileMap) -> list[int]:
    """Return the numbers, from 0, of the objectives that are not on the map."""
    return [
        number
        for number, (_, _, row, column) in enumerate(case.objectives)
        if not (0 <= row < case.height and 0 <= column < case.width)
    ]


def tour_leg_lengths(case: TileMap, walkable: str) -> list[int | None]:
    """Return `leg_lengths_on_floor` over the tiles whose characters are in `walkable`."""
    return leg_lengths_on_floor(case, case.floor(walkable))


def leg_lengths_on_floor(case: TileMap, floor: Floor) -> list[int | None]:
    """Return the moves of a shortest path to each objective from the one before, None where there is no path.

    Objectives that cannot be reached are passed over: the next path begins at the last objective that was reached.
    """
    at = case.start
    lengths: list[int | None] = []
    outside = set(objectives_outside(case))
    for number, (_, _, row, column) in enumerate(case.objectives):
        goal = row * case.width + column
        length = None if number in outside else floor.distance(at, goal)
        lengths.append(length)
        if length is not None:
            at = goal
    return lengths


def isomorph(case: TileMap, key: str, number: int) -> TileMap:
    """Return the map mirrored in rows, columns or both, with exchanged letters and digits for its tiles.

    Lower-case letters, upper-case letters and digits are exchanged among themselves; other characters stay, such as
    "@" and "#". All letters stay in a map whose lists of tiles have comments, as the published program reads the
    letters of comments, too.
    """
    symmetry = isomorphic_appearance(REFLECTIONS, number, "tilemap", key, case.hash)
    letters = {} if _has_comment(case.walkable + case.interactive) else _shuffled_letters(case, key, number)
    rows = transform_rows(symmetry, [row.translate(letters) for row in case.rows])
    objectives: list[Objective] = []
    for name, tile, old_row, old_column in case.objectives:
        row, column = transform_cell(symmetry, old_row, old_column, case.height, case.width)
        objectives.append(Objective(name, tile.translate(letters), row, column))
    return replace(
        case,
        rows=tuple("".join(row) for row in rows),
        tiles=tuple((name, sign.translate(letters)) for name, sign in case.tiles),
        walkable=case.walkable.translate(letters),
        interactive=case.interactive.translate(letters),
        objectives=tuple(objectives),
    )


def _has_comment(list_text: str) -> bool:
    """Return whether the text of lists of tiles has a comment or an escape, so that letters in it are no tiles."""
    return "\\" in list_text or "#" in list_text.replace("'#'", "").replace('"#"', "")


def _shuffled_letters(case: TileMap, key: str, number: int) -> dict[int, int]:
    """Return a translation table that shuffles lower-case letters, upper-case letters and digits."""
    rng = Stream("isomorph", "tiles", key, case.hash, number)
    letters: dict[int, int] = {}
    for signs in (ascii_lowercase, ascii_uppercase, digits):
        order = list(signs)
        rng.shuffle(order)
        letters |= str.maketrans(signs, "".join(order))
    return letters


def prove(case: TileMap) -> dict[str, Json]:
    """Return the proof of a map, with the walkable tiles that its list names.

    Returns:
        minimum: steps of the shortest tour of all objectives that can be reached, in their order;
        legs: steps of the shortest path to each objective from the one before, None where there is no path;
        unreachable: numbers of the objectives that cannot be reached, from 0.

    Raises:
        DataError: If the list of walkable tiles cannot be read.
    """
    legs = tour_leg_lengths(case, tile_list(case.walkable))
    unreachable = [number for number, leg in enumerate(legs) if leg is None]
    return {"minimum": sum(leg or 0 for leg in legs), "legs": legs, "unreachable": unreachable}
