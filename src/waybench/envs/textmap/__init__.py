"""Questions about the map of places that the walkthrough of a text game describes (MANGO)."""

from waybench.envs.textmap._environments import DESTINATION, EXTRACT, MINIGAME, ROUTE
from waybench.envs.textmap.extract import Extraction, extractions
from waybench.envs.textmap.map import (
    NEVER,
    PUBLISHED_STEPS,
    Edge,
    Move,
    PlaceMap,
    Step,
    Traversal,
    edges_of_traversals,
    load_map,
    published_map,
)
from waybench.envs.textmap.minigame import Minigame, minigames
from waybench.envs.textmap.questions import MOST_PATHS, MapQuestion, WriteResult, map_variables, name_scores, write_map
from waybench.envs.textmap.worlds import ABBREVIATIONS, DIRECTIONS, opposite

__all__ = [
    "ABBREVIATIONS",
    "DESTINATION",
    "DIRECTIONS",
    "EXTRACT",
    "MINIGAME",
    "MOST_PATHS",
    "NEVER",
    "PUBLISHED_STEPS",
    "ROUTE",
    "Edge",
    "Extraction",
    "MapQuestion",
    "Minigame",
    "Move",
    "PlaceMap",
    "Step",
    "Traversal",
    "WriteResult",
    "edges_of_traversals",
    "extractions",
    "load_map",
    "map_variables",
    "minigames",
    "name_scores",
    "opposite",
    "published_map",
    "write_map",
]
