"""Engines that make worlds of blocks."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.voxel._wording import CURSOR, LONGEST, TURN, Raw, fan_angles
from waybench.envs.voxel.engines._engines import chart, drawable, find_program, terrain
from waybench.envs.voxel.engines._terrain import (
    CREATIVE,
    ENGINES,
    LUANTI,
    MINECRAFT_BIOMES,
    MINEDOJO,
    OWN,
    PLAINS,
    PUBLISHED_GOALS,
    TICKS,
    Body,
    Near,
    Terrain,
    Walked,
    counterpart,
)

if TYPE_CHECKING:
    from waybench.envs.voxel.engines._generate import CELL, Bytes, Ints
    from waybench.envs.voxel.engines._own import eye_of, rays

__all__ = [
    "CELL",
    "CREATIVE",
    "CURSOR",
    "ENGINES",
    "LONGEST",
    "LUANTI",
    "MINECRAFT_BIOMES",
    "MINEDOJO",
    "OWN",
    "PLAINS",
    "PUBLISHED_GOALS",
    "TICKS",
    "TURN",
    "Body",
    "Bytes",
    "Ints",
    "Near",
    "Raw",
    "Terrain",
    "Walked",
    "chart",
    "counterpart",
    "drawable",
    "eye_of",
    "fan_angles",
    "find_program",
    "rays",
    "terrain",
]

# They need numpy or numba, which is loaded where there is something to compute.
__getattr__ = late_names(
    __name__,
    {"_own": ("eye_of", "rays"), "_generate": ("CELL", "Bytes", "Ints")},
)
