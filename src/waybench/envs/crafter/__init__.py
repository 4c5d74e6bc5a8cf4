"""Crafter: survive in a world, and unlock what it has to offer (SmartPlay)."""

from waybench.envs.crafter._environment import SURVIVAL, crafter_score, success_rates
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._ids import ACHIEVEMENTS
from waybench.envs.crafter._world import Wilds, World, published_seed

__all__ = [
    "ACHIEVEMENTS",
    "SURVIVAL",
    "SurvivalRules",
    "Wilds",
    "World",
    "crafter_score",
    "published_seed",
    "success_rates",
]
