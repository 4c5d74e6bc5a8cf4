"""How far the disks are on the way to where they have to go."""

from waybench.core import Potential
from waybench.envs.hanoi._game import Puzzle
from waybench.envs.hanoi._instance import Towers
from waybench.envs.hanoi._solve import distance, position_of
from waybench.smartplay import AgentState


def _gained(state: AgentState[Towers, Puzzle]) -> float:
    start, goal = state.instance.positions
    return 1 - distance(position_of(state.world.rods), goal) / distance(start, goal)


POTENTIALS = (Potential("distance", "Share of the moves of a shortest solution that is gained.", _gained, 100.0),)
