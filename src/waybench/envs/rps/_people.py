"""What a person who plays sees of a match: the latest rounds."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.rps._game import Rounds
from waybench.smartplay import AgentState

KEYS = {"Rock": "r", "Paper": "p", "Scissor": "s", "Scissors": "s"}

_SHOWN = 8  # rounds
_LEGEND = (
    "Your choices, and below them the opponent's: R rock, P paper, S scissors.",
    "Green: you won; orange: you lost.",
)
_LETTERS = "RPS"
_COLOURS = ("#cccccc", "#009e73", "#d55e00")  # of a tie, a win and a defeat


def board(state: AgentState[Any, Rounds], turns: Sequence[TurnRecord]) -> Board:
    """Return two rows: the player's choices and the opponent's, in the colour of the result."""
    rounds = [(turn.action[0], turn.events["theirs"]) for turn in turns if "theirs" in turn.events]
    latest = rounds[-_SHOWN:]
    empty = [Tile("", "#f0f0f0")] * (_SHOWN - len(latest))
    rows = [
        [Tile(name), *(Tile(_LETTERS[pair[who]], _COLOURS[(pair[0] - pair[1]) % 3]) for pair in latest), *empty]
        for who, name in enumerate(("you", "it"))
    ]
    results = [(mine - theirs) % 3 for mine, theirs in rounds]
    score = f"Won {results.count(1)}, lost {results.count(2)}, tied {results.count(0)}."
    return Board(
        rows=rows,
        width=3,
        notes=[
            score,
            *_LEGEND,
        ],
    )
