"""Messenger: the player brings a message to a goal past an enemy, with a manual of the roles (SmartPlay)."""

from waybench.envs.messenger._engine import World
from waybench.envs.messenger._environment import ROLES
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._instance import Actor, Case
from waybench.envs.messenger._source import PublishedGames

__all__ = ["ROLES", "Actor", "Case", "PublishedGames", "RoleRules", "World"]
