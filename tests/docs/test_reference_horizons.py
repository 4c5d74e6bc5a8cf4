"""The stored horizons of players that know nothing: they come out again, and none is above the smallest level."""

import importlib
import json
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

from waybench.envs import registry
from waybench.results.horizons import SHARES
from waybench.results.horizons._references import reference_horizons
from waybench.results.results import RunKey

DOCS = Path(__file__).parents[2] / "docs"
STORED = {
    (entry.id, option)
    for entry in registry.built_in
    for env in [registry.load(entry.id)]
    if env.difficulty.axes
    for option in next(each for each in env.playing.options if each.name == "protocol").choices
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("reference_horizons")


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id",
    ["search/bfs", "search/guessnum"]
    + [
        pytest.param(env_id, marks=pytest.mark.slow)
        for env_id in ("hanoi/rods", "maze/alicia", "search/dfs", "textmap/route", "tilemap/gtb")
    ],
)
def test_the_numbers_come_out_again(script: ModuleType, env_id: str) -> None:
    stored = [each for each in json.loads(script.PATH.read_text(encoding="utf-8")) if each["env"] == env_id]
    env = registry.load(env_id)
    for protocol in script.protocols(env):
        again = json.loads(json.dumps(script.measured(env, protocol)))
        kept = [each for each in stored if each["protocol"] == protocol]
        assert len(again) == len(kept) > 0
        for new, old in zip(again, kept, strict=True):
            value, known = new.pop("value"), old.pop("value")
            assert new == old
            assert value == known if known is None else value == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize(("env_id", "protocol"), sorted(STORED))
def test_players_that_know_nothing_have_no_horizon_above_the_smallest_level(env_id: str, protocol: str) -> None:
    env = registry.load(env_id)
    group = RunKey(model="m", task="t", env=env_id, version=env.version, options=(("protocol", protocol),), key="k")
    smallest = (env.difficulty.horizon.levels if env.difficulty.horizon is not None else env.items.sample_levels)[0]
    for share in SHARES:
        found = reference_horizons(group, env.difficulty.axes[0].name, share)
        assert [each.player for each in found] == ["random", "constant"]
        assert {each.side for each in found} == {"below"}
        if env.difficulty.axes[0].name not in (
            "minimum",
            "path_length",
        ):  # what is known of the item, and not its level
            assert {each.easiest for each in found} == {smallest}
    assert reference_horizons(group, env.difficulty.axes[0].name, 0.6) == reference_horizons(
        group, env.difficulty.axes[0].name, 0.5
    )
    assert reference_horizons(group, env.difficulty.axes[0].name, 0.3) == ()


def test_what_was_not_measured_has_none() -> None:
    group = RunKey(model="m", task="t", env="maze/alicia", version=99, options=(("protocol", "paper"),), key="k")
    assert reference_horizons(group, "dimension", 0.5) == ()


def test_no_line_is_of_what_is_gone(script: ModuleType) -> None:
    lines = json.loads(script.PATH.read_text(encoding="utf-8"))
    by_env = defaultdict(set)
    for line in lines:
        by_env[line["env"]].add(line["version"])
    assert by_env == {env.id: {env.version} for env in script.measured_environments()}
