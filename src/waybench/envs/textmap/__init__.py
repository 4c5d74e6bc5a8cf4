"""Maps of places, told by a game's walkthrough (MANGO)."""

from waybench.envs.textmap._map import NEVER, Edge, PlaceMap, Step

__all__ = ["NEVER", "Edge", "PlaceMap", "Step"]
