"""A game of Messenger as a drawing (SVG) and as a board for people."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from waybench.core import Board, Tile, TurnRecord, plural
from waybench.envs.messenger._world import WON, Case, Location, World, begin, role_name
from waybench.envs.smartplay import AgentState

# Colours that people with any kind of colour vision tell apart, and a letter for those who print in grey.
_LOOKS = {
    "enemy": ("#d55e00", "E"),
    "message": ("#cc79a7", "M"),
    "goal": ("#009e73", "G"),
    "decoy": ("#b8860b", "D"),
}


def draw(case: Case, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a board, the entities where they began, the ways of all, and where the agent's ended.

    Nothing of a reply and nothing of the manual reaches the drawing: its words are names of entities that we know.

    Args:
        case: The game.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the board.
        reuse: Whether the page holds a drawing with this id already, whose board is shown again.

    Returns:
        An `<svg>` element. Classes: tiles, tiles-wall, tiles-floor, tiles-start, tiles-trail, tiles-stop, and
        roles-actor, roles-name, roles-way, roles-end.
    """
    ways = list(trail(case, turns))
    fate = next((str(turn.events["fate"]) for turn in turns if "fate" in turn.events), "")
    label = f"Messenger, stage {case.stage}, {case.size} by {case.size} cells"
    if len(ways) > 1:
        label += f", {plural(len(ways) - 1, 'step')}, " + ("won" if fate == WON else "lost" if fate else "not ended")
    if reuse:
        board = f'<use href="#{board_id}"/>'
    else:
        identity = f' id="{board_id}"' if board_id else ""
        board = f"<g{identity}>{_board(case)}</g>"
    return (
        f'<svg class="tiles" viewBox="0 0 {case.size} {case.size}" role="img" aria-label="{label}">{board}'
        f"{''.join(_ways(case, ways))}{_end(ways, fate)}</svg>"
    )


def trail(case: Case, turns: Iterable[TurnRecord]) -> Iterator[tuple[Location, tuple[Location | None, ...]]]:
    """Yield where the agent and the others were: at the start, and after each step that was made."""
    start = begin(case)
    yield start.agent, start.places
    for turn in turns:
        if "places" in turn.events:
            x, y = turn.events["at"]
            yield (x, y), tuple(None if place is None else (place[0], place[1]) for place in turn.events["places"])


def _board(case: Case) -> str:
    floor = "".join(f"M0 {row}.5h{case.size}" for row in range(case.size))
    lines = "".join(f"M0 {line}h{case.size}M{line} 0v{case.size}" for line in range(case.size + 1))
    x, y = case.x + 0.5, case.y + 0.5
    return (
        f'<path class="tiles-floor" fill="none" stroke="#fff" stroke-width="1.02" d="{floor}"/>'
        f'<path class="roles-grid" fill="none" stroke="#888" stroke-opacity="0.35" stroke-width="0.03" d="{lines}"/>'
        f"{''.join(_actor(case, number) for number in range(len(case.actors)))}"
        f'<circle class="tiles-start" fill="none" stroke="#009e73" stroke-width="0.12" cx="{x}" cy="{y}" r="0.34"/>'
    )


def _actor(case: Case, number: int) -> str:
    actor = case.actors[number]
    colour, letter = _LOOKS[role_name(number)]
    x, y = actor.x + 0.5, actor.y
    return (
        f'<g class="roles-actor" fill="{colour}" font-family="sans-serif" text-anchor="middle">'
        f"<title>{role_name(number)}: {escape(actor.name)}, {actor.kind}</title>"
        f'<rect fill-opacity="0.2" stroke="{colour}" stroke-width="0.06" x="{actor.x}.05" y="{y}.05" width="0.9" '
        f'height="0.9" rx="0.12"/><text font-weight="bold" font-size="0.5" x="{x}" y="{y + 0.55:g}">{letter}</text>'
        f'<text class="roles-name" font-size="0.2" x="{x}" y="{y + 0.82:g}">{escape(actor.name)}</text></g>'
    )


def _middle(place: Location) -> str:
    return f"{place[0] / 2 + 0.5:g} {place[1] / 2 + 0.5:g}"


def _line(places: Iterable[Location]) -> str:
    """Return the path along some places, each stay left out; "" if nothing moved."""
    points: list[str] = []
    for place in places:
        if not points or points[-1] != _middle(place):
            points.append(_middle(place))
    return "M" + "L".join(points) if len(points) > 1 else ""


def _ways(case: Case, ways: Sequence[tuple[Location, tuple[Location | None, ...]]]) -> Iterator[str]:
    for number in range(len(case.actors)):
        line = _line(place for _, places in ways if (place := places[number]) is not None)
        if line:
            colour = _LOOKS[role_name(number)][0]
            yield (
                f'<path class="roles-way" fill="none" stroke="{colour}" stroke-width="0.09" '
                f'stroke-dasharray="0.16 0.12" d="{line}"/>'
            )
            last = next(place for _, places in reversed(ways) if (place := places[number]) is not None)
            x, y = _middle(last).split()
            yield f'<circle class="roles-way" fill="{colour}" cx="{x}" cy="{y}" r="0.13"/>'
    line = _line(agent for agent, _ in ways)
    if line:
        yield (
            '<path class="tiles-trail" fill="none" stroke="#0072b2" stroke-width="0.16" stroke-linejoin="round" '
            f'stroke-linecap="round" d="{line}"/>'
        )


def _end(ways: Sequence[tuple[Location, tuple[Location | None, ...]]], fate: str) -> str:
    """Mark where the agent is last: a dot, with a ring around it after a success and a cross after a death."""
    if len(ways) < 2:
        return ""
    x, y = (float(part) for part in _middle(ways[-1][0]).split())
    dot = f'<circle class="tiles-stop" fill="#0072b2" cx="{x:g}" cy="{y:g}" r="0.18"/>'
    if fate == WON:
        look = 'class="roles-end" fill="none" stroke="#009e73" stroke-width="0.1"'
        return f'{dot}<circle {look} cx="{x:g}" cy="{y:g}" r="0.3"/>'
    cross = f"M{x - 0.3:g} {y - 0.3:g}l.6 .6m0 -.6l-.6 .6"
    return dot + (f'<path class="roles-end" stroke="#d55e00" stroke-width="0.12" d="{cross}"/>' if fate else "")


_FLOOR, _AGENT = "#f0efe9", "#0072b2"
_COLOURS = ("#e69f00", "#cc79a7", "#56b4e9", "#f0e442", "#9ad0c2", "#c9b6e4")


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells with the first letters of the entities in them; entities of one name have one colour."""
    world, case = state.world, state.instance
    rows = [[Tile("", _FLOOR)] * case.size for _ in range(case.size)]
    names = sorted({actor.name for actor in case.actors})
    for actor, place in zip(case.actors, world.places, strict=True):
        if place is not None:
            colour = _COLOURS[names.index(actor.name) % len(_COLOURS)]
            rows[place[1] // 2][place[0] // 2] = Tile(actor.name[:2], colour)
    x, y = world.agent[0] // 2, world.agent[1] // 2
    rows[y][x] = Tile("@!" if world.carries else "@", _AGENT)
    entities = ", ".join(f"{name[:2]} {name}" for name in names)
    carried = "You have the message." if world.carries else "You do not have the message."
    return Board(rows=rows, at=(y, x), notes=[carried, f"@ is you. {entities}. The manual says which is which."])
