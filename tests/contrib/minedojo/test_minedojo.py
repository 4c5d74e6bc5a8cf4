"""Minecraft through MineDojo: a simulator that is played by a script, and recorded observations."""

import gc
import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.drawings import drawer
from waybench.core import DataError, LiveError, Stream, UsageError, play_to_end, policy, replay
from waybench.envs.voxel import FIND
from waybench.envs.voxel._game import FindRules, SearchSource, decode, level_of, prove
from waybench.envs.voxel._wording import description_text
from waybench.envs.voxel.engines import _engines
from waybench.envs.voxel.engines._engines import open_terrain
from waybench.envs.voxel.engines._terrain import CREATIVE, ENGINES, MINECRAFT_BIOMES, TICKS
from waybench.ext.author.minedojo import MISSING, MinedojoTerrain, read_raw, simulator_settings
from waybench.reporting import write_report
from waybench.results import LoggedEpisode, rows

MINEDOJO: dict[str, Any] = {"engine": "minedojo", "goal": "plains"}
SHORT = {"wording": "one_question", "steps": 4}


def seen(x: float = 0.0, z: float = 0.0, yaw: float = 0.0, biome: int = 4, being: str = "cow") -> dict[str, Any]:
    """Return an observation of a flat meadow."""
    voxels = np.full((9, 9, 9), "air", dtype=object)
    voxels[:, :4, :] = "grass block"
    return {
        "location_stats": {
            "pos": np.array([x, 64.0, z]),
            "yaw": np.array([yaw]),
            "pitch": np.array([0.0]),
            "biome_id": np.array(biome),
        },
        "voxels": {"block_name": voxels},
        "rays": {
            "block_name": np.array(["air"] * 150 + ["grass block"] * 140),
            "block_distance": np.array([65.0] * 150 + [5.0] * 140),
            "entity_name": np.array(["null"] * 289 + [being]),
            "entity_distance": np.array([65.0] * 289 + [3.5]),
        },
    }


class Simulator:
    """Walks a quarter of a block a tick to the north or south; plains begin 30 blocks to the south."""

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []
        self.acts: list[list[int]] = []
        self.resets, self.closed, self.dies, self.shore = 0, 0, False, 30.0
        self.z, self.yaw, self.being = 0.0, -7.5, "cow"
        self.action_space = self

    def make(self, task: str, **given: Any) -> "Simulator":
        self.made.append((task, given))
        return self

    def no_op(self) -> Any:
        return np.array([0, 0, 0, 12, 12, 0, 0, 0])

    def now(self) -> dict[str, Any]:
        return seen(0.5, self.z, self.yaw, 1 if self.z >= self.shore else 4, self.being)

    def reset(self) -> dict[str, Any]:
        self.resets, self.z, self.yaw = self.resets + 1, 0.0, -7.5
        return self.now()

    def step(self, act: Any) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        self.acts.append(act.tolist())
        self.yaw = (self.yaw + (act[4] - 12) * 15 + 180) % 360 - 180
        self.z += 0.25 * act[0] * (1 if abs(self.yaw) < 90 else -1)
        return self.now(), 0.0, self.dies, {}

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find engines by what pyproject.toml declares, whatever was declared when the package was installed."""
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"][_engines.GROUP]

    def found(name: str) -> list[EntryPoint]:
        return [EntryPoint(name, points[name], _engines.GROUP)] if name in points else []

    monkeypatch.setattr(_engines, "_entry_points", found)


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Put a simulator that follows a script in MineDojo's place."""
    one, module = Simulator(), ModuleType("minedojo")
    module.make = one.make  # type: ignore[attr-defined]
    module.__spec__ = __spec__
    monkeypatch.setitem(sys.modules, "minedojo", module)
    _engines._external_terrain.cache_clear()
    yield one
    _engines._external_terrain.cache_clear()


