"""`waybench run`: how its parameters are read. What it does with them is tested with the tasks."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from waybench.cli._run_settings import (
    check_task_args,
    parameter_combinations,
    plan_runs,
    read_model_arguments,
    task_parameters,
)
from waybench.evaluation.tasks import find_task


def alicia(*texts: str) -> dict[str, object]:
    return check_task_args(find_task("alicia"), task_parameters(texts))


@pytest.mark.parametrize("key", ["null", "true", "1e3", "007", '"abc"', "[1]", "NaN", "a=b", "", " x ", "\u00e4"])
def test_a_key_is_what_was_typed(key: str) -> None:
    assert alicia(f"key={key}") == {"key": key}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("exit_hint=true", {"exit_hint": True}),
        ("exit-hint=False", {"exit_hint": False}),
        ("limit=5", {"limit": 5}),
        ("loops=0.1", {"loops": 0.1}),
        ("loops=0", {"loops": 0.0}),
        ("max-dimension=9", {"max_dimension": 9}),
        ("wording=ascii", {"wording": "ascii"}),
    ],
)
def test_declared_parameters_make_their_types(text: str, wanted: dict[str, object]) -> None:
    found = alicia(text)
    assert found == wanted
    assert [type(value) for value in found.values()] == [type(value) for value in wanted.values()]


def test_the_last_value_counts() -> None:
    assert alicia("max-dimension=9", "max_dimension=7") == {"max_dimension": 7}


def test_flags_are_parameters_too() -> None:
    assert task_parameters(["key=k"], limit=2, attempts=None) == {"key": "k", "limit": 2}
    assert task_parameters(["limit=3"], limit=None, attempts=1) == {"limit": "3", "attempts": 1}


def test_arguments_of_a_model_are_json_or_text() -> None:
    given = ["model-path=./m", "n=3", "on=true", "no=null", 'quoted="3"', "many=[1,2]", "url=http://a?b=c"]
    assert read_model_arguments(given) == {
        "model_path": "./m",
        "n": 3,
        "on": True,
        "no": None,
        "quoted": "3",
        "many": [1, 2],
        "url": "http://a?b=c",
    }
    assert read_model_arguments(["a=NaN", "b=-Infinity"]) == {"a": "NaN", "b": "-Infinity"}  # JSON has no such numbers


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["-T", "key"], "write it as key=value"),
        (["-T", "=k"], "write it as key=value"),
        (["-T", "limit=many"], "option limit='many': give a whole number"),
        (["-T", "limt=3"], "did you mean 'limit'"),
        (["-T", "key=\udcff"], "this is not valid UTF-8"),
        (["-T", "\udcff=k"], "this is not valid UTF-8"),
        (["-M", "x=\udcff"], "this is not valid UTF-8"),
        (["--temperature", 1, "-G", "temperature=0"], "-G temperature: --temperature is given, too; give one of them"),
        (["-G", 'extra_headers={"authorization": "x"}'], "give headers and keys as -M default_headers"),
        (["-G", "topp=1"], "Unknown GenerateConfig field(s): topp"),
        (["-G", "top_p=much"], "top_p='much': Input should be a valid number"),
        (["--limit", 2, "-T", "limit=3"], "--limit and -T limit are the same parameter: give one of them"),
        (["--attempts", 2, "-T", "attempts=2"], "--attempts and -T attempts are the same parameter: give one of them"),
        (["alicia", "--each", "wording=matrix,"], "a value is empty"),
        (["alicia", "--each", "wording"], "write it as key=value"),
        (["alicia", "--each", "wording=matrix", "-T", "wording=ascii"], "give one of them"),
        (["alicia", "--each", "wording=matrix,runes"], "runes"),
        (["alicia", "--precision", 0.1], "--precision: no search for a horizon is among alicia; leave the option out"),
        (["alicia", "--executor", "processes:0"], "N is a whole number from 1 to 9999"),
        (["--budget", "-5"], "as in 5USD or 200k tokens"),  # also where embedded players spend nothing
        (["--budget", "0"], "give a positive amount"),
        (["--temperature", "nan"], "'--temperature': nan is not a number such as 0.5"),
        (["--temperature", "inf"], "'--temperature': inf is not a number such as 0.5"),
        (["-T", "isomorph=-1"], "give a number from 0 to 1000000"),
        (["--price", "5"], "as in 2.5/10, or as MODEL=2.5/10"),
        (["horizon_maze", "--budget", "5USD", "--price", "1/2"], "reads prices from a file"),
        (["horizon_maze", "--budget", "much"], "as in 5USD or 200k tokens"),
        (["horizon_maze", "--prices", "nowhere.json"], "cannot read nowhere.json"),
        (["horizon_maze", "-T", "easiest=19", "-T", "hardest=20"], "at least two of the levels"),
        (["horizon_maze", "-T", "easiest=1"], "easiest=1: the levels of this search begin at 5"),
        (["horizon_maze", "-T", "hardest=999"], "hardest=999: the levels of this search end at 101"),
    ],
)
def test_bad_parameters(command: Command, tmp_path: Path, args: list[object], expected: str) -> None:
    task = () if args[0] in ("alicia", "horizon_maze") else ("alicia",)
    result = command("run", *task, *args, "--model", "waybench/null", "--out", tmp_path)
    assert expected in one_line_error(result)
    assert not [*tmp_path.iterdir()]


def test_an_empty_folder_name_is_not_the_current_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for args in (["--out", ""], ["--out="]):
        result = command("run", "dfs", "--model", "waybench/null", *args)
        assert "--out is empty: give a file or folder" in one_line_error(result)
    assert not [*tmp_path.iterdir()]


def test_every_combination_of_values_is_run() -> None:
    assert parameter_combinations([], {}) == [{}]
    assert parameter_combinations(["wording=matrix,ascii", "exit-hint=true,false"], {"limit": 3}) == [
        {"wording": "matrix", "exit_hint": "true"},
        {"wording": "matrix", "exit_hint": "false"},
        {"wording": "ascii", "exit_hint": "true"},
        {"wording": "ascii", "exit_hint": "false"},
    ]
    assert parameter_combinations(["limit=3,3,2"], {}) == [{"limit": "3"}, {"limit": "2"}]


@pytest.mark.slow
def test_items_and_isomorphic_ones_in_one_run(command: Command, tmp_path: Path) -> None:
    """`isomorph=0` are the items themselves; it was refused as out of range."""
    args = ("--each", "isomorph=0,1", "--limit", 2, "-T", "max_dimension=5", "--display", "none")
    command("run", "alicia", "--model", "waybench/oracle", "--out", tmp_path, *args)
    compared = json.loads(command("compare", tmp_path, "--isomorphs", "--json", "-").stdout)
    assert '"items": 2' in json.dumps(compared)


@pytest.mark.slow
def test_wordings_are_compared_after_a_run(command: Command, tmp_path: Path) -> None:
    args = ("--each", "wording=matrix,ascii", "--limit", 3, "-T", "max_dimension=7", "--display", "none")
    said = command("run", "alicia", "--model", "waybench/noisy-0.3", "--out", tmp_path, *args).stdout
    assert "the same items in several wordings" in said
    assert len([*tmp_path.glob("*.eval")]) == 2


def test_a_quote_runs_nothing(command: Command, tmp_path: Path) -> None:
    said = command("run", "horizon_maze", "--model", "openai/none", "--quote", "-T", "hardest=15", "--out", tmp_path)
    assert said.stdout.startswith("horizon_maze, openai/none: about ")
    assert len(said.stdout.splitlines()) == 1
    assert not [*tmp_path.glob("*.eval")]


def test_models_of_which_a_quote_says_the_same_share_a_line(command: Command, tmp_path: Path) -> None:
    models = [part for name in "abc" for part in ("--model", f"openai/{name}")]
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"openai/b": {"input": 1, "output": 1, "input_cache_read": 1}}))
    quote = ("run", "hanoi_3", "--quote", "--limit", 1, *models)
    head, _, same, *notes = command(*quote).stdout.splitlines()
    assert "USD" not in head and same.split()[:6] == ["hanoi_3", "each", "of", "3", "models", "1"]
    assert max(map(len, [head, same, *notes])) <= 120
    head, _, others, priced, *_ = command(*quote, "--prices", prices).stdout.splitlines()
    assert head.endswith("USD") and others.split()[1:3] == ["openai/a,", "openai/c"] and others.endswith("k")
    assert priced.split()[1] == "openai/b" and re.search(r"\d\.\d\d to \d+\.\d\d$", priced)


def unmeasurable(log: Path, sample: str) -> None:
    """Take from a sample of a log what every row needs, as an edit or another program may."""
    with zipfile.ZipFile(log) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    name = f"samples/{sample}_epoch_1.json"
    changed = json.loads(parts[name])
    head = json.loads(changed["metadata"]["waybench"][0])
    del head["item"]["level"]
    changed["metadata"]["waybench"] = [json.dumps(head)]
    with zipfile.ZipFile(log, "w") as written:
        for part, data in {**parts, name: json.dumps(changed).encode()}.items():
            written.writestr(part, data)


def test_a_record_that_cannot_be_measured_is_named_and_counted(command: Command, tmp_path: Path) -> None:
    args = ("--limit", 2, "-T", "max_dimension=5", "--out", tmp_path, "--display", "none")
    command("run", "alicia", "--model", "waybench/null", "--attempts", 1, *args)
    (log,) = tmp_path.glob("*.eval")
    unmeasurable(log, "501-1")
    result = command("run", "alicia", "--model", "waybench/oracle", *args)
    assert result.exit_code == 0, result.output
    named, counted = result.stderr.splitlines()
    assert named.startswith(f"waybench: skipped {log}, sample 501-1: the record of maze/alicia, item '501', cannot be")
    assert counted == "warning: 1 sample or file of the logs could not be read and are excluded from all results"
    # The other episode of that log counts, and so do those of the run.
    (null,) = (line for line in result.stdout.splitlines() if line.startswith("  waybench/null"))
    (oracle,) = (line for line in result.stdout.splitlines() if line.startswith("  waybench/oracle"))
    assert (null.split()[1:3], oracle.split()[1:3]) == (["1", "0.0"], ["2", "100.0"])


def test_where_no_record_can_be_measured_each_is_named(command: Command, tmp_path: Path) -> None:
    args = ("--limit", 1, "-T", "max_dimension=5", "--out", tmp_path, "--display", "none")
    run = ("run", "alicia", "--model", "waybench/null", "--attempts", 1, *args)
    command(*run)
    (log,) = tmp_path.glob("*.eval")
    unmeasurable(log, "501-1")
    result = command(*run)
    assert result.exit_code == 0, result.output
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["waybench", "warning"]
    assert not result.stdout


def test_a_parameter_goes_to_the_tasks_that_have_it() -> None:
    entries = [find_task(name) for name in ("alicia", "hanoi_3")]
    given = task_parameters(["max_dimension=9", "hanoi_3.limit=2"], attempts=1)
    runs, partly = plan_runs(entries, given, [{}], None)
    assert [(entry.name, args) for entry, args in runs] == [
        ("alicia", {"max_dimension": 9, "attempts": 1}),
        ("hanoi_3", {"limit": 2, "attempts": 1}),
    ]
    assert partly == ["max_dimension: only for alicia"]
    # What is for one task alone is stronger than what is for all.
    runs, _ = plan_runs(entries, task_parameters(["alicia.limit=3"], limit=5), [{}], None)
    assert [args["limit"] for _, args in runs] == [3, 5]


def test_each_value_of_a_parameter_that_a_task_does_not_have() -> None:
    entries = [find_task(name) for name in ("alicia", "hanoi_3")]
    runs, _ = plan_runs(entries, {}, parameter_combinations(["exit_hint=true,false"], {}), None)
    assert [(entry.name, args) for entry, args in runs] == [
        ("alicia", {"exit_hint": True}),
        ("alicia", {"exit_hint": False}),
        ("hanoi_3", {}),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_dimensoin=9", "none of the tasks alicia, hanoi_3 has this parameter; did you mean max_dimension?"),
        ("zzzz=9", "`waybench list TASK` shows a task's parameters"),
        ("alicia.zzzz=9", "unknown parameter of alicia 'zzzz'"),
        ("hanoi_3.max_dimension=9", "unknown parameter of hanoi_3 'max_dimension'"),
        ("max_dimension=red", "max_dimension"),
    ],
)
def test_a_parameter_that_no_task_has(command: Command, tmp_path: Path, text: str, expected: str) -> None:
    result = command("run", "alicia", "hanoi_3", "--model", "waybench/null", "-T", text, "--out", tmp_path / "o")
    assert expected in one_line_error(result)


def test_a_quote_needs_no_key(command: Command, tmp_path: Path) -> None:
    said = command("run", "alicia", "hanoi_3", "--model", "openai/none", "--quote", "--limit", 1, "--out", tmp_path)
    assert said.exit_code == 0
    _, _, ladder, fixed, *notes, limit = said.stdout.splitlines()
    assert (ladder.split()[0], fixed.split()[0]) == ("alicia", "hanoi_3")
    assert any(note.startswith("alicia climbs from dimension 5") for note in notes)
    assert limit.startswith("alicia: climbs as long as") and "The run stops after 1,000,000 tokens" in limit


def test_every_model_without_a_key_is_named(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ONE_API_KEY", "TWO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    models = ("-m", "openai-api/one/a", "-m", "openai-api/two/b", "--model-base-url", "http://127.0.0.1:9/v1")
    said = one_line_error(command("run", "hanoi_3", *models, "--out", tmp_path / "out"))
    assert "ONE_API_KEY" in said
    assert "TWO_API_KEY" in said
