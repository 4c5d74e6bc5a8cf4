"""No mean of survivors stands alone: numbers with lost attempts say how many they lack, and what they would be."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import MAZE, detour, failed, item, logged
from tests.analysis.maps import answered, corridor
from tests.analysis.test_matrix import HANOI, attempts
from tests.analysis.test_matrix import MAZE as MAZE_ID
from tests.report.pages import site
from waybench.core import play_to_end, policy
from waybench.ext.publish.exports._every_eval_ever import every_eval_ever_files
from waybench.ext.publish.exports._formats import ModelResults, eval_results_files
from waybench.reporting._format import TaskView, presentation_of
from waybench.reporting.charts._charts import OPEN, level_charts
from waybench.results import Estimate, LoggedEpisode, Row, by_level, overall, rows, score_frame
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._models import compare_sides
from waybench.results.estimates import lost_rows, matrix
from waybench.results.estimates._matrix import matrix_text
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.estimates._profiles import model_profiles, profiles_text
from waybench.results.estimates._summary import summary_table
from waybench.results.formatting import LOST, NO_RANK, lost_text
from waybench.results.horizons import horizons
from waybench.results.horizons._horizons import success_curves
from waybench.results.horizons._text import horizon_text
from waybench.results.results import UNFINISHED, exclude
from waybench.results.results._measured_row import measured_row
from waybench.results.stats import LostAttempts
from waybench.results.stats._verdicts import Verdict


def mazes(solved: int, unsolved: int, lost: int, model: str = "v/model", level: int = 7) -> list[LoggedEpisode]:
    """Return one attempt at each of some mazes: perfect, without an exit reached, and lost."""
    items = [item(level, number) for number in range(solved + unsolved + lost)]
    made = [
        detour(one, 0) if not solved <= number < solved + unsolved else play_to_end(MAZE, one, policy("null")).record()
        for number, one in enumerate(items)
    ]
    records = [*made[: solved + unsolved], *map(failed, made[solved + unsolved :])]
    return [logged(record, model) for record in records]


def total_of(episodes: list[LoggedEpisode]) -> Estimate:
    (total,) = overall(rows(episodes))
    return total


def test_every_mean_has_what_it_lacks() -> None:
    total = total_of(mazes(solved=4, unsolved=0, lost=6))
    assert total.best and total.solved and total.mean and total.single
    assert total.lost == total.best.lost == total.mean.lost == LostAttempts(6, 10, 40.0, 100.0)
    assert total.solved.lost == LostAttempts(6, 10, 0.4, 1.0)
    assert all(mean.lost and mean.lost.planned == 10 for mean in total.metrics.values())
    # A path can have any length, so the steps of lost attempts have no greatest number, and no less than none.
    steps = total.metrics["minimum"]
    assert steps.lost and steps.lost.highest is None and steps.lost.lowest is not None
    assert (total.n_planned, total.attempts) == (10, 4)
    assert total_of(mazes(4, 6, 0)).lost is None


def test_a_metric_of_which_less_is_better() -> None:
    total = total_of(mazes(solved=1, unsolved=0, lost=1))
    illegal = total.metrics["illegal"]
    assert illegal.value == 0 and illegal.lost and illegal.lost.lowest == 0 and (illegal.lost.highest or 0) > 0


def test_all_lost_has_no_mean_and_the_whole_range() -> None:
    total = total_of(mazes(0, 0, 3))
    assert (total.best, total.lost) == (None, LostAttempts(3, 3, 0.0, 100.0))
    assert lost_text(total.lost, MAZE.scoring.metrics[0]) == "n = 0 of 3; 0.0 to 100.0"
    text = summary_table(rows(mazes(0, 0, 3)))
    assert "0 of 3*" in text and "– (0.0 to 100.0)" in text
    best = [line for line in score_frame([total]).records() if line["statistic"] == "best"]
    assert [(line["value"], line["planned"], line["lowest"], line["highest"]) for line in best] == [(None, 3, 0, 100)]


def test_without_a_bound_the_text_says_so() -> None:
    metric = MAZE.scoring.metrics[0]
    assert lost_text(LostAttempts(1, 4, None, None), metric) == "n = 3 of 4; unbounded"
    assert lost_text(LostAttempts(1, 4, 2.0, None), metric) == "n = 3 of 4; at least 2.0"
    assert lost_text(LostAttempts(1, 4, None, 2.0), metric) == "n = 3 of 4; at most 2.0"
    assert lost_text(None, metric) == ""


def test_one_of_several_attempts_is_lost_whatever_the_order() -> None:
    """By hand: a lost attempt that was perfect ends the attempts; one that was not is one more of the others."""
    imperfect = detour(item(7, 0), 4)
    (value,) = [metric.of(imperfect) for metric in MAZE.scoring.metrics[:1]]
    assert value is not None and 0 < value < 100
    for lost, bounds in (
        (2, (value / 2, (value + 100) / 2)),  # the first was imperfect, so that the lost one can only be averaged
        (1, (value / 2, 100.0)),  # had the first been perfect, it alone would count
    ):
        records = [replace(imperfect, attempt=3 - lost), failed(detour(item(7, 0), 0, attempt=lost))]
        total = total_of([logged(record) for record in sorted(records, key=lambda record: record.attempt)])
        assert total.single and total.single.lost and total.best and total.best.lost
        assert (total.single.lost.lowest, total.single.lost.highest) == tuple(map(pytest.approx, bounds))
        assert (total.best.lost.lowest, total.best.lost.highest) == (pytest.approx(value), 100)


def test_who_quits_is_not_spared_the_attempt() -> None:
    begun = replace(detour(item(7, 1), 0), end=None, turns=())
    total = total_of([*mazes(1, 0, 0), logged(begun, "v/model")])
    assert total.lost == LostAttempts(1, 2, 50.0, 100.0)
    assert "1 of 2 attempts without a result (1 stopped early)" in summary_table(
        rows([*mazes(1, 0, 0), logged(begun, "v/model")])
    )
    # Played again to its end, nothing is missing.
    again = rows([*mazes(2, 0, 0), logged(begun, "v/model")])
    assert [each.exclusion_reason for each in again] == ["", "", UNFINISHED]
    assert overall(again)[0].lost is None


def test_a_row_that_lacks_attempts_comes_last_and_has_no_rank() -> None:
    better, worse = mazes(4, 0, 6, "v/survivor"), mazes(4, 6, 0, "v/whole")
    assert [group.model for group in rank_by_merit(by_level(rows([*better, *worse])))] == ["v/whole", "v/survivor"]
    scores: list[Row] = []
    for model, rate in (("a", 0.9), ("b", 0.5), ("c", 0.1)):
        scores += attempts(model, MAZE_ID, [rate] * 6 + [rate - 0.05, rate + 0.05])
    lost = [replace(each, error=True, metrics=dict.fromkeys(each.metrics), end="infrastructure") for each in scores[:2]]
    found = matrix([*lost, *scores[2:]])
    assert [(line.model, line.rank) for line in found.rows] == [("b", (1, 1)), ("c", (2, 2)), ("a", None)]
    (cell,) = found.rows[-1].cells.values()
    assert cell.score and cell.score.lost and found.rows[-1].mean and found.rows[-1].mean.lost == cell.score.lost
    assert cell.score.lost == LostAttempts(2, 8, pytest.approx(67.5), pytest.approx(92.5))
    text = matrix_text(found)
    assert next(part for part in text.splitlines() if part.startswith("a ")).split()[1:] == [
        *("90", "(68", "to", "92)", "–", "90*"),
    ]
    assert "attempts without a result: a in Mazes n = 6 of 8; 68 to 92" in " ".join(text.split())
    as_json: Any = found.to_json()[-1]
    assert (as_json["rank"], as_json["why_no_rank"]) == (None, NO_RANK)
    assert as_json["cells"]["maze"]["lost"] == 2 and found.to_json()[0]["why_no_rank"] == ""


def test_a_family_of_which_all_is_lost() -> None:
    gone = [replace(each, error=True, metrics=dict.fromkeys(each.metrics)) for each in attempts("a", HANOI, [1, 1])]
    found = matrix([*attempts("a", MAZE_ID, [1, 0.5, 0.2]), *gone, *attempts("b", HANOI, [1, 0.5, 0.2])])
    (line,) = [each for each in found.rows if each.model == "a"]
    assert line.rank is None and line.lost == 2
    assert {cell.why_none for cell in line.cells.values()} == {"", "no attempt has a result: n = 0 of 2"}


def test_profiles_mark_what_they_lack() -> None:
    made: list[Row] = []
    for number, model in enumerate("abc"):
        for env in (MAZE_ID, HANOI):
            made += attempts(model, env, [0.9 - 0.3 * number] * 3 + [0.7 - 0.3 * number] * 3)
    lost = [
        replace(each, error=True, metrics=dict.fromkeys(each.metrics)) if number < 2 else each
        for number, each in enumerate(made)
    ]
    found = model_profiles(lost)
    assert [line.model for line in found.rows] == ["b", "c", "a"]
    assert [line.lost for line in found.rows] == [0, 0, 2]
    text = profiles_text(found)
    assert NO_RANK in " ".join(text.split()) and "a*: Mazes" in text and "n = 4 of 6" in text


def test_verdicts_hold_whatever_one_of_several_attempts_was() -> None:
    def played(model: str, values: list[float], lost: int = 0) -> list[Row]:
        first, second = (
            attempts(model, HANOI, values, attempt=attempt, ranges={"score": (0.0, 3.0)}) for attempt in (1, 2)
        )
        return [
            *first,
            *(
                replace(each, error=True, metrics=dict.fromkeys(each.metrics)) if number < lost else each
                for number, each in enumerate(second)
            ),
        ]

    good, bad = [1.0] * 10, [0.2] * 10
    whole, partly = (item_scores(played("b", bad, lost))[0] for lost in (0, 10))
    assert not whole.incomplete and len(partly.incomplete) == 10
    # The second attempts could have had all points, so that the mean of two is 0.6 of these, or none of them: 0.1.
    assert list(partly.incomplete.values()) == [(pytest.approx(0.3), pytest.approx(1.8))] * 10
    (first,), _ = compare_sides(item_scores(played("a", good)), [whole])
    (second,), _ = compare_sides(item_scores(played("a", [0.5] * 10)), [whole])
    (depends,), _ = compare_sides(item_scores(played("a", [0.5] * 10)), [partly])
    assert (first.verdict, second.verdict) == (Verdict.FIRST, Verdict.FIRST)
    assert depends.verdict is Verdict.DEPENDS


def test_horizons_say_what_they_lack_and_lead_nobody() -> None:
    def climbed(model: str, lost: bool) -> list[LoggedEpisode]:
        easy = mazes(3, 0, 0, model, 5)
        return [*easy, *(mazes(1, 0, 2, model, 9) if lost else mazes(1, 2, 0, model, 9))]

    whole, survivor = (list(horizons(rows(climbed("v/m", lost)))) for lost in (False, True))
    assert all(each.lost is None for each in whole)
    plain, lacking = whole[0], survivor[0]
    assert lacking.side == "beyond" and lacking.lost and (lacking.lost.lost, lacking.lost.planned) == (2, 6)
    assert (lacking.lost.lowest.value, lacking.lost.highest.side) == (plain.value, "beyond")
    assert re.search(r"^above 9 \(n = 4 of 6; [\d.]+ to above 9\)", horizon_text(lacking))
    curves = success_curves(rows([*climbed("v/whole", lost=False), *climbed("v/survivor", lost=True)]))
    leaders = {
        (curve.group.model, curve.leader and curve.leader.model) for curve in curves if curve.axis == "dimension"
    }
    assert leaders == {("v/whole", None), ("v/survivor", None)}
    assert json.dumps([each.to_json() for each in survivor])


def test_points_that_lack_attempts_are_open() -> None:
    episodes = [
        *(each for level in (5, 7) for each in mazes(4, 6, 0, "v/whole", level)),
        *mazes(4, 6, 0, "v/survivor", 5),
        *mazes(4, 0, 6, "v/survivor", 7),
    ]
    (chart,) = level_charts(TaskView(MAZE, presentation_of(MAZE.id), {}), by_level(rows(episodes)))
    points = {(point["label"], point["level"]): point for point in chart.spec["data"]["values"]}
    assert {key for key, point in points.items() if point["open"]} == {("survivor", 7)}
    (survivor,) = (point for point in points.values() if point["open"])
    assert (survivor["low"], survivor["high"], survivor["interval"]) == (40, 100, True)
    assert "n = 4 of 10; 40.0 to 100.0" in survivor["text"]
    outlines = [layer for layer in chart.spec["layer"] if layer["mark"].get("filled") is False]
    assert [layer["transform"] for layer in outlines] == [[{"filter": "datum.open"}]]
    assert chart.caption.endswith(OPEN)
    (closed,) = level_charts(TaskView(MAZE, presentation_of(MAZE.id), {}), by_level(rows(episodes[:20])))
    assert OPEN not in closed.caption
    assert not [layer for layer in closed.spec["layer"] if layer["mark"].get("filled") is False]


def test_pages_and_files_of_a_report(tmp_path: Path) -> None:
    made = site(tmp_path, [*mazes(4, 0, 6, "v/survivor"), *mazes(4, 6, 0, "v/whole")])
    bounds = "n = 4 of 10; 40.0 to 100.0"
    for page in (made.home, made.task, *(page for page in made.results if "n = 4 of 10" in page.text)):
        assert bounds in page.text and LOST in page.text
    table = (tmp_path / "table.md").read_text()
    results, _, normalized = table.partition("Normalised scores: ")
    assert "n = 4 of 10" in normalized
    lines = [line for line in results.splitlines() if line.startswith("| v/")]
    assert lines == ["| v/whole | 40.0 (16.8 – 68.7) |", f"| v/survivor | 100.0 ({bounds}) \\* |"]
    assert LOST.rstrip(".") in table
    summary = json.loads((tmp_path / "summary.json").read_text())
    totals = {total["group"]["model"]: total for total in summary["overall"]}
    lost = {"lost": 6, "planned": 10, "lowest": 40.0, "highest": 100.0}
    assert totals["v/survivor"]["lost"] == totals["v/survivor"]["best"]["lost"] == lost
    assert (totals["v/whole"]["lost"], totals["v/whole"]["planned"]) == (None, 10)


def test_exports_say_what_a_score_lacks() -> None:
    episodes = mazes(4, 0, 6, "v/survivor")
    made = rows(episodes)
    (total,) = overall(made)
    pairs = [pair for pair in zip(episodes, made, strict=True) if pair[1].is_included]
    results = [ModelResults(total.group, total, pairs)]
    document, _ = every_eval_ever_files(results, organization="o")
    headline = json.loads(document.text)["evaluation_results"][0]
    assert headline["score_details"]["details"]["lost"] == "n = 4 of 10; 40.0 to 100.0"
    assert "confidence_interval" not in headline["score_details"]["uncertainty"]
    assert headline["source_data"]["additional_details"]["attempts_planned"] == "10"
    (entry,) = eval_results_files(results, "o/d")
    assert "n = 4 of 10; 40.0 to 100.0" in entry.text and NO_RANK in entry.text


def test_questions_that_are_lost_are_in_the_bounds_of_a_share() -> None:
    maps = [corridor("m", 5)]
    episodes = answered("oracle", maps)
    lost = [replace(each, record=failed(each.record)) for each in episodes[:5]]
    (total,) = overall(rows([*lost, *episodes[5:]]))
    assert total.lost == LostAttempts(5, 20, 0.75, 1.0)
    macro = total.macro["success"]
    assert macro.lost and (macro.lost.lowest, macro.lost.highest) == (0.75, 1.0)


def test_rows_that_are_lost() -> None:
    made = exclude([measured_row(episode) for episode in mazes(1, 1, 1)])
    assert lost_rows(made[:2], MAZE.scoring.metrics, best_of=True) is None
    found = lost_rows(made, MAZE.scoring.metrics, best_of=True)
    assert found and (found.lost, found.planned, len(found.filled)) == (1, 3, 4)
