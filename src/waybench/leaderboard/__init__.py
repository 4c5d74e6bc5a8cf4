"""Leaderboards: many submissions in a folder, verified here and published as a static site."""

from waybench.leaderboard._entries import Entry, Refused, Status, read_board
from waybench.leaderboard._settings import PrivateSet, Settings, read_settings
from waybench.leaderboard._site import Board, write_leaderboard
from waybench.leaderboard._template import write_template

__all__ = [
    "Board",
    "Entry",
    "PrivateSet",
    "Refused",
    "Settings",
    "Status",
    "read_board",
    "read_settings",
    "write_leaderboard",
    "write_template",
]
