"""The drawing, read back."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.drawings import drawer
from tests.envs.messenger.games import ENV, case, played
from waybench.core import play_to_end, policy
from waybench.envs.messenger._environment import positions_after_steps

draw = drawer("messenger/roles")


def parts(svg: str, name: str) -> list[dict[str, str]]:
    return [
        element.attrib for element in ElementTree.fromstring(svg).iter() if name in element.get("class", "").split()
    ]


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


@pytest.mark.parametrize("player", ["oracle", "random", "heuristic", "noisy-0.5"])
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_ways_are_those_that_were_gone(stage: int, player: str) -> None:
    for item in ENV.source("draw", stage).head(5):
        episode: Any = play_to_end(ENV, item, policy(player))
        ways = list(positions_after_steps(item.instance, episode.turns))
        assert len(ways) == episode.state.stored + 1
        world = episode.state.world
        assert ways[-1] == (world.agent, world.places)
        svg = draw(item.instance, episode.turns)
        for line in parts(svg, "tiles-trail"):
            drawn = points(line["d"])
            agents = [(x / 2 + 0.5, y / 2 + 0.5) for (x, y), _ in ways]
            assert drawn == [at for number, at in enumerate(agents) if number == 0 or at != agents[number - 1]]
        assert len(parts(svg, "roles-actor")) == len(item.instance.actors)
        (stop,) = parts(svg, "tiles-stop")
        assert (float(stop["cx"]), float(stop["cy"])) == (world.agent[0] / 2 + 0.5, world.agent[1] / 2 + 0.5)


def test_ends_are_marked() -> None:
    cells = ((0, 0), (6, 5), (4, 5))
    for stage, reply, marked, told in (
        (1, "Move East", 1, "won"),
        (2, "Move West", 1, "lost"),
        (2, "Move North", 0, "not"),
    ):
        record = played(case(stage=stage, cells=cells), reply)
        svg = draw(case(stage=stage, cells=cells), record.turns)
        assert len(parts(svg, "roles-end")) == marked
        assert told in ElementTree.fromstring(svg).get("aria-label", "")


def test_before_the_first_step_there_is_the_board_alone() -> None:
    svg = draw(case(stage=3))
    assert not parts(svg, "tiles-trail") + parts(svg, "tiles-stop") + parts(svg, "roles-way")
    assert len(parts(svg, "roles-actor")) == 5


def test_a_board_is_drawn_once() -> None:
    first, again = draw(case(), board_id="b1"), draw(case(), board_id="b1", reuse=True)
    assert 'id="b1"' in first and '<use href="#b1"/>' in again
    assert not parts(again, "roles-actor")


def test_nothing_of_a_reply_or_a_manual_is_drawn() -> None:
    record = played(case(), "Move East <script>alert(1)</script>")
    svg = draw(case(), record.turns)
    assert "script" not in svg and "foe" not in svg
