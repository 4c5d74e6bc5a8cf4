"""Rock Paper Scissors against opponents that can be read (SmartPlay)."""

from waybench.envs.rps._environment import ROUNDS
from waybench.envs.rps._game import RpsRules
from waybench.envs.rps._instance import SETTINGS
from waybench.envs.rps._strategies import STRATEGIES

__all__ = ["ROUNDS", "SETTINGS", "STRATEGIES", "RpsRules"]
