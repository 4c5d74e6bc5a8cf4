"""Faces for training: steps of each environment against a Gymnasium environment that does nothing, in one run."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium

import waybench.ext.train.gymnasium as face
from benchmarks._timing import Comparison, compare
from waybench.core import policy
from waybench.envs import registry
from waybench.ext.train import Session

STEPS = 300
ITEMS = 4  # that episodes take turns on, so that rules and boards are measured as well as the making of items


class Echo(gymnasium.Env[str, str]):
    """Answers each text with itself, ten times."""

    observation_space = face.Texts()
    action_space = face.Texts()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = 10
        return "Say something.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._left -= 1
        return action, 0.0, self._left == 0, False, {}


def faces() -> Iterator[Comparison]:
    """Take the same steps through the session, Gymnasium, and a vector environment."""
    gymnasium.register("Echo-v0", entry_point=lambda **_: Echo())
    minimal = _played(gymnasium.make("Echo-v0", disable_env_checker=True), ["text"] * 10)
    for entry in registry.entries:
        replies = _replies(entry.id)
        name = face.gym_id(entry.id, entry.version)
        single = gymnasium.make(name, disable_env_checker=True, items=ITEMS, legal_actions=0)
        for what, way in (
            ("the session", _session(entry.id, replies)),
            ("Gymnasium", _played(single, replies)),
            ("a vector of 8 in one process", _vector(name, replies)),
        ):
            yield compare(
                f"{entry.id}: steps through {what}, resets included",
                way,
                minimal,
                against="a Gymnasium environment of texts that does nothing",
                count=STEPS,
                unit="steps",
                rounds=2,
            )


def _replies(env: str) -> list[str]:
    session = Session(env, legal_actions=0)
    session.start(0)
    replies: list[str] = []
    player = policy("oracle")
    while session.episode is not None and not session.episode.done and len(replies) < 50:
        replies.append(player.reply(session.episode))
        session.reply(replies[-1])
    return replies


def _session(env: str, replies: list[str]) -> Callable[[], None]:
    session = Session(env, legal_actions=0)

    def run() -> None:
        index, at, over = 0, 0, True
        for _ in range(STEPS):
            if over:
                session.start(index % ITEMS)
                index, at = index + 1, 0
            over = session.reply(replies[at % len(replies)]).done or at >= len(replies)
            at += 1

    return run


def _played(env: Any, replies: list[str]) -> Callable[[], None]:
    def run() -> None:
        at, over = 0, True
        for _ in range(STEPS):
            if over:
                env.reset()
                at = 0
            _, _, terminated, truncated, _ = env.step(replies[at % len(replies)])
            over = terminated or truncated or at >= len(replies)
            at += 1

    return run


def _vector(name: str, replies: list[str]) -> Callable[[], None]:
    envs = gymnasium.make_vec(name, num_envs=8, vectorization_mode="vector_entry_point", items=ITEMS, legal_actions=0)

    def run() -> None:
        envs.reset(seed=0)
        for at in range(STEPS // 8):
            envs.step([replies[at % len(replies)]] * 8)

    return run
