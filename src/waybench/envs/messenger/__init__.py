"""Messenger: the player brings a message to a goal past an enemy, with a manual of the roles (SmartPlay)."""

from waybench.envs.messenger._environment import ROLES
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._items import PublishedGames
from waybench.envs.messenger._world import Actor, Case, World

__all__ = ["ROLES", "Actor", "Case", "PublishedGames", "RoleRules", "World"]
