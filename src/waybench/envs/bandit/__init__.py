"""Slot machines whose chances have to be learned (SmartPlay)."""

from waybench.envs.bandit._environment import ARMS
from waybench.envs.bandit._game import BanditRules, Machines
from waybench.envs.bandit._instance import SETTINGS, Bandit
from waybench.envs.bandit._source import BanditSource

__all__ = ["ARMS", "SETTINGS", "Bandit", "BanditRules", "BanditSource", "Machines"]
