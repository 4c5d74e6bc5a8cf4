"""Maps of text games, found by playing their files. The only importer of jericho, which is loaded when a game is."""

from waybench.games._build import GameMap, map_game
from waybench.games._engine import Engine, PlaceId
from waybench.games._lists import read_commands, read_names
from waybench.games._story import OtherGame, Story, SupportedGame

__all__ = [
    "Engine",
    "GameMap",
    "OtherGame",
    "PlaceId",
    "Story",
    "SupportedGame",
    "map_game",
    "read_commands",
    "read_names",
]
