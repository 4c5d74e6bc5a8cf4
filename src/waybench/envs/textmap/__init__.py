"""Questions about the map of places that the walkthrough of a text game describes (MANGO).

Read `_place_map` first, which has the maps, then `_game` for the questions, and `_environments` for all of them
together.
"""

from waybench.envs.textmap._environments import DESTINATION, EXTRACT, MINIGAME, ROUTE

__all__ = ["DESTINATION", "EXTRACT", "MINIGAME", "ROUTE"]
