"""Mechanics of square lattices that several environments share."""

from waybench.envs.spaces._graph import TREES, spanning_tree
from waybench.envs.spaces._lattice import transform, transform_place

__all__ = ["TREES", "spanning_tree", "transform", "transform_place"]
