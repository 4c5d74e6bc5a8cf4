"""The map of a walkthrough as a picture in messages: the places and the moves of the part that is shown."""

from collections.abc import Iterator

from waybench._svg import drawing, path, texts
from waybench.core import AnswerState, Picture, plural
from waybench.envs.textmap.drawing._board import Board, name_shapes
from waybench.envs.textmap.map import Edge, reached
from waybench.envs.textmap.questions import MapQuestion

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
