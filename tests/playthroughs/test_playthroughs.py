"""The golden playthroughs are what is played now."""

from functools import cache
from pathlib import Path

import pytest

from tests.playthroughs import HERE, golden
from waybench.envs import registry

# Played by the test process that needs them, and not by every one that collects the tests.
played = cache(golden)
FILES = sorted(HERE.rglob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_playthrough(path: Path) -> None:
    assert path in played(), f"{path.name} is of nothing that is played: run python -m tests.playthroughs"
    assert path.read_text(encoding="utf-8") == played()[path], "run python -m tests.playthroughs and review the change"


def test_every_playthrough_is_there() -> None:
    assert set(played()) <= set(FILES), "some are new: run python -m tests.playthroughs and review them"


def test_every_environment_has_playthroughs_of_every_kind() -> None:
    folders = {path.parent.name for path in FILES}
    assert folders == {entry.id.replace("/", "-") for entry in registry.built_in}
    for folder in folders:
        names = {path.stem for path in FILES if path.parent.name == folder}
        assert names >= {"oracle", "noisy-0.5", "stumbling", "larger", "players"}
