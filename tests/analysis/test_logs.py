"""Logs of real runs, whole and damaged."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import inspect_ai.log as inspect_log
import pytest

from tests.analysis.episodes import estimate
from waybench.core import UsageError
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import TASKS, load_task
from waybench.results import LoggedEpisode, overall, read_logs, rows
from waybench.results.logs import Skipped, _inspect, _logs
from waybench.results.results import labels

_LOG: Any = inspect_log  # its types are not complete

MAZES = 3


def run(out: Path, player: str = "oracle", **config: Any) -> None:
    entry = next(entry for entry in TASKS if entry.name == "alicia")
    task = partial(load_task(entry), max_dimension=5, limit=MAZES)
    assert evaluate([task], [f"waybench/{player}"], out, config=config) == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of a run of three mazes, each solved at once."""
    out = tmp_path_factory.mktemp("whole")
    run(out)
    (log,) = out.glob("*.eval")
    return log


def changed(
    whole: Path,
    to: Path,
    created: str,
    *,
    ids: Sequence[str] = (),
    errors: Sequence[str] = (),
    task_id: str = "",
    message: str = "Timeout",
) -> None:
    """Write a log with another time of creation, of which only some samples are left, and some have an error."""
    log = _LOG.read_eval_log(str(whole))
    log.eval.created = created
    log.eval.task_id = task_id or log.eval.task_id
    log.samples = [sample for sample in log.samples if not ids or sample.id in ids]
    for sample in log.samples:
        if sample.id in errors:
            sample.error = _LOG.EvalError(message=message, traceback="", traceback_ansi="")
            sample.store, sample.scores = {}, {}  # as of an episode that has not begun
    _LOG.write_eval_log(log, str(to))


def left_to_inspect(location: str, some: Sequence[tuple[Any, int]]) -> None:
    """Say that samples are of another form than can be read without Inspect's models."""


def ends(episodes: Sequence[LoggedEpisode]) -> dict[str, tuple[str, str]]:
    return {e.record.item["id"]: (str(e.record.end), Path(e.log).name) for e in episodes}


def test_runs_with_different_settings_are_different_groups(tmp_path: Path) -> None:
    for temperature in (0.0, 1.0):
        run(tmp_path, temperature=temperature, max_connections=3, max_tokens=2000)
    episodes = list(read_logs(tmp_path))
    # Two runs may begin in the same second, and which is the later one is then not known.
    assert Counter(episode.settings["temperature"] for episode in episodes) == {0.0: MAZES, 1.0: MAZES}
    assert all(episode.settings["max_tokens"] == 2000 for episode in episodes)
    assert not {"max_connections", "max_retries"} & episodes[0].settings.keys()
    assert [(found.items, found.attempts) for found in estimate(episodes)] == [(MAZES, MAZES)] * 2
    names = labels(row.group for row in rows(episodes))
    assert set(names.values()) == {"waybench/oracle (temperature: 0.0)", "waybench/oracle (temperature: 1.0)"}


@pytest.mark.slow
def test_prefixes_of_other_lengths_are_other_settings(tmp_path: Path) -> None:
    entry = next(entry for entry in TASKS if entry.name == "mango_route")
    for tokens in (None, 400, 800):
        task = partial(load_task(entry), worlds=1, level=1, limit=2, prefix_tokens=tokens)
        assert evaluate([task], ["waybench/oracle"], tmp_path) == []
    episodes = list(read_logs(tmp_path))
    shown = Counter((e.settings.get("prefix_tokens"), e.settings.get("tokenizer")) for e in episodes)
    assert shown == {(None, None): 2, (400, "characters"): 2, (800, "characters"): 2}
    assert [found.items for found in overall(rows(episodes))] == [2, 2, 2]


def test_logs_of_one_run_are_merged(whole: Path, tmp_path: Path) -> None:
    changed(whole, tmp_path / "2026-01-01T00-00-00_alicia_a.eval", "2026-01-01T00:00:00+00:00", errors=["502-1"])
    changed(whole, tmp_path / "2026-01-02T00-00-00_alicia_b.eval", "2026-01-02T00:00:00+00:00", ids=["502-1"])
    # Killed while it took over what was finished, and one of those it began anew was lost.
    last = tmp_path / "2026-01-03T00-00-00_alicia_c.eval"
    changed(whole, last, "2026-01-03T00:00:00+00:00", ids=["501-1", "502-1"], errors=["502-1"])
    episodes = list(read_logs(tmp_path))
    assert len(episodes) == MAZES
    assert ends(episodes) == {
        "501": ("solved", last.name),
        "502": ("solved", "2026-01-02T00-00-00_alicia_b.eval"),
        "503": ("solved", "2026-01-01T00-00-00_alicia_a.eval"),
    }
    assert len({episode.run for episode in episodes}) == 1


