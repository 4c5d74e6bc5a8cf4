"""Questions about maps as scenes, and the map of a walkthrough as a picture in messages."""

from collections.abc import Iterable, Iterator, Sequence
from math import hypot

from waybench._svg import box, circle, cross, group, path, point, text, texts, walk_group
from waybench.core import AnswerState, Picture, Scene, TurnRecord, plural
from waybench.envs.textmap._extraction_items import Extraction
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._minigame_game import Minigame
from waybench.envs.textmap._place_map import Edge
from waybench.envs.textmap._prefix import is_reached
from waybench.envs.textmap.drawing._layout import point_on_curve
from waybench.envs.textmap.drawing._overlay import AnswerOverlay, MapLayout, Pair, map_layout, name_shapes, overlays

AnyQuestion = MapQuestion | Minigame | Extraction

_ROUND = 'stroke-linecap="round"'
_STUB = 17  # length of the stub of a move that leads nowhere


def scenes(instance: AnyQuestion, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield a map as the player was shown it, and on it the answer after each number of turns.

    No text of a reply reaches the scene: names come from the map, and actions from the question.
    """
    board = map_layout(instance.map)
    floor = box("textmap-floor", "#fff", 0, (0, 0), (board.width, board.height))
    shapes = board.render_moves_and_places(instance.cutoff)
    for overlay in overlays(instance, turns, counts):
        yield Scene(
            "textmap",
            f"Map of {len(instance.map.places)} places. {overlay.caption}",
            (board.width, board.height),
            below=[floor, _reference_shapes(board, overlay)],
            board=[shapes],
            parts=[
                *_move_paths(board, overlay),
                *_name_texts(board, overlay),
                *_mark_shapes(board, overlay),
                text("textmap-told", 12, 21, overlay.caption, 13),
            ],
        )


def _name_texts(board: MapLayout, overlay: AnswerOverlay) -> Iterator[str]:
    """Yield the names of the places of the question and the answer.

    The question's own names come first, so that their positions do not depend on the answer.
    """
    question_places = [name for name in (overlay.start, overlay.target) if name]
    answered = [
        *(place for pairs in (overlay.answered_moves, overlay.invented) for pair in pairs for place in pair),
        *overlay.stops,
    ]
    right_places = [*(place for pair in overlay.reference for place in pair), *filter(None, [overlay.right])]
    names = board.names.place_names([*question_places, *right_places, *answered])
    always_shown = {*question_places, *answered}
    yield name_shapes((name for place, name in names.items() if place in always_shown), strong=True)
    reference_names = name_shapes((name for place, name in names.items() if place not in always_shown), strong=True)
    yield group("reference", [reference_names])


def _reference_shapes(board: MapLayout, overlay: AnswerOverlay) -> str:
    """Return the reference answer: a wide line below the map and a square at its end."""
    lines = (board.path_data(*move) for move in dict.fromkeys(overlay.reference))
    wide_line = path("textmap-band", "#e69f00", 11, lines, f'stroke-opacity="0.5" {_ROUND} stroke-linejoin="round"')
    square = _square_path(board, overlay.right, "#e69f00", "textmap-right") if overlay.right else ""
    return group("reference", [wide_line, square])


def _square_path(board: MapLayout, place: str, colour: str, name: str) -> str:
    """Return a square around a place."""
    (x, y), side = board.at[place], board.radius + 5
    return box(name, colour, 2.5, (x - side, y - side), (2 * side, 2 * side))


def _move_paths(board: MapLayout, overlay: AnswerOverlay) -> Iterator[str]:
    """Yield the paths of the answer's moves: before the start, missing, right, on the map, and invented."""

    def move_paths(moves: Iterable[Pair]) -> Iterator[str]:
        """Yield the path data of moves, each once."""
        return (board.path_data(*move) for move in dict.fromkeys(moves))

    def distinct_path(name: str, colour: str, width: float, paths: Iterable[str]) -> str:
        """Return a group with a path for each line, so that frames of a replay share them or draw them in turn."""
        attributes = f'fill="none" stroke="{colour}" stroke-width="{width}" {_ROUND}'
        return group(name, (f'<path d="{data}"/>' for data in paths), attributes)

    yield path("textmap-came", "#0072b2", 5, move_paths(overlay.approach), f'stroke-opacity="0.35" {_ROUND}')
    yield distinct_path("textmap-missed", "#d55e00", 3, (board.move_path_data(*move) for move in overlay.missing_moves))
    yield distinct_path("tiles-trail", "#0072b2", 3.5, (board.move_path_data(*move) for move in overlay.right_moves))
    answered = list(move_paths(overlay.answered_moves))
    yield walk_group(overlay.turn, len(answered), distinct_path("tiles-trail", "#0072b2", 3, answered))
    yield path("maze-hit", "#d55e00", 4, move_paths(overlay.invented), f'stroke-dasharray="0 8" {_ROUND}')
    heads = (board.arrow_head_data(*move) for move in dict.fromkeys(overlay.answered_moves))
    yield path("textmap-ahead", "#0072b2", 0, heads)


def _mark_shapes(board: MapLayout, overlay: AnswerOverlay) -> Iterator[str]:
    """Yield marks at the start, the target, the end of the answer and its errors."""
    yield circle("tiles-start", "#009e73", 2.5, board.at[overlay.start], board.radius + 5)
    if overlay.target:
        yield _square_path(board, overlay.target, "#009e73", "tiles-goal")
    for place in overlay.stops:
        yield circle("tiles-stop", "#0072b2", 0, board.at[place], board.radius + 1)
    for place, (east, south) in overlay.crosses:
        is_move = bool(east or south)  # otherwise the place itself is wrong
        scale = _STUB / max(1.0, hypot(east, south))
        stub = f"l{scale * east:.3g} {scale * south:.3g}" if is_move else ""
        cross_data = cross(5 if is_move else board.radius + 5)
        yield path("maze-hit", "#d55e00", 2.5, [f"M{point(board.at[place])}{stub}{cross_data}"], _ROUND)


_ACTION_SIZE = 8.5  # font size of actions
_N_PLACES_OF_PAGE, _MOST_STRETCH = 12, 2.0  # maps with more places are stretched, up to this factor
_ACTION_POSITION = 0.3  # of the length of a line, where its action is written


def draw_picture(picture: Picture) -> str:
    """Draw the moves of the walkthrough whose places a reader knows by name.

    Places lie where these moves alone put them, so that nothing in the picture depends on the rest of the map.
    """
    state: AnswerState[MapQuestion] = picture.state
    question = state.instance
    edges = tuple(edge for edge in question.map.edges if is_reached(edge.forward_named, question.cutoff))
    ends = {place for edge in edges for place in (edge.source, edge.target)}
    places = tuple(place for place in question.map.places if place in ends) or question.map.places[:1]
    board = MapLayout(places, edges, min(max(1.0, (len(places) / _N_PLACES_OF_PAGE) ** 0.5), _MOST_STRETCH))
    moves = [edge for edge in edges if edge.source != edge.target]
    heads = (board.arrow_head_data(edge.source, edge.target, 0.8, 4) for edge in moves)
    dots = (f"M{x:.4g} {y:.4g}h0" for x, y in board.at.values())
    label_attributes = 'stroke="#fff" stroke-width="3" paint-order="stroke"'
    shapes = [
        path(
            "textmap-walked", "#5a6372", 1.6, dict.fromkeys(board.path_data(edge.source, edge.target) for edge in moves)
        ),
        path("textmap-head", "#5a6372", 0, heads),
        path("textmap-place", "#111", 2 * board.radius, dots, 'stroke-linecap="round"'),
        texts("textmap-action", _action_labels(board, edges), _ACTION_SIZE, colour="#0072b2", more=label_attributes),
        name_shapes(board.names.place_names(places).values(), strong=True),
    ]
    label = f"Map of {plural(len(places), 'place')} and {plural(len(moves), 'move')}"
    return Scene("textmap", label, (board.width, board.height), shapes).svg()


def _action_labels(board: MapLayout, edges: tuple[Edge, ...]) -> Iterator[tuple[float, float, str]]:
    """Yield (x, y, text) for the actions of each pair of places."""
    actions_by_pair: dict[Pair, dict[str, None]] = {}
    for edge in edges:
        actions_by_pair.setdefault((edge.source, edge.target), {})[edge.action] = None
    for (source, target), actions in actions_by_pair.items():
        x, y = board.at[source]
        if source != target:
            x, y = point_on_curve(board.curve_between(source, target), _ACTION_POSITION)
        yield round(x, 1), round(y + _ACTION_SIZE / 3, 1), " / ".join(actions)
