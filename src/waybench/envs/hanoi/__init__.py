"""The Tower of Hanoi, from any legal position to any other (SmartPlay)."""

from waybench.envs.hanoi._environment import RODS
from waybench.envs.hanoi._game import HanoiRules
from waybench.envs.hanoi._instance import Towers
from waybench.envs.hanoi._solve import distance

__all__ = ["RODS", "HanoiRules", "Towers", "distance"]
