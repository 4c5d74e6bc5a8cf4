"""Lattices, spanning trees and symmetries that several environments share."""

from waybench.envs.spaces._graph import TREES, spanning_tree
from waybench.envs.spaces._lattice import transform_cell, transform_rows

__all__ = ["TREES", "spanning_tree", "transform_cell", "transform_rows"]
