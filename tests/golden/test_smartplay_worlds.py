"""Everything of Crafter that is published as golden files, replayed (shared/specs/smartplay.md, sections 7 and 13).

There are no deviations: worlds, maps, beings, random generator, rewards, scores and texts agree step by step.
"""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from waybench.core import End, Stream
from waybench.envs.crafter._environment import STEPS
from waybench.envs.crafter._game import ACTIONS, OUTSIDE, SurvivalRules
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    ASLEEP,
    BEING,
    DRAWN,
    EAST_OF,
    ENTERED,
    FATIGUE,
    HEALTH,
    HUNGER,
    ITEMS,
    KIND,
    LIFE,
    MADE,
    NAMES,
    RECOVER,
    SINCE,
    SIZE,
    SOUTH_OF,
    THIRST,
    WAIT,
    X,
    Y,
)
from waybench.envs.crafter._world import (
    CrafterWorld,
    Wilds,
    being_numbers,
    create_world,
    daylight,
    player_numbers,
    published_seed,
)
from waybench.envs.smartplay._game import AgentGame, AgentReply
from waybench.envs.smartplay._wording import PROMPT_STYLES, AgentWording

Compared = Callable[[str, str, int], None]
HISTORY = 2  # of the published program; Table 1 has 5
RULES = SurvivalRules(published=True)
RNG = Stream("unused")


def load(golden_dir: Callable[..., Path], name: str) -> dict[str, Any]:
    return json.loads(golden_dir("smartplay", name).read_text(encoding="utf-8"))


def every(golden_dir: Callable[..., Path], part: str) -> list[dict[str, Any]]:
    """Return all files on Crafter that have a part: further ones of the same schema are picked up."""
    folder = golden_dir("smartplay")
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("crafter*.json"))]
    return [golden for golden in found if part in golden]


def short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def state_of(world: CrafterWorld) -> dict[str, Any]:
    """Return a world as states are recorded."""
    body, beings = player_numbers(world), being_numbers(world)
    objects = [
        [NAMES[row[KIND]].capitalize(), row[X], row[Y], row[LIFE] if number else body[HEALTH]]
        for number, row in enumerate(beings)
    ]
    return {
        "pos": [beings[0][X], beings[0][Y]],
        "facing": [body[EAST_OF], body[SOUTH_OF]],
        "inv": {name: count for name, count in zip(ITEMS, body, strict=False) if count},
        "ach": [name for name, count in zip(ACHIEVEMENTS, body[MADE:], strict=False) if count],
        "sleeping": bool(body[ASLEEP]),
        "daylight": round(daylight(world), 9),
        "map_sha": short(world.land),
        "objs_sha": short(json.dumps(objects).encode()),
        "n_objs": len(beings),
        "rng_sha": short(world.key + str(body[DRAWN]).encode()),
    }


def test_worlds(golden_dir: Callable[..., Path], compared: Compared) -> None:
    worlds = [recorded for golden in every(golden_dir, "worlds") for recorded in golden["worlds"]]
    letters = "?WGSPDTLCIXBF"
    for recorded in worlds:
        assert published_seed(recorded["seed"], recorded["episode"]) == recorded["numpy_seed"]
        world = create_world(recorded["numpy_seed"])
        assert state_of(world) == recorded["state"]
        assert short(world.land) == recorded["map_sha"]
        counts = {name: world.land.count(bytes([kind])) for kind, name in enumerate(NAMES[:13]) if kind}
        assert {name: count for name, count in counts.items() if count} == recorded["counts"]
        kinds = [NAMES[row[KIND]].capitalize() for row in being_numbers(world)[1:]]
        assert {kind: kinds.count(kind) for kind in kinds} == recorded["objects"]
        for y, row in enumerate(recorded["rows"] or ()):
            assert "".join(letters[world.land[x * SIZE + y]] for x in range(SIZE)) == row
    compared("Crafter", "worlds", len(worlds))
    compared("Crafter", "full maps", sum(bool(recorded["rows"]) for recorded in worlds))


def test_rollouts(golden_dir: Callable[..., Path], compared: Compared) -> None:
    game: Any = AgentGame(RULES, HISTORY, thinks=False, reward=(-1, 22))
    wording: Any = AgentWording(RULES, PROMPT_STYLES["one_question"], published=True)
    counts = dict.fromkeys(("rollouts", "steps", "histories", "states"), 0)
    rollouts = [rollout for golden in every(golden_dir, "rollouts") for rollout in golden["rollouts"]]
    for rollout in rollouts:
        state, reset = game.start(Wilds(rollout["world_seed"])), rollout["reset"]
        for number, step in enumerate([reset, *rollout["steps"]]):
            if number:
                state, reward, events, _ = game.apply(state, AgentReply(step["a"]), RNG)
                assert (reward, events["score"]) == (step["reward"], step["score"])
                assert (game.terminal(state) is End.FAILED) == step["done"]
            assert RULES.observe(state.world) == step["obs"]
            told, _, present = wording.observe(state, None, number).rpartition("\n\ncurrent step observation: ")
            assert present.startswith(step["obs"])
            if "history" in step:
                assert told == step["history"]
            if "history_sha" in step:
                assert short(told.encode()) == step["history_sha"]
            if step.get("state"):
                assert state_of(state.world) == step["state"]
            counts["steps"] += 1
            counts["histories"] += "history" in step or "history_sha" in step
            counts["states"] += bool(step.get("state"))
        counts["rollouts"] += 1
    for kind, count in counts.items():
        compared("Crafter", kind, count)


