"""A real model server, reached through the engine's own client, with everything going wrong that can."""

from pathlib import Path

import pytest

from tests.eval.model_server import Answer, model_server
from tests.eval.play import MAZES, MODEL, records, scripted, waybench_
from waybench.core import replay

FIRST = {
    "501": Answer(status=429),
    "502": Answer(status=500),
    "503": Answer(status=500),
    "504": Answer('{"movements": [{"direct', finish="length"),
    "505": Answer(""),
    "506": Answer("a reply that never arrives as a whole", cut=True),
    "507": Answer("a lone surrogate \ud800 in a reply"),
    "508": Answer("", finish="content_filter"),
    "509": Answer("too late", delay=60),
}
TIMES = {"501": 2, "502": 1, "503": 1000, "506": 1, "509": 1}  # how often it goes wrong; the others: always
WALL = Answer('{"movements": [{"direction": "up", "cells": 1}]}')


@pytest.mark.slow
def test_faults_are_told_apart_and_paid_once(tmp_path: Path) -> None:
    healed = False

    def faults(item: str, turn: int, before: int) -> Answer | None:
        if item == "510":
            return WALL
        if item in FIRST and turn == 0 and before < TIMES.get(item, 1000) and not (healed and item == "503"):
            return FIRST[item]
        return None

    with model_server(scripted((5, 7), faults)) as server:
        run = [
            *("run", "alicia", "--model", MODEL, "--no-check", "--model-base-url", server.url, "--out", str(tmp_path)),
            *("-T", "max_dimension=7", "--max-retries", "2", "--timeout", "8", "--rerun", "0"),
        ]
        first = waybench_(*run)
        assert first.returncode == 1, first.stderr
        assert "unfinished: alicia with openai-api/scripted/player" in first.stderr
        assert "Traceback" not in first.stderr
        found = records(tmp_path)
        asked = server.asked.copy()

        # What could not be had is an infrastructure error, with the provider's words, and in no score.
        broken = found.pop("503-1")
        assert broken.end == "infrastructure_error"
        assert "1 x openai-api/scripted/player: InternalServerError" in first.stderr
        assert "InternalServerError" in str(broken.error) and "scripted 500" in str(broken.error)

        outcomes = {name: [str(turn.outcome) for turn in record.turns] for name, record in found.items()}
        solved = [name for name, record in found.items() if record.end == "solved"]
        assert outcomes["501-1"] == outcomes["502-1"] == outcomes["506-1"] == outcomes["509-1"] == ["ok"]
        assert outcomes["504-1"] == ["truncated", "ok"]
        assert outcomes["505-1"] == outcomes["507-1"] == ["unparsed", "ok"]
        assert outcomes["508-1"] == ["refused", "ok"]
        assert all(outcomes[f"510-{attempt}"] == ["illegal"] * 3 for attempt in (1, 2, 3))
        assert found["507-1"].turns[0].reply == "a lone surrogate \\ud800 in a reply"
        assert len(found) == 21 and len(solved) == 18  # 503 has no result, 510 three attempts without the exit
        assert all(MAZES.scoring.metrics[0].of(found[name]) == 100 for name in solved)
        for name, record in found.items():
            replay(MAZES, record)
            if name != "507-1":  # its reply was sent as another text than what is stored
                assert record.tokens[1] == sum(len(turn.reply) // 4 for turn in record.turns)

        # A retry is a retry: no conversation was answered twice, but for 510, whose attempts are the same conversation.
        answered_often = [times for times in server.answered.values() if times > 1]
        assert answered_often == [3, 3, 3]

        # The same command asks again for what is missing, and for nothing else.
        healed = True
        second = waybench_(*run)
        assert second.returncode == 0, second.stderr
        more = server.asked - asked
        assert len(more) == 1 and sum(more.values()) == 1
        assert records(tmp_path)["503-1"].end == "solved"
        assert len(records(tmp_path)) == 22


@pytest.mark.slow
def test_token_limit_ends_an_episode_and_time_limit_is_infrastructure(tmp_path: Path) -> None:
    slow, healed = "502", False

    def faults(item: str, turn: int, before: int) -> Answer | None:
        return Answer("x" * 4000, delay=60 if item == slow and not healed else 0)

    with model_server(scripted((5,), faults)) as server:
        run = [
            *("run", "alicia", "--model", MODEL, "--no-check", "--model-base-url", server.url, "--out", str(tmp_path)),
            *("-T", "max_dimension=5", "--limit", "2", "--attempts", "1", "--rerun", "0"),
            *("--token-limit", "1500", "--time-limit", "15"),
        ]
        result = waybench_(*run)
        assert result.returncode == 1 and "limit on time" in result.stderr, result.stderr
        found = records(tmp_path)
        assert found["501-1"].end == "turn_limit" and "token" in str(found["501-1"].error).lower()
        assert len(found["501-1"].turns) < 3
        assert found["502-1"].end == "infrastructure_error" and "time" in str(found["502-1"].error)

        # What the time limit stopped is asked again, and nothing else is.
        asked, healed = server.asked.copy(), True
        again = waybench_(*run)
        assert again.returncode == 0, again.stderr
        assert records(tmp_path)["502-1"].end == "turn_limit"
        maze = MAZES.source().item(1).instance.to_json()["maze"]
        matrix = str(maze).replace("'", "").replace(" ", "")
        assert server.asked - asked and all(matrix in key for key in server.asked - asked)
