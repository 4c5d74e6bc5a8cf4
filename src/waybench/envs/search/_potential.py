"""How much of a search is done."""

from math import log2

from waybench.core import Potential
from waybench.envs.search._game_number import Guessing
from waybench.envs.search._game_walk import Walk


def _information(state: Guessing) -> float:
    case = state.case
    return 1 - log2(state.high - state.low + 1) / log2(case.high - case.low + 1)


def _visited(state: Walk) -> float:
    return (len(state.order) - 1) / (state.graph.size - 1)


NUMBER = (Potential("information", "Share of the bits of the number that the answers have given.", _information),)
WALK = (Potential("visited", "Share of the other nodes that are visited.", _visited),)
