"""Engines that make worlds of blocks."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.voxel.engines._engines import CREATIVE, ENGINES, LUANTI, MINEDOJO, OWN, PLAINS
from waybench.envs.voxel.engines._terrain import TICKS, Body, Near, Terrain, Walked, chart, drawable, terrain

if TYPE_CHECKING:
    from waybench.envs.voxel.engines._blockworld import eye_of, rays
    from waybench.envs.voxel.engines._generate import CELL, Bytes, Ints

__all__ = [
    "CELL",
    "CREATIVE",
    "ENGINES",
    "LUANTI",
    "MINEDOJO",
    "OWN",
    "PLAINS",
    "TICKS",
    "Body",
    "Bytes",
    "Ints",
    "Near",
    "Terrain",
    "Walked",
    "chart",
    "drawable",
    "eye_of",
    "rays",
    "terrain",
]

# They need numpy or numba, which is loaded where there is something to compute.
__getattr__ = late_names(
    __name__,
    {
        "_blockworld": ("eye_of", "rays"),
        "_generate": ("CELL", "Bytes", "Ints"),
    },
)
