"""Comparisons that end when they are decided: streams, waiting, drops, lost items, kills, limits, and what is told."""

import json
from math import nan
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.cli.support import Command
from waybench.core import UsageError
from waybench.evaluation._comparison import ComparisonSource, StreamConfig
from waybench.evaluation.tasks import find_task, resolve_key
from waybench.evaluation.tasks._stream import task_stream
from waybench.results import read_logs, rows
from waybench.results.comparisons._decisions import SUFFIX, stored_decisions
from waybench.results.estimates import by_level
from waybench.results.stats._sequential import DecisionRule

A, B = "waybench/oracle", "waybench/noisy-0.1"


class _Sample:
    def __init__(self, name: str) -> None:
        self.id = name


def source(size: int = 400, models: tuple[str, ...] = ("a", "b"), window: int = 3) -> ComparisonSource:
    def units(number: int) -> Any:
        return [[_Sample(f"{number}-1")]]

    rule = DecisionRule(models=len(models))
    return ComparisonSource(StreamConfig(units=units, size=size, rule=rule, models=models, window=window))


def test_only_the_gapless_prefix_counts_in_whatever_order_results_come() -> None:
    ordered, reverse = source(), source()
    for number in range(7):
        for model in ("a", "b"):
            ordered.add_score(model, f"{number}-1", float(model == "a"))
    for number in reversed(range(1, 20)):
        for model in ("a", "b"):
            reverse.find_unit(f"{number}-1")
            reverse.add_score(model, f"{number}-1", float(model == "a"))
    assert not ordered.is_over and not reverse.is_over
    ordered.add_score("a", "7-1", 1.0)
    assert not ordered.is_over
    ordered.add_score("b", "7-1", 0.0)
    assert ordered.is_over
    reverse.add_score("a", "0-1", 1.0)
    reverse.add_score("b", "0-1", 0.0)
    assert reverse.is_over
    assert reverse._race.units == ordered._race.units == 8  # what lies beyond the decision changes nothing


def test_a_lost_item_holds_nothing_up_and_its_result_replaces_it() -> None:
    race = source()
    for number in range(8):
        race.add_score("b", f"{number}-1", 0.0)
        race.add_score("a", f"{number}-1", nan if number == 3 else 1.0)
    assert not race.is_over
    race.add_score("a", "8-1", 1.0)
    race.add_score("b", "8-1", 0.0)
    assert not race.is_over and race._race.units == 9
    race.add_score("b", "3-1", nan)  # a result is not replaced by a loss
    assert race._results["b"]["3-1"] == 0.0


def test_a_model_waits_for_the_others_and_for_none_that_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    race = source()
    monkeypatch.setattr("waybench.evaluation._comparison.get_model", lambda: "a")
    got: list[Any] = []

    async def play() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            assert not got
            for number in range(3):
                race.add_score("b", f"{number}-1", 0.0)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            assert [sample.id for sample in got[0]] == ["3-1", "4-1", "5-1"]
            group.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            race.end_player("b")

    async def ask() -> None:
        got.append(await race.next_samples())

    for number in range(3):
        race.find_unit(f"{number}-1")
        race.add_score("a", f"{number}-1", 1.0)
    race._states["a"] = race.initial_state("a")
    anyio.run(play)
    assert got[1] is None


def test_a_dropped_model_plays_no_further_unit() -> None:
    race = source(models=("a", "b", "c"), window=2)
    number = 0
    while race.may_play_on("c"):
        for model in ("a", "b", "c"):
            race.find_unit(f"{number}-1")
            race.add_score(model, f"{number}-1", float(model != "c"))
        number += 1
    assert race.may_play_on("a") and race.may_play_on("b") and not race.is_over
    place = race.initial_state("c")
    place.n_units = number
    assert race._release_samples("c", place) == []
    race.add_score("a", f"{number}-1", 1.0)
    race.add_score("b", f"{number}-1", 1.0)
    assert race._race.units == number + 1


def stream(task: str, over: str = "items", max_items: int | None = None, **args: Any) -> Any:
    entry = find_task(task)
    return task_stream(entry, resolve_key(entry.resolve(args)), over, max_items)


def test_units_of_generated_items_of_levels_and_of_maps() -> None:
    alone = stream("maze/alicia", level=9)
    assert (alone.size, alone.unit_name) == (2_000, "item")
    assert [item.item.id for item in alone.unit(3)] == ["904"]
    rounds = stream("atlas_quick", max_items=200)
    assert (rounds.size, rounds.unit_name, len(rounds.unit(0))) == (10, "round", 20)
    assert {item.item.index for item in rounds.unit(4)} == {4}
    assert stream("aqa").population.startswith("on these ")  # some of its numbers are few
    maps = {"level": 2, "worlds": 12, "limit": 2}
    items = stream("mango_route", **maps)
    assert (items.size, items.population) == (24, "on these 24 items")
    ids = [item.item.id for number in range(24) for item in items.unit(number)]
    assert len(set(ids)) == 24 and ids != sorted(ids)
    fewer = stream("mango_route", max_items=10, **maps)
    assert [item.item.id for number in range(fewer.size) for item in fewer.unit(number)] == ids[:10]
    clusters = stream("mango_route", "clusters", **maps)
    assert (clusters.size, clusters.unit_name, {len(clusters.unit(n)) for n in range(12)}) == (12, "cluster", {2})


