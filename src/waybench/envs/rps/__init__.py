"""Rock Paper Scissors against opponents that can be read (SmartPlay)."""

from waybench.envs.rps._environment import ROUNDS
from waybench.envs.rps._game import SETTINGS, STRATEGIES, RpsRules

__all__ = ["ROUNDS", "SETTINGS", "STRATEGIES", "RpsRules"]
