"""The documentation says what is true."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, shared

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
# They quote commands, so the expression that looks for them finds some.
WITH_COMMANDS = {"README.md", "tutorial.md", "run.md", "model.md", "compare.md", "evidence.md", "reproduce.md"}


@pytest.mark.slow
def test_generated_pages_are_up_to_date() -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_lines_to_score(tmp_path: Path) -> None:
    page = (DOCS / "howto" / "score.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "replies.jsonl").write_text("".join(blocks), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "waybench", "score", str(tmp_path / "replies.jsonl")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env={**os.environ, "WAYBENCH_DATA": str(shared("WAYBENCH_DATA", "data"))},
    )
    first, *others = map(json.loads, result.stdout.splitlines())
    assert (first["end"], first["metrics"]["score"], first["metrics"]["minimum"]) == ("solved", 100.0, 6.0)
    assert len(others) >= 2
    assert {each["end"] for each in others} == {"solved"}
    assert all(next(iter(each["metrics"].values())) == 1 for each in others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    from waybench.cli._app import COMMANDS

    text = page.read_text(encoding="utf-8")
    quoted = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text))
    named = set(re.findall(r"^waybench ([a-z]+)", quoted, re.MULTILINE))
    assert named <= set(COMMANDS)
    assert named or page.name not in WITH_COMMANDS


def test_no_address_of_a_registry_and_no_path_of_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    address = re.compile(r"https?://[^\s\"']*/simple\b|--?(?:extra-)?index-url\s|/(?:home|Users)/\w+/")
    found = [
        f"{name}: {line.strip()[:80]}"
        for name in listed.stdout.split("\0")
        if name and Path(name).suffix not in {".png", ".sh"} and name != "tests/docs/test_pages.py"
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if address.search(line)
    ]
    assert found == []


def test_the_page_for_authors_shows_what_a_stream_has() -> None:
    """Every method that CONTRIBUTING shows can be called as shown, and none that an author needs is left out."""
    from waybench.core import Stream

    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (block,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if block.startswith("rng ="))
    shown = set(re.findall(r"rng\.(\w+)", block))
    for_engines = {"word", "key_digest"}
    assert shown == {name for name in vars(Stream) if not name.startswith("_")} - for_engines
    exec(block, {"Stream": Stream, "ID": "a/b", "key": "k", "level": 3, "index": 0, "names": "ab", "cells": [1, 2]})
