"""The Tower of Hanoi, from any legal position to any other (SmartPlay)."""

from waybench.envs.hanoi._environment import RODS
from waybench.envs.hanoi._game import HanoiRules, Towers, distance

__all__ = ["RODS", "HanoiRules", "Towers", "distance"]
