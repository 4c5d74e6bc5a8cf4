"""Templates in runs: each content is a wording of its own, which logs, reports and comparisons know by its name."""

import json
from pathlib import Path

import pytest

import waybench
from waybench.core import UsageError, play_to_end, policy
from waybench.results import read_logs


def run(reference: str, out: Path) -> None:
    waybench.evaluate("alicia", "waybench/oracle", out=out, wording=reference, limit=1, max_dimension=5)


def wordings(out: Path) -> list[str]:
    return sorted({str(episode.record.options["wording"]) for episode in read_logs(out)})


@pytest.mark.slow
def test_a_finished_run_is_not_repeated_unless_the_text_changed(tmp_path: Path) -> None:
    template, out = tmp_path / "mine.txt", tmp_path / "logs"
    template.write_text("Go: {maze}")
    run(f"file:{template}", out)
    first, logs = wordings(out), set(out.glob("*.eval"))
    template.write_text("Go: {maze}\n")
    run(f"file:{template}", out)
    assert wordings(out) == first
    assert set(out.glob("*.eval")) == logs, "nothing was asked again"
    template.write_text("Walk: {maze}")
    run(f"file:{template}", out)
    both = wordings(out)
    assert len(set(out.glob("*.eval")) - logs) == 1
    assert len(both) == 2
    assert all(name.startswith("file:mine-") for name in both)
    # The files are gone, and all that follows is from the logs.
    template.unlink()
    run("matrix", out)
    summary = (waybench.report(out).parent / "summary.json").read_text()
    data = json.loads(summary)
    (effect,) = data["wordings"]
    assert [one["name"] for one in effect["wordings"]] == ["matrix", *both]
    assert [one["mean"]["value"] for one in effect["wordings"]] == [100, 100, 100]
    assert "Walk: {maze}" not in summary, "the text is no setting"


def test_a_mistake_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("{maize}")
    with pytest.raises(UsageError, match=r"unknown field \{maize\}"):
        run(f"file:{tmp_path}/mine.txt", tmp_path / "logs")


def test_stored_replies_are_scored_with_a_template(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Go: {maze}")
    environment = waybench.load("maze/alicia")
    item = environment.source().item(0)
    reply = play_to_end(environment, item, policy("oracle")).turns[0].reply
    line = {
        "env": "maze/alicia",
        "instance": item.instance.to_json(),
        "replies": [reply],
        "options": {"wording": f"file:{tmp_path}/mine.txt"},
    }
    assert waybench.score(line).score == 100
    assert waybench.score(line).record.opening[0].text.startswith("Go: [[")


def test_the_example_of_the_page_is_a_template(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "prompts.md").read_text("utf-8")
    (tmp_path / "prompt.toml").write_text(page.split("```toml\n", 1)[1].split("```", 1)[0], "utf-8")
    result = waybench.play("maze/alicia", "oracle", wording=f"file:{tmp_path}/prompt.toml")
    assert result.score == 100
    assert result.record.opening[0].text.startswith("Here is a maze: [[0,0,0,X,0],")
    assert result.record.opening[0].text.endswith('{"movements": [{"direction": "up", "cells": 2}, ...]}')
