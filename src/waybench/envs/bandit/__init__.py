"""Slot machines whose chances have to be learned (SmartPlay)."""

from waybench.envs.bandit._environment import ARMS
from waybench.envs.bandit._game import SETTINGS, BanditRules

__all__ = ["ARMS", "SETTINGS", "BanditRules"]
