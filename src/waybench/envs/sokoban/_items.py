"""Rooms by key, and rooms from files."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from waybench.core import (
    HARDER,
    DataError,
    DataFiles,
    Dataset,
    Item,
    ItemList,
    Json,
    KeyedSource,
    Source,
    Stream,
    UsageError,
    item_set_key_of_file,
    number_option,
    read_text_file,
    user_path,
)
from waybench.core._datasets import item_list_from_file
from waybench.envs.sokoban._rooms import (
    BY_PUSHES,
    GAME,
    MOST_BOXES,
    PUSH,
    Position,
    Room,
    connected_cells,
    decode,
    prove,
    pushes_of_lone_box,
)

SMALLEST_LEVEL, HIGHEST_LEVEL = 2, 20
OPTIONS = (
    number_option("size", 5, 10, "Cells along each side, walls included; by default 7, from level 7 on 8, from 13 10."),
    number_option(
        "boxes", 1, 4, "Boxes in a room; by default 2, from level 7 on 3, from level 13 on 4.", effect=HARDER
    ),
)
_DEFAULTS = ((6, 7, 2), (12, 8, 3), (HIGHEST_LEVEL, 10, 4))  # highest level, size, boxes
_WALLS = 5  # one of so many cells within the outer walls is a wall
_TRIES = 1_000
_LARGEST_FILE = 1 << 20  # bytes
_FILE_FLOOR = str.maketrans("-_", "  ")  # files also write floor so


class RoomSource(KeyedSource[Room]):
    """Rooms whose solutions with the fewest pushes have as many as the level.

    Walls, goals and boxes are random. A room that takes more pushes than the level, up to twice as many, begins where
    as many as the level remain of a best solution.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, level, prove)
        size, boxes = next((size, boxes) for highest, size, boxes in _DEFAULTS if level <= highest)
        self._size, self._boxes = options["size"] or size, options["boxes"] or boxes

    def instance(self, index: int) -> Room:
        return _draw_room(self.key, self._size, self._boxes, self.level, index)


@lru_cache(maxsize=1024)
def _draw_room(key: str, size: int, boxes: int, level: int, index: int) -> Room:
    """Draw the room of an index whose best solution has `level` pushes."""
    rng = Stream("sokoban/rooms", key, size, boxes, level, index)
    for _ in range(_TRIES):
        position = draw_position(rng, size, boxes)
        if position is None:
            continue
        if not level <= (BY_PUSHES.fewest_pushes(position) or 0) <= 2 * level:
            continue
        known = BY_PUSHES.remaining(position) or 0
        while known // PUSH > level:
            following = GAME.step(position, BY_PUSHES.best_actions(position)[0])
            assert following is not None
            known -= BY_PUSHES.cost(position, following)
            position = following
        return position.room
    raise UsageError(
        f"level {level}: no room of size {size} with {boxes} boxes took so many pushes in {_TRIES} tries: change size "
        "or boxes, or give a lower level"
    )


def draw_position(rng: Stream, size: int, count: int) -> Position | None:
    """Draw a room with boxes that each could reach a goal alone; None if walls leave too little room."""
    inner = [y * (size + 1) + x for y in range(1, size - 1) for x in range(1, size - 1)]
    cells = inner.copy()
    rng.shuffle(cells)
    full = "\n".join(["#" * size] * size)
    connected = connected_cells(_mark_cells(full, cells[len(cells) // _WALLS :], " "), cells[-1])
    places = [cell for cell in cells if cell in connected]
    if 3 * len(places) < 2 * len(inner):
        return None
    plan = _mark_cells(_mark_cells(full, connected, " "), places[:count], ".")
    boxes = [cell for cell in places[count + 1 :] if cell in pushes_of_lone_box(plan)][:count]
    return Position(plan, places[count], tuple(sorted(boxes))) if len(boxes) == count else None


def _mark_cells(plan: str, cells: Collection[int], symbol: str) -> str:
    """Return a plan with a symbol on some cells."""
    return "".join(symbol if cell in cells else old for cell, old in enumerate(plan))


def read_rooms(text: str, name: str) -> Iterator[Room]:
    """Yield the rooms of a file in the common format (XSB): rows of #@$.+*, with lines of other text between rooms.

    Args:
        text: The file's text.
        name: The file's name, for messages.

    Raises:
        DataError: If one is no room that can be solved; the message names its first line.
    """
    rows: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        row = line.rstrip().translate(_FILE_FLOOR)
        if row and set(row) <= set("#@$.+* "):
            rows.append(row)
        elif rows:
            try:
                yield decode(rows)
            except DataError as error:
                raise DataError(f"{name}: line {number - len(rows)}: {error}") from None
            rows = []


def _open_file(values: Mapping[str, Any], files: DataFiles) -> Source[Room]:
    """Return the items of the data set "file"."""
    path = user_path(values["source"])
    text = read_text_file(path, _LARGEST_FILE, "a file of rooms")
    if text.lstrip()[:1] in ("{", "["):
        return item_list_from_file(path, "sokoban/rooms", decode, level_of, prove)
    key = item_set_key_of_file(path, "rooms")
    items = [
        Item(room, str(number), level_of(room), key, number, prove(room))
        for number, room in enumerate(read_rooms(text, str(path)))
    ]
    if not items:
        raise DataError(f"{path}: the file has no rooms")
    return ItemList(items)


def level_of(room: Room) -> int:
    """Return the level of a room, the fewest pushes of a solution."""
    return int(prove(room)["pushes"])


FILES = Dataset(
    name="file",
    doc=f"path of a file of rooms (XSB, at most {MOST_BOXES} boxes), or of JSON lines from `waybench generate`",
    items="rooms",
    open=_open_file,
)