def test_of_a_sample_that_has_only_errors_the_newest_is_read(whole: Path, tmp_path: Path) -> None:
    for day in (1, 2):
        log = tmp_path / f"2026-01-0{day}T00-00-00_alicia_a.eval"
        changed(whole, log, f"2026-01-0{day}T00:00:00+00:00", ids=["501-1"], errors=["501-1"])
    assert ends(list(read_logs(tmp_path))) == {"501": ("infrastructure_error", "2026-01-02T00-00-00_alicia_a.eval")}


def test_an_episode_that_ended_before_the_run_was_interrupted_is_whole(whole: Path, tmp_path: Path) -> None:
    log = _LOG.read_eval_log(str(whole))
    for sample in log.samples:
        sample.error = _LOG.EvalError(message="CancelledError()", traceback="", traceback_ansi="")
    _LOG.write_eval_log(log, str(tmp_path / whole.name))
    found = list(read_logs(tmp_path))
    assert [each.record for each in found] == [each.record for each in read_logs(whole.parent)]
    assert not any(row.exclusion_reason or row.error for row in rows(found))


def test_a_sample_that_was_restored_without_its_store_is_whole(whole: Path, tmp_path: Path) -> None:
    log = _LOG.read_eval_log(str(whole))
    for sample in log.samples:
        sample.store = {}
    _LOG.write_eval_log(log, str(tmp_path / whole.name))
    assert [e.record for e in read_logs(tmp_path)] == [e.record for e in read_logs(whole.parent)]


def test_later_runs_come_later_whatever_their_files_are_called(whole: Path, tmp_path: Path) -> None:
    for name, created in (("a", "2026-01-03"), ("b", "2026-01-01"), ("c", "2026-01-02")):
        log = tmp_path / name / f"{created}T00-00-00_alicia_{name}.eval"
        log.parent.mkdir()
        changed(whole, log, f"{created}T00:00:00+00:00", task_id=name)
    for folders in ([tmp_path], [tmp_path / name for name in "abc"], [tmp_path / name for name in "cab"]):
        episodes = list(read_logs(*folders))
        assert [episode.run for episode in episodes] == ["b"] * MAZES + ["c"] * MAZES + ["a"] * MAZES
        assert [row.exclusion_reason for row in rows(episodes)] == ["repeated"] * 2 * MAZES + [""] * MAZES


