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
    """The result of a plan.

    Attributes:
        steps: Moves that led to another cell.
        blocked: Moves that led nowhere.
        moves: All moves in the plan, also those not carried out, and picking up and opening.
        unknown: Whether the plan ended at a name that is no action.
        crashed: Whether it ended at a value at which the published program crashes.
        removed: Cells (row, column) whose object has become ground.
        death: "enemy" or "hazard" where that has met the player.
    """

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
    board, width = state.board, state.board.case.width + 2
    style, offsets = board.style, _cell_offsets(width)
    fenced, at, removed = current_fence(board, state.removed), state.cell, state.removed
    beings, tick, death = state.beings, state.tick, ""
    steps = blocked = lock_actions = n_done = 0
    unknown = crashed = False
    for name in names:
        n_done += 1
        offset = offsets.get(name)
        if offset is not None:
            if fenced[at + offset] and at + offset not in beings[: style.crew.walkers]:
                at += offset
                steps += 1
            else:
                blocked += 1
        elif name in LOCK_ACTIONS and style.doors:
            gone_locks = state._replace(removed=removed).gone_locks
            cells = cells_to_ground(board.locks, at, name, gone_locks, width).values()
            new_ground = [(cell // width - 1, cell % width - 1) for cell in cells]
            removed = (*removed, *new_ground)
            fenced = _with_open_cells(fenced, new_ground, width)
            lock_actions += 1
        elif name in OBJECT_ACTIONS and style.protocol.objects:
            object_cell = _object_beside(state._replace(removed=removed), at, width, name)
            if object_cell is not None:
                removed = (*removed, object_cell)
                fenced = _with_open_cells(fenced, (object_cell,), width)
        else:
            crashed = name == CRASH and style.protocol.crashes
            unknown = not crashed
            break
        if at in board.hazards:
            death = "hazard"
            break
        if beings:
            beings, is_caught = step_beings(board, fenced, at, beings, tick)
            tick += 1
            if is_caught:
                death = "enemy"
                break
    row, column = divmod(at, width)
    moves = steps + blocked + lock_actions + sum(name in style.actions for name in names[n_done:])
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
    """Return the cell (row, column) whose object an action turns into ground; None if there is none.

    As in the published program, rows and columns are swapped: it looks up the map at [y][x] with x a row and y a
    column, and compares x with the width and y with the height.
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
    """Return actions as a plan in the requested form: only the first action, or with a drawing of the map after it."""
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
    "hazard" where that has ended the map; the plan is then unproductive, wherever it ended).

    Args:
        style: The way of playing. With single actions a goal is done with when the player stands on it, or after
            `tries` times as many actions as its shortest path has, and ten. With a drawing, the events `cells` and
            `moved` are the shares of cells that are right: of all cells, and of those that change in truth or in the
            drawing.
        misses: Unreadable replies in a row after which a goal is given up.
        tries: Most plans for one goal.
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
        if self.terminal(state):  # nothing is left to carry out
            return Transition(state, 0.0, {}, Outcome.ILLEGAL)
        names = action.names
        result = result_of_walk(state, names)
        if result.crashed:
            return Transition(state._replace(over=True), 0.0, {"crashed": True}, Outcome.ILLEGAL)
        target_row, target_column = state.board.goals[state.goal]
        rows, columns = abs(result.row - target_row), abs(result.column - target_column)
        is_reached = rows == columns == 0 and not result.death
        most_tries = step_budget(state.board, state.goal, self._tries) if self._style.single else self._tries
        is_final = is_reached or bool(result.death) or state.tries + 1 >= most_tries
        events: dict[str, Json] = {
            "goal": state.board.numbers[state.goal],
            "actions": len(names),
            "moves": result.moves,
            "steps": result.steps,
            "blocked": result.blocked,
            "unknown": result.unknown,
            "at": [result.row, result.column],
            "off": [rows, columns],
            "final": is_final,
        }
        if result.death:
            events["death"] = result.death
        after = TileState(
            state.board,
            state.goal + is_final,
            result.row,
            result.column,
            state.reached + is_reached,
            misses=0,
            tries=0 if is_final else state.tries + 1,
            removed=result.removed,
            last=LastPlan(state.goal, len(names), rows, columns),
            over=bool(result.death),
            beings=result.beings,
            tick=result.tick,
            death=result.death,
        )
        if action.drawing is not None:
            events |= _drawing_events(action.drawing, state.rows(), after.rows())
        distance_before = abs(state.row - target_row) + abs(state.column - target_column)
        is_nearer = is_reached or (rows + columns < distance_before and not result.death)
        outcome = Outcome.ILLEGAL if result.unknown else Outcome.OK if is_nearer else Outcome.UNPRODUCTIVE
        return Transition(after, is_reached / len(state.board.goals), events, outcome)

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
        """Return the plan with each name replaced by a random move with probability `rate`."""
        names = tuple(rng.choice(tuple(MOVES)) if rng.random() < rate else name for name in action.names)
        return action._replace(names=names)


def _drawing_events(drawing: str, before: Sequence[str], after: Sequence[str]) -> dict[str, Json]:
    """Return the shares of cells that a predicted map has right: of all cells, and of those that change.

    Cells change that differ from before, in truth or in the drawing; the second share is None without such cells.
    """
    lines = drawing.strip("\n").split("\n")
    n_right = n_changed = n_changed_right = 0
    for number, (old_row, new_row) in enumerate(zip(before, after, strict=True)):
        line = lines[number] if number < len(lines) else ""
        for column, sign in enumerate(new_row):
            is_right = column < len(line) and line[column] == sign
            n_right += is_right
            old_sign = old_row[column]
            drawn_sign = line[column] if column < len(line) else old_sign
            if old_sign != sign or old_sign != drawn_sign:
                n_changed += 1
                n_changed_right += is_right
    n_cells = len(after) * len(after[0])
    return {"cells": n_right / n_cells, "moved": n_changed_right / n_changed if n_changed else None}


@lru_cache(maxsize=4096)
def step_budget(map_board: TileBoard, goal: int, tries: int) -> int:
    """Return the single moves allowed for a goal: `tries` times its shortest path (with doors the tour), and ten."""
    if map_board.locks:
        return tries * map_board.length + 10
    leg_length = tour_leg_lengths(map_board.case, map_board.walkable)[map_board.numbers[goal]]
    factor = 2 if any(map_board.style.crew) else 1  # hazards make paths longer, and beings stand in the way
    return factor * tries * (leg_length or 0) + 10
