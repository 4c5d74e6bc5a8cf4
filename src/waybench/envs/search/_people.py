"""What a person who plays sees and types: the guesses with their answers, or the nodes that are known."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord, TypedAction
from waybench.envs.search._game_number import Guessing
from waybench.envs.search._game_walk import Walk

NUMBER_HELP = "Type a number of the range."
WALK_HELP = "Type the number of a place."

_ACROSS = 40  # cells of the line of numbers
_LINE, _SMALL, _LARGE, _RIGHT = "#dfe3ea", "#56b4e9", "#e69f00", "#009e73"
_NODE, _HERE, _NEW = "#0072b2", "#e69f00", "#ffffff"
_MOST = 60  # nodes that have a row, and actions in a list
_DIGITS = 19


def parse_number(text: str, state: Any) -> int | None:
    """Return the number that a person has typed; None if it is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None


def number_board(state: Guessing, turns: Sequence[TurnRecord]) -> Board:
    """Return the range as a line with the guesses on it, and what was answered to each."""
    case = state.case
    wide = min(_ACROSS, case.high - case.low + 1)
    line = [Tile("", _LINE)] * wide
    said: list[str] = []
    for turn in turns:
        guess: int | None = turn.events.get("guess")
        if guess is None or not case.low <= guess <= case.high:
            continue
        below, found = guess < case.target, guess == case.target
        place = (guess - case.low) * wide // (case.high - case.low + 1)
        line[place] = Tile("=" if found else ">" if below else "<", _RIGHT if found else _SMALL if below else _LARGE)
        said.append(f"{guess}: {'right' if found else 'it is larger' if below else 'it is smaller'}")
    notes = [f"The range is {case.low} to {case.high}; > means that the number is larger, < that it is smaller."]
    return Board(rows=[line], width=1 if wide > 20 else 2, notes=[*notes, *said])


def walk_board(state: Walk, turns: Sequence[TurnRecord]) -> Board:
    """Return a row for each visited node: its number, and those of its neighbours, all of which were shown."""

    def tile(node: int) -> Tile:
        visited = state.visited_mask >> node & 1
        return Tile(str(node), _HERE if node == state.at else _NODE if visited else _NEW)

    rows = [
        [Tile(str(node), _HERE if node == state.at else _NODE), Tile("→"), *map(tile, state.graph.neighbours[node])]
        for node in state.order[-_MOST:]
    ]
    notes = [f"{len(state.order)} visited. First column: visited places in their order, each with its neighbours."]
    notes.append("Amber: you are here; blue: visited; white: not visited yet.")
    return Board(rows=rows, width=4, notes=notes)


def adjacent_nodes(state: Walk) -> Sequence[TypedAction]:
    """Return the neighbours of the node that was visited last, where a walker can go."""
    return [TypedAction(str(node)) for node in state.graph.neighbours[state.at]][:_MOST]


def known_nodes(state: Walk) -> Sequence[TypedAction]:
    """Return the nodes that were shown and not visited, in the order in which they were shown."""
    known = (neighbour for node in state.order for neighbour in state.graph.neighbours[node])
    fringe = (node for node in known if not state.visited_mask >> node & 1)
    return [TypedAction(str(node)) for node in dict.fromkeys(fringe)][:_MOST]
