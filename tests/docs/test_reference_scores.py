"""The stored floors and ceilings: of the present versions and of all presets, and they come out again."""

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from waybench.core import is_public_key
from waybench.envs import registry
from waybench.results.references import Budget
from waybench.results.references._stored import stored_scores

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("reference_scores")


def lines(script: ModuleType) -> list[dict[str, Any]]:
    content: dict[str, Any] = json.loads(script.PATH.read_text(encoding="utf-8"))
    return list(content["scores"])


def test_the_versions_are_those_of_the_environments(script: ModuleType) -> None:
    """After a version was raised: `python docs/reference_horizons.py scores ENV`."""
    stored = {(line["env"], line["version"]) for line in lines(script)}
    assert stored == {(env.id, env.version) for env in script.measured_environments()}


def test_every_preset_has_floor_and_ceiling(script: ModuleType) -> None:
    jobs = [job for env in script.measured_environments() for job in script.jobs(env)]
    assert len(jobs) == len(lines(script)) > 300
    assert [job for job in jobs if stored_scores(script.setting(job)) is None] == []


def test_the_items_are_those_of_no_preset(script: ModuleType) -> None:
    assert not any(is_public_key(script.KEY, registry.load(entry.id).items.public_key) for entry in registry.built_in)


def test_most_are_of_2000_items_or_of_all_that_there_are(script: ModuleType) -> None:
    few = [
        line
        for line in lines(script)
        # An item takes up to some seconds, and above the first levels no floor is far from 0.
        if line["env"] not in ("atlas/world", "sokoban/rooms")
        and line["items"] < 1000
        and line.get("silence", [0, 0, 0])[2] <= line["items"]
    ]
    assert len(few) < 20
    assert all(line["items"] >= 100 for line in few)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "level"),
    [
        ("search/guessnum", 3),
        ("hanoi/rods", 3),
        *(
            pytest.param(env_id, level, marks=pytest.mark.slow)
            for env_id, level in (("rps/rounds", 1), ("maze/alicia", 5), ("search/bfs", 8), ("textmap/route", 2))
        ),
    ],
)
def test_the_numbers_come_out_again(script: ModuleType, env_id: str, level: int) -> None:
    job = next(job for job in script.jobs(registry.load(env_id)) if job.level == level)
    (stored,) = (
        line
        for line in lines(script)
        if (line["env"], line["level"], line["played"]) == (env_id, level, {"protocol": job.played["protocol"]})
        and not line.get("drawn")
        and line.get("attempts", 1) == 1
    )
    is_whole = stored["silence"][2] > stored["items"]  # in rounds
    budget = Budget(items=script.MOST_ITEMS if is_whole else stored["items"])
    again = json.loads(json.dumps(script.measured(job, budget)))
    assert again == {
        name: value if isinstance(value, str | int | dict) else pytest.approx(value, rel=1e-5)
        for name, value in {**stored, **({"attempts": 1} if "attempts" in again else {})}.items()
    }
