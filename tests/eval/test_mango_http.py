"""MANGO against a real model server: what is sent, and what the answers come to."""

import json
import re
from pathlib import Path

import pytest

from tests.eval.model_server import Answer
from tests.eval.test_search_http import Chat, run, sent


def guesser(messages: Chat, before: int) -> Answer:
    """Go straight to where one is asked to go, by the first action of the list."""
    text = messages[-1]["content"]
    ends = re.search(r'a path from "(.*)" to "(.*)", and format', text)
    actions = re.search(r"The allowed actions are: \['([^']*)'", text)
    assert ends and actions
    move = {"location_before": ends[1], "action": actions[1], "location_after": ends[2]}
    return Answer(f"Let me see.\n[{json.dumps(move)}]\nThat is it.")


@pytest.mark.slow
def test_one_prompt_for_each_question_with_a_shared_beginning(tmp_path: Path) -> None:
    for protocol in ("paper", "sound"):
        server, found = run(
            guesser, tmp_path / protocol, "mango_route", "--limit", "4", "-T", "worlds=2", "-T", f"protocol={protocol}"
        )
        assert len(found) == 8
        asked = sent(server)
        assert all([message["role"] for message in chat] == ["user"] for chat in asked)
        begins = {chat[0]["content"].partition("!!! Can you find")[0] for chat in asked}
        assert len(asked) == 8
        assert len(begins) == 2
        for record in found.values():
            [turn] = record.turns
            assert turn.action == [[record.instance["src"], turn.action[0][1], record.instance["dst"]]]
            assert str(turn.outcome) in ("ok", "illegal", "unproductive")
