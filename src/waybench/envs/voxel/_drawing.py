"""A search as a drawing (SVG) and as a board for people."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, floor
from typing import Any

from waybench.core import Board, Picture, Tile, TurnRecord, plural
from waybench.envs.smartplay import SEEN, AgentState, compass
from waybench.envs.voxel._game import Search, World, nearest
from waybench.envs.voxel.engines import ENGINES, chart, drawable

_ROWS = 72  # squares of the map along its longer side, at most
_AROUND = 24  # blocks around everything that has to be on it
_CELL = 4  # blocks along each side of a square, at least
Point = tuple[float, float]


def draw(search: Search, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a map, the way over it, and the goal that was nearest at the start.

    Args:
        search: The search.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the map.
        reuse: Whether the page holds a drawing with this id already. It is not shown again, for another way can need
            another part of the world.

    Returns:
        An `<svg>` element, north at the top; only the way where the map is not known or its engine not installed.
        Classes: tiles, tiles-start, tiles-trail, tiles-stop, tiles-goal, and
        voxel-map, voxel-biome, voxel-goals, voxel-end. Biomes are named in titles.
    """
    (drawing,) = _drawings(search, turns, [len(turns)], board_id if not reuse else "")
    return drawing


def draw_frames(search: Search, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Yield drawings of the way after each number of turns in `counts`, which rise, on the map of the whole way."""
    return _drawings(search, turns, counts, "")


def _drawings(search: Search, turns: Sequence[TurnRecord], counts: Sequence[int], board_id: str) -> Iterator[str]:
    # Where the map is not known, neither is the start.
    start = [(search.x + 0.5, search.z + 0.5)] if ENGINES[search.engine].charted else []
    all_points = [*start, *_trail(turns)] or [(search.x + 0.5, search.z + 0.5)]
    has_map = drawable(search.engine)
    near = nearest(search, search.x, search.z) if has_map else None
    goal = None if near is None else (near.x + 0.5, near.z + 0.5)
    side, west, north, wide, high = _frame([*all_points, *([goal] if goal else [])])
    identity = f' id="{board_id}"' if board_id else ""
    unit = max(wide, high) * side / 100  # of line widths
    rows = _squares(search, side, west, north, wide, high) if has_map else []
    biomes = _biomes(search, rows, side, west, north)
    board = f"<g{identity}>{''.join(biomes.values())}{_outline(search, rows, side, west, north, unit)}</g>"
    legend, depth = _legend(search, list(biomes), (west, north + high * side), wide * side, unit)
    board += legend
    for count in counts:
        done_turns = turns[:count]
        way = [*start, *_trail(done_turns)]
        found = any(turn.reward > 0 for turn in done_turns)
        label = f"Map of {wide * side} by {high * side} blocks, goal: {search.goal}"
        if len(way) > 1:
            label += f", {plural(len(way) - 1, 'step')}, " + ("found" if found else "not found")
        yield (
            f'<svg class="tiles voxel-map" viewBox="{west} {north} {wide * side} {high * side + depth:g}" role="img" '
            f'aria-label="{label}">{board}{"".join(_marks(way or all_points[:1], goal, found, unit))}</svg>'
        )


def _trail(turns: Sequence[TurnRecord]) -> Iterator[Point]:
    for turn in turns:
        if "at" in turn.events:
            x, _, z = turn.events["at"]
            yield float(x), float(z)


def _frame(places: Sequence[Point]) -> tuple[int, int, int, int, int]:
    """Return the blocks along a square's side, the first column and row of blocks, and the squares along both sides."""
    low = [min(place[axis] for place in places) - _AROUND for axis in (0, 1)]
    high = [max(place[axis] for place in places) + _AROUND for axis in (0, 1)]
    longer = max(high[0] - low[0], high[1] - low[1])
    side = _CELL * max(1, ceil(longer / _CELL / _ROWS))
    west, north = (floor(edge / side) * side for edge in low)
    return side, west, north, ceil((high[0] - west) / side), ceil((high[1] - north) / side)


def _squares(search: Search, side: int, west: int, north: int, wide: int, high: int) -> list[list[str]]:
    """Return the biomes of the map's squares, row by row."""
    world, middle = chart(search.engine, search.seed), side // 2
    return [
        [world.biome(west + column * side + middle, north + row * side + middle) for column in range(wide)]
        for row in range(high)
    ]


def _biomes(search: Search, rows: Sequence[Sequence[str]], side: int, west: int, north: int) -> dict[str, str]:
    """Return a path for each biome: its squares, those in a row joined."""
    lines = dict[str, list[str]]()
    for row, names in enumerate(rows):
        column = 0
        for name, squares in groupby(names):
            length = len(list(squares))
            corner = f"M{west + column * side} {north + row * side}"
            lines.setdefault(name, []).append(f"{corner}h{length * side}v{side}h-{length * side}z")
            column += length
    colours = ENGINES[search.engine].biomes
    return {
        name: f'<path class="voxel-biome" fill="{colours[name]}" d="{"".join(runs)}"><title>{name}</title></path>'
        for name, runs in sorted(lines.items())
    }


def _outline(search: Search, rows: Sequence[Sequence[str]], side: int, west: int, north: int, unit: float) -> str:
    """Return a line around the goal biomes; it is open where they go on beyond the map."""
    goals = set(search.goals)
    goal = [[name in goals for name in row] for row in rows]
    lines = list[str]()
    for row, cells in enumerate(goal):
        for column, inside in enumerate(cells):
            x, y = west + (column + 1) * side, north + (row + 1) * side
            if column + 1 < len(cells) and inside != cells[column + 1]:
                lines.append(f"M{x} {y - side}v{side}")
            if row + 1 < len(goal) and inside != goal[row + 1][column]:
                lines.append(f"M{x - side} {y}h{side}")
    if not lines:
        return ""
    look = f'fill="none" stroke="#d55e00" stroke-width="{0.8 * unit:.2f}" stroke-linecap="square"'
    return f'<path class="voxel-goals" {look} d="{"".join(lines)}"/>'


def _legend(
    search: Search, names: Sequence[str], corner: tuple[int, int], width: int, unit: float
) -> tuple[str, float]:
    """Return a scale and the names of biomes below a map, and how high both are together.

    Args:
        search: The search.
        names: The biomes on the map.
        corner: The map's lower left corner.
        width: The map's width in blocks.
        unit: The drawing's unit in blocks.
    """
    (left, top), line, colours = corner, 5 * unit, ENGINES[search.engine].biomes
    length = next(step for step in (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1) if step <= max(width / 3, 1))
    look = f'class="voxel-text" fill="#333" font-family="sans-serif" font-size="{3.2 * unit:.2f}"'
    y = top + 3.5 * unit
    parts = [
        f'<path class="voxel-scale" fill="none" stroke="#333" stroke-width="{0.6 * unit:.2f}" '
        f'd="M{left + unit:.1f} {y - 2 * unit:.1f}v{2 * unit:.1f}h{length}v-{2 * unit:.1f}"/>'
        f'<text {look} x="{left + length + 3 * unit:.1f}" y="{y:.1f}">{plural(length, "block")}</text>'
    ]
    columns = max(1, int(width / unit // 33))
    for number, name in enumerate(names):
        x, y = left + unit + number % columns * width / columns, top + (number // columns + 2) * line - unit
        outline = f' stroke="#d55e00" stroke-width="{0.6 * unit:.2f}"' if name in search.goals else ""
        parts.append(
            f'<rect fill="{colours[name]}"{outline} x="{x:.1f}" y="{y - 2.7 * unit:.1f}" width="{3 * unit:.1f}" '
            f'height="{3 * unit:.1f}"/><text {look} x="{x + 4 * unit:.1f}" y="{y:.1f}">{name.replace("_", " ")}</text>'
        )
    return f"<g>{''.join(parts)}</g>", (-(-len(names) // columns) + 1) * line


def _marks(way: Sequence[Point], goal: Point | None, found: bool, unit: float) -> Iterator[str]:
    if len(way) > 1:
        points = "L".join(f"{x:.1f} {z:.1f}" for x, z in way)
        yield (
            f'<path class="tiles-trail" fill="none" stroke="#000" stroke-width="{unit:.2f}" '
            f'stroke-linejoin="round" stroke-linecap="round" d="M{points}"/>'
        )
    (x, z), size = way[0], 1.6 * unit
    yield (
        f'<circle class="tiles-start" fill="none" stroke="#000" stroke-width="{unit:.2f}" cx="{x:.1f}" cy="{z:.1f}" '
        f'r="{size:.2f}"/>'
    )
    if goal is not None:
        yield (
            f'<rect class="tiles-goal" fill="none" stroke="#d55e00" stroke-width="{unit:.2f}" '
            f'x="{goal[0] - size:.1f}" y="{goal[1] - size:.1f}" width="{2 * size:.1f}" height="{2 * size:.1f}"/>'
        )
    if len(way) > 1:
        x, z = way[-1]
        yield f'<circle class="tiles-stop" fill="#000" cx="{x:.1f}" cy="{z:.1f}" r="{size:.2f}"/>'
    if found:
        yield (
            f'<circle class="voxel-end" fill="none" stroke="#d55e00" stroke-width="{unit:.2f}" cx="{way[-1][0]:.1f}" '
            f'cy="{way[-1][1]:.1f}" r="{2 * size:.2f}"/>'
        )


_LINE = re.compile(
    r" - (.+), ([0-9.]+) blocks away, (?:(above|below|at)(?: you| your level) )?to ([a-z-]+)(?:, taking ([0-9]+%) of "
    r"screen)?"
)


def draw_picture(picture: Picture) -> str:
    """Draw the lines of what is around and what is seen: of each its distance, its level and its share of the view."""
    entries: list[tuple[str, str]] = []
    for line in picture.text(SEEN).splitlines():
        if found := _LINE.fullmatch(line):
            name, away, level, way, share = found.groups()
            label = ", ".join(part for part in (name, away, {"at": "level"}.get(level, level), share) if part)
            entries.append((label, "" if way == "front" else way))
    return compass(entries)


_BOARD_CELL = 8  # blocks along each side of a cell
_ACROSS, _DOWN = 12, 6  # cells shown to each side of the walker
_GROUND, _WAY, _START, _HERE = "#e9e6dd", "#9cc3e0", "#009e73", "#0072b2"


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the surroundings from above, north at the top, with the places where the walker has been."""
    body = state.world.body
    way = [(turn.events["at"][0], turn.events["at"][2]) for turn in turns if "at" in turn.events]
    here = floor(body.x / _BOARD_CELL), floor(body.z / _BOARD_CELL)
    been = {(floor(x / _BOARD_CELL), floor(z / _BOARD_CELL)) for x, z in way}
    start = floor(state.instance.x / _BOARD_CELL), floor(state.instance.z / _BOARD_CELL)

    def tile(place: tuple[int, int]) -> Tile:
        if place == here:
            return Tile("@", _HERE)
        return Tile("o", _START) if place == start else Tile("·", _WAY) if place in been else Tile("", _GROUND)

    columns = range(here[0] - _ACROSS, here[0] + _ACROSS + 1)
    rows = [[tile((column, row)) for column in columns] for row in range(here[1] - _DOWN, here[1] + _DOWN + 1)]
    notes = [
        f"Goal: {state.instance.goal}. You are at ({body.x:.0f}, {body.y:.0f}, {body.z:.0f}).",
        f"@ you, o the start, · where steps ended; a cell is {_BOARD_CELL} by {_BOARD_CELL} blocks, north is up.",
    ]
    return Board(rows=rows, at=(_DOWN, _ACROSS), notes=notes)
