"""Messenger: a message is brought to a goal past an enemy, and a manual tells who is who (SmartPlay)."""

from waybench.envs.messenger._case import Actor, Case
from waybench.envs.messenger._engine import World
from waybench.envs.messenger._roles import ROLES
from waybench.envs.messenger._rules import RoleRules
from waybench.envs.messenger._source import DrawnGames, PublishedGames

__all__ = ["ROLES", "Actor", "Case", "DrawnGames", "PublishedGames", "RoleRules", "World"]
