"""The drawings of an episode from its start to its end."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import waybench
from tests.drawings import drawer
from tests.report.pages import unpacked
from waybench.core import play_to_end, policy
from waybench.core._presentation import make_after_each_count
from waybench.envs import registry
from waybench.reporting import write_report
from waybench.reporting._format import presentation_of
from waybench.reporting._replays import MOST_FRAMES, Frames, draw_replay_frames, pack_json
from waybench.results import LoggedEpisode

draw = drawer("maze/alicia")
DRAWN = [entry.id for entry in registry.built_in if presentation_of(entry.id).draw]


def drawings(made: Frames | str) -> list[str]:
    """Put the drawings together as the page's script does, of frames or of their data as a page has it."""
    data = unpacked(made) if isinstance(made, str) else made.values
    found: list[str] = []
    for frame in data["frames"]:
        numbers: list[int] = []
        for number in frame:
            numbers += range(numbers[-1] + 1, numbers[-1] + 1 - number) if number < 0 else [number]
        found.append("".join(data["pieces"][number] for number in numbers))
    return found


def episode(player: str = "noisy-0.3") -> Any:
    environment = waybench.load("maze/alicia")
    return play_to_end(environment, environment.source(level=9).item(0), policy(player))


def test_each_frame_is_the_drawing_after_its_turns() -> None:
    done = episode()
    turns = done.turns
    assert len(turns) == 3
    made = draw_replay_frames(make_after_each_count(draw), done.item.instance, turns)
    wanted = [draw(done.item.instance, turns[:count]) for count in range(4)]
    assert drawings(made) == wanted
    assert len(set(wanted)) == 4
    assert made.values["turns"] == [0, 1, 2, 3]
    assert (made.last, made.stride) == (wanted[-1], 1)
    assert len(json.dumps(made.values)) < sum(map(len, wanted))  # what does not change is there once


@pytest.mark.parametrize("count", [1, MOST_FRAMES - 1, MOST_FRAMES, 2 * MOST_FRAMES, 10_000])
def test_of_long_episodes_some_steps_are_passed_over(count: int) -> None:
    def counted(instance: Any, turns: Any) -> str:
        return f"<svg><text>{len(turns)}</text></svg>"

    turn = episode().turns[0]
    made = draw_replay_frames(make_after_each_count(counted), episode().item.instance, [turn] * count)
    data = made.values
    assert (data["turns"][0], data["turns"][-1]) == (0, count)
    assert len(data["turns"]) == len(data["frames"]) <= MOST_FRAMES + 1
    assert data["turns"] == sorted(set(data["turns"]))
    assert {later - earlier for earlier, later in pairwise(data["turns"][:-1])} <= {made.stride}
    assert (made.stride == 1) == (len(data["turns"]) == count + 1) == (count < MOST_FRAMES)


def test_no_element_ends_in_the_data() -> None:
    def hostile(instance: Any, turns: Any) -> str:
        return "<svg></script><script>alert(1)</script></svg>"

    made = draw_replay_frames(make_after_each_count(hostile), episode().item.instance, episode().turns)
    assert re.fullmatch("[A-Za-z0-9+/=]+", pack_json(dict(made.values)))
    assert drawings(made)[0] == hostile(None, [])


def test_a_replay_of_the_puzzle_shows_how_it_stands() -> None:
    environment = waybench.load("hanoi/rods")
    done = play_to_end(
        environment, environment.source("rods", 3).item(0), policy("oracle"), {"wording": "one_question"}
    )
    draw_frames = presentation_of("hanoi/rods").draw_frames
    assert draw_frames is not None
    made = drawings(draw_replay_frames(draw_frames, done.item.instance, done.turns))
    assert len(made) == len(done.turns) + 1
    titles = [re.findall(r'class="hanoi-title"[^>]*>([^<]*)<', each) for each in made]
    assert titles == [[name, "goal"] for name in ("start", *map(str, range(1, len(done.turns) + 1)))]


@pytest.mark.parametrize("env_id", DRAWN)
@pytest.mark.parametrize("player", ["noisy-0.3", "null"])
def test_nothing_grows_or_zooms_on_the_way(env_id: str, player: str) -> None:
    environment = waybench.load(env_id)
    options = {"steps": 40} if any(option.name == "steps" for option in environment.playing.options) else {}
    done = play_to_end(environment, environment.source().item(0), policy(player), options)
    draw_frames = presentation_of(env_id).draw_frames
    assert draw_frames is not None
    counts = range(len(done.turns) + 1)
    made = list(draw_frames(done.item.instance, done.turns, counts))
    assert len(made) == len(counts)
    assert len({ElementTree.fromstring(each).get("viewBox") for each in made}) == 1
    # What passes over turns is drawn as it is with them.
    assert list(draw_frames(done.item.instance, done.turns, counts[::3])) == made[::3]


@pytest.mark.slow
def test_steps_that_are_passed_over_are_told(tmp_path: Path) -> None:
    environment = waybench.load("crafter/survival")
    item = environment.source().item(0)
    for steps, told in (
        (MOST_FRAMES - 1, ""),
        (2 * MOST_FRAMES, "Of the 480 turns, one in "),
    ):
        done = play_to_end(environment, item, policy("oracle"), {"wording": "one_question", "steps": steps})
        assert len(done.turns) == steps
        write_report([LoggedEpisode("m", "crafter", done.record())], tmp_path / str(steps))
        (path,) = (tmp_path / str(steps) / "replays").iterdir()
        text = path.read_text(encoding="utf-8")
        assert (" is drawn, and the last" in text) == bool(told)
        assert told in text
