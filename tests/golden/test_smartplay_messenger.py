"""Every published rollout of Messenger that is at hand, replayed (shared/specs/smartplay.md, sections 6 and 13).

There are no deviations. Positions are compared in half cells, before each step and after the last. The movers' choices
are those of the generator whose seed is recorded.
"""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from waybench.core import End
from waybench.envs.messenger._game import ACTIONS, ADVICE, CONTEXT, RoleRules
from waybench.envs.messenger._world import Actor, Case
from waybench.envs.smartplay._game import AgentGame, AgentReply, manual_text
from waybench.envs.smartplay._wording import PROMPT_STYLES, AgentWording

Compared = Callable[[str, str, int], None]
HISTORY = 2
ROLES = ("enemy", "message", "goal", "decoy_message", "decoy_goal")


class Recorded:
    """What chose for the published program."""

    def __init__(self, seed: int | None) -> None:
        self._random = random.Random(seed)

    def choice(self, items: Sequence[Any]) -> Any:
        return self._random.choice(list(items))


def load(golden_dir: Callable[..., Path], name: str = "messenger.json") -> dict[str, Any]:
    return json.loads(golden_dir("smartplay", name).read_text(encoding="utf-8"))


def sentences_of(manual: str) -> tuple[str, ...]:
    return tuple(manual.split("\n\n")[1].split("\n"))


def case_of(rollout: dict[str, Any], stage: int) -> Case:
    """Make an instance of a rollout's hidden parameters."""
    sentences = sentences_of(rollout["manual"])
    if stage == 1:
        actors = tuple(
            Actor(rollout[role]["name"], "immovable", rollout[role]["x"], rollout[role]["y"]) for role in ROLES[:3]
        )
        agent = rollout["avatar"]
        return Case(1, 10, actors, agent["x"], agent["y"], agent["name"] == "with_message", sentences)
    first = rollout["pixel_states"][0]
    game = rollout["game"]
    names = {**game, "decoy_message": game["message"], "decoy_goal": game["goal"]}
    actors = tuple(
        Actor(names[role], rollout["kinds"][role].lower(), first[f"{role}.1"][0] // 2, first[f"{role}.1"][1] // 2)
        for role in ROLES
        if f"{role}.1" in first
    )
    x, y, _ = first["no_message.1"]
    return Case(stage, 10, actors, x // 2, y // 2, False, sentences)


def pixels(world: Any) -> dict[str, list[int]]:
    """Return the positions as they are recorded."""
    found = {f"{role}.1": list(place) for role, place in zip(ROLES, world.places, strict=False) if place is not None}
    if world.fate in ("", "won"):
        found["no_message.1"] = list(world.agent)
    return found


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_rollouts(stage: int, golden_dir: Callable[..., Path], compared: Compared) -> None:
    rules = RoleRules(published=True)
    game: Any = AgentGame(rules, HISTORY, thinks=False, reward=(-3, 1.5))
    wording: Any = AgentWording(rules, PROMPT_STYLES["one_question"], published=True)
    counts = dict.fromkeys(("rollouts", "manuals", "observations", "histories", "positions", "ends"), 0)
    for rollout in load(golden_dir).get(f"L{stage}", ()):
        case, chance = case_of(rollout, stage), Recorded(rollout.get("level_rng_seed"))
        assert manual_text(rules.manual(case), rules.actions(case)) == rollout["manual"]
        state = game.start(case)
        reset = rollout["reset"]
        assert (rules.observe(state.world), reset["history"], reset["score"]) == (reset["obs"], "", state.world.reward)
        assert wording.observe(state, None, 0).startswith(f"current step observation: {reset['obs']}\n\n")
        told = ""
        for number, step in enumerate(rollout["steps"]):
            if stage > 1:
                recorded = rollout["pixel_states"][number]
                assert pixels(state.world) == {name: place[:2] for name, place in recorded.items()}
                counts["positions"] += 1
            state, reward, events, _ = game.apply(state, AgentReply(step["a"]), chance)
            end = game.terminal(state)
            assert rules.observe(state.world) == step["obs"]
            assert (reward, events["score"]) == (step["reward"], step["score"])
            assert (end is not None, end is End.SOLVED) == (step["done"], bool(step["completed"]))
            told, _, present = wording.observe(state, None, number + 1).rpartition("\n\ncurrent step observation: ")
            assert present.startswith(step["obs"])
            assert hashlib.sha256(told.encode()).hexdigest()[:16] == step["history_sha"]
            assert told == step.get("history", told)
            counts["observations"] += 1
            counts["histories"] += 1
            counts["ends"] += step["done"]
        if stage > 1:
            last = rollout["pixel_states"][len(rollout["steps"])]
            assert pixels(state.world) == {name: place[:2] for name, place in last.items()}
            counts["positions"] += 1
        assert told == (rollout["last_history"] or told)
        counts["rollouts"] += 1
        counts["manuals"] += 1
    for kind, count in counts.items():
        if stage > 1 or kind != "positions":
            compared("Messenger", f"L{stage} {kind}", count)


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_registered_setting(stage: int, golden_dir: Callable[..., Path], compared: Compared) -> None:
    setting = load(golden_dir, "manuals.json")["settings"].get(f"MessengerL{stage}-v0")
    if setting is None:
        pytest.skip(f"the golden files at hand have no manual of stage {stage}")
    assert list(ACTIONS) == setting["action_list"]
    sentences = sentences_of(setting["manual"])
    case = Case(stage, 10, (), 5, 5, False, sentences)
    assert (case.steps, HISTORY) == (setting["default_steps"], setting["history_max"])
    rules = RoleRules(published=True)
    assert manual_text(rules.manual(case), ACTIONS) == setting["manual"]
    compared("Messenger", "registered settings", 1)


def test_paper_prints_the_same_manual(paper: Callable[[str], str]) -> None:
    """The paper has broken lines, a missing apostrophe and a hyphen for the minus."""
    printed = " ".join(paper("smartplay.txt").split())
    assert " ".join(CONTEXT.replace("’", "").replace("−", "-").split()) in printed
    assert " ".join(ADVICE.split()) in printed
