"""Questions about the map of places that the walkthrough of a text game describes (MANGO).

Read `_place_map` first, which has the maps, and then `_game` and `_map_environment` for the questions.
"""

from waybench.envs.textmap._difficulty import map_variables, name_scores
from waybench.envs.textmap._environments import DESTINATION, EXTRACT, MINIGAME, ROUTE
from waybench.envs.textmap._extraction_items import Extraction, extractions
from waybench.envs.textmap._instances import published_map
from waybench.envs.textmap._items import LABELS, RELEASED_LABELS, MapQuestion, selected_maps
from waybench.envs.textmap._minigame_game import Minigame, minigames
from waybench.envs.textmap._place_map import NEVER, Edge, Move, PlaceMap, Step, Traversal, edges_of_traversals, load_map
from waybench.envs.textmap._prefix import PUBLISHED_STEPS
from waybench.envs.textmap._questions import MOST_PATHS, WriteResult, count_questions, write_map
from waybench.envs.textmap.worlds import ABBREVIATIONS, DIRECTIONS, opposite

__all__ = [
    "ABBREVIATIONS",
    "DESTINATION",
    "DIRECTIONS",
    "EXTRACT",
    "LABELS",
    "MINIGAME",
    "MOST_PATHS",
    "NEVER",
    "PUBLISHED_STEPS",
    "RELEASED_LABELS",
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
    "count_questions",
    "edges_of_traversals",
    "extractions",
    "load_map",
    "map_variables",
    "minigames",
    "name_scores",
    "opposite",
    "published_map",
    "selected_maps",
    "write_map",
]
