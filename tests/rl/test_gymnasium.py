"""The Gymnasium face, over the whole catalogue."""

import subprocess
import sys
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra [gym] is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import waybench  # noqa: E402
from waybench.core import UsageError, policy, private_key_label  # noqa: E402
from waybench.envs import registry  # noqa: E402
from waybench.ext.train import gymnasium as _gymnasium  # noqa: E402
from waybench.ext.train.gymnasium import TRAINING_KEY, TextEnv, Texts, gym_id  # noqa: E402

IDS = [gym_id(entry.id, entry.version) for entry in registry.built_in]


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_s_own_checker(name: str) -> None:
    check_env(gymnasium.make(name).unwrapped)


def test_registered_by_the_import_which_loads_no_engine() -> None:
    script = (
        "import gymnasium, sys, waybench.ext.train.gymnasium; print(*gymnasium.registry, 'inspect_ai' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert set(printed) >= set(IDS)
    assert printed[-1] == "False"


@pytest.mark.parametrize("name", IDS)
def test_same_seed_same_episode(name: str) -> None:
    def play(seed: int) -> list[Any]:
        env = gymnasium.make(
            name, level=waybench.load(gymnasium.spec(name).kwargs["env_id"]).items.sample_levels[:2][-1]
        )
        shown: list[Any] = [env.reset(seed=seed)]
        for _ in range(2):
            shown += [env.step("no answer"), env.reset()]
        return shown

    assert play(1) == play(1)
    # Not by the first text: it can be the same for all items.
    assert play(1)[0][1]["item"] != play(2)[0][1]["item"]


@pytest.mark.parametrize("name", IDS)
def test_an_oracle_is_rewarded_and_terminates(name: str) -> None:
    env: TextEnv = gymnasium.make(name).unwrapped
    properties = env.session.environment.playing.play(env.session.options).game.properties
    _, info = env.reset(seed=0)
    assert info["key"] == private_key_label(TRAINING_KEY)
    total, terminated, truncated = 0.0, False, False
    while not (terminated or truncated):
        observation, reward, terminated, truncated, info = env.step(policy("oracle").reply(env.episode))
        total += float(reward)
        assert info["messages"][-1]["role"] == "user"
        assert info["messages"][-1]["content"].endswith(observation)  # after the rules, where nothing is remembered
    if not properties.deterministic:  # the best that can be done is a matter of chance, and some games have no end
        assert (terminated, truncated) == (info["end"] in ("solved", "failed"), info["end"] == "turn_limit")
        assert properties.reward[0] <= total <= properties.reward[1]
        return
    assert (terminated, truncated, info["end"]) == (True, False, "solved")
    assert total == pytest.approx(properties.reward[1])
    headline = env.session.environment.scoring.metrics[0]
    perfect = headline.low if headline.better == "lower" else 100 if headline.high is None else headline.high
    if headline.ceiling is not None:
        perfect = headline.ceiling(env.episode.record())
    assert info["metrics"][headline.name] == pytest.approx(perfect)


def test_a_name_with_its_module_needs_no_import() -> None:
    script = (
        "import gymnasium; env = gymnasium.make('waybench.ext.train.gymnasium:waybench/hanoi-rods-v1', level=3);"
        "print(env.reset(seed=1)[1]['level'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.mark.parametrize(
    ("env_id", "settings", "reply", "reason"),
    [
        ("maze/alicia", {}, '{"movements": [{"direction": "up", "cells": 1}]}', "it leaves the maze"),
        ("maze/explore", {}, '{"move": "up"}', "the maze ends there"),
        ("sokoban/rooms", {}, "right", "there is a wall, or a box that is stuck"),
        ("search/dfs", {}, "99", "adjacent to the current node"),
        (
            "hanoi/rods",
            {"wording": "one_question"},
            "Move the top disk of rod C to the top of rod B.",
            "The first rod has no disk",
        ),
        ("tilemap/stepwise", {}, '{"action": "jump"}', "an action that the game does not have"),
        (
            "textmap/route",
            {},
            '[{"location_before": "a", "action": "b", "location_after": "c"}]',
            "does not have a move",
        ),
    ],
)
def test_why_an_action_was_illegal(env_id: str, settings: dict[str, Any], reply: str, reason: str) -> None:
    env = TextEnv(env_id, **settings)
    env.reset(options={"index": 0})
    *_, info = env.step(reply)
    assert info["outcome"] == "illegal"
    assert reason in info["reason"] and "\n" not in info["reason"]


def test_limits_truncate() -> None:
    env = gymnasium.make("waybench/maze-alicia-v1", requests=2)
    env.reset(options={"index": 0})
    first = env.step("?")
    second = env.step('{"movements": [{"direction": "up", "cells": 1}]}')
    assert (first[1:4], first[4]["outcome"], bool(first[4]["reason"])) == ((0.0, False, False), "unparsed", True)
    assert (second[1:4], second[4]["outcome"], second[4]["end"]) == ((0.0, False, True), "illegal", "turn_limit")
    assert env.unwrapped.render() is None


def test_items_are_chosen() -> None:
    env = gymnasium.make("waybench/maze-alicia-v1", level=9, key="mine", items=3, source_options={"loops": 0.0})
    met = {env.reset(seed=seed)[1]["item"] for seed in range(30)}
    assert met == {"901", "902", "903"}
    text, _ = env.reset(options={"index": 1})
    source = waybench.load("maze/alicia").source("mine", 9, loops=0.0)
    matrix = str(source.item(1).instance.to_json()["maze"]).replace("'", "").replace(" ", "")
    assert matrix in text


@pytest.mark.parametrize(("level", "shared"), [(5, 10), (7, 10), (9, 0)])
def test_training_meets_public_items_only_at_levels_that_hold_few(level: int, shared: int) -> None:
    env = TextEnv("maze/alicia", level=level)
    public = {item.instance.hash for item in env.session.environment.source(level=level).head(10)}
    met = {env.session.source.item(index).instance.hash for index in range(env.session.source.space or 1500)}
    assert len(public & met) == shared


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point"])
def test_many_at_once(mode: str) -> None:
    envs = gymnasium.make_vec("waybench/maze-alicia-v1", num_envs=3, vectorization_mode=mode, level=9)
    try:
        texts, infos = envs.reset(seed=0)
        assert texts == tuple(
            gymnasium.make("waybench/maze-alicia-v1", level=9).reset(seed=seed)[0] for seed in range(3)
        )
        assert len(set(texts)) == 3
        assert [messages[-1]["content"] for messages in infos["messages"]] == list(texts)
        answers, rewards, terminated, truncated, infos = envs.step(("a", "b", "{}"))
        assert list(rewards) == [0, 0, 0] and not any(terminated) and not any(truncated)
        assert list(infos["outcome"]) == ["unparsed"] * 3
        assert all(isinstance(answer, str) and answer for answer in answers)
    finally:
        envs.close()


def test_an_episode_that_is_over_starts_again_with_the_next_step() -> None:
    envs = gymnasium.make_vec(
        "waybench/maze-alicia-v1", num_envs=2, vectorization_mode="vector_entry_point", requests=2
    )
    first, _ = envs.reset(seed=0)
    _, _, _, truncated, _ = envs.step(("?", "?"))
    assert not any(truncated)
    best = policy("oracle").reply(envs.envs[1].episode)
    _, rewards, terminated, truncated, infos = envs.step(("?", best))
    assert (list(terminated), list(truncated), list(rewards)) == ([False, True], [True, False], [0.0, 1.0])
    assert list(infos["end"]) == ["turn_limit", "solved"]
    texts, rewards, terminated, truncated, _ = envs.step(("not read", "not read"))
    assert not any(terminated) and not any(truncated) and not any(rewards)
    assert all(new != old and len(new) > 200 for new, old in zip(texts, first, strict=True))


def test_the_board_is_drawn() -> None:
    env = gymnasium.make("waybench/maze-alicia-v1", render_mode="ansi", level=7)
    env.reset(seed=3)
    before = env.render()
    assert len(before.splitlines()) >= 7
    env.step(policy("oracle").reply(env.unwrapped.episode))
    assert env.render() != before


def test_a_text_that_is_too_long_for_shared_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gymnasium, "LONGEST_SHARED", 40)
    space = Texts()
    memory = _gymnasium._create_shared_memory(space, 2)
    _gymnasium._write_to_shared_memory(space, 1, "ä" * 16, memory)
    assert tuple(_gymnasium._read_from_shared_memory(space, memory, 2)) == ("", "ä" * 16)
    with pytest.raises(UsageError, match="shared_memory"):
        _gymnasium._write_to_shared_memory(space, 1, "ä" * 17, memory)


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="did you mean 'protocol'"):
        gymnasium.make("waybench/maze-alicia-v1", protocl="paper")
    with pytest.raises(UsageError, match="from 5 to 1001"):
        gymnasium.make("waybench/maze-alicia-v1", level=4)
    with pytest.raises(UsageError, match="split"):
        gymnasium.make("waybench/maze-alicia-v1", split="training")
    with pytest.raises(gymnasium.error.ResetNeeded):
        TextEnv("maze/alicia").step("x")
