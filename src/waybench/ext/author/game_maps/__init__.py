"""Maps of text games, found by playing their files. The only importer of jericho, which is loaded when a game is."""

from waybench.ext.author.game_maps._command import textmap

__all__ = ["textmap"]
