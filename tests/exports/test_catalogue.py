"""The catalogue's files: each is a task that Inspect runs and that the catalogue's own resolver finds in the text."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from yaml import safe_load

import waybench
from tests.conftest import PATIENCE, ROOT, missing
from tests.exports.test_exports import FORMATS, VALIDATORS, export
from waybench.core import UsageError
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._presets import PRESETS, catalogue_function, paper_of_task
from waybench.ext.publish.exports._formats import catalogue_entries, read_results
from waybench.results.logs._settings import run_infos

FOLDER = ROOT / "src" / "waybench" / "evaluation" / "tasks" / "catalogue"
FILES = sorted(path for path in FOLDER.glob("*.py") if path.name != "__init__.py")
PAPERS = {
    "aliciabench": "",
    "aqabench": "arXiv:2402.09404",
    "gametraversalbenchmark": "arXiv:2410.07765",
    "mango": "arXiv:2403.19913",
    "smartplay": "arXiv:2310.01557",
}


def function(name: str) -> Any:
    return getattr(import_module(f"waybench.evaluation.tasks.catalogue.{name}"), name)


def test_each_paper_has_one_file_with_one_task() -> None:
    assert [path.stem for path in FILES] == sorted(PAPERS)
    for path in FILES:
        text = path.read_text("utf-8")
        tasks = [
            node.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef)
            and any(isinstance(mark, ast.Name) and mark.id == "task" for mark in node.decorator_list)
        ]
        assert tasks == [path.stem] and PAPERS[path.stem] in text


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_defaults_are_those_of_the_preset(name: str) -> None:
    defaults = {key: parameter.default for key, parameter in signature(function(name)).parameters.items()}
    entry = find_task(defaults.pop("game", "alicia"))
    assert paper_of_task(entry) == PAPERS[name]
    assert defaults == {option.name: option.default for option in entry.options if option.name in defaults}
    assert catalogue_function(entry) == (name, {} if entry.name == "alicia" else {"game": entry.name})


def test_tasks_of_a_paper_are_in_its_file_and_others_in_none() -> None:
    named = {entry.name: place[0] for entry in PRESETS if (place := catalogue_function(entry))}
    assert named["guessnum"] == "aqabench" and named["hanoi_3"] == "smartplay" and named["gtb_state"][:4] == "game"
    assert not {"atlas", "atlas_quick"} & set(named)
    for task in ("horizon_maze", "graph", "sokoban", "atlas"):
        assert catalogue_function(find_task(task)) is None


@pytest.mark.slow
def test_a_file_runs_in_inspect_and_is_the_task_of_its_own_name_for_reports(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "inspect_ai",
        "eval",
        str((FOLDER / "aqabench.py").relative_to(ROOT)),
        "--model",
        "waybench/oracle",
    ]
    command += ["-T", "game=guessnum", "-T", "limit=6", "--log-dir", str(tmp_path / "a"), "--display", "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    [info] = list_eval_logs(str(tmp_path / "a"))
    log = read_eval_log(info)
    assert (log.eval.task, log.eval.dataset.name, log.status) == ("aqabench", "waybench/guessnum", "success")
    waybench.evaluate("guessnum", "waybench/noisy-0.3", out=tmp_path / "b", limit=6)
    results = read_results([tmp_path / "a", tmp_path / "b"])
    assert {result.group.task for result in results} == {"guessnum"}
    groups = {tuple((name, value) for name, value in result.group.options) for result in results}
    assert len(groups) == 1  # so they are compared
    [run] = run_infos(tmp_path / "a")
    assert run.task == "guessnum" and find_task(run.task).resolve(run.parameters)["limit"] == 6
    episode = next(iter(waybench.results.read_logs(tmp_path / "a")))
    assert episode.origin is not None and "waybench run guessnum" in episode.origin.command
    assert "game=" not in episode.origin.command


def test_entries_name_the_file_and_the_paper(tmp_path: Path) -> None:
    waybench.evaluate("guessnum", "waybench/oracle", out=tmp_path / "logs", limit=6)
    done = export(tmp_path / "logs", "--format", "inspect-catalogue", *FORMATS["inspect-catalogue"], "--out", tmp_path)
    assert done.exit_code == 0, done.output
    entry = safe_load((tmp_path / "register" / "waybench_guessnum" / "eval.yaml").read_text("utf-8"))
    path = "src/waybench/evaluation/tasks/catalogue/aqabench.py"
    assert entry["tasks"] == [{"name": "aqabench", "task_path": path, "dataset_samples": 6}] and (ROOT / path).is_file()
    assert entry["arxiv"] == "https://arxiv.org/abs/2402.09404"
    assert entry["evaluation_report"]["command"] == f"inspect eval {path} -T game=guessnum --model MODEL"


def test_what_is_of_no_paper_has_no_entry(tmp_path: Path) -> None:
    waybench.evaluate("graph", "waybench/oracle", out=tmp_path, limit=2)
    with pytest.raises(UsageError, match="published benchmarks alone"):
        list(catalogue_entries(read_results([tmp_path]), repository="https://example.org/a/b", commit="0" * 40))


@pytest.mark.slow
def test_the_catalogue_s_own_resolver_finds_each_task() -> None:
    python = VALIDATORS / "python"
    if not python.is_file():
        missing(f"{VALIDATORS.parent.name} is not there: run `make faces` with Python 3.12 or 3.13")
    script = """
import json, sys
from pathlib import Path
from register_tooling.task_resolver import resolve_task
print(json.dumps([resolve_task(Path(path).read_text("utf-8"), line_anchor=None).name for path in sys.argv[1:]]))
"""
    done = subprocess.run([str(python), "-c", script, *map(str, FILES)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [path.stem for path in FILES]
