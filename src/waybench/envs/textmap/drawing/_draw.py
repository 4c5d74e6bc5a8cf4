"""SVG drawings of questions about maps, and the map of a walkthrough as a picture in messages."""

from collections.abc import Iterable, Iterator, Sequence
from math import hypot

from waybench._svg import drawing, path, text, texts, walk
from waybench.core import AnswerState, Picture, TurnRecord, plural
from waybench.envs.textmap._extraction_items import Extraction
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._minigame_game import Minigame
from waybench.envs.textmap._place_map import Edge
from waybench.envs.textmap._prefix import reached
from waybench.envs.textmap.drawing._overlay import Board, Overlay, Pair, map_board, name_shapes, overlays

AnyQuestion = MapQuestion | Minigame | Extraction

_ROUND = 'stroke-linecap="round"'
_STUB = 17  # length of the stub of a move that leads nowhere


def draw(instance: AnyQuestion, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a map as the player was shown it, and an answer on it.

    No text of a reply reaches the drawing: names come from the map, and actions from the question.

    Args:
        instance: The question.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: Element id of the map's shapes, which are most of the bytes, so that a page holds them once.
        reuse: Whether the page already has an element with this id, to refer to instead of drawing the map again.

    Returns:
        An `<svg>` element. Classes: textmap, reference, textmap-floor, textmap-walked, textmap-imputed, textmap-later,
        textmap-head, textmap-place, textmap-untold, textmap-name, textmap-meant, textmap-told, textmap-band,
        textmap-right, textmap-came, textmap-ahead, textmap-missed, tiles-trail, tiles-stop, tiles-start, tiles-goal,
        maze-hit.
    """
    (overlay,) = overlays(instance, turns, [len(turns)])
    if reuse:
        return _drawing(instance, overlay, f'<use href="#{board_id}"/>')
    identity = f' id="{board_id}"' if board_id else ""
    return _drawing(instance, overlay, f"<g{identity}>{map_board(instance.map).render(instance.cutoff)}</g>")


def draw_frames(instance: AnyQuestion, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Yield a drawing after each number of turns in `counts` (ascending); see `draw`."""
    shapes = f"<g>{map_board(instance.map).render(instance.cutoff)}</g>"
    return (_drawing(instance, overlay, shapes) for overlay in overlays(instance, turns, counts))


def _drawing(instance: AnyQuestion, overlay: Overlay, shapes: str) -> str:
    board, places = map_board(instance.map), len(instance.map.places)
    parts = [
        f'<path class="textmap-floor" fill="#fff" d="M0 0h{board.width:g}v{board.height:g}h-{board.width:g}z"/>',
        _band(board, overlay),
        shapes,
        _moves(board, overlay),
        _names(board, overlay),
        *_marks(board, overlay),
        text("textmap-told", 12, 21, overlay.caption, 13),
    ]
    return drawing("textmap", board.width, board.height, f"Map of {places} places. {overlay.caption}", parts)


def _names(board: Board, overlay: Overlay) -> str:
    """Return the names of the places of the question and the answer.

    The question's own names come first, so that their positions do not depend on the answer.
    """
    question_places = [place for place in (overlay.start, overlay.target) if place]
    answered = [
        *(place for pairs in (overlay.answered_moves, overlay.invented) for pair in pairs for place in pair),
        *overlay.stops,
    ]
    meant = [*(place for pair in overlay.reference for place in pair), *([overlay.right] if overlay.right else [])]
    names, move_path = board.names([*question_places, *meant, *answered]), {*question_places, *answered}
    reference = name_shapes((name for place, name in names.items() if place not in move_path), strong=True)
    texts = name_shapes((name for place, name in names.items() if place in move_path), strong=True)
    return texts + (f'<g class="reference">{reference}</g>' if reference else "")


def _band(board: Board, overlay: Overlay) -> str:
    """Return the reference answer: a wide line below the map and a square at its end."""
    lines = (board.path(*move) for move in dict.fromkeys(overlay.reference))
    band = path("textmap-band", "#e69f00", 11, lines, f'stroke-opacity="0.5" {_ROUND} stroke-linejoin="round"')
    end = _square(board, overlay.right, "#e69f00", "textmap-right") if overlay.right else ""
    return f'<g class="reference">{band}{end}</g>' if band or end else ""


def _square(board: Board, place: str, colour: str, name: str) -> str:
    (x, y), side = board.at[place], board.radius + 5
    return path(name, colour, 2.5, [f"M{x - side:.4g} {y - side:.4g}h{2 * side:g}v{2 * side:g}h-{2 * side:g}z"])


def _moves(board: Board, overlay: Overlay) -> str:
    def lines(moves: Iterable[Pair]) -> Iterator[str]:
        return (board.path(*move) for move in dict.fromkeys(moves))

    def halves(name: str, colour: str, width: float, moves: Iterable[Pair]) -> str:
        # Separate paths, so that the frames of a replay share them.
        paths = "".join(f'<path d="{board.move_path(*move)}"/>' for move in moves)
        look = f'fill="none" stroke="{colour}" stroke-width="{width}" {_ROUND}'
        return f'<g class="{name}" {look}>{paths}</g>' if paths else ""

    heads = "".join(board.head(*move) for move in dict.fromkeys(overlay.answered_moves))
    return "".join(
        (
            path("textmap-came", "#0072b2", 5, lines(overlay.approach), f'stroke-opacity="0.35" {_ROUND}'),
            halves("textmap-missed", "#d55e00", 3, overlay.missing_moves),
            halves("tiles-trail", "#0072b2", 3.5, overlay.right_moves),
            _walked(overlay.turn, lines(overlay.answered_moves)),
            path("maze-hit", "#d55e00", 4, lines(overlay.invented), f'stroke-dasharray="0 8" {_ROUND}'),
            f'<path class="textmap-ahead" fill="#0072b2" d="{heads}"/>' if heads else "",
        )
    )


def _walked(turn: int, lines: Iterable[str]) -> str:
    """Return the moves of an answer, each a path of its own, so that a replay draws them one after another."""
    paths = [f'<path d="{line}"/>' for line in lines]
    look = f'class="tiles-trail" fill="none" stroke="#0072b2" stroke-width="3" {_ROUND}'
    return walk(turn, len(paths), f"<g {look}>{''.join(paths)}</g>") if paths else ""


def _marks(board: Board, overlay: Overlay) -> Iterator[str]:
    """Yield marks at the start, the target, the end of the answer and its errors."""
    x, y = board.at[overlay.start]
    yield (
        f'<circle class="tiles-start" fill="none" stroke="#009e73" stroke-width="2.5" cx="{x:.4g}" cy="{y:.4g}" '
        f'r="{board.radius + 5:.3g}"/>'
    )
    if overlay.target:
        yield _square(board, overlay.target, "#009e73", "tiles-goal")
    for place in overlay.stops:
        x, y = board.at[place]
        yield f'<circle class="tiles-stop" fill="#0072b2" cx="{x:.4g}" cy="{y:.4g}" r="{board.radius + 1:.3g}"/>'
    for place, (east, south) in overlay.crosses:
        (x, y), far = board.at[place], _STUB / max(1.0, hypot(east, south))
        leaves = bool(east or south)
        stub, arm = f"l{far * east:.3g} {far * south:.3g}" if leaves else "", 5 if leaves else board.radius + 5
        cross = f"m-{arm:g}-{arm:g}l{2 * arm:g} {2 * arm:g}m0-{2 * arm:g}l-{2 * arm:g} {2 * arm:g}"
        yield path("maze-hit", "#d55e00", 2.5, [f"M{x:.4g} {y:.4g}{stub}{cross}"], _ROUND)


_LETTERS = 8.5  # font size of actions
_FEW, _MOST = 12, 2.0  # places for which a page has room enough, and how many times as much others have at most
_AT = 0.3  # of a line, where its action is written


def draw_picture(picture: Picture) -> str:
    """Draw the moves of the walkthrough whose places a reader knows by name.

    Places lie where these moves alone put them, so that nothing in the picture depends on the rest of the map.
    """
    state: AnswerState[MapQuestion] = picture.state
    question = state.instance
    edges = tuple(edge for edge in question.map.edges if reached(edge.forward_named, question.cutoff))
    ends = {place for edge in edges for place in (edge.source, edge.target)}
    places = tuple(place for place in question.map.places if place in ends) or question.map.places[:1]
    board = Board(places, edges, min(max(1.0, (len(places) / _FEW) ** 0.5), _MOST))
    moves = [edge for edge in edges if edge.source != edge.target]
    heads = "".join(board.head(edge.source, edge.target, 0.8, 4) for edge in moves)
    dots = (f"M{x:.4g} {y:.4g}h0" for x, y in board.at.values())
    look = 'stroke="#fff" stroke-width="3" paint-order="stroke"'
    parts = [
        path("textmap-walked", "#5a6372", 1.6, dict.fromkeys(board.path(edge.source, edge.target) for edge in moves)),
        f'<path class="textmap-head" fill="#5a6372" d="{heads}"/>' if heads else "",
        path("textmap-place", "#111", 2 * board.radius, dots, 'stroke-linecap="round"'),
        texts("textmap-action", _actions(board, edges), _LETTERS, colour="#0072b2", more=look),
        name_shapes(board.names(places).values(), strong=True),
    ]
    label = f"Map of {plural(len(places), 'place')} and {plural(len(moves), 'move')}"
    return drawing("textmap", board.width, board.height, label, parts)


def _actions(board: Board, edges: tuple[Edge, ...]) -> Iterator[tuple[float, float, str]]:
    """Yield the actions of moves, those between the same two places in one label."""
    by_pair: dict[tuple[str, str], dict[str, None]] = {}
    for edge in edges:
        by_pair.setdefault((edge.source, edge.target), {})[edge.action] = None
    for (source, target), actions in by_pair.items():
        (x, y), (bent_x, bent_y), (column, row) = (
            board.line(source, target) if source != target else [board.at[source]] * 3
        )
        rest = 1 - _AT
        across = rest * rest * x + 2 * rest * _AT * bent_x + _AT * _AT * column
        down = rest * rest * y + 2 * rest * _AT * bent_y + _AT * _AT * row
        yield round(across, 1), round(down + _LETTERS / 3, 1), " / ".join(actions)
