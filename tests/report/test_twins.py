"""The chart and the table of an environment and its twin."""

import json
from pathlib import Path

from tests.analysis.searches import searched
from tests.report.pages import site


def test_the_story_s_page_has_two_bars_for_each_model_and_their_difference(tmp_path: Path) -> None:
    episodes = [
        each
        for env in ("dfs", "cavedfs")
        for player, model in (("oracle", "good"), ("null", "bad"))
        for each in searched(player, env, count=12, model=model, level=8)
    ]
    made = site(tmp_path, episodes)
    (name,) = [path for path in (tmp_path / "charts").glob("*.json") if "twin" in path.name]
    spec = json.loads(name.read_text(encoding="utf-8"))
    bars = [(each["player"], each["order"], each["score"]) for each in spec["data"]["values"]]
    assert bars == [("good", 0, 0.0), ("good", 1, 0.0), ("bad", 0, 0.875), ("bad", 1, 0.875)]
    assert "filled “Depth-first search (AQA-Bench)”" in spec["description"]
    (page,) = [page for page in made.tasks.values() if "plain and embodied" in page.text]
    headings, *_, good, bad = page.table("The same cases, plain and embodied.")
    assert headings[3:5] == ["Depth-first search (AQA-Bench)", "A walk through caves (AQA-Bench)"]
    assert {good[0].split()[0], bad[0].split()[0]} == {"good", "bad"}
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [(each["twin"]["env"], each["items"]) for each in summary["twins"]] == [("search/dfs", 12)] * 2
