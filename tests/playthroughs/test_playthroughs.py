"""The golden playthroughs are what is played now."""

import pytest

from tests.playthroughs import HERE, golden
from waybench.envs import registry

GOLDEN = golden()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_playthrough(path: object) -> None:
    assert path in HERE.rglob("*.txt"), f"{path.name} is new: run python -m tests.playthroughs and review it"
    assert path.read_text(encoding="utf-8") == GOLDEN[path], "run python -m tests.playthroughs and review the change"


def test_no_playthrough_is_left_over() -> None:
    assert set(HERE.rglob("*.txt")) == set(GOLDEN)


def test_every_environment_has_playthroughs_of_every_kind() -> None:
    folders = {path.parent.name for path in GOLDEN}
    assert folders == {entry.id.replace("/", "-") for entry in registry.entries}
    for folder in folders:
        names = {path.stem for path in GOLDEN if path.parent.name == folder}
        assert names >= {"oracle", "heuristic", "random", "noisy-0.5", "stumbling"}
