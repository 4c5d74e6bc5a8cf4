"""Mazes: a plan of movements from the entrance to the exit (AliciaBench)."""

from waybench.envs.maze._environment import ALICIA

__all__ = ["ALICIA"]
