"""Questions about a graph that is given as a list of edges, of any length."""

from waybench.envs.graph._environment import PATHS

__all__ = ["PATHS"]