def test_an_episode(simulator: Simulator) -> None:
    simulator.shore = 1000.0
    item = SearchSource("k", 1, MINEDOJO).item(0)
    game: Any = FIND.playing.play(FIND.resolve_options(SHORT)).game
    heuristic = play_to_end(FIND, item, policy("heuristic"), SHORT)
    assert simulator.made == [("creative:0", simulator_settings(item.instance.seed))]
    assert simulator.resets == 1
    per_step = 51  # the camera first, and then the ticks
    assert len(simulator.acts) == per_step * len(heuristic.turns)
    for start in range(0, len(simulator.acts), per_step):
        turn, *strides = simulator.acts[start : start + per_step]
        assert turn[:4] == [0, 0, 0, 12]
        assert turn[5:] == [0, 0, 0]
        assert all(stride[0] == 1 and stride[3:] == [12, 12, 0, 0, 0] for stride in strides)
        assert {stride[1] for stride in strides} == {0, 1, 2}
        assert {stride[2] for stride in strides} == {1, 3}
    record = heuristic.record()
    assert record.proof == {}
    assert {turn.events["left"] for turn in record.turns} == {None}
    metrics = {metric.name: metric.of(record) for metric in FIND.scoring.metrics}
    assert (metrics["score"], metrics["human"], metrics["progress"], metrics["spl"]) == (0, None, None, None)
    assert FIND.scoring.published_setting is not None
    assert FIND.scoring.published_setting(record) == "MinedojoCreative0"
    assert game.start(item.instance).world.body.yaw == -7.5


def test_it_stops_in_the_goal_and_is_on_the_human_scale(simulator: Simulator) -> None:
    item = SearchSource("k", 1, MINEDOJO).item(0)
    rules, rng = FindRules(published=True), Stream("south")
    world = rules.begin(item.instance)
    assert rules.observe(world).startswith("Coordinate (0.50,64.00,0.00). Facing south.")
    made = []
    while not world.is_found:
        step = rules.step(world, 2, rng)
        world = step.world
        made.append(step)
    assert [step.events["biome"] for step in made] == ["Forest", "Forest", "Plains"]
    assert world.body.z == 30
    assert [step.events["walked"] for step in made] == [12.5, 12.5, 5]
    assert made[-1].reward == 1
    assert "cow, 3.50 blocks away" in rules.observe(world)


def test_a_player_who_dies_walks_no_further(simulator: Simulator) -> None:
    world = open_terrain("minedojo", 1, "plains")
    body = world.stand(0, 0)
    simulator.dies = True
    assert world.walk(body, bytes(50), ("Plains",)).ticks == 0


def test_its_world_is_not_taken_back(simulator: Simulator) -> None:
    world = open_terrain("minedojo", 1, "desert")
    start = world.stand(0, 0)
    after = world.walk(start._replace(yaw=7.5), bytes(5), ("Desert",)).body
    assert simulator.acts[0][4] == 13
    assert world.view(start).at == (0.5, 64.0, 0.0)
    with pytest.raises(UsageError, match="one episode at a time"):
        world.walk(start, bytes(5), ("Desert",))
    with pytest.raises(UsageError, match="only where its player has been"):
        world.view(after._replace(x=7.0))
    with pytest.raises(UsageError, match="maps are unknown"):
        play_to_end(FIND, SearchSource("k", 1, MINEDOJO).item(0), policy("oracle"), SHORT)


def test_a_place_is_told_of_as_it_is_now(simulator: Simulator) -> None:
    rules = FindRules(published=True)
    search = SearchSource("k", 1, MINEDOJO).item(0).instance
    first = rules.observe(rules.begin(search))
    simulator.being = "zombie"
    assert rules.observe(rules.begin(search)) == first.replace("cow", "zombie") != first


def test_records_are_taken_for_what_they_say(simulator: Simulator, tmp_path: Path) -> None:
    record = play_to_end(FIND, SearchSource("k", 1, MINEDOJO).item(0), policy("heuristic"), SHORT).record()
    with pytest.raises(LiveError, match="it was played in a live world"):
        replay(FIND, record)
    episodes = [LoggedEpisode(model="m", task="voxel_find", record=record, settings={"engine": "minedojo"})]
    report = write_report(episodes, tmp_path)
    assert (report.unconfirmed, report.not_simulated) == (0, {"it was played in a live world": 1})
    for folder in ("results", "replays"):
        (page,) = (tmp_path / folder).glob("*.html")
        assert "ot re-simulated: it was played in a live world." in page.read_text(encoding="utf-8")
    (task,) = (tmp_path / "tasks").glob("*.html")
    assert "engine: minedojo" in task.read_text(encoding="utf-8")
    (made,) = rows(episodes)
    assert (made.metrics["score"], made.exclusion_reason, made.group.separate_by) == (
        float(record.turns[-1].reward),
        "",
        ("engine: minedojo",),
    )


