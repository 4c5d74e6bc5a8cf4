"""Maps of text games, found by playing their files. The only importer of jericho, which is loaded when a game is."""

from waybench.ext.author.game_maps._command import GameMap, map_game, read_commands, read_names, textmap
from waybench.ext.author.game_maps._story import OtherGame, Story, SupportedGame

__all__ = ["GameMap", "OtherGame", "Story", "SupportedGame", "map_game", "read_commands", "read_names", "textmap"]
