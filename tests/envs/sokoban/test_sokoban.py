"""Sokoban: its rules, two solvers that agree, rooms by key and from files, and why episodes fail."""

from pathlib import Path
from typing import Any

import pytest

import waybench
from waybench.core import DataError, Episode, Stream, UsageError, play_to_end, policy
from waybench.core._solutions import DEAD_END
from waybench.envs.sokoban._environment import draw_position, read_rooms
from waybench.envs.sokoban._rooms import (
    BY_MOVES,
    BY_PUSHES,
    GAME,
    PUSH,
    Room,
    decode,
    is_listed,
    prove,
    room_map,
)

ROOMS = waybench.load("sokoban/rooms")
# A corridor: the box is pushed twice to the right, and the player first goes around it.
CORRIDOR = ("########", "#  @   #", "# $  . #", "#      #", "########")
# The first room of "Microban" by David W. Skinner, which has 33 moves in its best known solution.
MICROBAN = ("####  ", "# .#  ", "#  ###", "#*@  #", "#  $ #", "#  ###", "####  ")


no_files: Any = None  # a file of the user's needs none


def play(rows: tuple[str, ...], *moves: str) -> str:
    state = GAME.start(Room(rows))
    for move in moves:
        state = GAME.apply(state, move, Stream()).state
    return str(state)


def test_moves_and_pushes() -> None:
    rows = ("#####", "#@$.#", "#####")
    assert play(rows, "right").splitlines()[1] == "# @*#"
    assert play(rows, "left", "up", "down") == "\n".join(rows)
    assert play(("######", "#@$ .#", "######"), "right", "right", "right").splitlines()[1] == "#  @*#"
    assert play(("######", "#@$$.#", "######"), "right").splitlines()[1] == "#@$$.#"
    assert play(("######", "#@.$.#", "#  $ #", "######"), "right").splitlines()[1] == "# +$.#"


def test_the_minimum_of_rooms_that_are_solved_by_hand() -> None:
    # Left, left, down, right, right, right: three pushes.
    assert prove(decode(list(CORRIDOR))) == {"pushes": 3, "moves": 6}
    assert prove(decode(list(MICROBAN))) == {"pushes": 8, "moves": 33}


def test_fewest_pushes_and_fewest_moves_can_be_of_two_solutions() -> None:
    rooms = [ROOMS.source("two", level=8).item(index) for index in range(12)]
    different = 0
    for item in rooms:
        moves_of_pushes = (BY_PUSHES.remaining(GAME.start(item.instance)) or 0) % PUSH
        assert moves_of_pushes >= item.proof["moves"]
        different += moves_of_pushes > item.proof["moves"]
    assert different < len(rooms)


