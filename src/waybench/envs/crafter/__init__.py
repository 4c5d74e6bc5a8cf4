"""Crafter: survive in a world, and unlock what it has to offer (SmartPlay)."""

from waybench.envs.crafter._environment import SURVIVAL, crafter_score

__all__ = ["SURVIVAL", "crafter_score"]
