"""In "sound" nothing is worth as much as the shortest tour: a search of its own looks for the best other play."""

import ast
import re
from collections import deque
from heapq import heappop, heappush
from itertools import product
from typing import Any

import pytest

from tests.envs.tilemap.maps import GTB, said, value
from waybench.core import Episode, play_to_end, policy
from waybench.envs.tilemap._protocols import moves_per_point

Cell = tuple[int, int]
STEPS = {(-1, 0): "move_up", (1, 0): "move_down", (0, -1): "move_left", (0, 1): "move_right"}
SOUND = {"protocol": "sound"}
LEVELS = range(1, 10)


def ring(end: Cell, goal: Cell) -> int:
    """Return what the prompt promises for ending somewhere."""
    far = max(abs(end[0] - goal[0]), abs(end[1] - goal[1]))
    return [200, 100, 50, 50, 25, 25, -50, -50, -50][far] if far <= 8 else -100


def floor(case: Any) -> set[Cell]:
    signs = {*ast.literal_eval(case.walkable), "@"}
    return {(row, column) for row, line in enumerate(case.rows) for column, sign in enumerate(line) if sign in signs}


def beside(cell: Cell) -> list[Cell]:
    return [(cell[0] + rows, cell[1] + columns) for rows, columns in STEPS]


def walked(cells: set[Cell], costs: dict[Cell, float], move: float) -> dict[Cell, tuple[float, Cell]]:
    """Return the least cost of being at each cell, and the cell before it, from what it costs to begin at some."""
    found: dict[Cell, tuple[float, Cell]] = {}
    waiting = [(cost, cell, cell) for cell, cost in costs.items()]
    waiting.sort()
    while waiting:
        cost, cell, before = heappop(waiting)
        if cell not in found:
            found[cell] = cost, before
            for other in beside(cell):
                if other in cells and other not in found:
                    heappush(waiting, (cost + move, other, cell))
    return found


def names(found: dict[Cell, tuple[float, Cell]], end: Cell) -> list[str]:
    """Return the moves of the way to a cell."""
    moves: list[str] = []
    while found[end][1] != end:
        before = found[end][1]
        moves.append(STEPS[end[0] - before[0], end[1] - before[1]])
        end = before
    return moves[::-1]


def best_miss(case: Any, move: float) -> list[list[str]]:
    """Return the plans of the best play of all that miss an objective: each may end anywhere."""
    cells, goals = floor(case), [(row, column) for _, _, row, column in case.objectives]
    complete: dict[Cell, float] = {divmod(case.start, case.width): 0.0}
    missed: dict[Cell, float] = {}
    ways: list[tuple[Any, Any, dict[Cell, bool]]] = []
    for goal in goals:
        full, part = walked(cells, complete, move), walked(cells, missed, move)
        ended: dict[Cell, float] = {}
        after_miss: dict[Cell, bool] = {}
        for cell in cells:
            both = [(full[cell][0], False)] if cell in full and cell != goal else []
            both += [(part[cell][0], True)] if cell in part else []
            if both:
                cost, after_miss[cell] = min(both)
                ended[cell] = cost + 200 - ring(cell, goal)
        ways.append((full, part, after_miss))
        complete, missed = {goal: full[goal][0]}, ended
    cell, plans, late = min(missed, key=lambda cell: (missed[cell], cell)), list[list[str]](), True
    for full, part, after_miss in reversed(ways):
        late = late and after_miss[cell]
        found = part if late else full
        plan = names(found, cell)
        plans.append(plan)
        for name in reversed(plan):
            rows, columns = next(step for step, called in STEPS.items() if called == name)
            cell = cell[0] - rows, cell[1] - columns
    return plans[::-1]


def cost_of_a_move(episode: Episode[Any, Any, Any]) -> float:
    [cost] = re.findall(r"Every action costs ([0-9.e-]+)\.", episode.messages[-1].text)
    return float(cost)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_the_best_play_that_misses_an_objective_has_a_lower_score_than_the_oracle(level: int) -> None:
    for item in GTB.source(level=level).head(3):
        oracle = play_to_end(GTB, item, policy("oracle"), SOUND).record()
        assert value(oracle, "score") == 100.0
        episode: Episode[Any, Any, Any] = Episode(GTB, item, SOUND)
        move = cost_of_a_move(episode)
        for plan in best_miss(item.instance, move):
            episode.step(said(*plan))
        record = episode.record()
        goals = len(item.instance.objectives)
        assert record.end == "failed"
        assert value(record, "top0") < goals  # type: ignore[operator]
        assert value(record, "score") < 100.0  # type: ignore[operator]
        # And by the prompt's own numbers.
        ends = [tuple(turn.events["at"]) for turn in record.turns]
        points = sum(
            ring(end, (goal.row, goal.column)) for end, goal in zip(ends, item.instance.objectives, strict=True)
        )
        actions = sum(turn.events["actions"] for turn in record.turns)
        assert value(record, "reward") == pytest.approx(points - move * actions)
        assert points - move * actions < 200 * goals - move * item.proof["minimum"]


def distances(cells: set[Cell], start: Cell) -> dict[Cell, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        cell = waiting.popleft()
        for other in beside(cell):
            if other in cells and other not in found:
                found[other] = found[cell] + 1
                waiting.append(other)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_no_choice_of_objectives_is_worth_as_much_as_all(level: int) -> None:
    for item in GTB.source(level=level).head(60):
        case, move = item.instance, cost_of_a_move(Episode(GTB, item, SOUND))
        places = [divmod(case.start, case.width), *((row, column) for _, _, row, column in case.objectives)]
        cells = floor(case)
        far = [distances(cells, place) for place in places]
        worth: dict[tuple[bool, ...], float] = {}
        for chosen in product((False, True), repeat=len(places) - 1):
            at, total = 0, 0.0
            for number, goes in enumerate(chosen, 1):
                if goes:
                    total -= move * far[at][places[number]]
                    at = number
                total += ring(places[at], places[number])
            worth[chosen] = total
        everything = worth.pop((True,) * (len(places) - 1))
        assert everything == pytest.approx(200 * (len(places) - 1) - move * item.proof["minimum"])
        # Where an objective is where the player stands already, going there and staying are the same play.
        others = [
            total
            for chosen, total in worth.items()
            if any(places[_stands(chosen, number)] != places[number] for number in range(1, len(places)))
        ]
        assert max(others) < everything


def _stands(chosen: tuple[bool, ...], number: int) -> int:
    return max((goal for goal in range(1, number + 1) if chosen[goal - 1]), default=0)


def test_all_moves_of_a_tour_cost_less_than_missing_one_objective() -> None:
    for length in (*range(3000), 10**6, 10**8):
        per_point = moves_per_point(length)
        assert length / per_point < 100
        assert length / per_point >= 40 or per_point == 1  # moves still count
    assert [moves_per_point(length) for length in (0, 99, 100, 199, 200, 500, 1000)] == [1, 1, 2, 2, 5, 10, 20]


def test_in_paper_every_move_costs_1() -> None:
    item = GTB.source(level=5).item(2)
    assert item.proof["minimum"] > 500
    record = play_to_end(GTB, item, policy("oracle")).record()
    assert value(record, "reward") == 200 * len(item.instance.objectives) - item.proof["minimum"]
