"""Leaderboards: many submissions in a folder, verified here and published as a static site."""

from waybench.ext.publish.leaderboard._entries import Settings, Status, read_board, read_settings
from waybench.ext.publish.leaderboard._site import write_leaderboard, write_template

__all__ = ["Settings", "Status", "read_board", "read_settings", "write_leaderboard", "write_template"]
