"""A question about a map as a drawing (SVG): what was told of the map, what was answered, and what was meant."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from waybench.core import TurnRecord
from waybench.envs.textmap._draw_board import Board, Pair, board, written
from waybench.envs.textmap._draw_scene import Scene, scenes
from waybench.envs.textmap._extract import Extraction
from waybench.envs.textmap._instance import MapQuestion
from waybench.envs.textmap._minigame import Minigame

Asked = MapQuestion | Minigame | Extraction

_LARGE = 5  # places; a larger map's drawing takes two columns of the page
_STUB = 17  # how far a move is drawn that leads nowhere


def draw(instance: Asked, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a map as who is asked was told of it, and an answer on it.

    Nothing of a reply reaches the drawing: names are those of the map, and actions those that a question lists.

    Args:
        instance: What is asked.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the map, which is most of the bytes.
        reuse: Whether the page holds a drawing with this id already, whose map is shown again.

    Returns:
        An `<svg>` element. Classes: textmap, maze-large (all but the smallest), reference, and textmap-floor,
        textmap-walked, textmap-imputed, textmap-later, textmap-head, textmap-place, textmap-untold, textmap-name,
        textmap-meant, textmap-told, textmap-band, textmap-came, textmap-ahead, textmap-missed, tiles-trail, tiles-stop,
        tiles-start, tiles-goal, maze-hit.
    """
    (seen,) = scenes(instance, turns, [len(turns)])
    if reuse:
        return _drawing(instance, seen, f'<use href="#{board_id}"/>')
    identity = f' id="{board_id}"' if board_id else ""
    return _drawing(instance, seen, f"<g{identity}>{board(instance.map).drawn(instance.cutoff)}</g>")


def draw_frames(instance: Asked, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Yield drawings of how it stands after each number of turns in `counts`, which rise; see `draw`."""
    shapes = f"<g>{board(instance.map).drawn(instance.cutoff)}</g>"
    return (_drawing(instance, seen, shapes) for seen in scenes(instance, turns, counts))


def _drawing(instance: Asked, seen: Scene, shapes: str) -> str:
    where, told = board(instance.map), escape(seen.told)
    size = f"{where.width:.4g}", f"{where.height:.4g}"
    classes = "textmap maze-large" if len(instance.map.places) > _LARGE else "textmap"
    look = 'class="textmap-told" fill="#1c2230" font-family="sans-serif" font-size="13"'
    parts = [
        f'<path class="textmap-floor" fill="#fff" d="M0 0h{size[0]}v{size[1]}h-{size[0]}z"/>',
        _band(where, seen),
        shapes,
        _moves(where, seen),
        _names(where, seen),
        *_marks(where, seen),
        f'<text {look} x="12" y="21">{told}</text>',
    ]
    return (
        f'<svg class="{classes}" viewBox="0 0 {size[0]} {size[1]}" role="img" '
        f'aria-label="Map of {len(instance.map.places)} places. {told}">{"".join(parts)}</svg>'
    )


def _names(where: Board, seen: Scene) -> str:
    """Return the names of all places that matter; those that are before the answer are always in the same places."""
    given = [place for place in (seen.start, seen.target) if place]
    answered = [*(place for pairs in (seen.taken, seen.made_up) for pair in pairs for place in pair), *seen.stops]
    meant = [*(place for pair in seen.reference for place in pair), *([seen.right] if seen.right else [])]
    names, own = where.names([*given, *meant, *answered]), {*given, *answered}
    reference = written((name for place, name in names.items() if place not in own), strong=True)
    texts = written((name for place, name in names.items() if place in own), strong=True)
    return texts + (f'<g class="reference">{reference}</g>' if reference else "")


def _band(where: Board, seen: Scene) -> str:
    """Return the reference: a wide line below the map, and the place where it ends."""
    data = "".join(where.path(*pair) for pair in dict.fromkeys(seen.reference))
    look = 'class="textmap-band" fill="none" stroke="#e69f00" stroke-opacity="0.5" stroke-width="11"'
    band = f'<path {look} stroke-linecap="round" stroke-linejoin="round" d="{data}"/>' if data else ""
    end = _square(where, seen.right, "#e69f00", "textmap-right") if seen.right else ""
    return f'<g class="reference">{band}{end}</g>' if band or end else ""


def _square(where: Board, place: str, colour: str, name: str) -> str:
    (x, y), side = where.at[place], where.radius + 5
    return (
        f'<path class="{name}" fill="none" stroke="{colour}" stroke-width="2.5" '
        f'd="M{x - side:.4g} {y - side:.4g}h{2 * side:.4g}v{2 * side:.4g}h-{2 * side:.4g}z"/>'
    )


def _moves(where: Board, seen: Scene) -> str:
    def lines(name: str, moves: Iterable[Pair], look: str) -> str:
        data = "".join(where.path(*move) for move in dict.fromkeys(moves))
        return f'<path class="{name}" fill="none" stroke-linecap="round" {look} d="{data}"/>' if data else ""

    def halves(name: str, moves: Iterable[Pair], look: str) -> str:
        # Apart, so that frames of a replay have them in common.
        paths = "".join(f'<path d="{where.own(*move)}"/>' for move in moves)
        return f'<g class="{name}" fill="none" stroke-linecap="round" {look}>{paths}</g>' if paths else ""

    heads = "".join(where.head(*move) for move in dict.fromkeys(seen.taken))
    return "".join(
        (
            lines("textmap-came", seen.came, 'stroke="#0072b2" stroke-opacity="0.35" stroke-width="5"'),
            halves("textmap-missed", seen.missed, 'stroke="#d55e00" stroke-opacity="0.6" stroke-width="3"'),
            halves("tiles-trail", seen.found, 'stroke="#0072b2" stroke-width="3.5"'),
            lines("tiles-trail", seen.taken, 'stroke="#0072b2" stroke-width="3"'),
            lines("maze-hit", seen.made_up, 'stroke="#d55e00" stroke-width="4" stroke-dasharray="0 8"'),
            f'<path class="textmap-ahead" fill="#0072b2" d="{heads}"/>' if heads else "",
        )
    )


def _marks(where: Board, seen: Scene) -> Iterator[str]:
    """Yield where it begins, where it should end, where it ends, and what is wrong with it."""
    x, y = where.at[seen.start]
    yield (
        f'<circle class="tiles-start" fill="none" stroke="#009e73" stroke-width="2.5" cx="{x:.4g}" cy="{y:.4g}" '
        f'r="{where.radius + 5:.3g}"/>'
    )
    if seen.target:
        yield _square(where, seen.target, "#009e73", "tiles-goal")
    for place in seen.stops:
        x, y = where.at[place]
        yield f'<circle class="tiles-stop" fill="#0072b2" cx="{x:.4g}" cy="{y:.4g}" r="{where.radius + 1:.3g}"/>'
    for place, (east, south) in seen.crosses:
        (x, y), far = where.at[place], _STUB / max(1.0, (east * east + south * south) ** 0.5)
        stub = f"M{x:.4g} {y:.4g}l{far * east:.3g} {far * south:.3g}" if east or south else f"M{x:.4g} {y:.4g}"
        yield (
            f'<path class="maze-hit" fill="none" stroke="#d55e00" stroke-width="2.5" stroke-linecap="round" '
            f'd="{stub}m-5-5l10 10m0-10l-10 10"/>'
        )
