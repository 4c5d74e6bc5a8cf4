"""Users' files that are damaged in fifty ways each: one line that says what is wrong, never a traceback."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import waybench
from tests.damaged import DAMAGES, damage, replace_file
from tests.submission.test_verify import run
from waybench.cli._doctor import _key_variables
from waybench.core import Episode, UsageError, WaybenchError
from waybench.core._tokens import read_prices
from waybench.evaluation._agents import load_object
from waybench.evaluation._preflight import check_env_file
from waybench.ext.publish.leaderboard._entries import read_settings, read_status

MAZE = waybench.load("maze/alicia")
TEMPLATE = 'rules = """Find the way – through {maze}."""\nbase = "matrix"\n'
PRICES = {"openai/gpt-4o": {"input": 2.5, "output": 10, "input_cache_read": 1.25}, "lab/é": {"input": 1, "output": 2}}


def play(**options: str) -> None:
    Episode(MAZE, MAZE.source().item(0), options)


def model_file(path: Path) -> None:
    load_object(f"{path.stem}.reply")


def env_file(path: Path) -> None:
    check_env_file()
    from inspect_ai._util.dotenv import init_dotenv

    before = dict(os.environ)
    try:
        init_dotenv()
    finally:
        os.environ.clear()
        os.environ.update(before)
    _key_variables()


FILES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "prices": ("prices.json", json.dumps(PRICES, ensure_ascii=False), read_prices),
    "template": ("template.toml", TEMPLATE, lambda path: play(wording=f"file:{path}")),
    "text template": ("rules.txt", "Find the way – through {maze}.", lambda path: play(wording=f"file:{path}")),
    "language": ("fr.toml", 'name = "français"\n', lambda path: play(language=f"file:{path}")),
    "variables": (".env", 'OPENAI_API_KEY="sk-ü"\nexport A=b # c\nINSPECT_LOG_DIR=logs\n', env_file),
    "model": ("my_model.py", 'def reply(messages):\n    """Übrigens."""\n    return "x"\n', model_file),
    "board": ("leaderboard.toml", 'title = "Überblick"\nabout = "x"\n', lambda path: read_settings(path.parent)),
    "status": ("x.toml", 'status = "community"\nnote = "é"\n', read_status),
}


@pytest.mark.parametrize("how", [*DAMAGES, "a folder", "a loop", "nothing"])
@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, how: str) -> None:
    name, text, read = FILES[kind]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / (name if kind != "model" else f"model_{re.sub(r'[^a-z0-9]', '_', how)}.py")
    path.write_text(text, encoding="utf-8")
    if how in DAMAGES:
        damage(path, how)
    else:
        replace_file(path, how)
    try:
        read(path)
    except WaybenchError as error:
        message = str(error)
        assert not re.search(r"[\n\r\x00\x1b]|Traceback", message), message
        assert 10 < len(message) < 700


def test_the_files_are_right_before_they_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, (name, text, read) in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        if kind != "language":  # a real one has hundreds of texts
            read(tmp_path / name)


def test_a_run_beside_a_damaged_env_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for content, reason in ((b'A="\xff"\n', "no UTF-8 text"), (b"A=b\0c\n", "cannot be a variable")):
        (tmp_path / ".env").write_bytes(content)
        status, output = run("run", "guessnum", "--model", "waybench/oracle", "--limit", "1", "--out", tmp_path / "out")
        assert status != 0 and reason in output and "Traceback" not in output
        with pytest.raises(UsageError, match=reason):
            check_env_file()
