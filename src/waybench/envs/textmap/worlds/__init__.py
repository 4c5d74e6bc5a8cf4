"""Generated maps of places, with their walkthroughs."""

from waybench.envs.textmap.worlds._data import DIRECTIONS, MOVING_VERBS, World, opposite
from waybench.envs.textmap.worlds._items import LOWEST_CLASS, Ask, CutoffFunction, WorldItems
from waybench.envs.textmap.worlds._names import draw_name
from waybench.envs.textmap.worlds._play import ABBREVIATIONS, Play
from waybench.envs.textmap.worlds._source import WORLD_OPTIONS
from waybench.envs.textmap.worlds._walk import IDLE

__all__ = [
    "ABBREVIATIONS",
    "DIRECTIONS",
    "IDLE",
    "LOWEST_CLASS",
    "MOVING_VERBS",
    "WORLD_OPTIONS",
    "Ask",
    "CutoffFunction",
    "Play",
    "World",
    "WorldItems",
    "draw_name",
    "opposite",
]
