"""The environment of Sokoban: rooms by key and from files, words, metrics and board."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from waybench import _package_data
from waybench.core import (
    DEAD_END,
    EASIER,
    HARDER,
    Board,
    ChoiceWording,
    DataError,
    DataFiles,
    Dataset,
    Difficulty,
    End,
    Environment,
    EpisodeRecord,
    HorizonSpec,
    Images,
    Item,
    ItemList,
    Items,
    Json,
    KeyedSource,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Source,
    Stream,
    TurnRecord,
    UsageError,
    board_picture_drawer,
    board_scenes_maker,
    choice_typing,
    item_set_key_of_file,
    number_option,
    outcome_metric,
    proof_axis,
    proof_metric,
    read_text_file,
    user_path,
)
from waybench.core._datasets import item_list_from_file
from waybench.envs.sokoban._rooms import (
    BY_PUSHES,
    GAME,
    MOST_BOXES,
    PUSH,
    TILES,
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
_CELLS_PER_WALL = 5  # one of so many cells within the outer walls is a wall
_TRIES = 1_000
_LARGEST_FILE = 1 << 20  # bytes
_FILE_FLOOR = str.maketrans("-_", "  ")  # files can write floor as these symbols


class RoomSource(KeyedSource[Room]):
    """Rooms whose solutions with the fewest pushes have as many pushes as the level.

    Walls, goals and boxes are random. A room that takes up to twice as many pushes is used, too: it begins within a
    best solution, where as many pushes as the level remain.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, level, prove)
        size, boxes = next((size, boxes) for highest, size, boxes in _DEFAULTS if level <= highest)
        self._size, self._boxes = options["size"] or size, options["boxes"] or boxes

    def instance(self, index: int) -> Room:
        return _draw_room(self.key, self._size, self._boxes, self.level, index)


@lru_cache(maxsize=1024)
def _draw_room(key: str, size: int, boxes: int, level: int, index: int) -> Room:
    """Draw the room of an index whose best solution has `level` pushes; raise UsageError if no try gives one."""
    rng = Stream("sokoban/rooms", key, size, boxes, level, index)
    for _ in range(_TRIES):
        position = draw_position(rng, size, boxes)
        if position is None or not level <= (BY_PUSHES.fewest_pushes(position) or 0) <= 2 * level:
            continue
        remaining_cost = BY_PUSHES.remaining(position) or 0
        while remaining_cost // PUSH > level:
            after = GAME.step(position, BY_PUSHES.best_actions(position)[0])
            assert after is not None
            remaining_cost -= BY_PUSHES.cost(position, after)
            position = after
        return position.room
    raise UsageError(
        f"level {level}: no room of size {size} with {boxes} boxes took so many pushes in {_TRIES} tries: change size "
        "or boxes, or give a lower level"
    )


