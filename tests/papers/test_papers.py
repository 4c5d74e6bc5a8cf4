"""The papers as data: every task, parameter and metric named exists, and the numbers are those of the papers' texts."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from waybench.cli._run_settings import parameter_combinations, plan_runs
from waybench.core import DataError, Environment, Episode, Json, Metric, UsageError
from waybench.envs import registry
from waybench.evaluation.tasks import find_task
from waybench.results.estimates import as_metric
from waybench.results.papers import (
    PAPERS,
    Command,
    Paper,
    PaperTable,
    PublishedRow,
    find_paper,
    find_table,
    papers,
    read_paper,
)

TABLES = [(paper, table) for paper in papers() for table in paper.tables]
by_table = pytest.mark.parametrize(("paper", "table"), TABLES, ids=[f"{p.name}-{t.id}" for p, t in TABLES])


def runs(table: PaperTable) -> Iterator[tuple[Command, dict[str, Json]]]:
    """Yield the runs of a table's commands: the command, and the parameters of one run."""
    for command in table.commands:
        texts = [f"{name}={','.join(map(str, values))}" for name, values in command.each.items()]
        for values in parameter_combinations(
            [text.replace("True", "true").replace("False", "false") for text in texts], {}
        ):
            yield command, {**command.parameters, **values}


@by_table
def test_commands_name_tasks_and_parameters_that_exist(paper: Paper, table: PaperTable) -> None:
    assert table.commands
    for command, parameters in runs(table):
        if command.tasks:
            plan_runs([*map(find_task, command.tasks)], {**parameters}, [{}], None)
        assert command.text.startswith("waybench ")


def numbers_of(env: Environment[Any, Any, Any]) -> dict[str, Metric]:
    return {
        each.name: each
        for each in (*env.scoring.metrics, *map(as_metric, (*env.scoring.aggregates, *env.scoring.series)))
    }


@by_table
def test_published_numbers_are_of_metrics_and_in_their_range(paper: Paper, table: PaperTable) -> None:
    for block in table.published:
        env = registry.load(block.env)
        level = block.level or env.items.smallest_level
        options = {
            name: value for name, value in block.options.items() if name in {o.name for o in env.playing.options}
        }
        options.pop("engine", None)  # one that is not installed here
        record = Episode(env, env.source(level=level).item(0), options).record()
        known = numbers_of(env)
        for row in block.rows:
            for name, value in zip(block.metrics, row.values, strict=True):
                low, high = known[name].range_of(record)
                if value is not None and block.statistic == "mean":
                    assert low is None or value >= low - 1e-9, (row, name)
                    assert high is None or value <= high + 1e-9, (row, name)


@by_table
def test_embedded_players_and_their_metrics_exist(paper: Paper, table: PaperTable) -> None:
    for each in table.embedded:
        env = registry.load(each.env)
        assert each.player in {*env.players.policies, "oracle", "random", "null"}
        assert each.values.keys() <= numbers_of(env).keys()
        command = table.commands[each.command]
        assert each.env in {id_ for name in command.tasks for id_ in find_task(name).envs}


# The file of each paper's text, where there is one, and how the text calls what the tables call otherwise.
TEXTS = {"aqa": "aqa_bench.txt", "mango": "mango.txt", "smartplay": "smartplay.txt", "gtb": "gtb_review.txt"}
ALIASES = {
    "Vicuna-7B-v1.5-16K": "Vicuna-7B",
    "Vicuna-13B-v1.5-16K": "Vicuna-13B",
    "DeepSeek-LLM-7B": "DeepSeek-(?:LLM|llm)-7B",
    "DeepSeek-LLM-67B": "DeepSeek-(?:LLM|llm)-67B",
    "DeepSeek-MoE-16B": "DeepSeek-(?:MoE|MOE|moe)-16B",
}
NEAR = 400  # characters after a model's name within which its numbers stand
TABLE = 1500  # and of a pair of models, which is found by the heads of its row and its column
# Numbers that the specification has and the text of the review has not.
SPECIFIED = {("gtb", "Random-FP"), ("gtb", "Random-RP")}
# Rows of people, and those whose name is not beside their numbers: in a sentence, and left out of the text of Table 8.
ELSEWHERE = {("mango", "table-2", "People"), ("mango", "section-c4", "GPT-3.5"), ("aqa", "table-8", "GPT-4-Turbo")}


def places(row: PublishedRow, text: str) -> Iterator[str]:
    """Yield what follows each place where a text names a row's model."""
    for found in re.finditer(ALIASES.get(row.model, re.escape(row.model)), text, re.IGNORECASE):
        yield text[found.end() : found.end() + (TABLE if row.versus else NEAR)]


def printed(value: Decimal, near: str) -> bool:
    """Return whether a number is printed in a text with the same digits."""
    return re.search(rf"(?<![\d.]){re.escape(str(value))}(?!\.?\d)", near) is not None


def test_rows_are_in_the_texts(paper: Callable[[str], str]) -> None:
    checked = 0
    missing: list[tuple[str, str, PublishedRow]] = []
    for name, file in TEXTS.items():
        text = paper(file)
        for table in find_paper(name).tables:
            for block in table.published:
                if block.statistic != "mean":
                    continue
                for row in block.rows:
                    if row.cluster or (name, table.id, row.model) in ELSEWHERE or (name, row.model) in SPECIFIED:
                        continue
                    known = [value for value in row.values if value is not None]
                    # All numbers of a row after one and the same mention of the model.
                    if any(all(printed(value, near) for value in known) for near in places(row, text)):
                        checked += 1
                    else:
                        missing.append((name, table.id, row))
    assert checked > 900
    assert missing == []


