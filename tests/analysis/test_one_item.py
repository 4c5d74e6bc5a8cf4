"""A puzzle that was attempted five times is one item with five attempts, wherever items are counted."""

import json
from pathlib import Path

import pytest

import waybench
from tests.analysis.episodes import estimate, failed
from tests.report.pages import site
from waybench.core import EpisodeRecord, play_to_end, policy
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._models import compare_sides
from waybench.results.comparisons._prompts import wording_effects
from waybench.results.comparisons._text import comparison_lines
from waybench.results.estimates._ledger import ledger
from waybench.results.horizons import horizons

HANOI = waybench.load("hanoi/rods")


def attempts(model: str, player: str, count: int = 5, level: int = 3, **options: str) -> list[LoggedEpisode]:
    item = HANOI.source(None, level).item(0)
    return [LoggedEpisode(model, "hanoi_3", played(item, player, attempt, options)) for attempt in range(1, count + 1)]


def played(item: object, player: str, attempt: int, options: dict[str, str]) -> EpisodeRecord:
    return play_to_end(HANOI, item, policy(player), {"wording": "one_question", **options}, attempt=attempt).record()


def test_an_estimate_counts_one_item_and_its_interval_is_over_attempts() -> None:
    (found,) = estimate(attempts("a", "random", 6))
    assert (found.items, found.attempts, found.missing, found.incomplete) == (1, 6, 0, 0)
    assert found.single is not None
    assert (found.single.clusters, found.single.low is not None) == (6, True)
    (few,) = estimate(attempts("a", "random"))
    assert few.single is not None and few.single.low is None
    assert few.few_items == "1 item, 5 attempts"
    (oracle,) = estimate(attempts("a", "oracle"))
    assert (oracle.items, oracle.solved_items) == (1, 1)
    assert oracle.solved is not None
    assert oracle.solved.n == 5


def test_every_table_counts_one_item() -> None:
    first, second = attempts("a", "oracle"), attempts("b", "random")
    all_rows = rows([*first, *second])
    assert [(entry.items, entry.attempts) for entry in ledger(all_rows)] == [(1, 5)] * 2
    one, other = item_scores(all_rows)
    (made,), _ = compare_sides([one], [other])
    assert made.items == 1
    assert "over 1 item, 5 attempts, level 3." in next(comparison_lines(made))
    higher = [*first, *attempts("a", "oracle", level=4)]
    assert {each.items for each in horizons(rows(higher))} == {2}
    worded = [*attempts("a", "random"), *attempts("a", "random", wording="two_questions")]
    assert [each.items for each in wording_effects(rows(worded))] == [1]


@pytest.mark.slow
def test_the_report_counts_one_item(tmp_path: Path) -> None:
    made = site(tmp_path, [*attempts("a", "oracle"), *attempts("b", "noisy-0.4")])
    told = made.home.text + made.task.text
    assert "Number of disks 3, 1 puzzle; at most 5 attempts at each puzzle." in told
    assert "5 puzzles" not in " ".join(page.text for page in made.pages)
    assert [row[1:3] for row in made.task.table("Outcomes and cost")[2:]] == [["1", "5"]] * 2
    for page in made.results:
        assert page.table("By number of disks.")[1][1:3] == ["1", "5"]
        assert "95 % intervals over attempts." in page.text
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {each["items"] for each in summary["overall"]} == {1}
    (compared,) = made.compared.values()
    data = json.loads(compared.scripts[0])
    assert data["items"] == [["3-0", 3]]
    assert [len(scores) for scores in data["scores"]] == [1, 1]
    assert [number for number, _ in data["differences"].values()] == [1, 1]
    assert [row[2] for row in compared.table("Pairwise comparisons.")[1:]] == ["1"]


def test_an_item_with_a_lost_attempt_is_incomplete_and_not_missing() -> None:
    episodes = attempts("a", "oracle")
    episodes[2] = LoggedEpisode("a", "hanoi_3", failed(episodes[2].record))
    (found,) = estimate(episodes)
    assert (found.items, found.attempts, found.missing, found.incomplete) == (1, 4, 0, 1)
