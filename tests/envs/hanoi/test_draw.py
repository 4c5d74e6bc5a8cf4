"""The puzzle's drawing, read back."""

from xml.etree import ElementTree

import pytest

import waybench
from tests.drawings import drawer
from waybench.core import Episode, play_to_end, policy
from waybench.envs.hanoi._environment import MOST_FRAMES, move_frames
from waybench.envs.hanoi._game import Towers

HANOI = waybench.load("hanoi/rods")
draw = drawer("hanoi/rods")


def episode(*names: str, wording: str = "one_question") -> Episode:
    item = HANOI.source(level=3).item(0)
    made = Episode(HANOI, item, {"wording": wording})
    for name in names:
        made.step(f"Move the top disk of rod {name[0]} to the top of rod {name[1]}")
    return made


def test_a_frame_for_each_move_that_was_tried() -> None:
    made = episode("AC", "AC", "AB")
    found = list(move_frames(made.item.instance, made.turns))
    assert [frame.title for frame in found] == ["start", "1", "2", "3"]
    assert [frame.rods for frame in found] == [
        ((2, 1, 0), (), ()),
        ((2, 1), (), (0,)),
        ((2, 1), (), (0,)),
        ((2,), (1,), (0,)),
    ]
    assert [(frame.disk, frame.refused) for frame in found[1:]] == [(0, ()), (-1, (0, 2)), (1, ())]


def test_thoughts_are_no_moves() -> None:
    made = episode("AC", "AC", wording="two_questions")
    assert len(list(move_frames(made.item.instance, made.turns))) == 2


@pytest.mark.parametrize("level", [3, 5])
def test_all_disks_are_in_every_frame(level: int) -> None:
    item = HANOI.source(level=level, positions="free").item(0)
    made = play_to_end(HANOI, item, policy("oracle"))
    svg = ElementTree.fromstring(draw(item.instance, made.turns))
    disks = [each for each in svg.iter() if each.get("class") == "hanoi-disk"]
    moves = item.proof["minimum"]
    assert len(disks) == level * (moves + 2)
    assert svg.get("aria-label") == f"Tower of Hanoi with {level} disks: {moves} moves, 0 of them not allowed"


def test_a_long_episode_is_cut() -> None:
    made = episode(
        *(["AB", "BA"] * 60)[: HANOI.playing.play(HANOI.resolve_options({})).turns(Towers("AAA", "CCC")) // 2]
    )
    many = [*made.turns] * 5
    drawn = draw(made.item.instance, many)
    assert drawn.count("hanoi-title") == MOST_FRAMES + 2
    assert f"the first {MOST_FRAMES} are drawn" in drawn
