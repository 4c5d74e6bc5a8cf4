"""A game of Messenger as a scene with the turns of an episode, and as a board for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from waybench._svg import ROUND, Point, box, circle, cross, line, path, point, text, true_cells, with_tooltip
from waybench.core import Board, Scene, Tile, TurnRecord, plural
from waybench.envs.messenger._world import WON, Case, Location, MessengerWorld, begin, role_name
from waybench.envs.smartplay import AgentState

Positions = tuple[Location, tuple[Location | None, ...]]  # of the agent and of the others
# Colours that people with any kind of colour vision tell apart, and a letter for those who print in grey.
_LOOKS = {
    "enemy": ("#d55e00", "E"),
    "message": ("#cc79a7", "M"),
    "goal": ("#009e73", "G"),
    "decoy": ("#b8860b", "D"),
}


def scene(case: Case, turns: Sequence[TurnRecord]) -> Scene:
    """Return a board, the entities where they began, the ways of all, and where the agent's ended.

    Nothing of the manual reaches the drawing: its words are names of entities that we know.
    """
    steps = list(trail(case, turns))
    fate = next((str(turn.events["fate"]) for turn in turns if "fate" in turn.events), "")
    label = f"Messenger, stage {case.stage}, {case.size} by {case.size} cells"
    if len(steps) > 1:
        label += f", {plural(len(steps) - 1, 'step')}, " + ("won" if fate == WON else "lost" if fate else "not ended")
    return Scene(
        "tiles",
        label,
        (case.size, case.size),
        board=_ground(case),
        parts=[*_ways(case, steps), *_end(steps, fate)],
    )


def trail(case: Case, turns: Iterable[TurnRecord]) -> Iterator[Positions]:
    """Yield where the agent and the others were: at the start, and after each step that was made."""
    start = begin(case)
    yield start.agent, start.places
    for turn in turns:
        if "places" in turn.events:
            x, y = turn.events["at"]
            yield (x, y), tuple(None if cell is None else (cell[0], cell[1]) for cell in turn.events["places"])


def _ground(case: Case) -> Iterator[str]:
    lines = (f"M0 {edge}h{case.size}M{edge} 0v{case.size}" for edge in range(case.size + 1))
    pale = 'fill-opacity="0.2" stroke-width="0.06" rx="0.12"'
    yield true_cells("tiles-floor", "#fff", [[True] * case.size] * case.size, 1.02)
    yield path("roles-grid", "#888", 0.03, lines, 'stroke-opacity="0.35"')
    for number, actor in enumerate(case.actors):
        colour, letter = _LOOKS[role_name(number)]
        x, y = actor.x, actor.y
        yield with_tooltip(
            f"{role_name(number)}: {actor.name}, {actor.kind}",
            box("roles-actor", colour, 0, (x + 0.05, y + 0.05), (0.9, 0.9), f'{pale} stroke="{colour}"'),
            text("roles-letter", x + 0.5, y + 0.55, letter, 0.5, "middle", colour=colour, more='font-weight="bold"'),
            text("roles-name", x + 0.5, y + 0.82, actor.name, 0.2, "middle", colour=colour),
        )
    yield circle("tiles-start", "#009e73", 0.12, (case.x + 0.5, case.y + 0.5), 0.34)


def _middle(location: Location) -> Point:
    return location[0] / 2 + 0.5, location[1] / 2 + 0.5


def _ways(case: Case, steps: Sequence[Positions]) -> Iterator[str]:
    for number in range(len(case.actors)):
        way = [_middle(at) for _, actors in steps if (at := actors[number]) is not None]
        if data := line(way):
            colour = _LOOKS[role_name(number)][0]
            yield path("roles-way", colour, 0.09, [data], 'stroke-dasharray="0.16 0.12"')
            yield circle("roles-way", colour, 0, way[-1], 0.13)
    yield path("tiles-trail", "#0072b2", 0.16, [line(_middle(agent) for agent, _ in steps)], ROUND)


def _end(steps: Sequence[Positions], fate: str) -> Iterator[str]:
    """Mark where the agent is last: a dot, with a ring around it after a success and a cross after a death."""
    if len(steps) < 2:
        return
    end = _middle(steps[-1][0])
    yield circle("tiles-stop", "#0072b2", 0, end, 0.18)
    if fate == WON:
        yield circle("roles-end", "#009e73", 0.1, end, 0.3)
    elif fate:
        yield path("roles-end", "#d55e00", 0.12, [f"M{point(end)}{cross(0.3)}"])


_FLOOR, _AGENT = "#f0efe9", "#0072b2"
_COLOURS = ("#e69f00", "#cc79a7", "#56b4e9", "#f0e442", "#9ad0c2", "#c9b6e4")


def board(state: AgentState[Any, MessengerWorld], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells with the first letters of the entities in them; entities of one name have one colour."""
    world, case = state.world, state.instance
    rows = [[Tile("", _FLOOR)] * case.size for _ in range(case.size)]
    names = sorted({actor.name for actor in case.actors})
    for actor, cell in zip(case.actors, world.places, strict=True):
        if cell is not None:
            colour = _COLOURS[names.index(actor.name) % len(_COLOURS)]
            rows[cell[1] // 2][cell[0] // 2] = Tile(actor.name[:2], colour)
    x, y = world.agent[0] // 2, world.agent[1] // 2
    rows[y][x] = Tile("@!" if world.carries else "@", _AGENT)
    entities = ", ".join(f"{name[:2]} {name}" for name in names)
    carried = "You have the message." if world.carries else "You do not have the message."
    return Board(rows=rows, at=(y, x), notes=[carried, f"@ is you. {entities}. The manual says which is which."])
