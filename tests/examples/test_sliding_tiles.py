"""The example of a package with an environment of its own: installed beside waybench, every face knows it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PATIENCE

EXAMPLE = Path(__file__).parents[2] / "examples" / "sliding-tiles"
FILES = ("pyproject.toml", "sliding_tiles.py", "test_sliding_tiles.py")
MOST_LINES = 260

Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Install the package in a folder, without a network; return what runs a module of Python beside it, or -c CODE."""
    place = tmp_path_factory.mktemp("example")
    source, target = place / "source", place / "target"
    source.mkdir()
    for name in FILES:
        shutil.copy(EXAMPLE / name, source)

    def run_(*args: str, text: str = "") -> str:
        path = os.pathsep.join([str(target), *filter(None, sys.path)])
        env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *([] if args[0] == "-c" else ["-m"]), *args]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=PATIENCE, env=env, cwd=place, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    install = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    run_("pip", "install", "--quiet", *install, "--target", str(target), str(source))
    return run_


def test_it_is_short() -> None:
    lines = sum(len((EXAMPLE / name).read_text(encoding="utf-8").splitlines()) for name in FILES)
    assert lines <= MOST_LINES


@pytest.mark.slow
def test_its_own_test_passes(run: Run) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "source")
    assert "3 passed" in run("pytest", *options, "source/test_sliding_tiles.py")


@pytest.mark.slow
def test_every_command_knows_it(run: Run) -> None:
    listed = json.loads(run("waybench", "list", "--json"))
    assert {"tiles", "horizon_tiles"} <= {task["name"] for task in listed["tasks"]}
    lines = run("waybench", "generate", "sliding/tiles", "--level", "10", "--count", "3").splitlines()
    assert [json.loads(line)["proof"] for line in lines] == [{"minimum": 10}] * 3
    assert run("waybench", "generate", "tiles", "--level", "10", "--count", "3").splitlines() == lines
    played = run("waybench", "play", "tiles", "--hints", text="hint\nsideways\nquit\n")
    assert "Hint: " in played and "Not understood (it does not count as a reply)." in played
    replies = json.dumps({**json.loads(lines[0]), "env": "tiles", "replies": ["no"]})
    scored = json.loads(run("waybench", "score", "-", text=replies))
    assert scored["turns"][0]["outcome"] == "unparsed"
    page = run("waybench", "list", "sliding/tiles")
    assert "tiles, horizon_tiles" in page


@pytest.mark.slow
def test_it_is_run_and_reported(run: Run) -> None:
    run("waybench", "generate", "sliding/tiles", "--level", "6", "--count", "2", "--out", "mine.jsonl")
    models = ("--model", "waybench/oracle", "--out", "logs")
    drawn = run("waybench", "run", "tiles", *models, "--limit", "2", "-T", "level=12")
    assert "Sliding tiles" in drawn and "1.000" in drawn
    assert " 6" in run("waybench", "run", "sliding/tiles", *models, "-T", "source=mine.jsonl", "--levels")
    assert "horizon above the hardest level tested (shortest solution 28;" in run(
        "waybench", "run", "horizon_tiles", "--model", "waybench/oracle", "--out", "search"
    )
    run("waybench", "report", "logs", "--out", "site")
    site = run("-c", "import pathlib; print(*(page.read_text() for page in pathlib.Path('site').rglob('*.html')))")
    assert "<h2" in site and "2 boards" in site and 'viewBox="0 0 120 120"' in site
    run("inspect_ai", "eval", "waybench/tiles", "--model", "waybench/oracle", "-T", "limit=1", "--display", "none")


@pytest.mark.slow
def test_gymnasium_has_it(run: Run) -> None:
    pytest.importorskip("gymnasium")
    script = (
        "import gymnasium, waybench.ext.train.gymnasium\n"
        "env = gymnasium.make('waybench/sliding-tiles-v1', level=4)\n"
        "text, info = env.reset(seed=3)\n"
        "assert 'The board:' in text, text\n"
        "print(env.step('up')[0])\n"
    )
    assert "The board:" in run("-c", script)
