"""Maps of places, told by a game's walkthrough (MANGO)."""

from waybench.envs.textmap._choose import choose
from waybench.envs.textmap._extract import Extraction, extractions
from waybench.envs.textmap._extracts import EXTRACT
from waybench.envs.textmap._instance import MapQuestion
from waybench.envs.textmap._load import load_map
from waybench.envs.textmap._made import Made, Move, edges_made
from waybench.envs.textmap._map import NEVER, Edge, PlaceMap, Step
from waybench.envs.textmap._map_instance import published_map, size_class
from waybench.envs.textmap._minigame import Minigame, minigames
from waybench.envs.textmap._minigames import MINIGAME
from waybench.envs.textmap._prefix import PUBLISHED_STEPS, fitting_cut, named_by_ids, published_cut
from waybench.envs.textmap._source import WorldQuestions, wanted
from waybench.envs.textmap._textmap import DESTINATION, ROUTE
from waybench.envs.textmap._variables import MapVariables, map_variables, name_scores
from waybench.envs.textmap._world_data import DIRECTIONS, opposite
from waybench.envs.textmap._world_play import ABBREVIATIONS
from waybench.envs.textmap._write import MOST_PATHS, Written, write_map

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
    "Made",
    "MapQuestion",
    "MapVariables",
    "Minigame",
    "Move",
    "PlaceMap",
    "Step",
    "WorldQuestions",
    "Written",
    "choose",
    "edges_made",
    "extractions",
    "fitting_cut",
    "load_map",
    "map_variables",
    "minigames",
    "name_scores",
    "named_by_ids",
    "opposite",
    "published_cut",
    "published_map",
    "size_class",
    "wanted",
    "write_map",
]
