"""Shared files that are missing: skipped on a developer's machine, a failure where they have to be."""

from pathlib import Path

import pytest

from tests.conftest import ROOT, shared


def test_a_missing_file_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="data/no/such is not there: set WAYBENCH_DATA or WAYBENCH_SHARED"):
        shared("WAYBENCH_DATA", "data", "no", "such")


def test_a_missing_file_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="data/no/such is not there"):
        shared("WAYBENCH_DATA", "data", "no", "such")


def test_a_set_of_golden_files_may_lack_some_but_is_there_in_ci(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("WAYBENCH_GOLDEN", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=r"golden/gtb/agent.json is not there"):
        shared("WAYBENCH_GOLDEN", "golden", "gtb", "agent.json")
    monkeypatch.setenv("WAYBENCH_GOLDEN", str(tmp_path / "none"))
    with pytest.raises(pytest.fail.Exception, match=r"golden/gtb/agent.json is not there"):
        shared("WAYBENCH_GOLDEN", "golden", "gtb", "agent.json")


def test_the_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "maps.csv").touch()
    monkeypatch.delenv("WAYBENCH_DATA", raising=False)
    monkeypatch.setenv("WAYBENCH_SHARED", str(tmp_path))
    assert shared("WAYBENCH_DATA", "data", "maps.csv") == tmp_path / "data" / "maps.csv"
    monkeypatch.setenv("WAYBENCH_DATA", str(tmp_path))
    assert shared("WAYBENCH_DATA", "data", "data") == tmp_path / "data"


def test_the_root_is_the_repository() -> None:
    assert (ROOT / "pyproject.toml").exists()
