"""What Inspect and programs that read its logs show of a run: the headline, the tables, the viewer's settings."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.scorer import Score

import waybench
from tests.conftest import PATIENCE, ROOT, missing
from waybench.evaluation._sample import stored_record
from waybench.results.estimates import overall
from waybench.results.results import rows
from waybench.results.results._anchors import with_reference_bounds

CONVERTER = ROOT / ".venv-validators" / "bin" / "python"
SEARCH: dict[str, Any] = {"limit": 8, "level": 5}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder with attempts, a game in turns whose metric is better the lower it is, and a set of two environments."""
    folder = tmp_path_factory.mktemp("logs")
    waybench.evaluate("alicia", "waybench/noisy-0.3", out=folder / "alicia", max_dimension=7)
    waybench.evaluate("dfs", "waybench/random", out=folder / "dfs", **SEARCH)
    waybench.evaluate("mango_route", "waybench/random", out=folder / "mango_route", worlds=2, limit=4)
    return folder


def read(folder: Path) -> EvalLog:
    [info] = list_eval_logs(str(folder))
    return read_eval_log(info)


def metrics(log: EvalLog, scorer: str) -> dict[str, float]:
    assert log.results is not None
    [score] = [score for score in log.results.scores if score.name == scorer]
    return {name: metric.value for name, metric in score.metrics.items()}


@pytest.mark.parametrize("task", ["alicia", "dfs"])
def test_the_headline_is_the_score_of_waybench_s_own_tables(logs: Path, task: str) -> None:
    log = read(logs / task)
    episodes = list(waybench.results.read_logs(logs / task))
    [estimate] = overall(with_reference_bounds((one.record for one in episodes), rows(episodes)))
    found = metrics(log, "episode")
    assert log.results is not None and log.results.headline is not None
    assert (log.results.headline.scorer, log.results.headline.metric) == ("episode", "score")
    assert estimate.rescaled is not None and found["n"] == found["planned"] == estimate.attempts
    wanted = estimate.rescaled.clipped_mean
    assert wanted.low is not None and wanted.high is not None
    assert found["score"] == pytest.approx(100 * wanted.value)
    assert (found["ci_lower"], found["ci_upper"]) == pytest.approx((100 * wanted.low, 100 * wanted.high))
    assert 0 < found["stderr"] < found["ci_upper"] - found["ci_lower"]
    assert metrics(log, "solved")["rate"] == pytest.approx(estimate.solved.value if estimate.solved else None)


