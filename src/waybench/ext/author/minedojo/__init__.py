"""Minecraft as an engine of the search for a biome, through MineDojo.

`waybench.envs.voxel` finds it by the entry point "minedojo" of the group "waybench.voxel_engines", as it would find an
engine of another package.
"""

from waybench.ext.author.minedojo._terrain import MinedojoTerrain

__all__ = ["MinedojoTerrain"]
