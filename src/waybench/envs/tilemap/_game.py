"""The rules of walking over a tile map from objective to objective, name by name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import DataError, End, Game, GameProperties, Json, Outcome, Stream, Transition, is_array, is_object
from waybench.envs.tilemap._board import LastPlan, MovePlan, Style, TileBoard, TileState, start_state, step_beings
from waybench.envs.tilemap._instance import TileMap, tile_list, tour_leg_lengths
from waybench.envs.tilemap._locks import LOCK_ACTIONS, cells_to_ground
from waybench.envs.tilemap._protocols import MOVES

OBJECT_ACTIONS = ("pick_object", "hit_enemy")
ENEMY = "#"
CRASH = "(no name)"  # stands for a value at which the published program ended with an error
MOST_NAMES = 20_000  # names in one plan


class PlanResult(NamedTuple):
    """The result of a plan; `moves` also counts the moves that were not made, and picking up and opening."""

    row: int
    column: int
    steps: int
    blocked: int
    moves: int
    unknown: bool
    crashed: bool
    removed: tuple[tuple[int, int], ...]
    beings: tuple[int, ...] = ()
    tick: int = 0
    death: str = ""


def result_of_walk(state: TileState, names: Sequence[str]) -> PlanResult:
    """Return the result of a plan up to its first name that is no action; all beings step after each action."""
    width = state.board.case.width + 2
    fenced, at = current_fence(state.board, state.removed), state.cell
    offsets = _cell_offsets(width)
    removed = state.removed
    crew, beings, tick, death = state.board.style.crew, state.beings, state.tick, ""
    steps = blocked = handlings = 0
    unknown = crashed = False
    actions_done = 0
    for name in names:
        actions_done += 1
        move = offsets.get(name)
        if move is not None:
            if fenced[at + move] and at + move not in beings[: crew.walkers]:
                at += move
                steps += 1
            else:
                blocked += 1
        elif name in LOCK_ACTIONS and state.board.style.doors:
            cells = cells_to_ground(
                state.board.locks, at, name, state._replace(removed=removed).gone_locks, width
            ).values()
            changed = [(cell // width - 1, cell % width - 1) for cell in cells]
            removed = (*removed, *changed)
            fenced = _with_open_cells(fenced, changed, width)
            handlings += 1
        elif name in OBJECT_ACTIONS and state.board.style.protocol.objects:
            object_cell = _object_beside(state._replace(removed=removed), at, width, name)
            if object_cell is not None:
                removed = (*removed, object_cell)
                fenced = _with_open_cells(fenced, (object_cell,), width)
        elif name == CRASH and state.board.style.protocol.crashes:
            crashed = True
            break
        else:
            unknown = True
            break
        if at in state.board.hazards:
            death = "hazard"
            break
        if beings:
            beings, caught = step_beings(state.board, fenced, at, beings, tick)
            tick += 1
            if caught:
                death = "enemy"
                break
    row, column = divmod(at, width)
    moves = steps + blocked + handlings + sum(name in state.board.style.actions for name in names[actions_done:])
    return PlanResult(row - 1, column - 1, steps, blocked, moves, unknown, crashed, removed, beings, tick, death)


@lru_cache(maxsize=256)
def _cell_offsets(width: int) -> dict[str, int]:
    """Return what each move adds to a cell's number."""
    return {name: rows * width + columns for name, (rows, columns) in MOVES.items()}


def current_fence(board: TileBoard, removed: Sequence[tuple[int, int]]) -> bytes:
    """Return the fenced map with the cells of removed objects open, a byte for each: 1 where one can stand."""
    return _with_open_cells(board.fenced, removed, board.case.width + 2) if removed else board.fenced


def _with_open_cells(fenced: bytes, cells: Sequence[tuple[int, int]], width: int) -> bytes:
    """Return a fenced map with cells, as (row, column), open."""
    changed = bytearray(fenced)
    for row, column in cells:
        changed[(row + 1) * width + column + 1] = 1
    return bytes(changed)


