"""How attempts at a maze fail: by walls, by its edge, or before the exit."""

import pytest

from tests.envs.maze.mazes import after, reply

# Maze 501: from the entrance at [3,0] three cells lead down, and then two to the left.
INTO_A_WALL = reply(("left", 1))
OUT = reply(("up", 1))
SHORT = reply(("down", 1))
BACK = reply(("up", 1))


@pytest.mark.parametrize(
    ("replies", "wanted"),
    [
        ([reply(("down", 3), ("left", 2), ("down", 1))], None),
        ([INTO_A_WALL] * 3, "wall"),
        ([OUT] * 3, "outside"),
        ([SHORT, BACK, SHORT], "stopped"),
        ([SHORT, INTO_A_WALL, BACK], "stopped"),
        ([INTO_A_WALL, OUT, SHORT], "wall"),  # one of each: the first kind
        (["?", "?", INTO_A_WALL], "unparsed"),
        (["?", OUT, OUT], "outside"),
    ],
)
def test_what_plans_come_to(replies: list[str], wanted: str | None) -> None:
    episode = after(*replies)
    assert episode.done
    found = episode.environment.scoring.failure_of(episode.record())
    assert (found and found.name) == wanted
