"""Slot machines whose chances have to be learned (SmartPlay)."""

from waybench.envs.bandit._environment import ARMS

__all__ = ["ARMS"]
