"""The same replies through every face of this environment's Python: rewards, ends and records are the same.

OpenEnv, TRL and verifiers are played with the same scripts in faces/.
"""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gymnasium", reason="the extra [gym] is not installed")

from tests.rl.faces.scripts import ENVIRONMENTS, growing, script, told
from waybench.core import ItemList
from waybench.envs import registry
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import find_task, load_task
from waybench.ext.train import Session
from waybench.ext.train.gymnasium import TextEnv
from waybench.results import read_logs

WAYS = [(env, options) for env in ENVIRONMENTS for options in ({}, growing(env)) if options or env]
IDS = [f"{env}-{'-'.join(map(str, options.values())) or 'default'}" for env, options in WAYS]


@pytest.mark.parametrize(("env", "options"), WAYS, ids=IDS)
def test_session_and_gymnasium(env: str, options: dict[str, Any]) -> None:
    expected = script(env, 3, options)
    session, face = Session(env, **options), TextEnv(env, **options)
    started = session.start(3)
    text, info = face.reset(options={"index": 3, "attempt": 1})
    assert (text, info["messages"]) == (started.text, started.messages)
    rewards: list[float] = []
    over = False
    for reply in expected.replies:
        assert not over
        turn = session.reply(reply)
        text, reward, terminated, truncated, info = face.step(reply)
        over = terminated or truncated
        rewards.append(turn.reward)
        assert (text, reward, terminated, truncated) == (turn.text, turn.reward, turn.terminated, turn.truncated)
        assert (info["messages"], info["outcome"]) == (turn.messages, turn.info["outcome"])
    assert rewards == expected.rewards and over == (expected.end != "None")
    assert face.episode is not None
    assert told(session.record().to_json()) == told(face.episode.record().to_json()) == expected.record


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_legal_actions_are_read_and_legal(env: str) -> None:
    session = Session(env, legal_actions=5)
    turn = session.start(0)
    assert 1 <= len(turn.info["legal_actions"]) <= 5
    for reply in turn.info["legal_actions"]:
        session.start(0)
        assert session.reply(reply).info["outcome"] not in ("unparsed", "illegal"), reply


@pytest.mark.slow
def test_inspect(tmp_path: Path) -> None:
    tasks = [partial(load_task(find_task(env)), limit=1) for env in ENVIRONMENTS]
    evaluate(tasks, ["waybench/noisy-0.1"], tmp_path)
    found: set[str] = set()
    for logged in read_logs(tmp_path):
        record = logged.record
        found.add(record.env)
        env = registry.load(record.env)
        source = ItemList([env.item(record.instance, record.examples)])
        session = Session(env, source=source, **record.options)
        turn = session.start(0, record.attempt)
        for spoken in record.turns:
            turn = session.reply(spoken.reply)
            assert (turn.text, turn.reward) == (spoken.message, spoken.reward)
        assert turn.info["end"] == record.end and turn.done
        replayed, original = (told(one.to_json()) for one in (session.record(), record))
        assert {**replayed, "item": None, "proof": None} == {**original, "item": None, "proof": None}
    assert found == set(ENVIRONMENTS)
