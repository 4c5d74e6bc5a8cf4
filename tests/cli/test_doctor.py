import json
import os
import shutil
from collections import namedtuple
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command
from waybench import __version__
from waybench.cli import _doctor
from waybench.data import published_downloads

SECRET = "sk-DONOTSHOW0123456789"
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys, no data sets, and a working folder of its own."""
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("WAYBENCH_DATA", raising=False)
    monkeypatch.setenv("WAYBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def results(command: Command, *args: object, status: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    result = command("doctor", "--json", *args)
    assert result.exit_code == status, result.output
    data = json.loads(result.stdout)
    assert data["waybench"] == __version__
    assert data["problems"] == sum(check["status"] == "problem" for check in data["checks"])
    return {(check["group"], check["name"]): check for check in data["checks"]}


def test_every_part_is_checked(command: Command) -> None:
    found = results(command)
    groups = ["Versions", "Keys", "Extras", "Programs", "Data sets", "Disk", "Terminal"]
    assert list(dict.fromkeys(group for group, _ in found)) == groups
    assert found["Versions", "waybench"]["detail"] == __version__
    assert {name for group, name in found if group == "Data sets"} == set(published_downloads())
    assert {name for group, name in found if group == "Programs"} >= {"luanti", "minedojo"}
    assert {name for group, name in found if group == "Extras"} == {
        "eval",
        "gym",
        "hf",
        "jericho",
        "local",
        "mcp",
        "openenv",
        "ray",
        "textworld",
        "trl",
    }
    assert all(check["advice"] for check in found.values() if check["status"] != "ok")


def test_the_text_says_the_same(command: Command) -> None:
    result = command("doctor")
    assert result.exit_code == 0
    assert "No problem was found." in result.stdout
    assert f"  ok       waybench: {__version__}\n" in result.stdout
    assert "-> set the key of your provider, such as OPENAI_API_KEY" in result.stdout


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_values_of_keys_are_never_shown(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("LOCAL_API_KEY", SECRET)
    (tmp_path / ".env").write_text(f"ANTHROPIC_API_KEY={SECRET}\nEMPTY_API_KEY=\n")
    output = command("doctor", *form).output
    assert all(f"{name}_API_KEY is set" in output for name in ("OPENAI", "LOCAL", "ANTHROPIC"))
    assert "EMPTY_API_KEY" not in output
    assert SECRET not in output and SECRET[:6] not in output and SECRET[-6:] not in output
    assert str(len(SECRET)) not in output.replace(str(tmp_path), "").partition("Keys")[2].partition("Extras")[0]


def test_a_key_whose_package_is_missing(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_doctor, "_is_importable", lambda module: module == "openai")
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", SECRET)
    found = results(command)
    assert found["Keys", "openai/..."]["status"] == "ok"
    missing = found["Keys", "anthropic/..."]
    assert (missing["status"], missing["advice"]) == ("note", "pip install anthropic")


def test_data_sets_are_missing_damaged_or_there(command: Command, tmp_path: Path) -> None:
    name, download = next(iter(published_downloads().items()))
    assert results(command)["Data sets", name]["advice"].endswith(f"waybench data fetch {name}")
    damaged = tmp_path / "cache" / name / download.files[0].path
    damaged.parent.mkdir(parents=True)
    damaged.write_text("something else")
    check = results(command, status=1)["Data sets", name]
    assert check["status"] == "problem" and "is not the published file" in check["detail"]


@pytest.mark.parametrize(("free", "status"), [(10**8, "problem"), (10**9, "note"), (10**10, "ok")])
def test_room_on_the_disk(command: Command, monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - free, free))
    check = results(command, status=int(status == "problem"))["Disk", "logs"]
    assert check["status"] == status
    assert f"{free / 1e9:.1f} GB free" in check["detail"]


def test_a_log_folder_that_cannot_be_written_to(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = results(command, "--out", tmp_path / "file" / "logs", status=1)
    assert found["Disk", "logs"]["detail"].endswith("cannot be written to")


def test_a_library_that_is_missing(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    known = _doctor.version

    def version(name: str) -> str:
        if name == "numba":
            raise PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(_doctor, "version", version)
    assert results(command, status=1)["Versions", "numba"]["status"] == "problem"


def test_an_engine_that_is_missing(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.envs.voxel.engines._server.program_path", lambda: None)
    check = results(command)["Programs", "luanti"]
    assert check["status"] == "note" and "minetest-server" in check["advice"]


def test_compiled_code_that_is_not_kept(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: object) -> object:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.caching.FunctionCache", refuse)
    assert "NUMBA_CACHE_DIR" in results(command)["Disk", "compiled code"]["advice"]


def test_a_terminal_without_unicode(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ascii:
        encoding = "ascii"

        @staticmethod
        def isatty() -> bool:
            return False

    monkeypatch.setattr(_doctor.sys, "stdout", Ascii)
    found = {check.name: check for check in _doctor._check_terminal()}
    assert found["characters"].status == "note" and found["characters"].advice == "set PYTHONUTF8=1"