@pytest.mark.parametrize(
    ("task", "over", "args", "expected"),
    [
        ("alicia", "items", {}, "climbs as long as a model solves an item"),
        ("horizon_maze", "items", {}, "searches for a horizon"),
        ("maze/alicia", "clusters", {"level": 9}, "a cluster of its own"),
        ("maze/alicia", "items", {"level": 9, "limit": 20}, "--max-items in place of --limit"),
        ("maze/alicia", "items", {"level": 9, "attempts": 2}, "best of several attempts"),
        ("hanoi_3", "items", {}, "a decision takes at least 8"),
        ("dfs", "items", {"teacher_guided": "true"}, "leave the teacher out"),
    ],
)
def test_what_cannot_be_compared_is_refused(task: str, over: str, args: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        stream(task, over, **args)


def test_options_that_belong_together(command: Command, tmp_path: Path) -> None:
    start = ["run", "maze/alicia", "-m", A, "--out", tmp_path]
    for more, expected in (
        (["--margin", "0.1"], "add --until decided"),
        (["--max-items", "9"], "add --until decided"),
        (["--over", "clusters"], "add --until decided"),
        (["--until", "decided"], "at least two models"),
        (["--until", "decided", "-m", A], "at least two models"),
        (["--until", "decided", "-m", B, "--executor", "processes"], "leave out --executor"),
    ):
        assert expected in command(*start, *more).stderr


def run(command: Command, out: Path, *more: str, models: tuple[str, ...] = (A, B)) -> Any:
    named = [part for model in models for part in ("-m", model)]
    return command(
        *("run", "maze/alicia", "-T", "level=11", *named, "--until", "decided", "--out", str(out)),
        *("--display", "none", *more),
    )


def test_a_run_decides_and_every_reader_says_so_without_a_usual_interval(tmp_path: Path, command: Command) -> None:
    logs = tmp_path / "logs"
    done = run(command, logs)
    assert done.exit_code == 0, done.stderr
    assert "plays until 2 models are told apart or tied within 0.05, at most 2,000 items each; about 2" in done.stderr
    assert f"{A} is better than {B}, by " in done.stdout and "valid at any stop" in done.stdout
    assert "stopped by a comparison, too far apart, and in no rank" in done.stdout
    (path,) = logs.glob(f"*{SUFFIX}")
    stored = json.loads(path.read_text())
    assert stored["verdict"] == "better" and stored["best"] == [A]
    assert stored["looked_at"] == stored["decided_at"] == len(stored["units"]) == len(stored["evidence"])
    assert stored["evidence"][-1][0][1] >= 40 > stored["evidence"][-2][0][1]
    assert len(stored["bets"]) == 8
    all_rows = rows(list(read_logs(logs)))
    assert len(all_rows) < 200 and all(row.adaptive and row.is_streamed for row in all_rows)
    assert all(cell.best is not None and cell.best.low is None for cell in by_level(all_rows))
    (decision,) = stored_decisions(all_rows)
    assert decision.summary == {name: value for name, value in stored.items() if name not in ("units", "evidence")}
    compared = command("compare", A, B, "--in", logs)
    assert f"{A} is better than {B}" in compared.stdout and "p " not in compared.stdout
    assert json.loads(command("compare", A, B, "--in", logs, "--json", "-").stdout)["decisions"] == [decision.summary]
    site = tmp_path / "site"
    assert command("report", logs, "--out", site).exit_code == 0
    assert "Comparisons that ended when they were decided" in (site / "index.html").read_text()
    summary = json.loads((site / "summary.json").read_text())
    assert summary["decisions"] == [decision.summary]
    assert all(cell["adaptive"] and cell["best"]["low"] is None for cell in summary["overall"])
    assert not summary["comparisons"]
    file = tmp_path / "submission.zip"
    assert command("submit", logs, "--out", file).exit_code == 0
    verified = command("verify", file)
    assert verified.exit_code == 0 and "records: verified" in verified.stdout, verified.output
    # The same command plays nothing, and says the same.
    again = run(command, logs)
    assert again.stdout == done.stdout
    refused = run(command, logs, "--margin", "0.1")
    assert refused.exit_code == 2 and "has a comparison of these models with margin 0.05" in refused.stderr
    stored["units"][3]["scores"][0] = [0.25]
    path.write_text(json.dumps(stored))
    changed = run(command, logs)
    assert changed.exit_code == 2 and "unit 3 has other items or scores in the file" in changed.stderr
    (problem,) = stored_decisions(all_rows)
    assert problem.problem.startswith("unit 3 ")


@pytest.mark.slow
def test_a_higher_limit_continues_where_a_lower_one_left_off(tmp_path: Path, command: Command) -> None:
    whole = run(command, tmp_path / "whole", "--max-items", "60", models=(A, "waybench/noisy-0.01"))
    assert whole.exit_code == 0 and "undecided after 60 items of at most 60" in whole.stdout
    first = run(command, tmp_path / "parts", "--max-items", "25", models=(A, "waybench/noisy-0.01"))
    assert "undecided after 25 items of at most 25" in first.stdout
    second = run(command, tmp_path / "parts", "--max-items", "60", models=(A, "waybench/noisy-0.01"))
    assert second.stdout.replace("parts", "whole") == whole.stdout
    assert sorted(row.item for row in rows(list(read_logs(tmp_path / "parts")))) == sorted(
        row.item for row in rows(list(read_logs(tmp_path / "whole")))
    )


def test_a_quote_is_for_all_items_of_the_stream(command: Command, tmp_path: Path) -> None:
    models = ("--model", "openai/a", "--model", "openai/b")
    limit = ("--until", "decided", "--max-items", 50)
    said = command("run", "bfs", *limit, "--quote", *models, "--out", tmp_path / "logs").stdout
    _, _, row, *notes = said.splitlines()
    alone = command("run", "bfs", "--limit", 50, "--quote", *models[:2], "--out", tmp_path / "logs").stdout.splitlines()
    assert row.split()[5:7] == alone[2].split()[2:4] == ["50", "1,000"]
    assert "less where the comparison is decided sooner" in " ".join(notes)
    assert not (tmp_path / "logs").exists()
