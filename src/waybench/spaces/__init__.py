"""Mechanics of square lattices that several environments share."""

from waybench.spaces._flood import Floor
from waybench.spaces._graph import Graph
from waybench.spaces._lattice import DIRECTIONS, Lattice
from waybench.spaces._shapes import SHAPES, connected_graph
from waybench.spaces._symmetries import REFLECTIONS, ROTATIONS, transform, transform_place
from waybench.spaces._trees import TREES, spanning_tree

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
