"""Undirected graphs whose neighbours have an order, and shapes to draw them from."""

from waybench.graph._graph import Graph
from waybench.graph._shapes import SHAPES, connected_graph

__all__ = ["SHAPES", "Graph", "connected_graph"]