def test_margins_that_two_interleaved_lines_hide_are_in_the_text(paper: Callable[[str], str]) -> None:
    [line] = [line for line in paper("aqa_bench.txt").splitlines() if "M Ma ar rg gi in" in line]
    # The characters of two lines take turns: "0 0. .0 00 09 6" is "0.009" and "0.006".
    characters = line.partition("an x")[2].replace(" ", "")
    values = [v for v in find_paper("aqa").values() if (v.table, v.model) == ("table-1", "Llama2-7B-chat")]
    for statistic, first in (("margin_min", 0), ("margin_max", 1)):
        ours = [f"{value.value:.3f}" for value in values if value.statistic == statistic]
        assert "".join(ours) == characters[first::2]


def test_published_tables_agree_with_each_other() -> None:
    found = {(v.table, v.env, v.level, v.metric, v.model): v.value for v in find_paper("aqa").values()}
    same = 0
    for goal, wholes in (("table-5", ("table-14", "table-15")), ("table-6", ("table-12", "table-13"))):
        for (table, env, level, metric, model), value in found.items():
            if table == goal:
                [other] = [found[key] for whole in wholes if (key := (whole, env, level, metric, model)) in found]
                assert value == pytest.approx(other, abs=0.0051), (env, model)
                same += 1
    assert same > 140


def test_the_normalised_scores_follow_from_the_raw_ones() -> None:
    # Appendix D.2: (raw - least) / (people - least); the raw ones are rounded, too.
    least = {"MessengerL1": -1, "MessengerL2": -1}
    by_key = {(v.table, v.setting, v.model): v.value for v in find_paper("smartplay").values()}
    compared = 0
    for (table, setting, model), raw in by_key.items():
        if table == "table-4":
            people, low = by_key["table-4", setting, "Human Baseline"], least.get(setting, 0)
            scaled = (raw - low) / (people - low)
            assert by_key["table-2", setting, model] == pytest.approx(scaled, abs=0.0101), (setting, model)
            compared += 1
    assert compared == 63


def test_the_counts_of_minigames_are_shares() -> None:
    values = [v for v in find_paper("mango").values() if v.table == "table-14"]
    first = {v.cluster: v.value for v in values if v.model == "GPT-4" and v.setting.startswith("with ")}
    assert (first["advent"], first["zork1"], first["ztuu"]) == (5 / 9, 13 / 18, 7 / 9)
    assert not first.keys() & {"905", "lurking", "partyfoul"}  # none was asked, and rows that the text mangles


MINIMAL: dict[str, Any] = {"title": "T", "source": "S"}
ENTRY: dict[str, Any] = {"id": "table-1", "shows": "s", "report": "r", "agreement": "a"}
BLOCK: dict[str, Any] = {"env": "maze/alicia", "setting": "x", "metrics": ("score",)}


BROKEN: list[tuple[tuple[Any, ...], str]] = [
    (({**ENTRY, "show": "s"},), "mine.toml, table-1: unknown: show"),
    (({k: v for k, v in ENTRY.items() if k != "report"},), "mine.toml, table-1: report is missing"),
    ((ENTRY, ENTRY), "two tables of the id table-1"),
    (({**ENTRY, "commands": ({},)},), "table-1, commands 1: give tasks, or a line"),
    (({**ENTRY, "published": ({**BLOCK, "rows": (("m", 1, 2),)},)},), "published 1: each row needs 1 numbers"),
    (({**ENTRY, "published": ({**BLOCK, "rows": (("m", "1"),)},)},), "published 1: no number: '1'"),
    (({**ENTRY, "published": ({**BLOCK, "rows": (), "pairs": ()},)},), "published 1: give one of rows"),
    (({**ENTRY, "published": ({**BLOCK, "pairs": (("a", "b", 1),)},)},), "pairs: unfit line"),
    (({**ENTRY, "published": ({**BLOCK, "model": "m", "counts": (("a", 3, 2),)},)},), "counts: unfit line"),
    (({**ENTRY, "published": ({**BLOCK, "rows": (), "statistic": "sum"},)},), "statistic is none of mean"),
    (({**ENTRY, "numbers": ({"title": "t", "columns": ("a",), "rows": (("m",),)},)},), "rows: unfit line"),
    (("table-1",), "it is no table"),
]


@pytest.mark.parametrize(("tables", "problem"), BROKEN)
def test_an_error_names_the_file_and_the_entry(tables: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(DataError, match=re.escape(problem)):
        read_paper("mine", {**MINIMAL, "tables": tables})


def test_names_are_found_or_the_nearest_is_said() -> None:
    aqa = find_paper("aqa")
    assert find_table(aqa, "Table 3") is find_table(aqa, "table-3")
    with pytest.raises(UsageError, match="did you mean 'mango'"):
        find_paper("mungo")
    with pytest.raises(UsageError, match="table-33"):
        find_table(aqa, "table-33")
    assert list(PAPERS) == ["aliciabench", "aqa", "mango", "gtb", "smartplay"]
