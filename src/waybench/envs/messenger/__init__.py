"""Messenger: the player brings a message to a goal past an enemy, with a manual of the roles (SmartPlay)."""

from waybench.envs.messenger._environment import ROLES

__all__ = ["ROLES"]
