"""The environment of Sokoban, with its words, metrics and board."""

from collections.abc import Mapping, Sequence

from waybench._package_data import read_text
from waybench.core import (
    DEAD_END,
    EASIER,
    Board,
    ChoiceWording,
    Difficulty,
    End,
    Environment,
    EpisodeRecord,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    TurnRecord,
    board_picture_drawer,
    board_scenes_maker,
    choice_typing,
    outcome_metric,
    proof_axis,
    proof_metric,
)
from waybench.envs.sokoban._items import FILES, HIGHEST_LEVEL, OPTIONS, SMALLEST_LEVEL, RoomSource, level_of
from waybench.envs.sokoban._rooms import BY_PUSHES, GAME, TILES, Position, Room, decode, prove

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
_SLACK = 20  # turns in addition to the multiple of the fewest moves
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
    return int(record.options["turn_factor"] * record.proof["moves"]) + _SLACK


def _count_pushes(record: EpisodeRecord) -> int:
    return sum(turn.events.get("push", False) for turn in record.turns)


def _count_moves(record: EpisodeRecord) -> int:
    # Each move has the event "push", true or false; a turn without a move has none.
    return sum("push" in turn.events for turn in record.turns)


def _share_of_fewest(record: EpisodeRecord, least: str, number: int) -> float:
    """Return the fewest pushes or moves as a share of a number of them; 0 for an unsolved room."""
    return record.proof[least] / number if record.end is End.SOLVED else 0.0


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
        return int(options["turn_factor"] * prove(room)["moves"]) + _SLACK

    return Play(GAME, WORDING, Limits(turns=1), turns=turn_limit)


ROOMS: Environment[Room, Position, str] = Environment(
    id="sokoban/rooms",
    version=1,
    title="Sokoban",
    about=read_text(__file__, "about.md"),
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
                doc=f"Most turns: so many times the fewest moves of any solution, and {_SLACK}.",
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
