"""Crafter: survive in a world, and unlock what it has to offer (SmartPlay)."""

from waybench.envs.crafter._case import Wilds
from waybench.envs.crafter._engine import World, published_seed
from waybench.envs.crafter._ids import ACHIEVEMENTS
from waybench.envs.crafter._rules import SurvivalRules
from waybench.envs.crafter._scores import crafter_score, success_rates
from waybench.envs.crafter._source import Worlds
from waybench.envs.crafter._survival import SURVIVAL

__all__ = [
    "ACHIEVEMENTS",
    "SURVIVAL",
    "SurvivalRules",
    "Wilds",
    "World",
    "Worlds",
    "crafter_score",
    "published_seed",
    "success_rates",
]
