"""Minigames: choose the next action of a walkthrough from a list."""

from waybench.envs.textmap.minigame._environment import MINIGAME
from waybench.envs.textmap.minigame._game import Minigame, minigames, outgoing_moves

__all__ = ["MINIGAME", "Minigame", "minigames", "outgoing_moves"]
