"""Exports: what they say, and that the validators of their formats accept them."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from yaml import safe_load

import waybench
from tests.conftest import PATIENCE, ROOT, missing
from waybench.cli import main
from waybench.core import UsageError
from waybench.ext.publish.exports._files import FileText, as_path_part, write_files, yaml
from waybench.ext.publish.exports._formats import read_results

VALIDATORS = ROOT / ".venv-validators" / "bin"
FORMATS = {
    "every-eval-ever": ("--organization", "Tests"),
    "huggingface": ("--dataset", "tests/waybench", "--url", "https://example.org/run"),
    "inspect-catalogue": ("--repository", "https://example.org/tests/waybench", "--commit", "0" * 40),
    "citation": (),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models at a ladder, a game of one turn, one of several, and a search for a horizon, which is not exported."""
    folder = tmp_path_factory.mktemp("logs")
    models = ["waybench/oracle", "waybench/noisy-0.3"]
    waybench.evaluate("alicia", models, out=folder, limit=2, max_dimension=7, attempts=2)
    waybench.evaluate("guessnum", models, out=folder, limit=6)
    waybench.evaluate("mango_destination", models, out=folder, limit=3, worlds=1)
    waybench.evaluate("horizon_maze", "waybench/noisy-0.3", out=folder, most=6)
    return folder


def export(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


def files(logs: Path, form: str, out: Path) -> dict[str, str]:
    result = export(logs, "--format", form, *FORMATS[form], "--out", out)
    assert result.exit_code == 0, result.output
    return {path.relative_to(out).as_posix(): path.read_text() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_the_same_logs_give_the_same_bytes(form: str, logs: Path, tmp_path: Path) -> None:
    assert files(logs, form, tmp_path / "a") == files(logs, form, tmp_path / "b")


def test_every_eval_ever_has_polarity_intervals_and_every_episode(logs: Path, tmp_path: Path) -> None:
    found = files(logs, "every-eval-ever", tmp_path)
    documents = {name: json.loads(text) for name, text in found.items() if name.endswith(".json")}
    assert len(documents) == 6  # two models at three tasks
    results = read_results([logs])
    intervals = 0
    for name, document in documents.items():
        companion = name.removesuffix(".json") + "_samples.jsonl"
        details = document["detailed_evaluation_results"]
        assert details["file_path"] == companion
        assert details["checksum"] == hashlib.sha256(found[companion].encode()).hexdigest()
        lines = [json.loads(line) for line in found[companion].splitlines()]
        assert len(lines) == details["total_rows"]
        (one,) = [
            one
            for one in results
            if (one.group.model, one.group.task)
            == (document["model_info"]["name"], document["evaluation_results"][0]["evaluation_name"])
        ]
        assert len(lines) == len(one.episodes)
        headline = document["evaluation_results"][0]
        assert one.total.best is not None
        assert headline["score_details"]["score"] == one.total.best.value
        interval = headline["score_details"]["uncertainty"].get("confidence_interval", {})
        assert (interval.get("lower"), interval.get("upper")) == (one.total.best.low, one.total.best.high)
        intervals += bool(interval)
        assert headline["metric_config"]["lower_is_better"] == (one.group.task == "guessnum")
        configs = {
            each["metric_config"]["metric_kind"]: each["metric_config"] for each in document["evaluation_results"]
        }
        # Bounds are those with the options of play, and facts of the items are better neither way.
        if "unparsed" in configs:
            assert (configs["unparsed"]["min_score"], configs["unparsed"]["max_score"]) == one.total.ranges["unparsed"]
            assert configs["unparsed"]["min_score"] == 0
        best = "mean over items of the best attempt" if one.group.task == "alicia" else None
        assert headline["metric_config"].get("additional_details", {}).get("aggregation") == best
        for fact in configs.keys() & {"minimum", "answerable"}:
            assert configs[fact]["additional_details"]["direction"] == "neither lower nor higher is better"
        for line, (episode, row) in zip(lines, one.episodes, strict=True):
            assert line["sample_hash"] == row.instance
            assert line["evaluation"]["is_correct"] == (episode.record.end == "solved")
            assert line["evaluation"]["num_turns"] == len(episode.record.turns)
            replies = (
                line["output"]["raw"]
                if line["output"]
                else [message["content"] for message in line["messages"] if message["role"] == "assistant"]
            )
            assert replies[-len(episode.record.turns) :] == [turn.reply for turn in episode.record.turns]
    assert intervals == 2  # the others have too few items


def test_hugging_face_has_a_file_for_each_model_and_task(logs: Path, tmp_path: Path) -> None:
    found = files(logs, "huggingface", tmp_path)
    names = {name for name in found if name != "eval.yaml"}
    assert names == {
        f"waybench-{model}/.eval_results/waybench_{task}.yaml"
        for model in ("oracle", "noisy-0.3")
        for task in ("alicia", "guessnum", "mango_destination")
    }
    assert "horizon" not in "".join(found.values())
    text = found["waybench-oracle/.eval_results/waybench_alicia.yaml"]
    assert "  value: 100.0\n" in text and 'task_id: "alicia"' in text and '    url: "https://example.org/run"' in text


def test_a_citation_names_the_papers_that_were_run(logs: Path, tmp_path: Path) -> None:
    found = files(logs, "citation", tmp_path)
    assert "MANGO" in found["CITATION.cff"] and "AQA-Bench" in found["citations.bib"]
    assert "SmartPlay" not in "".join(found.values())
    bibtex = found["citations.bib"]
    assert "  author = {Yang, Siwei and Zhao, Bingchen and Xie, Cihang},\n  year = {2024},\n" in bibtex
    references = {one["title"]: one for one in safe_load(found["CITATION.cff"])["references"]}
    assert references["AliciaBench"]["authors"] == [{"name": "The author of AliciaBench"}]
    mango = next(one for title, one in references.items() if title.startswith("MANGO"))
    assert (mango["year"], len(mango["authors"])) == (2024, 9)
    assert mango["authors"][7] == {"family-names": "Walter", "given-names": "Matthew R."}


def test_forged_episodes_are_in_no_export(tmp_path: Path) -> None:
    honest = waybench.play("maze/alicia", "oracle", level=7, index=0).record.to_json()
    forged = waybench.play("maze/alicia", "null", level=7, index=1).record.to_json()
    forged["end"] = "solved"
    (tmp_path / "x.jsonl").write_text(
        "".join(json.dumps({**one, "player": "human/x"}) + "\n" for one in (honest, forged))
    )
    (one,) = read_results([tmp_path / "x.jsonl"])
    assert len(one.episodes) == 1 and one.total.unconfirmed == 1
    found = export(
        tmp_path / "x.jsonl", "--format", "every-eval-ever", "--organization", "T", "--out", tmp_path / "out"
    )
    assert "of 1 episode in" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "every-eval-ever"), "needs --organization"),
        (("--format", "huggingface"), "needs --dataset"),
        (("--format", "huggingface", "--dataset", "../x/y"), "owner/name"),
        (("--format", "inspect-catalogue", "--repository", "https://e.org/a/b"), "needs --commit"),
        (("--format", "inspect-catalogue", "--repository", "file:///x", "--commit", "0" * 40), "--repository"),
        (("--format", "inspect-catalogue", "--repository", "https://e.org/a/b", "--commit", "main"), "--commit"),
        (("--format", "citation", "--model", "openai/none"), "no results of 'openai/none'"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], message: str, logs: Path, tmp_path: Path) -> None:
    result = export(logs, *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_names_of_models_stay_in_the_folder(tmp_path: Path) -> None:
    assert (
        as_path_part("../../etc/passwd") == "etc-passwd"
        and as_path_part("...") == "unknown"
        and as_path_part("a\x00b") == "a-b"
    )
    with pytest.raises(UsageError, match="leaves the folder"):
        write_files(tmp_path / "out", [FileText("../x", "")])
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "out"])


