"""One attempt at a maze, rule by rule (shared/specs/alicia.md, "One attempt")."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.maze.mazes import ALICIA, CORRIDOR, MAZE_501, after, metrics, only_turn, reply
from waybench.core import DataError, End, Stream
from waybench.envs.maze._game import MazeGame, MazeState, Movement, MovePlan, decode, prove

SHORTEST = reply(("down", 3), ("left", 2), ("down", 1))  # the solution that the description gives


def test_the_published_solution() -> None:
    episode = after(SHORTEST)
    assert episode.end_reason is End.SOLVED
    assert metrics(episode) == {
        "score": 100,
        "raw_score": 100,
        "reached": 1,
        "steps": 6,
        "minimum": 6,
        "requests": 1,
        "unparsed": 0,
        "illegal": 0,
    }


def test_the_proof_of_501() -> None:
    assert dict(MAZE_501.proof) == {
        "minimum": 6,
        "solution": [["down", 3], ["left", 2], ["down", 1]],
        "loops": 1,
        "junctions": 2,
    }


def test_what_cannot_be_reached_counts_in_no_proof() -> None:
    # The ring at the upper right is closed off. The other three are on the way, two of them side by side.
    maze = decode(
        {
            "maze": [
                "000X00000",
                "011101110",
                "010101010",
                "011101110",
                "010000000",
                "010111110",
                "010101010",
                "011111110",
                "000000010",
            ]
        }
    )
    proof = prove(maze)
    assert proof["loops"] == 3
    assert proof["junctions"] == 6  # two of the ring above; four of those below, where they begin, part, join and end
    assert proof["minimum"] == 16


def test_eight_steps_of_six() -> None:
    episode = after(reply(("down", 2), ("up", 1), ("down", 2), ("left", 2), ("down", 1)))
    assert metrics(episode)["steps"] == 8
    assert metrics(episode)["score"] == pytest.approx(200 / 3)
    assert f"{metrics(episode)['score']:.1f}" == "66.7"


@pytest.mark.parametrize(("extra", "raw"), [(2, 0.0), (4, -400 / 6)])
def test_more_than_twice_the_minimum_is_clamped(extra: int, raw: float) -> None:
    there_and_back = reply(("down", 1), *[("down", 1), ("up", 1)] * (extra + 1), ("down", 2), ("left", 2), ("down", 1))
    episode = after(there_and_back)
    assert metrics(episode)["steps"] == 8 + 2 * extra
    assert metrics(episode)["raw_score"] == pytest.approx(raw)
    assert metrics(episode)["score"] == 0
    assert metrics(episode)["reached"] == 1


def test_steps_of_all_requests_count() -> None:
    episode = after(reply(("down", 2)), reply(("up", 1)), reply(("down", 2), ("left", 2), ("down", 1)))
    assert episode.end_reason is End.SOLVED
    assert metrics(episode)["steps"] == 8
    assert metrics(episode)["requests"] == 3
    assert [turn.events["moved"] for turn in episode.turns] == [2, 1, 5]


def test_three_requests_and_no_more() -> None:
    episode = after(reply(("down", 1)), reply(("down", 1)))
    assert not episode.done
    episode.step(reply(("down", 1)))
    assert episode.end_reason is End.TURN_LIMIT
    assert metrics(episode) | {"steps": 3, "score": 0, "raw_score": 0, "reached": 0} == metrics(episode)


def test_the_number_of_requests_is_an_option() -> None:
    assert after("", requests=1).end_reason is End.TURN_LIMIT
    assert after("", "", "", requests=4).end_reason is None


def test_an_illegal_movement_is_dropped_as_a_whole() -> None:
    turn = only_turn(reply(("down", 4)))  # three cells of the way are free
    assert turn.outcome == "illegal"
    assert dict(turn.events) == {
        "moved": 0,
        "movements": 0,
        "at": [3, 0],
        "illegal": {"movement": 1, "direction": "down", "cells": 4, "obstacle": "wall"},
    }


def test_movements_before_an_illegal_one_stay_and_later_ones_are_dropped() -> None:
    episode = after(reply(("down", 1), ("left", 2), ("left", 1), ("down", 3)))  # the last one would have solved it
    assert dict(episode.turns[0].events) == {
        "moved": 3,
        "movements": 2,
        "at": [1, 1],
        "illegal": {"movement": 3, "direction": "left", "cells": 1, "obstacle": "wall"},
    }
    assert metrics(episode)["steps"] == 3
    assert metrics(episode)["illegal"] == 1
    assert not episode.done


def test_an_illegal_movement_later_in_the_reply_after_the_exit_does_not_matter() -> None:
    episode = after(reply(("down", 3), ("left", 2), ("down", 1), ("up", 99)))
    assert episode.end_reason is End.SOLVED
    assert episode.turns[0].outcome == "ok"
    assert metrics(episode)["steps"] == 6


@pytest.mark.parametrize("cells", [3, 10**9, 10**17])
def test_the_exit_in_the_middle_of_a_movement_ends_it(cells: int) -> None:
    episode = after(reply(("down", 1), ("left", 2), ("down", cells)))  # the exit is met after three of the cells
    assert episode.end_reason is End.SOLVED
    assert metrics(episode)["steps"] == 6
    assert dict(episode.turns[0].events) == {"moved": 6, "movements": 3, "at": [1, 4]}


def test_a_wall_before_the_exit_is_still_a_wall() -> None:
    assert only_turn(reply(("down", 3), ("left", 3))).events["illegal"]["obstacle"] == "wall"


def test_an_exit_behind_a_wall_is_not_met() -> None:
    rows = [[0, 0, 0, "X", 0], [0, 1, 1, 1, 0], [0, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 0]]
    turn = only_turn(reply(("down", 4)), ALICIA.item({"maze": rows}))
    assert turn.events["illegal"]["obstacle"] == "wall"
    assert turn.events["moved"] == 0


def test_the_entrance_is_no_exit() -> None:
    episode = after(reply(("down", 1), ("up", 1)))
    assert not episode.done
    assert episode.turns[0].events["at"] == [3, 0]
    assert episode.turns[0].outcome == "unproductive"


@pytest.mark.parametrize("movements", [[("up", 1)], [("down", 1), ("up", 2)]])
def test_beyond_the_entrance_is_outside(movements: list[tuple[str, object]]) -> None:
    turn = only_turn(reply(*movements))
    assert turn.outcome == "illegal"
    assert turn.events["illegal"]["obstacle"] == "outside"


@pytest.mark.parametrize(("direction", "obstacle"), [("left", "wall"), ("right", "wall"), ("up", "outside")])
def test_from_the_entrance(direction: str, obstacle: str) -> None:
    assert only_turn(reply((direction, 1))).events["illegal"]["obstacle"] == obstacle


def test_an_unparsed_reply_uses_up_its_request() -> None:
    episode = after("I give up", "[]", SHORTEST)
    assert [str(turn.outcome) for turn in episode.turns] == ["unparsed", "unparsed", "ok"]
    assert metrics(episode) | {"unparsed": 2, "requests": 3, "steps": 6, "score": 100} == metrics(episode)
    assert after("", "", "").end_reason is End.TURN_LIMIT


def test_an_empty_plan_moves_nothing() -> None:
    turn = only_turn('{"movements": []}')
    assert (turn.outcome, turn.events["moved"], turn.action) == ("unproductive", 0, [])


def test_productive_is_what_brings_the_exit_nearer() -> None:
    outcomes = [
        str(turn.outcome)
        for turn in after(
            reply(("right", 2)), reply(("right", 1), ("up", 2)), reply(("down", 1), ("up", 1)), item=CORRIDOR
        ).turns
    ]
    assert outcomes == ["ok", "unproductive", "unproductive"]


def test_the_reward_is_one_for_the_exit() -> None:
    assert [turn.reward for turn in after(reply(("down", 1)), SHORTEST.replace("3", "2", 1)).turns] == [0, 1]


def test_legal_are_plans_of_one_movement() -> None:
    game = MazeGame(3)
    state = game.start(CORRIDOR.instance)
    assert [plan[0] for plan in game.legal(state)] == [Movement("right", cells) for cells in range(1, 7)]
    middle = game.apply(state, (Movement("right", 3),), Stream()).state
    assert [plan[0] for plan in game.legal(middle)] == [
        Movement("up", 1),
        Movement("up", 2),
        Movement("left", 1),
        Movement("left", 2),
        Movement("left", 3),
        Movement("right", 1),
        Movement("right", 2),
        Movement("right", 3),
    ]
    solved = game.apply(middle, (Movement("right", 3),), Stream()).state
    assert game.legal(solved) == ()


def test_legal_stops_at_an_exit_beside_the_entrance() -> None:
    rows = [[0, "X", 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    item = ALICIA.item({"maze": rows})
    game = MazeGame(3)
    state = game.start(item.instance)
    assert item.proof["minimum"] == 1
    assert list(game.legal(state)) == [(Movement("down", 1),), (Movement("right", 1),)]
    assert game.apply(state, (Movement("right", 9),), Stream()).state == MazeState(
        item.instance, item.instance.exit, "right"
    )


STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
PLANS = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 6)), max_size=8)


@given(st.sampled_from([5, 7, 9]), st.integers(0, 9), PLANS, PLANS)
def test_a_plan_cell_by_cell(size: int, index: int, first: MovePlan, second: MovePlan) -> None:
    """Two replies against the rules once more, as plainly as they can be written."""
    item = ALICIA.source("plans", size, sides="any", loops=0.5).item(index)
    maze = item.instance
    rows, exit_ = maze.rows(), maze.lattice.position(maze.exit)
    at, steps, illegal = maze.lattice.position(maze.entrance), 0, 0
    for plan in (first, second):
        for direction, cells in plan:
            walked = [at]
            for _ in range(cells):
                x, y = (walked[-1][0] + STEPS[direction][0], walked[-1][1] + STEPS[direction][1])
                free = 0 <= x < size and 0 <= y < size and rows[y][x] != 0
                walked.append((x, y))
                if not free or (x, y) == exit_:
                    break
            if not free:
                illegal += 1
                break
            at, steps = walked[-1], steps + len(walked) - 1
            if at == exit_:
                break
        if at == exit_:
            break
    replies = [reply(*plan) for plan in (first, second)]
    episode = after(replies[0], item=item)
    if not episode.done:
        episode.step(replies[1])
    assert maze.lattice.position(episode.state.at) == at
    assert metrics(episode)["steps"] == steps
    assert metrics(episode)["illegal"] == illegal
    assert (episode.end_reason is End.SOLVED) == (at == exit_)


@pytest.mark.parametrize(
    "action",
    [None, 5, "up", {}, ["up", 1], [["up"]], [["up", 1, 1]], [["UP", 1]], [["up", 0]], [["up", True]], [["up", 1.0]]],
)
def test_what_is_no_action(action: object) -> None:
    with pytest.raises(DataError, match='action: give \\[\\["down", 3\\]'):
        MazeGame(3).decode(action)


def test_actions_in_json() -> None:
    plan = (Movement("up", 1), Movement("left", 10**17))
    assert MazeGame(3).encode(plan) == [["up", 1], ["left", 10**17]]
    assert MazeGame(3).decode([["up", 1], ["left", 10**17]]) == plan
    assert MazeGame(3).decode([]) == ()
