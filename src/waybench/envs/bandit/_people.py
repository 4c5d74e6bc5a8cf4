"""What a person who plays sees of slot machines: what each has paid so far."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.bandit._game import Machines
from waybench.smartplay import AgentState

_SHOWN = 12  # pulls of a machine, the latest
_NAME, _WIN, _LOSS, _NONE = "#e69f00", "#009e73", "#d55e00", "#e8e8e8"


def board(state: AgentState[Any, Machines], turns: Sequence[TurnRecord]) -> Board:
    """Return a row for each machine: its number, and a win or a loss for each of its latest pulls."""
    pulls = [(turn.action[0], turn.reward > 0) for turn in turns if "optimal" in turn.events]
    rows: list[list[Tile]] = []
    for machine in range(len(state.instance.arms)):
        paid = [Tile("+", _WIN) if won else Tile("-", _LOSS) for arm, won in pulls if arm == machine][-_SHOWN:]
        rows.append([Tile(str(machine + 1), _NAME), *paid, *[Tile("", _NONE)] * (_SHOWN - len(paid))])
    last = [] if state.world.arm < 0 else [f"Machine {state.world.arm + 1} paid {state.world.reward:g}."]
    return Board(
        rows=rows, notes=[*last, f"Each machine's latest pulls: + for a win, - for a loss; {len(pulls)} in all."]
    )