def _object_beside(state: TileState, at: int, width: int, name: str) -> tuple[int, int] | None:
    """Return the cell whose object an action turns into ground, rows and columns swapped as published; else None.

    It reads the map at [y][x] with x a row and y a column, and compares x with the width and y with the height.
    """
    case = state.board.case
    signs = set(tile_list(case.interactive)) if name == "pick_object" else {ENEMY}
    lines = state.rows()
    row, column = at // width - 1, at % width - 1
    for rows, columns in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        x, y = row + rows, column + columns
        if 0 <= x < case.width and 0 <= y < case.height and lines[y][x] in signs:
            return y, x
    return None


def make_plan(state: TileState, names: Sequence[str]) -> MovePlan:
    """Return actions as a plan in the requested form, of one action or with a drawing."""
    if state.board.style.single:
        names = names[:1]
    if not state.board.style.predicts:
        return MovePlan(tuple(names))
    end = result_of_walk(state, names)
    return MovePlan(tuple(names), "\n".join(state._replace(row=end.row, column=end.column, removed=end.removed).rows()))


class TileGame(Game[TileMap, TileState, MovePlan]):
    """One plan for each goal; where it ends counts, and what it passes does not.

    A move into a wall or off the map leaves the player where it is and costs what a move costs. A name that is no
    action ends the plan; what comes after it is not carried out, but costs as well. Events of a turn: `goal` (number in
    the record), `actions` (names in the plan), `moves` (names of moves in it, carried out or not), `steps` (cells
    moved), `blocked` (moves that led nowhere), `unknown` (whether a name was no action), `at` and `off` (row and column
    of the end, and their distances from the goal), `final` (whether the goal is done with), `death` ("enemy" or
    "hazard" where that has ended the map). Such a plan is unproductive, wherever it ended.

    Args:
        style: The way of playing; of single actions a goal is done with when the player stands on it, or after `tries`
            times as many actions as its shortest path has, and ten; with a drawing, `cells` and `moved` are the shares
            of cells that are right, and of those that change in truth or in the drawing.
        misses: Replies for one goal that cannot be read before it is given up.
        tries: Plans for one goal; another one is requested if the last one did not end there.
    """

    def __init__(self, style: Style, misses: int, tries: int) -> None:
        self._style = style
        self._misses = misses
        self._tries = tries
        self.properties = GameProperties(deterministic=True, turns=None, reward=(0.0, 1.0))

    def start(self, instance: TileMap) -> TileState:
        return start_state(instance, self._style)

    def legal(self, state: TileState) -> Sequence[MovePlan]:
        """Return the plan of no move, and those of one action that leads to another cell or changes the map."""
        if self.terminal(state):
            return ()
        results = {name: result_of_walk(state, (name,)) for name in self._style.actions}
        names = [name for name, result in results.items() if result.steps or result.removed != state.removed]
        return [make_plan(state, ()), *(make_plan(state, (name,)) for name in names)]

    def apply(self, state: TileState, action: MovePlan, rng: Stream) -> Transition[TileState]:
        """Carry out a plan; the reward is the goal's share of 1 for ending there."""
        if self.terminal(state):
            return Transition(state, 0.0, {}, Outcome.ILLEGAL)
        names = action.names
        walked = result_of_walk(state, names)
        if walked.crashed:
            return Transition(state._replace(over=True), 0.0, {"crashed": True}, Outcome.ILLEGAL)
        target = state.board.goals[state.goal]
        rows, columns = abs(walked.row - target[0]), abs(walked.column - target[1])
        there = rows == columns == 0 and not walked.death
        tries = step_budget(state.board, state.goal, self._tries) if self._style.single else self._tries
        final = there or bool(walked.death) or state.tries + 1 >= tries
        events: dict[str, Json] = {
            "goal": state.board.numbers[state.goal],
            "actions": len(names),
            "moves": walked.moves,
            "steps": walked.steps,
            "blocked": walked.blocked,
            "unknown": walked.unknown,
            "at": [walked.row, walked.column],
            "off": [rows, columns],
            "final": final,
        }
        if walked.death:
            events["death"] = walked.death
        following = TileState(
            state.board,
            state.goal + final,
            walked.row,
            walked.column,
            state.reached + there,
            misses=0,
            tries=0 if final else state.tries + 1,
            removed=walked.removed,
            last=LastPlan(state.goal, len(names), rows, columns),
            over=bool(walked.death),
            beings=walked.beings,
            tick=walked.tick,
            death=walked.death,
        )
        if action.drawing is not None:
            events |= _drawing_events(action.drawing, state.rows(), following.rows())
        before = abs(state.row - target[0]) + abs(state.column - target[1])
        nearer = there or (rows + columns < before and not walked.death)
        outcome = Outcome.ILLEGAL if walked.unknown else Outcome.OK if nearer else Outcome.UNPRODUCTIVE
        reward = there / len(state.board.goals)
        return Transition(following, reward, events, outcome)

    def forfeit(self, state: TileState) -> TileState:
        """Count an unreadable reply; after some in a row the goal is given up."""
        if state.misses + 1 < self._misses:
            return state._replace(misses=state.misses + 1)
        return state._replace(goal=state.goal + 1, misses=0, tries=0, last=None)

    def terminal(self, state: TileState) -> End | None:
        """Return SOLVED if a plan ended at every goal, FAILED once all goals are done with otherwise."""
        if state.goal < len(state.board.goals) and not state.over:
            return None
        return End.SOLVED if state.reached == len(state.board.goals) and not state.over else End.FAILED

    def encode(self, action: MovePlan) -> Json:
        """Return the list of names, or {"action": names, "map": drawing}."""
        names = list(action.names)
        return names if action.drawing is None else {"action": names, "map": action.drawing}

    def decode(self, action: Json) -> MovePlan:
        """Read what `encode` wrote; raise DataError for anything else."""
        drawing: Json = None
        if is_object(action):
            action, drawing = action.get("action"), action.get("map", "")
        if not is_array(action) or len(action) > MOST_NAMES or not all(isinstance(name, str) for name in action):
            raise DataError('action: give a list of names, such as ["move_up", "move_left"]')
        if drawing is not None and not isinstance(drawing, str):
            raise DataError("action: the map must be a text")
        return MovePlan(tuple(action), drawing)

    def perturb(self, state: TileState, action: MovePlan, rate: float, rng: Stream) -> MovePlan:
        """Put a random move in the place of each move with probability `rate`."""
        names = tuple(rng.choice(tuple(MOVES)) if rng.random() < rate else name for name in action.names)
        return action._replace(names=names)


def _drawing_events(drawing: str, before: Sequence[str], after: Sequence[str]) -> dict[str, Json]:
    """Return the shares of cells that a predicted map has right: of all, and of those that change."""
    lines = drawing.strip("\n").split("\n")
    right = changed = right_changed = 0  # changed: cells that differ from before in truth or in the drawing
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        line = lines[number] if number < len(lines) else ""
        for column, sign in enumerate(new):
            same = column < len(line) and line[column] == sign
            right += same
            drawn_sign = line[column] if column < len(line) else old[column]
            if old[column] != sign or old[column] != drawn_sign:
                changed += 1
                right_changed += same
    total = len(after) * len(after[0])
    return {"cells": right / total, "moved": right_changed / changed if changed else None}


@lru_cache(maxsize=4096)
def step_budget(map_board: TileBoard, goal: int, tries: int) -> int:
    """Return the single moves allowed for a goal: `tries` times its shortest path (with doors the tour), and ten."""
    if map_board.locks:
        return tries * map_board.length + 10
    leg = tour_leg_lengths(map_board.case, map_board.walkable)[map_board.numbers[goal]]
    # Around hazards the way is longer, and beings stand in it.
    return (2 if any(map_board.style.crew) else 1) * tries * (leg or 0) + 10
