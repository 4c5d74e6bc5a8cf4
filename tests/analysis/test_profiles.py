"""Profiles of models that played real items, not all of them in all families."""

from dataclasses import replace
from typing import Any

import pytest

from waybench.core import UsageError, play_to_end, policy
from waybench.envs import registry
from waybench.results import LoggedEpisode, Row
from waybench.results.estimates import matrix
from waybench.results.estimates._profiles import joint_data, model_profiles, profiles_text
from waybench.results.results import measure_episodes, without_searches
from waybench.results.results._anchors import with_reference_bounds

PLAYED: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
    ("maze/alicia", 11, 8, {"requests": 1}),
    ("tilemap/gtb", 1, 8, {}),
    ("search/dfs", 8, 8, {}),
    ("search/bfs", 8, 8, {}),
)


def episodes(env_id: str, level: int, items: int, options: dict[str, Any], models: tuple[str, ...]) -> list[Any]:
    env = registry.load(env_id)
    return [
        LoggedEpisode(
            f"vendor/{model}",
            env_id,
            play_to_end(env, item, policy(f"noisy-{model}"), {"protocol": "sound", **options}).record(),
        )
        for item in env.source(level=level, protocol="sound").head(items)
        for model in models
    ]


def anchored_rows(played: list[Any]) -> list[Row]:
    measured, rows = measure_episodes(played)
    return with_reference_bounds((each.record for each in measured), rows)


@pytest.fixture(scope="module")
def all_rows() -> list[Row]:
    """Return the rows of three models, of which the second one did not play the searches."""
    models = ("0.01", "0.1", "0.6")
    played = [
        episode
        for env_id, level, items, options in PLAYED
        for episode in episodes(env_id, level, items, options, models[::2] if env_id.startswith("search") else models)
    ]
    return anchored_rows(played)


def test_measured_and_predicted_scores_are_kept_apart(all_rows: list[Row]) -> None:
    found = model_profiles(all_rows)
    assert [family.name for family in found.families] == ["search", "maze", "tilemap"]
    of_model = {row.model: row for row in found.rows}
    assert set(of_model) == {"vendor/0.01", "vendor/0.1", "vendor/0.6"}
    measured = {row.model: row for row in matrix(without_searches(all_rows)).rows}
    for row in found.rows:
        for family, cell in row.cells.items():
            was_run = (row.model, family.name) != ("vendor/0.1", "search")
            assert (cell.measured is not None) == was_run
            assert (cell.predicted is None) == (cell.deviation is not None) == was_run
            if was_run:
                assert cell.measured == measured[row.model].cells[family].score
    assert found.rows[-1].model == "vendor/0.6"
    missing = next(cell for cell in of_model["vendor/0.1"].cells.values() if cell.predicted)
    assert missing.predicted is not None and missing.items == 16
    assert 0 <= missing.predicted.low < missing.predicted.value < missing.predicted.high <= 100
    assert missing.if_weak is not None
    assert missing.if_weak.low <= missing.if_weak.value < missing.predicted.value - 3
    assert missing.if_weak.high <= missing.predicted.high + 1
    # A prediction is in no other number: the matrix still has the mean of what was run.
    assert measured["vendor/0.1"].families == 2


def test_text_marks_predictions(all_rows: list[Row]) -> None:
    found = model_profiles(all_rows)
    text = profiles_text(found, 100)
    predicted = next(cell.predicted for row in found.rows for cell in row.cells.values() if cell.predicted)
    head, *_ = text.split("\n\n")
    assert head.count("[") == 1 and f"[{predicted.value:.0f}]" in head
    assert "Predicted, not measured" in text and f"{predicted.low:.0f} to {predicted.high:.0f}" in text
    weak = next(cell.if_weak for row in found.rows for cell in row.cells.values() if cell.if_weak)
    (line,) = (line.split() for line in text.splitlines() if line.strip().startswith("if weak there"))
    assert line[3:] == [f"{weak.value:.0f}", f"{weak.low:.0f}", "to", f"{weak.high:.0f}"]
    assert "missing because" in text and "weak there is overestimated" in " ".join(text.split())
    assert "With 3 models, predictions are wide" in text
    assert all(len(line) <= 60 for line in profiles_text(found, 60).splitlines())


def test_json(all_rows: list[Row]) -> None:
    values = model_profiles(all_rows).to_json()
    cells = {each["model"]: each["families"] for each in values["models"]}
    assert cells["vendor/0.1"]["search"]["measured"] is None
    assert set(cells["vendor/0.1"]["search"]["predicted"]) == {"value", "low", "high"}
    assert set(cells["vendor/0.1"]["search"]["predicted_if_weak"]) == {"value", "low", "high"}
    assert cells["vendor/0.1"]["maze"]["predicted"] is cells["vendor/0.1"]["maze"]["predicted_if_weak"] is None


def test_results_of_the_joint_model(all_rows: list[Row]) -> None:
    data = joint_data(all_rows)
    searches = data.results[[family.name for family in data.families].index("search")]
    # Two tasks with the same weight, the second one with a column of its own.
    assert searches.shares.shape == (16, 3)
    assert searches.weights.sum() == pytest.approx(1)
    assert set(searches.covariates[:, 0]) == {0.0, 1.0}
    assert [bool((each != each).all()) for each in searches.shares.T] == [False, True, False]


def test_too_little_for_a_profile(all_rows: list[Row]) -> None:
    with pytest.raises(UsageError, match="at least 2 models with normalised scores, not 1"):
        model_profiles([row for row in all_rows if row.group.model == "vendor/0.1"])
    with pytest.raises(UsageError, match="at least 2 families with normalised scores, not 1"):
        model_profiles([row for row in all_rows if row.group.env == "maze/alicia"])


def test_embedded_players_count_on_request(all_rows: list[Row]) -> None:
    embedded = [replace(row, group=replace(row.group, embedded=True)) for row in all_rows]
    with pytest.raises(UsageError, match="not 0; --references adds the embedded players"):
        model_profiles(embedded)
    found = model_profiles(embedded, include_references=True)
    assert {row.kind for row in found.rows} == {"reference"}
    assert len(found.rows) == 3
