"""A world of Luanti's, as its server generates it.

The server generates chunks of 80 nodes along each side, and the trees of each reach up to 16 nodes into its neighbours.
So what a location is like depends on the order in which chunks are generated. Here this order does not depend on the
queries: of any two neighbours the one with the lower colour (see `_chunk_colour`) is always generated first, and a
location is looked at once all chunks that reach into it are there. Nothing else changes the world: its clock stands
still, nobody is in it, and what the map generator would draw from the time of day is fixed by our mod.

Luanti's z grows to the north, and its nodes have their middles at whole numbers; here z grows to the south, and blocks
have their corners there.
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from waybench.envs.voxel import _look
from waybench.envs.voxel._look import Bytes, Ints
from waybench.envs.voxel._wording import LONGEST, Raw
from waybench.envs.voxel.engines._generate import CELL, SIDE, SLOTS
from waybench.envs.voxel.engines._own import LENGTHS, BlockWorld, eye_position, ray_directions
from waybench.envs.voxel.engines._server import LuantiServer
from waybench.envs.voxel.engines._terrain import ENGINES, LUANTI, Body, Near

_CHUNK, _EDGE = 80, -32  # nodes along each side of a chunk, and where one of them begins
_FLOORS = (0, 1)  # the chunks above each other that are generated; what is deeper is never seen, seas are
_LOWEST, _LAYERS = _EDGE, _CHUNK * len(_FLOORS)
_END = 30_000 // SIDE  # chunks of columns from the middle; Luanti's maps end somewhat farther out, and here is a wall
_REACH = 16  # nodes that a chunk reaches into its neighbours
_SEA, _STEEPEST = 1, 3
_PATCH = 32  # cells along each side of a patch, which is requested at once
_PATCHES = 4096  # patches that are cached
_AIR, _WATER, _STONE = range(3)
_KINDS = 256
_BIOMES = tuple(ENGINES[LUANTI].biomes)
_ENDINGS = ("dunes", "shore", "swamp")  # biomes of several climates that are one for us


def biome_name(name: str, is_dry: bool) -> str:
    """Return our name of a biome of minetest_game, for a cell above the water or below it.

    minetest_game has one sea for each climate, such as "desert_ocean", which reaches up to the beach; here they are one
    sea and, where there is ground above the water, one beach.
    """
    words = name.split("_")
    if words[-1] in ("ocean", "beach"):
        return "beach" if is_dry else "ocean"
    return words[-1] if words[-1] in _ENDINGS else " ".join(words).removesuffix(" under")


def _biome_numbers(goals: tuple[str, ...]) -> list[int]:
    return [_BIOMES.index(goal) for goal in goals]


def _chunk_colour(column: int, row: int) -> int:
    """Return the colour, 0 to 3, of a column of chunks; its eight neighbours have other colours.

    It is 2 for odd columns plus 1 for odd rows: squares of two by two chunks have all four colours.
    """
    return 2 * (column % 2) + row % 2


class LuantiTerrain(BlockWorld):
    """A world of Luanti's map generator v7 with minetest_game, from a server of its own.

    Raises:
        UsageError: If no server is installed.
        RuntimeError: If it does not start, or has other biomes than minetest_game 5.
    """

    def __init__(self, seed: int) -> None:
        solid: Bytes = np.zeros(_KINDS, dtype=np.uint8)
        solid[_STONE] = 1
        super().__init__(_LOWEST, _LAYERS, _SEA, _STEEPEST, _AIR, _WATER, _STONE, solid)
        self._server = LuantiServer(seed)
        about = self._server.about
        self.version = str(about["version"]["string"])
        self._nodes = {int(number): (str(name), str(kind)) for number, name, kind in about["nodes"]}
        self._names, self._codes = ["air", "water", "stone"], dict[int, int]()
        engine_biomes = {int(number): str(name) for number, name in about["biomes"]}
        our_names = {biome_name(name, is_dry) for name in engine_biomes.values() for is_dry in (False, True)}
        unknown = our_names - set(_BIOMES)
        if unknown or not engine_biomes:
            raise RuntimeError(
                f"Luanti {self.version} has biomes that are not minetest_game's: {', '.join(sorted(unknown)) or 'none'}"
            )
        self._biomes = {
            (number, is_dry): _BIOMES.index(biome_name(name, is_dry))
            for number, name in engine_biomes.items()
            for is_dry in (False, True)
        }
        self._generated: set[tuple[int, int]] = set()
        self._patches: dict[tuple[int, int], tuple[Ints, Ints]] = {}

    def _block_number(self, node: int) -> int:
        """Return our number of the block of a node; all water is one block."""
        if node not in self._codes:
            name, kind = self._nodes[node]
            name = name.rpartition(":")[2].replace("_", " ").rstrip(" 0123456789")  # grass has five heights
            name = "air" if kind == "air" else "water" if kind == "liquid" and "water" in name else name
            if name not in self._names:
                if len(self._names) == _KINDS:
                    raise RuntimeError(f"a world of Luanti's has more than {_KINDS} kinds of nodes")
                self._names.append(name)
            self._codes[node] = self._names.index(name)
            self._solid[self._codes[node]] = kind == "solid"
        return self._codes[node]

    def _block_numbers(self, nodes: list[float]) -> Ints:
        """Return our number of the block of each node."""
        distinct_nodes, inverse = np.unique(np.array(nodes, dtype=np.int64), return_inverse=True)
        return np.array([self._block_number(int(node)) for node in distinct_nodes], dtype=np.int64)[inverse]

    @property
    def ended(self) -> bool:
        """Whether its server has ended, so that a new one is needed."""
        return self._server.ended

    def _name(self, number: int) -> str:
        return self._names[number]

    def _generate_missing(self, x: float, z: float, far: float) -> None:
        """Generate the missing chunks within `far` nodes of a location, and those that reach into this square."""
        intervals = [(coordinate - far - _REACH - _EDGE, coordinate + far + _REACH - _EDGE) for coordinate in (x, -z)]
        across, up = (range(math.floor(low / _CHUNK), math.floor(high / _CHUNK) + 1) for low, high in intervals)
        missing = dict.fromkeys(
            chunk
            for column, row in product(across, up)
            for chunk in self._in_generation_order(column, row)
            if max(map(abs, chunk)) * _CHUNK <= _END * SIDE
        )
        middles = [
            dict(zip("xyz", (number * _CHUNK + _CHUNK // 2 + _EDGE for number in (column, floor, row)), strict=True))
            for column, row in missing
            for floor in _FLOORS
        ]
        if middles:
            self._server.ask("generate", places=middles)
            self._generated.update(missing)

    def _in_generation_order(self, column: int, row: int) -> Iterator[tuple[int, int]]:
        """Yield the ungenerated columns of chunks that a column needs, and the column last; some can come twice."""
        if (column, row) in self._generated:
            return
        for right, up in product((-1, 0, 1), repeat=2):
            if _chunk_colour(column + right, row + up) < _chunk_colour(column, row):
                yield from self._in_generation_order(column + right, row + up)
        yield column, row

    def _ready(self, x: float, z: float, far: float) -> None:
        """Read the missing chunks around a location from the server, once all chunks nearby are generated."""
        wrap, generated = SLOTS - 1, False
        intervals = [(math.floor(middle - far) // SIDE, math.floor(middle + far) // SIDE) for middle in (x, z)]
        for column, row in product(*(range(low, high + 1) for low, high in intervals)):
            tag = self._tags[column & wrap, row & wrap]
            if tag[0] == column and tag[1] == row:
                continue
            if not generated:
                self._generate_missing(x, z, far + SIDE)
                generated = True
            self._pool[column & wrap, row & wrap] = self._chunk_blocks(column, row)
            tag[:] = column, row

    def _chunk_blocks(self, column: int, row: int) -> Any:
        """Return the blocks of 16 by 16 columns, shape (SIDE, SIDE, layers): x, z, y; `_STONE` beyond the map's end."""
        if max(abs(column), abs(row)) >= _END:
            return _STONE
        west, north = column * SIDE, -row * SIDE
        runs = self._server.ask(
            "box",
            **{
                "from": {"x": west, "y": _LOWEST, "z": north - SIDE + 1},
                "to": {"x": west + SIDE - 1, "y": _LOWEST + _LAYERS - 1, "z": north},
            },
        )["runs"]
        blocks = np.repeat(self._block_numbers(runs[::2]), np.array(runs[1::2], dtype=np.int64))
        return blocks.reshape(SIDE, _LAYERS, SIDE).transpose(2, 0, 1)

    def _query_columns(self, x: int, z: int, step: int, wide: int, deep: int) -> tuple[Ints, Ints]:
        """Ask the server for ground levels and biomes of a grid of columns; shape (wide, deep)."""
        answer = self._server.ask("columns", x=x, z=-z, step=step, wide=wide, deep=deep)
        levels = np.array(answer["levels"], dtype=np.int64)
        levels = np.minimum(levels, _LOWEST + _LAYERS - 1)  # the highest mountains are cut there
        biomes = [
            self._biomes[int(biome), level >= _SEA] for biome, level in zip(answer["biomes"], levels, strict=True)
        ]
        return levels.reshape(wide, deep), np.array(biomes, dtype=np.int64).reshape(wide, deep)

    def _cached_patch(self, column: int, row: int) -> tuple[Ints, Ints]:
        """Return ground levels and biomes in the middles of a square of cells; shape (_PATCH, _PATCH)."""
        with self._lock:
            if (column, row) not in self._patches:
                if len(self._patches) >= _PATCHES:
                    del self._patches[next(iter(self._patches))]  # the oldest
                west, north = (number * _PATCH * CELL + CELL // 2 for number in (column, row))
                self._patches[column, row] = self._query_columns(west, north, CELL, _PATCH, _PATCH)
            return self._patches[column, row]

    def _cell_grid(self, west: int, north: int, wide: int, deep: int) -> tuple[Ints, Ints]:
        """Return ground levels and biomes of cells; shape (wide, deep)."""
        levels, biomes = np.empty((wide, deep), dtype=np.int64), np.empty((wide, deep), dtype=np.int64)
        columns = range(west // _PATCH, (west + wide - 1) // _PATCH + 1)
        rows = range(north // _PATCH, (north + deep - 1) // _PATCH + 1)
        for column, row in product(columns, rows):
            patch = self._cached_patch(column, row)
            x, z = column * _PATCH, row * _PATCH
            target_slice = np.s_[max(x - west, 0) : x + _PATCH - west, max(z - north, 0) : z + _PATCH - north]
            source_slice = np.s_[max(west - x, 0) : west + wide - x, max(north - z, 0) : north + deep - z]
            for grid, cells_of_patch in zip((levels, biomes), patch, strict=True):
                grid[target_slice] = cells_of_patch[source_slice]
        return levels, biomes

    def _wanted_around(self, x: int, z: int, goals: tuple[str, ...], is_goal: Bytes) -> None:
        reach, size = is_goal.shape[0] // 2, is_goal.shape[0]
        biomes = self._cell_grid(x // CELL - reach, z // CELL - reach, size, size)[1]
        is_goal[:] = np.isin(biomes, _biome_numbers(goals))

    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Ints, is_goal: Bytes) -> None:
        heights[:], biomes = self._cell_grid(west, north, *heights.shape)
        is_goal[:] = np.isin(biomes, _biome_numbers(goals))

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome, that of its cell."""
        return _BIOMES[int(self._cell_grid(x // CELL, z // CELL, 1, 1)[1][0, 0])]

    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground, as the map generator computes it."""
        with self._lock:
            return int(self._query_columns(x, z, 1, 1, 1)[0][0, 0])

    def view(self, body: Body) -> Raw:
        """Return what is seen and felt from a location, by the server's own rays. There are no beings."""
        eye = eye_position(body)
        x, y, z = float(eye[0]) - 0.5, float(eye[1]) - 0.5, 0.5 - float(eye[2])
        rays = [
            (east, up, -south, length)
            for (east, up, south), length in zip(ray_directions(body.yaw).tolist(), LENGTHS.tolist(), strict=True)
        ]
        far = math.ceil(LONGEST) + 1
        corners = {name: {"x": x + by, "y": y + by, "z": z + by} for name, by in (("from", -far), ("to", far))}
        with self._lock:
            self._ready(body.x, body.z, float(_look.NEAR + 1))
            self._generate_missing(body.x, body.z, far)
            answer = self._server.ask(
                "rays",
                eye={"x": x, "y": y, "z": z},
                rays=rays,
                **corners,
            )
            hits, voxels = self._block_numbers(answer["nodes"]), self._blocks_around(body)
            names = self._names.copy()
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        return Raw(
            (body.x, body.y, body.z),
            body.yaw,
            0,
            tuple(names[number] for number in order),
            rank[voxels],
            rank[hits],
            np.array(answer["distances"], dtype=np.float64),
        )

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Search square patches of cells in rings around the column; see `BlockWorld.nearest`."""
        goal_numbers, patch_side = _biome_numbers(goals), _PATCH * CELL
        column, row = x // patch_side, z // patch_side
        nearest: tuple[float, int, int] | None = None
        for ring in range(most // patch_side + 2):
            if nearest is not None and nearest[0] <= max(ring - 1, 0) * patch_side:
                break  # farther patches have no nearer cell
            for right, down in product(range(-ring, ring + 1), repeat=2):
                if max(abs(right), abs(down)) == ring:
                    candidate = self._nearest_cell_in_patch(column + right, row + down, x, z, goal_numbers)
                    if candidate is not None and (nearest is None or candidate < nearest):
                        nearest = candidate
        return None if nearest is None or nearest[0] > most else Near(nearest[1], nearest[2], nearest[0])

    def _nearest_cell_in_patch(
        self, column: int, row: int, x: int, z: int, goal_numbers: list[int]
    ) -> tuple[float, int, int] | None:
        """Return distance, column and row of the nearest goal cell of a patch; None without one."""
        across, down = np.nonzero(np.isin(self._cached_patch(column, row)[1], goal_numbers))
        if not across.size:
            return None
        east, south = ((first * _PATCH + cells) * CELL + CELL // 2 for first, cells in ((column, across), (row, down)))
        squared_distances = (east - x) ** 2 + (south - z) ** 2
        nearest = int(squared_distances.argmin())
        return math.sqrt(float(squared_distances[nearest])), int(east[nearest]), int(south[nearest])