def test_yaml_of_nested_data() -> None:
    pyyaml = pytest.importorskip("yaml")  # comes with the evaluation engine
    data = {"a": [{"b": 1, "c": [1, 2]}, {"b": "x: y\n- z"}], "d": {}, "e": [], "f": {"g": None, "h": 0.1}}
    assert pyyaml.safe_load(yaml(data)) == data


def validated(*arguments: object, folder: Path | None = None) -> str:
    python = VALIDATORS / "python"
    if not python.is_file():
        missing(f"{VALIDATORS.parent.name} is not there: run `make faces` with Python 3.12 or 3.13")
    command = [str(python), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_eval_ever_s_own_validator(logs: Path, tmp_path: Path) -> None:
    found = files(logs, "every-eval-ever", tmp_path)
    # As docs/howto/publish.md has it: the validator refuses paths that do not begin with "data/".
    paths = sorted(path.relative_to(tmp_path) for path in tmp_path.glob("data/*/*/*/*.json*"))
    command = ("-m", "every_eval_ever", "validate", "--format", "json", *paths)
    reports: Any = json.loads(validated(*command, folder=tmp_path))
    text = json.dumps(reports)
    assert text.count('"valid": true') == len(paths) == len(found) == 12 and '"valid": false' not in text


@pytest.mark.slow
def test_hugging_face_s_own_reader(logs: Path, tmp_path: Path) -> None:
    files(logs, "huggingface", tmp_path)
    script = """
import sys, yaml
from huggingface_hub import parse_eval_result_entries
for path in sys.argv[1:]:
    for entry in parse_eval_result_entries(yaml.safe_load(open(path))):
        print(entry.dataset_id, entry.task_id, float(entry.value), entry.source_name)
"""
    told = validated("-c", script, *sorted(tmp_path.rglob("*/.eval_results/*.yaml"))).splitlines()
    assert len(told) == 6 and all(line.startswith("tests/waybench ") for line in told)
    assert "tests/waybench alicia 100.0 waybench" in told


@pytest.mark.slow
def test_the_catalogue_s_own_model(logs: Path, tmp_path: Path) -> None:
    files(logs, "inspect-catalogue", tmp_path)
    script = """
import sys, yaml
from inspect_evals.metadata import ExternalEvalMetadata
for path in sys.argv[1:]:
    entry = ExternalEvalMetadata.model_validate(yaml.safe_load(open(path)))
    print(entry.id, len(entry.evaluation_report.results))
"""
    told = validated("-c", script, *sorted(tmp_path.rglob("eval.yaml"))).splitlines()
    assert told == ["waybench_alicia 2", "waybench_guessnum 2", "waybench_mango_destination 2"]
