"""A world as a drawing: its places and passages, and the walk of a player."""

from collections.abc import Iterator, Sequence

from waybench._svg import ROUND, box, circle, line, path, point, texts
from waybench.core import Picture, Scene, TurnRecord, plural
from waybench.core._scene import states_after_turn_counts
from waybench.envs.atlas._game import CONDITIONS, Walk, WorldGame
from waybench.envs.atlas._world import World

_UNIT = 60.0
_MIDDLE = 18.0  # of a place, from the edge of its cell; its name is on the right
_HEAD = 6.0


def _position(world: World, place: int) -> tuple[float, float]:
    x, y = world.cells[place]
    return _UNIT * x + _MIDDLE, _UNIT * y + _MIDDLE


def _size(world: World) -> tuple[float, float]:
    columns, rows = (1 + max(cell[axis] for cell in world.cells) for axis in (0, 1))
    return _UNIT * columns + 12, _UNIT * rows + 12


def _head(world: World, source: int, target: int) -> str:
    """Return an arrow head in the middle of a passage."""
    (x, y), (to_x, to_y) = _position(world, source), _position(world, target)
    across, down = (to_x - x) / _UNIT, (to_y - y) / _UNIT
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    corners = (
        (middle_x + _HEAD * across, middle_y + _HEAD * down),
        (middle_x - _HEAD * (across + down), middle_y - _HEAD * (down + across)),
        (middle_x - _HEAD * (across - down), middle_y - _HEAD * (down - across)),
    )
    return f"M{'L'.join(map(point, corners))}Z"


def _passages_and_places(world: World) -> list[str]:
    places = range(len(world.names))
    positions = [_position(world, place) for place in places]
    ways = (line([positions[source], positions[target]]) for source, target, _ in world.passages)
    names = ((x + 6, y - 5, name) for (x, y), name in zip(positions, world.names, strict=True))
    heads = (_head(world, source, target) for source, target, one_way in world.passages if one_way)
    return [
        path("atlas-passage", "#8c93a0", 2, ways),
        path("atlas-one-way", "#5a6372", 0, heads),
        path("atlas-place", "#5a6372", 6, (f"M{point(position)}h0" for position in positions), ROUND),
        texts("atlas-name", names, 10, "start"),
    ]


def scenes(world: World, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield the world with the walk of some turns, which have the condition in their events."""
    condition = next((turn.events["condition"] for turn in turns if "condition" in turn.events), "plan")
    (x, y), start = _position(world, world.goal), _position(world, world.start)
    board = [
        *_passages_and_places(world),
        circle("atlas-start", "#0072b2", 2.5, start, 8),
        box("atlas-goal", "#009e73", 2.5, (x - 8, y - 8), (16, 16)),
    ]
    places = plural(len(world.names), "place")
    states = states_after_turn_counts(WorldGame(CONDITIONS[condition]), world, turns, counts)
    for count, state in zip(counts, states, strict=True):
        label = f"World of {places}, {plural(len(state.trail) - 1, 'move')}"
        yield Scene("atlas", label, _size(world), _walk_shapes(state, begun=count > 0), board=board)


def _walk_shapes(state: Walk, *, begun: bool) -> list[str]:
    """Return the line of a walk, its end once it has begun, and a cross at the passage that was found closed."""
    world = state.world
    shapes = [path("atlas-trail", "#d55e00", 4, [line(_position(world, place) for place in state.trail)], ROUND)]
    if state.closed >= 0:
        source, target, _ = world.passages[state.closed]
        (x, y), (to_x, to_y) = _position(world, source), _position(world, target)
        x, y = (x + to_x) / 2, (y + to_y) / 2
        shapes.append(path("atlas-closed", "#cc3311", 3, [f"M{x - 6:g} {y - 6:g}l12 12m0 -12l-12 12"]))
    if begun:
        shapes.append(circle("atlas-player", "#d55e00", 0, _position(world, state.place), 5))
    return shapes


def draw_picture(picture: Picture) -> str:
    """Draw the passages of a world with the names of its places, as lists and drawings in text tell of them."""
    state: Walk = picture.state
    world = state.world
    label = f"Map of {plural(len(world.names), 'place')}"
    return Scene("atlas", label, _size(world), _passages_and_places(world)).svg()