def test_damaged_and_foreign_files_are_passed_over(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(whole, tmp_path)
    (tmp_path / "2026-01-01T00-00-00_cut_a.eval").write_bytes(whole.read_bytes()[:1000])
    (tmp_path / "2026-01-01T00-00-00_empty_b.eval").write_bytes(b"")
    (tmp_path / "2026-01-01T00-00-00_foreign_c.json").write_text('{"a": 1}')
    (tmp_path / "package.json").write_text('{"a": 1}')
    problems: list[Skipped] = []
    assert len(list(read_logs(tmp_path, on_problem=problems.append))) == MAZES
    assert [any(name in one.log for one in problems) for name in ("_cut_a", "_empty_b", "_foreign_c")] == [True] * 3
    assert all(str(problem).startswith(f"skipped {tmp_path}") for problem in problems)
    assert capsys.readouterr().err == ""
    assert len(list(read_logs(tmp_path))) == MAZES
    told = capsys.readouterr().err.splitlines()
    assert told == [f"waybench: {problem}" for problem in problems]


def test_a_sample_that_cannot_be_read_is_passed_over(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Inspect leaves files open where a sample is damaged, which would end another test: its reader is replaced.
    read = _LOG.read_eval_log_samples_by_id

    def torn(location: str, some: list[tuple[str, int]], **how: Any) -> Any:
        if ("502-1", 1) in some:
            raise ValueError("torn")
        return read(location, some, **how)

    monkeypatch.setattr(_LOG, "read_eval_log_samples_by_id", torn)
    monkeypatch.setattr(_logs, "read_samples_directly", left_to_inspect)  # as where a sample is of another form
    problems: list[Skipped] = []
    assert set(ends(list(read_logs(whole.parent, on_problem=problems.append)))) == {"501", "503"}
    assert problems == [Skipped(str(whole), "502-1", "torn")]
    assert str(problems[0]).endswith(f"{whole.name}, sample 502-1: torn")


def test_samples_are_read_alike_with_and_without_inspects_models(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(whole, tmp_path / whole.name, "2026-01-02", errors=["501-1"])
    some = [(f"{number}-1", 1) for number in (501, 502, 503)]
    errors: set[str | None] = set()
    for path in (whole, *tmp_path.glob("*.eval")):
        read = _logs.read_samples_directly(str(path), some)
        assert read is not None
        assert [each.id for each in read] == [name for name, _ in some]
        found = list(read_logs(path.parent))
        with monkeypatch.context() as patch:
            patch.setattr(_logs, "read_samples_directly", left_to_inspect)
            assert list(read_logs(path.parent)) == found
        errors |= {each.record.error for each in found}
    assert errors == {None, "Timeout"}


def test_an_interrupted_episode_says_so_in_words(whole: Path, tmp_path: Path) -> None:
    said = "CancelledError(\"Cancelled via cancel scope 7f17 by <Task cancelling name='wrapper'>\")"
    changed(whole, tmp_path / whole.name, "2026-01-02", errors=["501-1"], message=said)
    assert {each.record.error for each in read_logs(tmp_path)} == {None, "the run was interrupted"}


@pytest.mark.parametrize(
    ("part", "value"),
    [("metadata", {"waybench": "attachment://a"}), ("scores", None), ("error", "lost"), ("epoch", "1"), ("store", [])],
)
def test_samples_of_another_form_are_left_to_inspect(whole: Path, tmp_path: Path, part: str, value: Any) -> None:
    name = "samples/502-1_epoch_1.json"
    rewritten(whole, tmp_path / whole.name, name, lambda content: content.update({part: value}))
    other = str(tmp_path / whole.name)
    assert _logs.read_samples_directly(other, [("501-1", 1)]) is not None
    assert _logs.read_samples_directly(other, [("501-1", 1), ("502-1", 1)]) is None


def rewritten(whole: Path, to: Path, part: str, change: Callable[[Any], None]) -> str:
    """Copy a log with one part changed; return it as Inspect calls it."""
    with ZipFile(whole) as log, ZipFile(to, "w") as copy:
        for name in log.namelist():
            content = json.loads(log.read(name))
            if name == part:
                change(content)
            copy.writestr(name, json.dumps(content))
    return to.as_uri()


def test_headers_are_read_alike_with_and_without_inspect(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "a", temperature=0.5, max_tokens=2000, max_connections=3, seed=7, reasoning_effort="low")
    run(tmp_path / "b", "noisy-0.3", top_p=0.9)
    changed(whole, tmp_path / whole.name, "2026-01-02T00:00:00+00:00", errors=["501-1"])
    logs = list(tmp_path.rglob("*.eval"))
    assert len(logs) == 3 and all(_inspect.read_log_directly(log.as_uri(), _inspect.KEY) for log in logs)
    assert sorted(_inspect.list_logs(tmp_path) or ()) == sorted(log.as_uri() for log in logs)
    found = list(read_logs(tmp_path))
    assert {each.settings.get("temperature") for each in found} == {None, 0.5}

    def left(*given: Any) -> None:
        """Say that logs are of another form than can be read without Inspect."""

    for name in ("read_log_directly", "list_logs"):
        monkeypatch.setattr(_inspect, name, left)
    assert sorted(read_logs(tmp_path), key=repr) == sorted(found, key=repr)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"eval": {"model_roles": {"grader": {"model": "vendor/other"}}}},
        {"eval": {"model_generate_config": {"temperature": 1}}},
        {"eval": {"model_generate_config": {"a_setting_of_tomorrow": True}}},
        {"eval": {"created": "2026-01-02T00:00:00"}},
        {"eval": {"config": {"token_limit": 1.5}}},
        {"eval": {"task_args": ["dimension"]}},
        {"plan": None},
    ],
)
def test_headers_of_another_form_are_left_to_inspect(whole: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    def apply(header: Any) -> None:
        for name, value in change.items():
            header[name] = {**header[name], **value} if isinstance(value, dict) else value

    plain = rewritten(whole, tmp_path / "plain.eval", "header.json", lambda header: None)
    assert _inspect.read_log_directly(plain, _inspect.KEY) is not None
    other = rewritten(whole, tmp_path / whole.name, "header.json", apply)
    assert _inspect.read_log_directly(other, _inspect.KEY) is None


@pytest.mark.parametrize("value", [{"metadata": {"mine": 1}}, {"epoch": "1"}, {"completed": 1}, {"error": 5}])
def test_summaries_of_another_form_are_left_to_inspect(whole: Path, tmp_path: Path, value: dict[str, Any]) -> None:
    other = rewritten(whole, tmp_path / whole.name, "summaries.json", lambda listed: listed[1].update(value))
    assert _inspect.read_log_directly(other, _inspect.KEY) is None


def test_nothing_but_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01T00-00-00_empty_b.eval").write_bytes(b"")
    problems: list[Skipped] = []
    with pytest.raises(UsageError, match="no episodes in"):
        list(read_logs(tmp_path, on_problem=problems.append))
    assert len(problems) == 1


def test_a_record_that_is_none_is_passed_over_and_named(whole: Path, tmp_path: Path) -> None:
    log = _LOG.read_eval_log(str(whole))
    log.samples[0].metadata["waybench"] = "{}"
    _LOG.write_eval_log(log, str(tmp_path / whole.name))
    problems: list[Skipped] = []
    assert len(list(read_logs(tmp_path, on_problem=problems.append))) == MAZES - 1
    assert [(Path(one.log).name, one.sample) for one in problems] == [(whole.name, log.samples[0].id)]
    assert "not an episode record" in problems[0].error
