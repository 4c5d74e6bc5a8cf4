"""A run's journals and its folder: whose turns are whose, who is in the folder, and what is full."""

import errno
import os
import sqlite3
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model

from waybench.core import UsageError
from waybench.evaluation._engine import check_log_folder
from waybench.evaluation._preflight import disk_full_message, is_disk_full_error, lock_folder, mentions_full_disk
from waybench.evaluation._run_journals import RunJournals
from waybench.evaluation._run_progress import RunProgress
from waybench.evaluation.tasks import TASKS, load_task

SECRET = "sesame-open"


def path(
    folder: Path,
    model: Model,
    settings: dict[str, Any] | None = None,
    name: str = "bandit_deterministic",
    **args: Any,
) -> Path:
    """Return the journal's file of one task with one model."""
    entry = next(entry for entry in TASKS if entry.name == name)
    journals = RunJournals(folder, settings or {}, pytest.fail)
    journals.create_task(partial(load_task(entry), **args))
    journals.open_journals([model], RunProgress())
    ((_, of_task),) = journals._tasks
    journals.close_journals()
    return of_task.by_model[str(model)].path


def mock(name: str = "player", config: GenerateConfig | None = None, **args: Any) -> Model:
    return get_model(f"mockllm/{name}", config=config or GenerateConfig(), memoize=False, **args)


def test_what_replies_depend_on_has_a_journal_of_its_own(tmp_path: Path) -> None:
    paths = [
        path(tmp_path, mock()),
        path(tmp_path, mock("other")),
        path(tmp_path, mock(config=GenerateConfig(top_p=0.5))),
        path(tmp_path, mock(key=1)),
        path(tmp_path, mock(), {"temperature": 0.0}),
        path(tmp_path, mock(), {"token_limit": 1000}),
        path(tmp_path, mock(), limit=1),
        path(tmp_path, mock(), protocol="sound"),
        path(tmp_path, mock(), name="bandit_high_low"),
    ]
    assert len(set(paths)) == len(paths)


def test_the_same_command_finds_its_journal_whatever_its_connections(tmp_path: Path) -> None:
    settings = {"temperature": 0.0, "max_connections": 4, "attempt_timeout": 60, "max_retries": 5}
    first = path(tmp_path, mock(), settings, limit=2)
    assert first == path(tmp_path, mock(), {**settings, "max_connections": 40, "attempt_timeout": 6}, limit=2)
    assert first.name.startswith("bandit-deterministic_mockllm-player_")


def test_no_secret_is_in_a_journal(tmp_path: Path) -> None:
    entry = next(entry for entry in TASKS if entry.name == "bandit_deterministic")
    journals = RunJournals(tmp_path, {"extra_headers": {"x": SECRET}}, pytest.fail)
    journals.create_task(partial(load_task(entry), key=SECRET))
    model = mock(password=SECRET)
    journals.open_journals([model], RunProgress())
    ((_, of_task),) = journals._tasks
    journal = of_task.by_model[str(model)]
    journal.write_output(("1-1", 1), 0, "", ModelOutput.from_content("m", "1"))
    journals.close_journals()
    assert SECRET not in journal.path.name and SECRET not in journal.path.read_text("ascii")


def test_embedded_players_which_cost_nothing_have_none(tmp_path: Path) -> None:
    entry = next(entry for entry in TASKS if entry.name == "bandit_deterministic")
    journals = RunJournals(tmp_path, {}, pytest.fail)
    journals.create_task(load_task(entry))
    journals.open_journals([get_model("waybench/oracle", memoize=False)], RunProgress())
    ((_, of_task),) = journals._tasks
    assert not of_task.by_model


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%20b", "a\nb", "a\tb", "a#b/out"])
def test_a_folder_whose_logs_could_not_be_read_again_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="choose another folder") as refused:
        check_log_folder(tmp_path / name)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["s3://bucket/logs", "gs://bucket", "file:///tmp/logs", "hf://x"])
def test_an_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is a URL"):
        check_log_folder(Path(address))


@pytest.mark.parametrize("name", ["100%", "50% off", "a&b", "ein é", "[1]", "a:b", "~", "x\\y"])
def test_other_names_are_fine(tmp_path: Path, name: str) -> None:
    check_log_folder(tmp_path / name)


def test_a_lock_is_one_s_own_and_ends_with_the_block(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with lock_folder(folder), pytest.raises(UsageError) as refused, lock_folder(folder):
        pytest.fail("two runs are in the folder")
    assert f"process {os.getpid()} on " in str(refused.value) and "choose another folder with --out" in str(
        refused.value
    )
    with lock_folder(folder):
        pass
    assert [each.name for each in folder.iterdir()] == [".waybench-lock"]


@pytest.mark.slow
@pytest.mark.parametrize("holder", [None, b"", b"{", b"[]", b'{"pid": "x", "since": 1}'])
def test_whoever_holds_the_lock_it_is_held(tmp_path: Path, holder: bytes | None) -> None:
    with lock_folder(tmp_path):
        file = tmp_path / ".waybench-lock.json"
        file.unlink() if holder is None else file.write_bytes(holder)
        with pytest.raises(UsageError, match="another process is running in it"), lock_folder(tmp_path):
            pytest.fail("two runs are in the folder")


def test_what_a_killed_run_has_left_is_no_lock(tmp_path: Path) -> None:
    # Also where its process id is another process's by now: here it is this one's.
    (tmp_path / ".waybench-lock").touch()
    (tmp_path / ".waybench-lock.json").write_text(f'{{"pid": {os.getpid()}, "host": "here", "since": 1}}')
    with lock_folder(tmp_path):
        pass


def test_where_nothing_can_be_locked_runs_go_on(tmp_path: Path) -> None:
    (tmp_path / ".waybench-lock").write_bytes(b"somebody else's file, which is no database " * 50)
    with lock_folder(tmp_path):
        pass


def test_a_full_disk_is_known_by_its_errors() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    wrapped = RuntimeError("while writing")
    wrapped.__cause__ = ExceptionGroup("several", [ValueError("x"), full])
    full.__context__ = wrapped  # errors can refer to each other in circles
    assert is_disk_full_error(full) and is_disk_full_error(wrapped)
    assert is_disk_full_error(OSError(errno.EDQUOT, "quota"))
    assert is_disk_full_error(sqlite3.OperationalError("database or disk is full"))
    assert not is_disk_full_error(OSError(errno.ENOENT, "gone"))
    assert not is_disk_full_error(sqlite3.OperationalError("database is locked"))
    assert mentions_full_disk("OSError(28, 'No space left on device')") and not mentions_full_disk("Connection error")


def test_what_is_full_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(folder: Path) -> Any:
        return SimpleNamespace(free=4096 if folder == tmp_path else 1 << 30)

    monkeypatch.setattr("waybench.evaluation._preflight.shutil.disk_usage", usage)
    message = disk_full_message(tmp_path)
    assert message.startswith(
        f"no space left to write: {tmp_path} (4,096 bytes left). Free some space and run the same command"
    )
    assert "or a quota there" in disk_full_message(tmp_path / "elsewhere")