def draw_position(rng: Stream, size: int, box_count: int) -> Position | None:
    """Draw a room with boxes that each could reach a goal alone; None if walls leave too little room for them."""
    cells = [y * (size + 1) + x for y in range(1, size - 1) for x in range(1, size - 1)]  # a row ends in a line break
    rng.shuffle(cells)
    all_walls = "\n".join(["#" * size] * size)
    carved = _mark_cells(all_walls, cells[len(cells) // _CELLS_PER_WALL :], " ")
    connected = connected_cells(carved, cells[-1])
    floor = [cell for cell in cells if cell in connected]  # in random order: goals, the player, boxes
    if 3 * len(floor) < 2 * len(cells):  # less than two thirds of the room
        return None
    goals, player, others = floor[:box_count], floor[box_count], floor[box_count + 1 :]
    plan = _mark_cells(_mark_cells(all_walls, connected, " "), goals, ".")
    boxes = [cell for cell in others if cell in pushes_of_lone_box(plan)][:box_count]
    return Position(plan, player, tuple(sorted(boxes))) if len(boxes) == box_count else None


def _mark_cells(plan: str, cells: Collection[int], symbol: str) -> str:
    """Return a plan with a symbol at these cells."""
    return "".join(symbol if cell in cells else old for cell, old in enumerate(plan))


def read_rooms(text: str, name: str) -> Iterator[Room]:
    """Yield the rooms of a file in the common format (XSB): rows of #@$.+*, with lines of other text between rooms.

    Raises:
        DataError: If a room cannot be solved; the message has `name` and the number of the room's first line.
    """
    rows: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):  # the empty line ends the last room
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
    """Return the rooms of a file, in the common format (XSB) or in JSON lines; DataError for a file without rooms."""
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


_RULES = """\
You move through a room and push boxes. Bring every box onto a goal, with as few pushes as you can. In the room
# is a wall, @ is you, $ is a box, . is a goal, * is a box on a goal, and + is you on a goal.
You move one cell up, down, left or right. If a box is there, you push it one cell further, if the cell behind it has \
no wall and no box. You cannot pull boxes, so that a wrong push can leave no solution; the game goes on then."""
_LEGEND = (
    "The picture has the room. Walls are grey, you are blue, a box is orange, a goal pale green, a box on a goal dark "
    "green; you on a goal are pink."
)
_SPANISH_RULES = """\
Te mueves por una sala y empujas cajas. Lleva cada caja a una meta, con los menos empujones que puedas. En la sala
# es una pared, @ eres tú, $ es una caja, . es una meta, * es una caja sobre una meta y + eres tú sobre una meta.
Te mueves una celda hacia arriba, abajo, izquierda o derecha. Si allí hay una caja, la empujas una celda más allá, si \
la celda que está detrás no tiene ni pared ni caja. No puedes tirar de las cajas, así que un empujón equivocado puede \
dejar la sala sin solución; el juego continúa entonces."""
_SPANISH_ACTIONS = {"up": "arriba", "down": "abajo", "left": "izquierda", "right": "derecha"}
_EXTRA_TURNS = 20  # in addition to the multiple of the fewest moves
WORDING: ChoiceWording[Room, Position] = ChoiceWording(
    GAME.actions,
    _RULES,
    str,
    shown="room",
    impossible="That is not possible: there is a wall, or a box that is stuck.",
    texts={
        "en": {"picture.legend": _LEGEND},
        "es": {
            "rules": _SPANISH_RULES,
            "heading": "La sala:",
            "impossible": "Eso no es posible: hay una pared o una caja atascada.",
            "picture.legend": "La imagen muestra la sala. Las paredes son grises, tú eres azul, una caja es naranja, "
            "una meta verde claro, una caja sobre una meta verde oscuro; tú sobre una meta eres rosa.",
            **{f"action.{name}": word for name, word in _SPANISH_ACTIONS.items()},
        },
    },
)


def _turn_limit(record: EpisodeRecord) -> int:
    return int(record.options["turn_factor"] * record.proof["moves"]) + _EXTRA_TURNS


def _count_pushes(record: EpisodeRecord) -> int:
    return sum(turn.events.get("push", False) for turn in record.turns)


def _count_moves(record: EpisodeRecord) -> int:
    # Each move has the event "push", true or false; a turn without a move has none.
    return sum("push" in turn.events for turn in record.turns)


def _share_of_fewest(record: EpisodeRecord, name: str, count: int) -> float:
    """Return the fewest "pushes" or "moves" (`name`) as a share of the player's count; 0 for an unsolved room."""
    return record.proof[name] / count if record.end is End.SOLVED else 0.0


METRICS = (
    Metric(
        name="score",
        of=lambda record: _share_of_fewest(record, "pushes", _count_pushes(record)),
        title="Score",
        low=0,
        high=1,
        doc="Fewest pushes of any solution / pushes if the room was solved, otherwise 0.",
    ),
    Metric(
        name="moves",
        of=lambda record: _share_of_fewest(record, "moves", _count_moves(record)),
        title="Score of moves",
        low=0,
        high=1,
        doc="Fewest moves of any solution / moves if the room was solved, otherwise 0. A push is a move, too. A "
        "solution with the fewest pushes can need more moves than another one.",
    ),
    Metric(
        name="solved",
        of=lambda record: float(record.end is End.SOLVED),
        title="Solved",
        low=0,
        high=1,
        doc="Whether every box was on a goal at the end.",
    ),
    proof_metric("pushes", "Fewest pushes", "Pushes of a solution with the fewest pushes."),
    outcome_metric("unparsed", "Replies that name no move, or several.", max_turns=_turn_limit),
    outcome_metric("illegal", "Moves into a wall, or into a box that is stuck.", max_turns=_turn_limit),
)


def board(state: Position, turns: Sequence[TurnRecord]) -> Board:
    """Return the room as it is now."""
    return Board(rows=[[TILES[symbol] for symbol in row] for row in state.room.rows])


def _play(options: Mapping[str, Json]) -> Play[Room, Position, str]:
    """Return the game, wording and limits that the options of play select."""

    def turn_limit(room: Room) -> int:
        return int(options["turn_factor"] * prove(room)["moves"]) + _EXTRA_TURNS

    return Play(GAME, WORDING, Limits(turns=1), turns=turn_limit)


ROOMS: Environment[Room, Position, str] = Environment(
    id="sokoban/rooms",
    version=1,
    title="Sokoban",
    about=_package_data.read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
        sample_levels=(SMALLEST_LEVEL, 4, 6),
        highest_level=HIGHEST_LEVEL,
        public_key="sokoban-v1",
        make_source=RoomSource,
        datasets=(FILES,),
        decode=decode,
        level_of=level_of,
        prove=prove,
    ),
    playing=Playing(
        play=_play,
        options=(
            Option(
                name="turn_factor",
                effect=EASIER,
                default=4.0,
                low=1,
                high=100,
                doc=f"Most turns: so many times the fewest moves of any solution, and {_EXTRA_TURNS}.",
            ),
        ),
        texts=WORDING.tables,
        images=Images(
            draw=board_picture_drawer(board, "Sokoban room"),
            legend=_LEGEND,
            replaces=("room",),
            bases=("plain",),
        ),
    ),
    scoring=Scoring(
        metrics=METRICS, failures=(DEAD_END,), failure=BY_PUSHES.failure, first_errors=BY_PUSHES.first_errors
    ),
    difficulty=Difficulty(
        axes=(proof_axis("pushes", "Fewest pushes", "Pushes of a solution with the fewest pushes."),),
        horizon=HorizonSpec(levels=(2, 4, 6, 8, 10, 12, 14, 17, 20)),
        success="the room is solved with at most one and a half times the fewest pushes",
        competent=lambda record: 2 * _count_pushes(record) <= 3 * record.proof["pushes"],
    ),
    players=Players(
        policies={"oracle": BY_PUSHES.oracle, "heuristic": BY_PUSHES.erring(0.25)},
        oracle_is_ceiling=lambda record: True,
    ),
    typing=choice_typing(GAME.actions),
    presentation=Presentation(
        lead="The player pushes boxes onto goals, one move a turn, and cannot pull them. The score is the fewest "
        "pushes of any solution as a share of the player's.",
        level="fewest pushes",
        levels="fewest pushes",
        item="room",
        metrics=("score", "moves", "solved", "illegal", "unparsed"),
        scenes=board_scenes_maker(GAME, board, "Sokoban room"),
        board=board,
        legend="The room at the end: walls are grey, the player is blue, boxes are orange, goals pale green, boxes on "
        "goals dark green, and the player on a goal is pink.",
    ),
)
