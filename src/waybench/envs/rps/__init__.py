"""Rock Paper Scissors against opponents that can be read (SmartPlay)."""

from waybench.envs.rps._environment import ROUNDS
from waybench.envs.rps._game import Rounds, RpsRules
from waybench.envs.rps._instance import SETTINGS, Match
from waybench.envs.rps._source import RpsSource
from waybench.envs.rps._strategies import STRATEGIES

__all__ = [
    "ROUNDS",
    "SETTINGS",
    "STRATEGIES",
    "Match",
    "Rounds",
    "RpsRules",
    "RpsSource",
]
