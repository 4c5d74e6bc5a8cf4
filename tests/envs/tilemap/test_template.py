"""The prompt of GTB, repeated by a template."""

from pathlib import Path

import pytest

import waybench
from waybench.core import play_to_end, policy

TEMPLATE = """
rules = "You plan the way of an agent over a map of tiles. Answer with its actions and nothing else."
observation = '''
The map:
{map}

What the characters stand for:
{tiles}

Objectives, to be reached in this order:
{objectives}

Tiles that can be walked on:
{walkable}

Tiles of interactive objects:
{interactive}

The agent is the tile @.

{beings}

The agent is at {position}.

Rewards: {rewards}

{feedback}

The target is {target}.

The actions are move_up, move_down, move_left, move_right. Return the whole sequence of actions that leads to the \
target, strictly as a Python dictionary with the one entry 'action', such as {'action': ['move_up', 'move_up', \
'move_left']}.
'''
""".replace("\\\n", "")


@pytest.mark.parametrize("beings", [{}, {"walkers": 1, "hazards": 2}])
def test_the_prompt_as_a_template_gives_the_same_bytes(tmp_path: Path, beings: dict[str, int]) -> None:
    path = tmp_path / "gtb.toml"
    path.write_text(TEMPLATE)
    environment = waybench.load("tilemap/gtb")
    item = environment.source(level=2).item(1)
    mine, own = (
        play_to_end(environment, item, policy("noisy-0.2"), {"wording": name, **beings})
        for name in (f"file:{path}", "plain")
    )
    assert len(own.turns) > 3
    assert [(m.role, m.text) for m in mine.record().opening] == [(m.role, m.text) for m in own.record().opening]
    assert [turn.message for turn in mine.turns[:-1]] == [turn.message for turn in own.turns[:-1]]
