"""Generated maps of places, with their walkthroughs."""

from waybench.envs.textmap.worlds._data import DIRECTIONS, MOVING_VERBS, World, draw_name, opposite
from waybench.envs.textmap.worlds._items import IDLE, WORLD_OPTIONS, Ask, CutoffFunction, WorldItems
from waybench.envs.textmap.worlds._play import ABBREVIATIONS, Play

__all__ = [
    "ABBREVIATIONS",
    "DIRECTIONS",
    "IDLE",
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
