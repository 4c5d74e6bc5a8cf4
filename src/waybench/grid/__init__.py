"""Mechanics of square lattices that several environments share."""

from waybench.grid._flood import Floor
from waybench.grid._lattice import DIRECTIONS, Lattice
from waybench.grid._trees import TREES, spanning_tree

__all__ = ["DIRECTIONS", "TREES", "Floor", "Lattice", "spanning_tree"]
