"""What a belief probe can ask a player: the disks on each rod."""

from functools import partial

from waybench.core import Belief, read_lists
from waybench.envs.hanoi._game import Puzzle
from waybench.envs.hanoi._instance import RODS, Towers
from waybench.smartplay import AgentState

RODS_BELIEF: Belief[AgentState[Towers, Puzzle]] = Belief(
    name="rods",
    title="rods",
    doc="The disks on each rod, from bottom to top.",
    question=f"Which disks are on the rods {', '.join(RODS)} now? List the disks of each rod from bottom to top.",
    form=f"[{', '.join(f'[<disks on {rod}>]' for rod in RODS)}]",
    expected=lambda state: [list(disks) for disks in state.world.rods],
    read=partial(read_lists, count=len(RODS)),
)