@pytest.mark.slow
def test_simulators_are_closed(simulator: Simulator) -> None:
    world: Any = MinedojoTerrain(1, "plains")
    del world
    gc.collect()
    assert simulator.closed == 1


def test_no_maps_and_no_levels() -> None:
    search = SearchSource("k", 1, MINEDOJO).item(3).instance
    assert (level_of(search), prove(search)) == (1, {})
    assert decode(search.to_json()) == search
    assert "tiles-start" in drawer("voxel/find")(search)
    with pytest.raises(UsageError, match="there is only level 1"):
        SearchSource("k", 2, MINEDOJO)
    with pytest.raises(UsageError, match="give one of any, plains, forest"):
        SearchSource("k", 1, {**MINEDOJO, "goal": "savanna"})
    with pytest.raises(DataError, match="x and z are 0"):
        decode({**search.to_json(), "x": 5})


def test_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.ext.author.minedojo.MinedojoTerrain.installed", staticmethod(lambda: False))
    with pytest.raises(UsageError) as caught:
        open_terrain("minedojo", 1, "plains")
    assert str(caught.value) == MISSING
    assert "\n" not in MISSING


def test_an_engine_that_nobody_brings_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engines, "_entry_points", lambda name: [])
    with pytest.raises(UsageError, match="no installed package has the entry point 'minedojo'"):
        open_terrain("minedojo", 1, "plains")


def test_it_is_made_as_published(golden_dir: Callable[..., Path]) -> None:
    golden = json.loads(golden_dir("smartplay", "minedojo_descriptor.json").read_text(encoding="utf-8"))
    made, wanted = simulator_settings(7), dict(golden["make_kwargs"])
    rays, listed = wanted.pop("lidar_rays"), made.pop("lidar_rays")
    assert [made.pop(name) for name in ("world_seed", "seed", "regenerate_world_after_reset")] == ["7", 7, True]
    assert {**made, "image_size": list(made["image_size"])} == wanted
    assert len(listed) == rays["n"]
    for place, ray in (("first", listed[0]), ("second", listed[1]), ("last", listed[-1])):
        assert ray == pytest.approx(rays[place])
    assert listed[2][0] == listed[1][0]  # from left to right first
    assert golden["forward_ticks_per_step"] == TICKS
    for name, task in golden["tasks"].items():
        assert name == f"MinedojoCreative{CREATIVE[task['goal_text']]}-v0"
        fitting = ENGINES["minedojo"].matching_biomes(task["goal_text"])
        assert sorted(fitting) == sorted(task["goal_biomes"])
        assert [MINECRAFT_BIOMES[number] for number in task["goal_biome_ids"]] == task["goal_biomes"]


def test_recorded_observations_are_told_as_published(golden_dir: Callable[..., Path]) -> None:
    golden = json.loads(golden_dir("smartplay", "minedojo_descriptor.json").read_text(encoding="utf-8"))
    for case in golden["cases"]:
        blocks, beings = np.array(case["block_vocab"]), np.array(case["entity_vocab"])
        observed = {
            "location_stats": {
                "pos": np.array(case["pos"]),
                "yaw": np.array([case["yaw"]]),
                "pitch": np.array([case["pitch"]]),
            },
            "voxels": {"block_name": blocks[np.array(case["voxels_xyz"])]},
            "rays": {
                "block_name": blocks[np.array(case["ray_blocks"])],
                "block_distance": np.array(case["ray_block_distance"]),
                "entity_name": beings[np.array(case["ray_entities"])],
                "entity_distance": np.array(case["ray_entity_distance"]),
            },
        }
        assert description_text(read_raw(observed), published=True) == case["text"]
