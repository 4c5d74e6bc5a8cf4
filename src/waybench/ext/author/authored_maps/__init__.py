"""Tile maps written by a language model, step by step."""

from waybench.ext.author.authored_maps._authors import Authored, OpenAuthor, open_author

__all__ = ["Authored", "OpenAuthor", "open_author"]
