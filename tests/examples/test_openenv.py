"""The container file of the OpenEnv server, without a container engine: what it copies, and what it starts."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from waybench import __version__

LINES = (ROOT / "examples" / "openenv" / "Dockerfile").read_text(encoding="utf-8").splitlines()


def test_the_package_has_waybench_s_version_and_names_a_file() -> None:
    lines = (ROOT / "examples" / "openenv" / "openenv.yaml").read_text(encoding="utf-8").splitlines()
    assert f"version: {__version__}" in lines and "app: server.app:app" in lines
    assert (ROOT / "examples" / "openenv" / "server" / "app.py").is_file()


def test_what_it_copies_is_there_and_reaches_the_build() -> None:
    let_in = [
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    ]
    copied = [name for line in LINES if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert "src" in copied and "pyproject.toml" in copied
    assert all((ROOT / name).exists() and name in let_in for name in copied)


@pytest.mark.parametrize(
    ("arguments", "host", "served"),
    [
        ([], "localhost", ["maze/alicia"]),
        (["search/guessnum", "--level", "8"], "my-host", ["search/guessnum", "--level", "8"]),
    ],
)
def test_its_entry_point_serves_what_it_is_given(
    tmp_path: Path, arguments: list[str], host: str, served: list[str]
) -> None:
    program = tmp_path / "waybench"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (entry,) = (line.removeprefix("ENTRYPOINT ") for line in LINES if line.startswith("ENTRYPOINT "))
    assert any(re.fullmatch(r"ENV NAME=localhost", line) for line in LINES)
    done = subprocess.run(
        [*json.loads(entry), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NAME": host},
    )
    said = done.stdout.splitlines()
    assert said == ["serve", "openenv", "--host", "0.0.0.0", "--allow-host", host, *served]
