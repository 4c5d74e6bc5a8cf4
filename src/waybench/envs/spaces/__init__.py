"""Mechanics of square lattices that several environments share."""

from waybench.envs.spaces._graph import SHAPES, TREES, Graph, connected_graph, spanning_tree
from waybench.envs.spaces._lattice import DIRECTIONS, REFLECTIONS, ROTATIONS, Floor, Lattice, transform, transform_place

__all__ = [
    "DIRECTIONS",
    "REFLECTIONS",
    "ROTATIONS",
    "SHAPES",
    "TREES",
    "Floor",
    "Graph",
    "Lattice",
    "connected_graph",
    "spanning_tree",
    "transform",
    "transform_place",
]
