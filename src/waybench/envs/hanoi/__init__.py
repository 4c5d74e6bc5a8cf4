"""The Tower of Hanoi, from any legal position to any other (SmartPlay)."""

from waybench.envs.hanoi._environment import RODS
from waybench.envs.hanoi._game import HanoiRules, Puzzle
from waybench.envs.hanoi._instance import Towers
from waybench.envs.hanoi._solve import distance
from waybench.envs.hanoi._source import HanoiSource

__all__ = ["RODS", "HanoiRules", "HanoiSource", "Puzzle", "Towers", "distance"]
