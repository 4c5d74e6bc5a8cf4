"""A search as a scene, as a picture, and as a board for people."""

import re
from collections.abc import Iterator, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

from waybench._svg import ROUND, Point, box, circle, group, line, path, point, runs_of_equal_cells, text, with_tooltip
from waybench.core import Board, Picture, Scene, Tile, TurnRecord, plural
from waybench.envs.smartplay import SEEN, AgentState
from waybench.envs.smartplay._wording import draw_compass
from waybench.envs.voxel._game import Search, VoxelWorld, nearest_goal
from waybench.envs.voxel.engines._engines import is_drawable, open_charted_world
from waybench.envs.voxel.engines._terrain import ENGINES

_ROWS = 72  # squares of the map along its longer side, at most
_AROUND = 24  # blocks of margin around the points that have to be on the map
_CELL = 4  # blocks along each side of a square, at least
_GOAL = "#d55e00"


class _Extent(NamedTuple):
    """The part of a world that is drawn: its first column and row of blocks, and squares of `side` by `side` blocks."""

    west: int
    north: int
    side: int
    columns: int
    rows: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in blocks."""
        return self.columns * self.side, self.rows * self.side

    @property
    def unit(self) -> float:
        """The unit of the widths of lines, in blocks."""
        return max(self.size) / 100


def scenes(search: Search, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield a map for each number of turns: the way so far and, where the map can be drawn, the nearest goal."""
    # An engine without a known map chooses the start itself.
    start = [(search.x + 0.5, search.z + 0.5)] if ENGINES[search.engine].charted else []
    all_points = [*start, *_step_points(turns)] or [(search.x + 0.5, search.z + 0.5)]
    has_map = is_drawable(search.engine)
    near = nearest_goal(search, search.x, search.z) if has_map else None
    goal = None if near is None else (near.x + 0.5, near.z + 0.5)
    extent = _extent_around([*all_points, *([goal] if goal else [])])
    width, height = extent.size
    rows = _biome_squares(search, extent) if has_map else []
    biomes = _biome_shapes(search, rows, extent)
    legend, depth = _legend_svg(search, list(biomes), extent)
    ground = [*biomes.values(), _goal_outline(search, rows, extent), legend]
    for count in counts:
        way = [*start, *_step_points(turns[:count])]
        is_found = any(turn.reward > 0 for turn in turns[:count])
        label = f"Map of {width} by {height} blocks, goal: {search.goal}"
        if len(way) > 1:
            label += f", {plural(len(way) - 1, 'step')}, " + ("found" if is_found else "not found")
        yield Scene(
            "tiles voxel-map",
            label,
            (width, height + depth),
            corner=(extent.west, extent.north),
            parts=[*ground, *_way_shapes(way or all_points[:1], goal, is_found, extent.unit)],
        )


def _step_points(turns: Sequence[TurnRecord]) -> Iterator[Point]:
    """Yield the (x, z) where each step ended."""
    for turn in turns:
        if "at" in turn.events:
            x, _, z = turn.events["at"]  # turns without a step have none
            yield float(x), float(z)


def _extent_around(points: Sequence[Point]) -> _Extent:
    """Return the part of the world to draw: points with a margin, in squares of whole blocks."""
    low = [min(point[axis] for point in points) - _AROUND for axis in (0, 1)]
    high = [max(point[axis] for point in points) + _AROUND for axis in (0, 1)]
    side = _CELL * max(1, ceil(max(high[0] - low[0], high[1] - low[1]) / _CELL / _ROWS))
    west, north = (floor(edge / side) * side for edge in low)  # so that squares of all maps of a world coincide
    return _Extent(west, north, side, ceil((high[0] - west) / side), ceil((high[1] - north) / side))


def _biome_squares(search: Search, extent: _Extent) -> list[list[str]]:
    """Return the biomes of the map's squares, row by row."""
    world, (west, north, side, columns, rows) = open_charted_world(search.engine, search.seed), extent
    x, z = west + side // 2, north + side // 2
    return [[world.biome(x + column * side, z + row * side) for column in range(columns)] for row in range(rows)]


def _biome_shapes(search: Search, rows: Sequence[Sequence[str]], extent: _Extent) -> dict[str, str]:
    """Return a path for each biome: its squares, with those in a row joined."""
    areas_by_biome, side = dict[str, list[str]](), extent.side
    for row, names in enumerate(rows):
        for name, column, length in runs_of_equal_cells(names):
            corner = f"M{extent.west + column * side} {extent.north + row * side}"
            areas_by_biome.setdefault(name, []).append(f"{corner}h{length * side}v{side}h-{length * side}z")
    colours = ENGINES[search.engine].biomes
    return {
        name: with_tooltip(name, path("voxel-biome", colours[name], 0, areas))
        for name, areas in sorted(areas_by_biome.items())
    }


