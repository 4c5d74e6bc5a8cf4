"""GameTraversalBenchmark against a real model server: one prompt at a time, and the same one after nonsense."""

import json
import re
from pathlib import Path

import pytest

from tests.eval.model_server import Answer
from tests.eval.test_search_http import Chat, run, sent
from waybench.core import EpisodeRecord


def planner(messages: Chat, before: int) -> Answer:
    """Say nothing of use the first time a prompt is seen; then go up and left as often as the target is."""
    if before == 0:
        return Answer("Let me think about it.")
    agent = re.search(r"The agent is at \((\d+), (\d+)\)", messages[-1]["content"])
    target = re.search(
        r"The target is (?:the tile .* at \((\d+), (\d+)\)|\[.*, (\d+), (\d+)\])", messages[-1]["content"]
    )
    assert agent and target
    row, column = (int(text) for text in target.groups() if text is not None)
    rows, columns = row - int(agent[1]), column - int(agent[2])
    names = ["move_down" if rows > 0 else "move_up"] * abs(rows)
    names += ["move_right" if columns > 0 else "move_left"] * abs(columns)
    return Answer(
        f"Here you are:\n```python\n{ {'action': names} }\n```"
        if "Python" in messages[-1]["content"]
        else json.dumps({"action": names})
    )


def prompts(record: EpisodeRecord) -> list[str]:
    return [record.opening[-1].text, *(turn.message for turn in record.turns[:-1])]


@pytest.mark.slow
def test_every_request_is_one_prompt(tmp_path: Path) -> None:
    for protocol in ("paper", "sound"):
        server, found = run(planner, tmp_path / protocol, "gtb", "--limit", "2", "-T", f"protocol={protocol}")
        assert len(found) == 2
        asked = sent(server)
        assert all([message["role"] for message in chat] == ["system", "user"] for chat in asked)
        assert set(server.asked.values()) == {2}  # each prompt twice: after nonsense it is the same again
        for record in found.values():
            outcomes = [str(turn.outcome) for turn in record.turns]
            assert outcomes[::2] == ["unparsed"] * (len(outcomes) // 2)
            assert "unparsed" not in outcomes[1::2]
            assert set(prompts(record)) <= {chat[-1]["content"] for chat in asked}
