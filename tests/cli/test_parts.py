"""Runs in parts: the same results as one run, and no secret in the description of a job."""

import json
import pickle
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest
from inspect_ai._eval.eval_set_manifest import INSPECT_EVAL_SET_CAPTURE
from inspect_ai._eval.eval_set_selection import INSPECT_EVAL_SET_SELECTION

from tests.cli.support import Command, one_line_error
from tests.conftest import PATIENCE
from tests.eval.play import comparable
from waybench.cli import _progress
from waybench.cli._parts import RunPart, refuse_secrets, run_part, split_run
from waybench.cli._progress import ended_jobs_text, progress_lines, report_parts
from waybench.core import PROGRESS_FILE, UsageError
from waybench.results import read_logs
from waybench.results.logs._settings import run_infos

RUN = ("run", "hanoi_3", "messenger_l1", "--limit", "2", "--display", "none")
MODELS = ("--model", "waybench/random", "--model", "waybench/oracle")
WHOLE = RunPart((("alicia", {}), ("aqa", {"limit": 2})), ("a/b", "c/d", "a/b"), "out", {})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which parts work."""
    monkeypatch.setenv("WAYBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def played(folder: Path) -> dict[str, Any]:
    episodes = list(read_logs(folder))
    return {f"{e.task} {e.model} {e.record.item['id']}-{e.record.attempt}": comparable(e.record) for e in episodes}


def test_parts_are_task_by_model_or_model_by_model() -> None:
    assert [part.name for part in split_run(WHOLE, by_task=True)] == [
        "alicia with a/b",
        "alicia with c/d",
        "aqa with a/b",
        "aqa with c/d",
    ]
    assert [part.name for part in split_run(WHOLE, by_task=False)] == ["alicia, aqa with a/b", "alicia, aqa with c/d"]
    fixed = replace(WHOLE, tasks=(*WHOLE.tasks, ("dfs", {"limit": 5})), models=("a/b",))
    assert [part.name for part in split_run(fixed, by_task=True, shards=2)] == [
        "alicia with a/b",
        "aqa 1/2 with a/b",
        "aqa 2/2 with a/b",
        "dfs 1/2 with a/b",
        "dfs 2/2 with a/b",
    ]
    assert [part.name for part in split_run(fixed, by_task=False, shards=2)] == [
        "alicia, aqa 1/2, dfs 1/2 with a/b",
        "aqa 2/2, dfs 2/2 with a/b",
    ]
    assert pickle.loads(pickle.dumps(split_run(WHOLE, by_task=True))) == split_run(WHOLE, by_task=True)


@pytest.mark.parametrize(
    ("settings", "key", "says"),
    [
        ({"model_args": {"api_key": "sk-123456789"}}, None, "OPENAI_API_KEY"),
        ({"model_base_url": "https://me:word@host/v1"}, None, "OPENAI_API_KEY"),
        ({}, "a private key", "-T key=env:NAME"),
    ],
)
def test_a_secret_goes_into_no_job(settings: dict[str, Any], key: str | None, says: str) -> None:
    part = RunPart((("alicia", {"key": key} if key else {}),), ("a/b",), "out", settings)
    with pytest.raises(UsageError, match=says) as found:
        refuse_secrets(part)
    assert not re.search("word|sk-1|private key:", str(found.value).replace("passwords", ""))


@pytest.mark.parametrize("key", ["env:SECRET_KEY", "file:key.txt", "alicia-v1/2"])
def test_a_public_key_or_a_reference_goes_into_a_job(key: str) -> None:
    refuse_secrets(RunPart((("alicia", {"key": key}),), ("a/b",), "out", {"model_args": {"max_tokens": 5}}))


def test_a_process_checks_a_model_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[bool] = []

    def evaluate(*args: object, check: bool, **more: object) -> list[str]:
        checks.append(check)
        return []

    monkeypatch.setattr("waybench.evaluation.evaluate", evaluate)
    for task in ("hanoi_3", "dfs"):
        run_part(RunPart(((task, {}),), ("checked/once",), str(tmp_path / "out"), {"check": True}))
    assert checks == [True, False]


@pytest.mark.parametrize(("text", "expected"), [("400k", [100_000.0] * 4), (None, [1_000_000.0] * 2 + [None] * 2)])
def test_parts_share_a_budget(
    text: str | None, expected: list[float | None], command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[RunPart] = []

    def run_parts(parts: Sequence[RunPart], engine: object) -> list[str]:
        found.extend(parts)
        raise UsageError("no part is run")

    monkeypatch.setattr("waybench.cli._run.run_parts", run_parts)
    models = ("--model", "openai-api/x/a", "--model", "openai-api/x/b")
    budget = ("--budget", text) if text else ()
    run = ("run", "alicia", "dfs", "--limit", "1", "-T", "max_dimension=7", *models, *budget)
    assert command(*run, "--out", tmp_path / "out", "--executor", "processes:1").exit_code == 2
    assert [part.budget.amount for part in found] == expected


def test_what_runs_is_one_line_for_each_task(tmp_path: Path) -> None:
    tasks = [
        {"name": "dfs, a/b", "state": "running", "done_text": "3 of 8 items", "state_text": "2 min left"},
        {"name": "bfs, a/b", "state": "finished", "done_text": "8 of 8 items", "state_text": "finished"},
    ]
    for name, text in (("good", json.dumps({"tasks": tasks})), ("cut", '{"tasks": ['), ("odd", "[1]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / PROGRESS_FILE).write_text(text)
    folders = [tmp_path / name for name in ("good", "cut", "odd", "nothing")]
    assert progress_lines(folders) == ["dfs, a/b: 3 of 8 items, 2 min left"]


def test_long_runs_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "PARTS_EVERY", 0.001)
    told: list[str] = []
    said = threading.Event()
    with report_parts(lambda: [], lambda: ended_jobs_text(1, 12), lambda line: (told.append(line), said.set())[0]):
        assert said.wait(PATIENCE)
    assert told[0].startswith("1 of 12 jobs has ended, ")


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
def test_parts_write_what_one_run_writes_and_continue_it(command: Command, tmp_path: Path, cache: Path) -> None:
    one, parts = tmp_path / "one", tmp_path / "parts"
    assert command(*RUN, *MODELS, "--out", one).exit_code == 0
    found = command(*RUN, *MODELS, "--out", parts, "--executor", "processes:1")
    assert found.exit_code == 0, found.output
    assert len(re.findall(r"^\[\d/4\] .*requests", found.stderr, re.MULTILINE)) == 4
    assert played(parts) == played(one) and len(played(one)) == 8
    logs = sorted(path.name for path in parts.iterdir())
    assert len(logs) == 4 and not list(cache.glob("parts/*"))
    again = command(*RUN, *MODELS, "--out", parts, "--executor", "processes:1")
    assert again.exit_code == 0 and again.stderr.count("; 0 requests") == 4
    # A run without parts knows them, too: the folder is one run's.
    assert command(*RUN, *MODELS, "--out", parts).exit_code == 0
    assert sorted(path.name for path in parts.glob("*.eval")) == logs


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
def test_shards_are_one_run_in_reports_and_in_submissions(command: Command, tmp_path: Path) -> None:
    run = ("run", "dfs", "hanoi_4", "--limit", "3", *MODELS, "--display", "none", "--out")
    one, shards = tmp_path / "one", tmp_path / "shards"
    assert command(*run, one).exit_code == 0
    divided = (*run, shards, "--executor", "processes:1", "--shards", "2")
    found = command(*divided)
    # hanoi_4 has one item, so it is one job.
    assert found.exit_code == 0 and "[6/6]" in found.stderr and "dfs 2/2 with waybench/oracle" in found.stderr
    assert played(shards) == played(one)
    assert found.stdout.replace(str(shards), "") == command(*run, one).stdout.replace(str(one), "")
    again = command(*divided)
    assert again.exit_code == 0 and again.stderr.count("; 0 requests") == 6
    assert len(list(shards.glob("*.eval"))) == 6
    assert command("submit", shards, "--model", "waybench/random", "--out", tmp_path / "a.zip").exit_code == 0
    found = command("verify", tmp_path / "a.zip")
    assert found.exit_code == 0 and "3 runs, 6 records: verified" in found.stdout, found.output
    random = [info.logs[0].location for info in run_infos(shards) if info.model == "waybench/random"]
    rest = [url2pathname(urlparse(location).path) for location in random[1:]]
    assert command("submit", *rest, "--out", tmp_path / "b.zip").exit_code == 0
    found = command("verify", tmp_path / "b.zip")
    assert found.exit_code == 1 and "of 2 shards, these are missing: " in found.stdout, found.output


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
def test_members_of_an_array_share_the_parts(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for index in range(3):
        found = command(*RUN, *MODELS, "--out", out, "--executor", f"job:{index}/3")
        assert found.exit_code == 0 and found.stdout == "", found.output
    assert len(list(out.glob("*.eval"))) == 4 and len(played(out)) == 8


def test_a_printed_array_starts_nothing(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [*RUN, *MODELS, "--out", str(tmp_path / "out"), "--executor", "print"]
    monkeypatch.setattr("sys.argv", ["waybench", *arguments])
    found = command(*arguments)
    assert found.exit_code == 0 and "--array=0-3\n" in found.stdout
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.usefixtures("watchdog")
def test_a_part_that_cannot_run_leaves_the_others(command: Command, tmp_path: Path) -> None:
    models = ("--model", "nobody/model", "--model", "waybench/random")
    found = command(
        "run", "messenger_l1", "--limit", "1", *models, "--out", tmp_path / "x", "--executor", "processes:1"
    )
    assert found.exit_code == 1 and "unfinished: messenger_l1 with nobody/model" in found.stderr
    assert len(played(tmp_path / "x")) == 1
    found = command(*RUN, "--model", "nobody/model", "--out", tmp_path / "y", "--executor", "processes:1")
    assert found.exit_code == 2 and found.stderr.splitlines()[-1].startswith("Error: model 'nobody/model'")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--shards", "2"), "add --executor"),
        (("--address", "auto"), "add --executor ray"),
        (("--gpus-per-model", "1"), "use --executor ray or print"),
        (("--executor", "cluster"), "unknown executor 'cluster'"),
        (("--out", "nothing://bucket/x"), "nothing"),
    ],
)
def test_what_does_not_fit_is_one_line(arguments: tuple[str, ...], says: str, command: Command) -> None:
    assert says in one_line_error(command(*RUN, "--model", "waybench/random", *arguments))


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
def test_another_program_selects_parts(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, manifest, selection = tmp_path / "out", tmp_path / "manifest.json", tmp_path / "selection.json"
    with monkeypatch.context() as context:
        context.setenv(INSPECT_EVAL_SET_CAPTURE, str(manifest))
        assert command(*RUN, *MODELS, "--out", out).exit_code == 0
    tasks = json.loads(manifest.read_text())["tasks"]
    assert len(tasks) == 4
    journal = out / "hanoi-3_openai-x_0123456789abcdef.journal"  # of a part that runs elsewhere
    journal.write_text("")
    for number, task in enumerate(tasks, start=1):
        selection.write_text(
            json.dumps({"version": 7, "eval_set_id": "e", "tasks": [{"identifier": task["identifier"]}]})
        )
        with monkeypatch.context() as context:
            context.setenv(INSPECT_EVAL_SET_SELECTION, str(selection))
            assert command(*RUN, *MODELS, "--out", out).exit_code == 0  # it was 130, "Interrupted"
        assert len(list(out.glob("*.eval"))) == number
    assert len(played(out)) == 8 and journal.exists()
