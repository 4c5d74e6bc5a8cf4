"""Rock Paper Scissors against opponents that can be read (SmartPlay)."""

from waybench.envs.rps._environment import ROUNDS

__all__ = ["ROUNDS"]
