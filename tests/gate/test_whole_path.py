"""From files of records to the page: the report says what the simulations of this package count."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import waybench
from tests.gate._bank import Bank, bank, graded_bank, nearest
from tests.gate._designs import is_shown
from tests.gate._tables import names
from waybench.results import LoggedEpisode
from waybench.results.estimates import matrix
from waybench.results.results import rows as rows_of

pytestmark = pytest.mark.slow
MODELS = names(4)


@pytest.fixture(scope="module")
def choices() -> list[tuple[str, Bank, list[int]]]:
    """Return what four models do in two families: at graded mazes and at paths in graphs."""
    rng, mazes, graphs = np.random.default_rng(1), graded_bank(41, 12), bank("graph/paths", 1, 20)
    results: list[tuple[str, Bank, list[int]]] = []
    for model, share in zip(MODELS, (0.3, 0.5, 0.52, 0.8), strict=True):
        results.append((model, mazes, nearest(mazes, 100 * np.clip(share + rng.normal(0, 0.1, 12), 0, 1), rng)))
        results.append((model, graphs, (rng.random(20) < share).astype(int).tolist()))
    return results


@pytest.fixture(scope="module")
def site(choices: list[tuple[str, Bank, list[int]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the records to a file, and the report of it."""
    folder = tmp_path_factory.mktemp("gate")
    with (folder / "records.jsonl").open("w") as lines:
        for model, items, chosen in choices:
            for episode in items.episodes_of(model, chosen):
                record = replace(episode.record, player=model)
                lines.write(json.dumps({**json.loads(record.dumps()), "task": episode.task}) + "\n")
    return waybench.report(folder, out=folder / "site").parent


@pytest.fixture(scope="module")
def summary(site: Path) -> dict[str, Any]:
    """Return the report's numbers."""
    return json.loads((site / "summary.json").read_text())


def test_rows_of_a_bank_are_those_of_its_records(choices: list[tuple[str, Bank, list[int]]]) -> None:
    for model, items, chosen in choices[:2]:
        episodes: list[LoggedEpisode] = items.episodes_of(model, chosen)
        measured = [replace(row, anchors=None) for row in rows_of(episodes, confirm=True)]
        assert [replace(row, anchors=None) for row in items.rows_of(model, chosen)] == measured


def test_the_report_has_the_numbers_of_the_rows(
    choices: list[tuple[str, Bank, list[int]]], summary: dict[str, Any]
) -> None:
    rows = [row for model, items, chosen in choices for row in items.rows_of(model, chosen)]
    expected = json.loads(json.dumps(matrix(rows).to_json()))
    assert summary["matrix"] == expected


def test_a_report_of_one_task_has_ranks_that_agree_with_its_comparisons(
    choices: list[tuple[str, Bank, list[int]]], tmp_path: Path
) -> None:
    with (tmp_path / "records.jsonl").open("w") as lines:
        for model, items, chosen in choices[::2]:
            for episode in items.episodes_of(model, chosen):
                lines.write(
                    json.dumps({**json.loads(replace(episode.record, player=model).dumps()), "task": "t"}) + "\n"
                )
    index = waybench.report(tmp_path, out=tmp_path / "site")
    data = json.loads((index.parent / "summary.json").read_text())
    model_of = {total["page"]: total["group"]["model"] for total in data["overall"]}
    better, worse = dict.fromkeys(MODELS, 0), dict.fromkeys(MODELS, 0)
    for pair in data["comparisons"]:
        sides = [model_of[pair[side]["page"]] for side in ("first", "second")]
        assert is_shown(pair["p_holm"]) == (pair["verdict"] in ("first", "second"))
        if is_shown(pair["p_holm"]):
            above, below = sides if pair["difference"]["value"] > 0 else sides[::-1]
            better[below] += 1
            worse[above] += 1
    ranks = {row["model"]: row["rank"] for row in data["matrix"]}
    assert ranks == {model: [1 + better[model], len(MODELS) - worse[model]] for model in MODELS}
    assert any(rank != [1, len(MODELS)] for rank in ranks.values())
    page = index.read_text()
    for low, high in ranks.values():
        assert (f"{low} to {high}" if low != high else f">{low}<") in page