def _goal_outline(search: Search, rows: Sequence[Sequence[str]], extent: _Extent) -> str:
    """Return a line around the goal biomes; it is open where they go on beyond the map."""
    goal = [[name in search.goals for name in row] for row in rows]
    edges, side = list[str](), extent.side
    for row, cells in enumerate(goal):
        for column, inside in enumerate(cells):
            x, y = extent.west + (column + 1) * side, extent.north + (row + 1) * side
            if column + 1 < len(cells) and inside != cells[column + 1]:
                edges.append(f"M{x} {y - side}v{side}")
            if row + 1 < len(goal) and inside != goal[row + 1][column]:
                edges.append(f"M{x - side} {y}h{side}")
    return path("voxel-goals", _GOAL, 0.8 * extent.unit, edges, 'stroke-linecap="square"')


def _legend_svg(search: Search, names: Sequence[str], extent: _Extent) -> tuple[str, float]:
    """Return the scale and the names of biomes below a map as SVG, and their height."""
    (width, height), unit, west, colours = extent.size, extent.unit, extent.west, ENGINES[search.engine].biomes
    top, row_height, text_size = extent.north + height, 5 * unit, 3.2 * unit
    length = next(step for step in (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1) if step <= max(width / 3, 1))
    y, mark_height = top + 3.5 * unit, 2 * unit
    scale = f"M{point((west + unit, y - mark_height))}v{mark_height:g}h{length}v-{mark_height:g}"
    parts = [
        path("voxel-scale", "#333", 0.6 * unit, [scale]),
        text("voxel-text", west + length + 3 * unit, y, plural(length, "block"), text_size),
    ]
    columns = max(1, int(width / unit // 33))  # a name takes 33 units
    for number, name in enumerate(names):
        x, y = west + unit + number % columns * width / columns, top + (number // columns + 2) * row_height - unit
        edge = f'stroke="{_GOAL}" stroke-width="{0.6 * unit:g}"' if name in search.goals else ""
        parts.append(box("voxel-colour", colours[name], 0, (x, y - 2.7 * unit), (3 * unit, 3 * unit), edge))
        parts.append(text("voxel-text", x + 4 * unit, y, name.replace("_", " "), text_size))
    return group("voxel-legend", parts), (ceil(len(names) / columns) + 1) * row_height


def _way_shapes(way: Sequence[Point], goal: Point | None, is_found: bool, unit: float) -> Iterator[str]:
    """Yield the walked way with its start and end, and the nearest goal."""
    size = 1.6 * unit
    yield path("tiles-trail", "#000", unit, [line(way)], ROUND)
    yield circle("tiles-start", "#000", unit, way[0], size)
    if goal is not None:
        yield box("tiles-goal", _GOAL, unit, (goal[0] - size, goal[1] - size), (2 * size, 2 * size))
    if len(way) > 1:
        yield circle("tiles-stop", "#000", 0, way[-1], size)
    if is_found:
        yield circle("voxel-end", _GOAL, unit, way[-1], 2 * size)


_LINE = re.compile(
    r" - (.+), ([0-9.]+) blocks away, (?:(above|below|at)(?: you| your level) )?to ([a-z-]+)(?:, taking ([0-9]+%) of "
    r"screen)?"
)


def draw_picture(picture: Picture) -> str:
    """Draw the lines on the things around and in view as a compass, with their distances, levels and shares of view."""
    entries: list[tuple[str, str]] = []
    for sentence in picture.replaced_text(SEEN).splitlines():
        if match := _LINE.fullmatch(sentence):
            name, distance, level, direction, share = match.groups()
            label = ", ".join(part for part in (name, distance, {"at": "level"}.get(level, level), share) if part)
            entries.append((label, "" if direction == "front" else direction))
    return draw_compass(entries)


_BOARD_CELL = 8  # blocks along each side of a cell
_ACROSS, _DOWN = 12, 6  # cells shown to each side of the walker
_GROUND, _WAY, _START, _HERE = "#e9e6dd", "#9cc3e0", "#009e73", "#0072b2"


def board(state: AgentState[Any, VoxelWorld], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the surroundings from above, north at the top, and the walker's way."""
    body = state.world.body
    points = [(body.x, body.z), (state.instance.x, state.instance.z), *_step_points(turns)]
    here, start, *visited_cells = [(floor(x / _BOARD_CELL), floor(z / _BOARD_CELL)) for x, z in points]

    def tile(cell: tuple[int, int]) -> Tile:
        if cell == here:
            return Tile("@", _HERE)
        if cell == start:
            return Tile("o", _START)
        return Tile("·", _WAY) if cell in visited_cells else Tile("", _GROUND)

    columns = range(here[0] - _ACROSS, here[0] + _ACROSS + 1)
    rows = [[tile((column, row)) for column in columns] for row in range(here[1] - _DOWN, here[1] + _DOWN + 1)]
    notes = [
        f"Goal: {state.instance.goal}. You are at ({body.x:.0f}, {body.y:.0f}, {body.z:.0f}).",
        f"@ you, o the start, · where steps ended; a cell is {_BOARD_CELL} by {_BOARD_CELL} blocks, north is up.",
    ]
    return Board(rows=rows, at=(_DOWN, _ACROSS), notes=notes)
