"""What belief probes ask a player of the tile maps: where the agent is, and where it has to go."""

from functools import partial

from waybench.core import Belief, read_numbers
from waybench.envs.tilemap._board import Location

_FORM = "[<row>, <column>]"

POSITION: Belief[Location] = Belief(
    name="position",
    title="position",
    doc="The agent's row and column.",
    question="In which row and which column is the agent now? Both are counted from 0.",
    form=_FORM,
    expected=lambda state: [state.row, state.column],
    read=partial(read_numbers, count=2),
)
TARGET: Belief[Location] = Belief(
    name="target",
    title="target",
    doc="Row and column of the present objective.",
    question="In which row and which column is the present target? Both are counted from 0.",
    form=_FORM,
    expected=lambda state: list(state.board.goals[state.goal]),
    read=partial(read_numbers, count=2),
)
BELIEFS = (POSITION, TARGET)
