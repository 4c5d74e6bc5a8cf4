"""The Tower of Hanoi, from any legal position to any other (SmartPlay)."""

from waybench.envs.hanoi._environment import RODS

__all__ = ["RODS"]