@pytest.mark.slow
def test_both_solvers_agree() -> None:
    compared = dead = 0
    for number in range(60):
        position = draw_position(Stream("agree", number), 7, 2)
        if position is None:
            continue
        assert is_listed(position)
        known, by_moves = BY_PUSHES.remaining(position), BY_MOVES.remaining(position)
        solver = room_map(position)
        assert solver.fewest_pushes() == (None if known is None else known // PUSH)
        for push, cost in ((PUSH, known), (0, by_moves)):
            moves = solver.solve(push)
            assert (moves is None) == (cost is None)
            if moves is None:
                dead += 1
                continue
            state, paid = position, 0
            for move in moves:
                after = GAME.step(state, move)
                assert after is not None
                paid += 1 + push * (after.boxes != state.boxes)
                state = after
            assert GAME.is_solved(state)
            assert paid == cost
            compared += 1
    assert compared > 20
    assert dead > 20


def test_all_costs_of_a_room_fit_each_other() -> None:
    start = GAME.start(ROOMS.source(level=4).item(0).instance)
    assert BY_PUSHES.check(start) == len(BY_PUSHES.cost_by_reachable_state(start)) > 100
    assert BY_MOVES.check(start) == len(BY_MOVES.cost_by_reachable_state(start))


@pytest.mark.parametrize("level", [8, 13])
def test_larger_rooms_have_as_many_pushes_as_their_level(level: int) -> None:
    item = ROOMS.source("large", level=level).item(0)
    start = GAME.start(item.instance)
    assert not is_listed(start)
    assert (len(item.instance.rows), len(start.boxes)) == ((8, 3) if level == 8 else (10, 4))
    assert item.proof["pushes"] == level
    assert BY_PUSHES.check(start) == (BY_PUSHES.remaining(start) or 0) % PUSH
    record = play_to_end(ROOMS, item, policy("oracle")).record()
    assert ROOMS.scoring.metrics[0].of(record) == 1


def test_a_level_that_the_size_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="change size or boxes"):
        ROOMS.source(level=20, size=5, boxes=1).item(0)
    for level in (1, 21):
        with pytest.raises(UsageError, match=f"level {level}: give 2 to 20"):
            ROOMS.source(level=level)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["#####", "#@$. ", "#####"], "close its walls"),
        (["#####", "#@$ #", "#####"], "as many boxes as goals"),
        (["#######", "#@$.#.#", "#####$#", "#######"], "within the walls"),
        (["#####", "#@* #", "#####"], "can be solved and is not"),
        (["######", "#$@ .#", "######"], "can be solved and is not"),
        (["#####", "#@$.#", "##@##"], "one player"),
        (["#####", "#@$.x", "#####"], "one player"),
        (["#" * 12, *["#" + " " * 10 + "#"] * 7, "#@$.      ##", "#" * 12], "at most 64"),
        ("#####", "rows"),
    ],
)
def test_what_is_no_room_is_refused(rows: object, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        decode(rows)


def test_files_in_the_common_format(tmp_path: Path) -> None:
    path = tmp_path / "rooms.xsb"
    text = "; two rooms\n" + "\n".join(CORRIDOR) + "\n\nTitle: first\n" + "\n".join(MICROBAN).replace(" ", "-") + "\n"
    path.write_text(text, encoding="utf-8")
    source = next(each for each in ROOMS.all_datasets if each.name == "file").open({"source": str(path)}, no_files)
    first, second = source.item(0), source.item(1)
    assert (first.level, second.level) == (3, 8)
    assert first.instance.rows == CORRIDOR
    with pytest.raises(DataError, match=r"rooms.xsb: line 2: room: close its walls"):
        list(read_rooms("text\n#@$.#\n####\n#####\n", "rooms.xsb"))


def test_a_push_into_a_corner_is_a_dead_end_and_the_first_error() -> None:
    item = ROOMS.item(list(CORRIDOR))
    episode = Episode(ROOMS, item, {"turn_factor": 1.0})
    for reply in ("left", "left", "down", "right", "up", "right", "down", "down"):
        episode.step(reply)
    assert BY_PUSHES.remaining(episode.state) is None
    while not episode.done:
        episode.step("up" if len(episode.turns) % 2 else "down")
    record = episode.record()
    assert ROOMS.scoring.failure_of(record) is DEAD_END
    error = ROOMS.scoring.first_error_of(record)
    assert error is not None
    assert (error.step, error.kind.name) == (5, "detour")


def test_a_chatty_reply_is_read_and_two_moves_are_refused() -> None:
    item = ROOMS.item(list(CORRIDOR))
    episode = Episode(ROOMS, item)
    assert episode.step("I go **Left**.").outcome == "ok"
    assert episode.step("left or right").outcome == "unparsed"
    assert episode.step("up").outcome == "illegal"
    assert "there is a wall" in episode.messages[-1].text


def test_the_drawing_is_that_of_the_board() -> None:
    item = ROOMS.item(list(CORRIDOR))
    record = play_to_end(ROOMS, item, policy("oracle")).record()
    draw = ROOMS.presentation.draw
    assert draw is not None
    before, after = draw(item.instance, ()), draw(item.instance, record.turns)
    assert 'viewBox="0 0 8 5"' in before
    assert ("#009e73" in before, "#009e73" in after) == (False, True)  # a box on its goal
