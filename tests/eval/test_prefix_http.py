"""A hand-over against a model server: what it is sent, what is paid, and that a resumed run pays nothing twice."""

from pathlib import Path
from typing import Any

import pytest

from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL, records, waybench_
from waybench import load
from waybench.core import Episode, policy, replay
from waybench.results import read_logs, rows

DFS = load("search/dfs")
STEPS = 3  # of the prefix
ITEMS = 3


def _own_replies(messages: list[dict[str, Any]]) -> int:
    """Return how many replies of the model are in a conversation that begins with the prefix."""
    return sum(message["role"] == "assistant" for message in messages) - STEPS


@pytest.mark.slow
def test_a_model_is_sent_the_prefix_as_its_own_turns_and_pays_for_none_of_them(tmp_path: Path) -> None:
    healed = False
    length = 0  # messages before the hand-over
    known: dict[str, str] = {}  # the conversation at the hand-over -> the oracle's replies after it, in this order
    for index in range(ITEMS):
        episode: Episode[Any, Any, Any] = Episode(DFS, DFS.source(level=8).item(index), {"prefix": f"oracle:{STEPS}"})
        sent = [message.text for message in episode.messages]
        length = len(sent)
        replies: list[str] = []
        while not episode.done:
            replies.append(policy("oracle").reply(episode))
            episode.step(replies[-1])
        known["".join(sent)] = "\n".join(replies)

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        replies = known["".join(str(message["content"]) for message in messages[:length])].splitlines()
        number = _own_replies(messages)
        return Answer(status=500) if number == 1 and not healed else Answer(replies[number])

    with model_server(script) as server:
        run = [
            *("run", "dfs", "--model", MODEL, "--no-check", "--model-base-url", server.url, "--out", str(tmp_path)),
            *("-T", "level=8", "--limit", str(ITEMS), "--prefix", f"oracle:{STEPS}", "--display", "none"),
            *("--max-retries", "0", "--rerun", "0"),
        ]
        first = waybench_(*run)
        assert first.returncode == 1 and "Traceback" not in first.stderr
        assert {_own_replies(body["messages"]) for body in server.bodies} == {0, 1}
        healed = True
        again = waybench_(*run)
        assert again.returncode == 0, again.stderr
        # The first reply of each episode came from the journal, and nothing was paid for twice.
        assert set(server.answered.values()) == {1}
        answered = sum(server.answered.values())

    found = records(tmp_path)
    assert len(found) == ITEMS
    for record in found.values():
        assert record.end == "solved"
        assert [turn.prefix for turn in record.turns[: STEPS + 1]] == ["oracle"] * STEPS + [""]
        assert all(turn.usage is None for turn in record.turns[:STEPS])
        assert all(turn.usage is not None for turn in record.own_turns)
        assert replay(DFS, record).record().dumps() == record.dumps()
    assert sum(len(record.own_turns) for record in found.values()) == answered
    episodes = list(read_logs(tmp_path))
    found_rows = [row for row in rows(episodes) if row.is_included]
    assert sum(row.turns for row in found_rows) == answered
    assert sum(sum(row.outcomes.values()) for row in found_rows) == answered
    assert {dict(row.group.options)["prefix"] for row in found_rows} == {f"oracle:{STEPS}"}

    packed = tmp_path / "packed.zip"
    assert waybench_("submit", str(tmp_path), "--out", str(packed)).returncode == 0
    for path in (packed, tmp_path):
        verified = waybench_("verify", str(path))
        assert verified.returncode == 0, verified.stdout + verified.stderr