def test_a_sample_has_two_numbers_and_all_metrics_by_name(logs: Path) -> None:
    head = waybench.load("search/dfs").scoring.metrics[0]
    assert head.better == "lower" and head.floor is not None
    for sample in read(logs / "dfs").samples or []:
        assert sample.scores is not None and set(sample.scores) == {"episode", "solved"}
        metrics_by_name: Any = (sample.scores["episode"].metadata or {})["metrics"]
        # The metric of the paper is a gap: 0 is the best, and that of an empty reply is worth nothing.
        worst = head.floor(stored_record(sample.metadata, sample.store))
        assert sample.scores["episode"].value == pytest.approx(100 * (1 - metrics_by_name["g_min"] / worst))
        assert sample.scores["solved"].value in (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Inspect's calls of pandas
def test_tables_of_inspect(logs: Path) -> None:
    pytest.importorskip("pandas")
    from inspect_ai.analysis import evals_df, samples_df

    table: Any = evals_df(str(logs))
    by_task = {row["dataset_name"]: row for row in table.to_dict("records")}
    assert set(by_task) == {"waybench/alicia", "waybench/dfs", "waybench/mango_route"}
    for row in by_task.values():
        assert row["score_headline_metric"] == "score" and row["score_headline_name"] == "episode"
        assert 0 <= row["score_headline_value"] <= 100
        assert "waybench" in row["tags"] and "higher is better" in row["task_description"]
    assert 0 <= by_task["waybench/alicia"]["score_solved_5_best"] <= 1
    games = by_task["waybench/dfs"]
    assert games["score_headline_stderr"] > 0
    assert games["score_episode_ci_lower"] < games["score_headline_value"] < games["score_episode_ci_upper"]
    samples: Any = samples_df(str(logs / "alicia"))
    assert samples["score_episode"].between(0, 100).all() and samples["score_solved"].isin((0, 1)).all()
    assert samples["metadata_cluster"].nunique() == samples["metadata_item"].nunique()


def test_questions_about_a_map_are_one_cluster(logs: Path) -> None:
    samples = read(logs / "mango_route").samples or []
    assert len(samples) == 8 and len({sample.metadata["cluster"] for sample in samples}) == 2


def test_what_a_log_says_of_its_task(logs: Path) -> None:
    log = read(logs / "dfs")
    assert log.eval.metadata is not None and log.eval.viewer is not None
    facts = log.eval.metadata["waybench"]
    assert facts["paper"] == "arXiv:2402.09404" and facts["headline"] == {"search/dfs": "g_min"}
    view: Any = log.eval.viewer.task_samples_view
    assert view.sort[0].column == "score__episode__episode" and view.score_labels["episode"] == "Score 0-100"


def test_boards_are_in_the_transcript_and_show_what_the_player_sees(logs: Path) -> None:
    for task, fewest in (("alicia", 1), ("dfs", 2)):
        log = read_eval_log(read(logs / task).location, resolve_attachments=True)
        for sample in log.samples or []:
            boards = [
                str(event.data) for event in sample.events if event.event == "info" and event.source == "waybench board"
            ]
            turns = len(sample.store["waybench"]["turns"])
            assert fewest <= len(boards) == min(turns, 50)
            assert all(len(board) < 4_100 and re.fullmatch(r"```text\n.+\n```", board, re.S) for board in boards)


@pytest.mark.slow
def test_a_log_of_an_older_version_loads_and_resumes(tmp_path: Path) -> None:
    """An older log has one score, all metrics as its value, and does not say how its items were drawn."""
    waybench.evaluate("dfs", "waybench/random", out=tmp_path, **SEARCH)
    log = read(tmp_path)
    [info] = list_eval_logs(str(tmp_path))
    for sample in log.samples or []:
        assert sample.scores is not None
        facts: Any = sample.scores["episode"].metadata
        sample.scores = {"episode": Score(value=facts.pop("metrics"), answer="solved", metadata=facts)}
        for name in ("cluster", "waybench_drawn"):
            del sample.metadata[name]
    unfinished = (log.samples or [])[-1]
    log.samples = (log.samples or [])[:-1]
    log.status, log.results = "cancelled", None
    write_eval_log(log, info.name)
    assert len(list(waybench.results.read_logs(tmp_path))) == 7
    [again] = eval_retry(info.name, log_dir=str(tmp_path / "again"), display="none")
    found = metrics(again, "episode")
    assert again.status == "success" and found["n"] == 8 and 0 <= found["score"] <= 100
    assert unfinished.id in {sample.id for sample in again.samples or []}


@pytest.mark.slow
def test_the_score_of_a_log_can_be_made_again(logs: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.eval"
    log = read(logs / "dfs")
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, "--scorer", "waybench/episode"]
    command += ["--action", "overwrite", "--output-file", str(again)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert metrics(read_eval_log(str(again)), "episode") == metrics(log, "episode")


@pytest.mark.slow
def test_every_eval_ever_s_own_converter(logs: Path, tmp_path: Path) -> None:
    """It knows the score, its standard error and the data set; a provider's model stands in for the player."""
    if not CONVERTER.is_file():
        missing(f"{CONVERTER.parents[1].name} is not there: run `make faces` with Python 3.12 or 3.13")
    if subprocess.run([str(CONVERTER), "-c", "import inspect_ai"], capture_output=True).returncode:
        missing("the converter needs inspect-ai in its environment")
    log = read(logs / "dfs")
    log.eval.model = "openai/gpt-4o"
    write_eval_log(log, str(tmp_path / "log.eval"))
    command = [str(CONVERTER), "-m", "every_eval_ever", "convert", "inspect", "--log_path", str(tmp_path / "log.eval")]
    command += ["--output_dir", str(tmp_path / "out"), "--source_organization_name", "Tests"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = (tmp_path / "out").rglob("*.json")
    results = json.loads(path.read_text("utf-8"))["evaluation_results"]
    [headline] = [one for one in results if one["metric_config"].get("metric_name", one["evaluation_name"]) == "score"]
    found = metrics(log, "episode")
    assert headline["score_details"]["score"] == pytest.approx(found["score"])
    error = headline["score_details"]["uncertainty"]["standard_error"]["value"]
    assert error == pytest.approx(found["stderr"])
    assert headline["source_data"]["dataset_name"] == "dfs"  # it leaves out the owner
