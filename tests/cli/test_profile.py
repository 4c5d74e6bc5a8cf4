"""`waybench profile`: abilities and predictions from a file of records."""

import json
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from waybench.core import play_to_end, policy
from waybench.envs import registry


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return records of three players at mazes and graphs, of which one did not play the graphs."""
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    lines: list[str] = []
    for env_id, level, players in (
        ("maze/alicia", 9, ("oracle", "noisy-0.3", "null")),
        ("search/dfs", 8, ("oracle", "null")),
    ):
        env = registry.load(env_id)
        for item in env.source(level=level).head(5):
            lines += [play_to_end(env, item, policy(player)).record().dumps() for player in players]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def test_profile(command: Command, records: Path) -> None:
    result = command("profile", records, "--json", "-")
    found = json.loads(result.stdout)
    assert [each["model"] for each in found["models"]] == ["oracle", "noisy-0.3", "null"]
    graphs = found["models"][1]["families"]["search"]
    assert graphs["measured"] is None and graphs["predicted"]["low"] < graphs["predicted"]["high"]
    text = command("profile", records).stdout
    assert "Predicted, not measured" in text and "[" in text


def test_too_few_families(command: Command, records: Path, tmp_path: Path) -> None:
    mazes = tmp_path / "mazes.jsonl"
    mazes.write_text("\n".join(records.read_text(encoding="ascii").splitlines()[:15]) + "\n", encoding="ascii")
    assert "at least 2 families with normalised scores, not 1" in one_line_error(command("profile", mazes))