def scenario(case: dict[str, Any]) -> CrafterWorld:
    """Set a scene as the rule scenarios describe it: seed 1, nobody but the player on a square of path."""
    world = RULES.begin(Wilds(published_seed(1, 1)))
    land, setup, before = np.frombuffer(world.land, np.uint8).reshape(SIZE, SIZE).copy(), case["setup"], case["before"]
    body = np.frombuffer(world.body, np.int32).copy()
    land[26:39, 26:39] = NAMES.index("path")
    land[32, 33] = NAMES.index(before["ahead"][0])
    for offset, name in setup.get("around", {}).items():
        x, y = json.loads(offset)
        land[32 + x, 32 + y] = NAMES.index(name)
    for name, count in setup.get("inv", {}).items():
        body[ITEMS.index(name)] = count
    beings = np.zeros((1 + bool(setup["obj"]), BEING), np.int32)
    beings[0] = np.frombuffer(world.beings, np.int32)[:BEING]
    if setup["obj"]:
        grown = re.search(r"grown (\d+)", case["name"])
        beings[1, [KIND, X, Y, LIFE]] = NAMES.index(setup["obj"].lower()), 32, 33, before["ahead"][2]
        beings[1, [WAIT, SINCE]] = int(grown[1]) if grown else 0, body[ENTERED]
        body[ENTERED] += 1
    return world._replace(land=land.tobytes(), body=body.tobytes(), beings=beings.tobytes())


def seen(world: CrafterWorld) -> dict[str, Any]:
    """Return what a scenario records of a world."""
    body, beings = player_numbers(world), being_numbers(world)
    x, y = beings[0][X], beings[0][Y]
    front = x + body[EAST_OF], y + body[SOUTH_OF]
    ahead = next((row for row in beings if (row[X], row[Y]) == front), None)
    being = [None, None] if ahead is None else [NAMES[ahead[KIND]].capitalize(), ahead[LIFE]]
    return {
        "pos": [x - 32, y - 32],
        "inv": dict(zip(ITEMS, body, strict=False)),
        "ach": {name: count for name, count in zip(ACHIEVEMENTS, body[MADE:], strict=False) if count},
        "sleeping": bool(body[ASLEEP]),
        "ahead": [NAMES[world.land[front[0] * SIZE + front[1]]], *being],
        "counters": {
            "hunger": body[HUNGER] / 2,
            "thirst": body[THIRST] / 2,
            "fatigue": body[FATIGUE],
            "recover": body[RECOVER] / 2,
        },
    }


def test_rules(golden_dir: Callable[..., Path], compared: Compared) -> None:
    cases = [(golden, case) for golden in every(golden_dir, "actions") for case in golden["cases"]]
    steps = 0
    for golden, case in cases:
        world = scenario(case)
        for step in case["steps"]:
            world, reward, _, _ = RULES.step(world, golden["actions"].index(step["a"]), RNG)
            steps += 1
            found = seen(world)
            assert {name: found[name] for name in found if name != "ahead"} == {
                name: step[name] for name in found if name != "ahead"
            }, case["name"]
            assert found["ahead"][: len(step["ahead"])] == step["ahead"], case["name"]
            assert (reward, world.score) == (step["reward"], step["score"]), case["name"]
            assert (RULES.ending(world) is not None) == step["done"]
            assert RULES.observe(world) == step["obs"], case["name"]
    compared("Crafter", "rule scenarios", len(cases))
    compared("Crafter", "steps of rule scenarios", steps)


def test_edges(golden_dir: Callable[..., Path], compared: Compared) -> None:
    """The descriptor was given the beings as part of the map, and was told that the action had been to do nothing."""
    start, count = RULES.begin(Wilds(published_seed(0, 1))), 0
    for golden in every(golden_dir, "semantic_rows_y_x"):
        grid = np.array(golden["semantic_rows_y_x"], np.uint8).T.copy()
        grid[32, 32] = NAMES.index("grass")
        for case in golden["cases"]:
            body, player = np.frombuffer(start.body, np.int32).copy(), np.frombuffer(start.beings, np.int32)[:BEING]
            player, body[[EAST_OF, SOUTH_OF]] = player.copy(), case["facing"]
            player[[X, Y]] = case["pos"]
            told = RULES.observe(start._replace(land=grid.tobytes(), body=body.tobytes(), beings=player.tobytes()))
            if told != OUTSIDE:
                told = f"You took action noop.\n\n{told}"
            assert told == case["text"], case["pos"]
            count += 1
    compared("Crafter", "edge texts", count)


def test_registered_setting(golden_dir: Callable[..., Path], paper: Callable[[str], str], compared: Compared) -> None:
    setting = load(golden_dir, "manuals.json")["settings"].get("Crafter-v0")
    if setting is None:
        pytest.skip("the golden files at hand have no manual of Crafter")
    assert list(ACTIONS) == setting["action_list"]
    assert RULES.manual(Wilds(1)) == setting["manual"]
    wording: Any = AgentWording(RULES, PROMPT_STYLES["two_questions"], published=True)
    assert wording.rules(Wilds(1)).endswith(f"\n\n{setting['manual']}")  # no list of actions
    assert setting["default_steps"] == STEPS + 1  # the published clock begins at 1
    printed = " ".join(paper("smartplay.txt").replace("\\.", ".").split())
    assert " ".join(setting["manual"].split()) in printed
    compared("Crafter", "registered settings", 1)


def test_no_golden_file_is_left_out(golden_dir: Callable[..., Path]) -> None:
    folder = golden_dir("smartplay")
    for path in folder.glob("crafter*.json"):
        parts = {"worlds", "rollouts", "actions", "semantic_rows_y_x"}
        assert parts & set(json.loads(path.read_text(encoding="utf-8"))), f"{path.name} has nothing that is compared"
