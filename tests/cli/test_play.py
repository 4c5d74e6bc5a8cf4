import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.cli.support import PATIENCE, Command, one_line_error, plan
from waybench.core import EpisodeRecord, replay

CTRL_C = b"\x03"
BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}


@pytest.fixture
def solution() -> list[tuple[str, int]]:
    """Return a shortest way through the first maze of level 7 of the public set."""
    return [(way, cells) for way, cells in waybench.load("maze/alicia").source(level=7).item(0).proof["solution"]]


def short(movements: list[tuple[str, int]]) -> str:
    """Write movements as a person types them."""
    return " ".join(f"{way[0]}{cells}" for way, cells in movements)


def record_in(file: Path) -> EpisodeRecord:
    [line] = file.read_text().splitlines()
    return EpisodeRecord.from_json(json.loads(line))


def test_a_game_from_start_to_end(command: Command, tmp_path: Path, solution: list[tuple[str, int]]) -> None:
    (way, cells), *rest = solution
    typed = [short([(way, cells)]), "", short([(BACK[way], 1), (way, 1), *rest]), "never read"]
    result = command("play", "maze", "--level", 7, "--record", tmp_path / "r", stdin="\n".join(typed))
    assert result.exit_code == 0
    shown = result.stdout
    assert "maze/alicia, level 7, item 701 of key alicia-v1" in shown
    assert "I need to navigate through a maze" in shown
    assert "3 requests left, steps so far: 0" in shown
    assert f"2 requests left, steps so far: {cells}" in shown
    assert "1 request left" not in shown
    assert "I have reached the exit at [" in shown
    minimum = sum(cells for _, cells in solution)
    assert f"Solved.\n  Score          {(1 - 2 / minimum) * 100:g} %\n" in shown
    assert "A shortest solution is shown after 2 further attempts" in shown  # the task has three
    record = record_in(tmp_path / "r")
    assert (record.end, record.player, len(record.turns)) == ("solved", "human", 2)
    assert record.turns[0].reply == plan((way, cells))
    assert all(turn.usage and turn.usage.seconds >= 0 for turn in record.turns)
    assert replay(waybench.load("maze/alicia"), record).done


def test_limits_are_those_of_a_model(command: Command) -> None:
    result = command("play", "maze", "-O", "requests=2", stdin='{"movements": 1}\nu9\nd1\n')
    assert result.exit_code == 0
    assert "Turn limit.\n  Score          0 %\n" in result.stdout


def test_options_choose_item_and_wording(command: Command) -> None:
    shown = command("play", "maze", "--level", 9, "--key", "k", "--index", 4, "-O", "wording=ascii", stdin="").stdout
    assert "level 9, item 905 of key private-0d247701" in shown
    assert "...." in shown and "[[0," not in shown


@pytest.mark.parametrize("stdin", ["d1\nquit\n", "d1\nQ\n", "d1\n", "d1"])
def test_quitting_keeps_the_record(command: Command, tmp_path: Path, stdin: str) -> None:
    result = command("play", "maze", "--record", tmp_path / "r", stdin=stdin)
    assert result.exit_code == 0
    assert "Stopped before the end." in result.stdout
    record = record_in(tmp_path / "r")
    assert (record.end, len(record.turns)) == (None, 1)


def test_a_solution_is_shown_after_the_last_attempt(command: Command, tmp_path: Path) -> None:
    """Who gives up and plays the maze again would walk the solution that they have read."""
    shown = [command("play", "maze", "--record", tmp_path / "r", stdin="quit\n").stdout for _ in range(3)]
    assert [("A shortest solution: " in text) for text in shown] == [False, False, True]
    assert "after 1 further attempt at" in shown[1]
    assert "A shortest solution: " in command("play", "maze", "-T", "attempts=1", stdin="quit\n").stdout


def test_records_are_appended(command: Command, tmp_path: Path) -> None:
    for _ in range(2):
        command("play", "maze", "--record", tmp_path / "r", stdin="quit\n")
    assert len((tmp_path / "r").read_text().splitlines()) == 2


def test_records_can_be_scored(command: Command, tmp_path: Path, solution: list[tuple[str, int]]) -> None:
    command("play", "maze", "--level", 7, "--record", tmp_path / "r", stdin=short(solution))
    scored = json.loads(command("score", tmp_path / "r").stdout)
    assert (scored["metrics"]["score"], scored["replayed"], scored["id"]) == (100.0, True, "701")


def test_hints_are_given_only_where_asked_for(
    command: Command, tmp_path: Path, solution: list[tuple[str, int]]
) -> None:
    game = ("play", "maze", "--level", 7)
    off = command(*game, "--record", tmp_path / "off", stdin="hint\n").stdout
    assert "Hints are off" in off
    first, second, *_ = solution
    on = command(*game, "--hints", "--record", tmp_path / "on", stdin=f"hint\n{short([first])}\nhint\n").stdout
    assert [line for line in on.splitlines() if line.startswith("Hint: ")] == [
        f"Hint: {way} {cells}" for way, cells in (first, second)
    ]
    assert record_in(tmp_path / "off").player == "human"
    assert record_in(tmp_path / "on").player == "human with hints"
    assert record_in(tmp_path / "on").turns[0].outcome in ("ok", "unproductive")


def test_a_slip_of_the_keyboard_is_not_counted(command: Command) -> None:
    shown = command("play", "maze", stdin="dwon 3\nquit\n").stdout
    assert "Not understood (it does not count as a reply)." in shown
    assert "2 requests left" not in shown


def test_a_malformed_reply_is_counted(command: Command) -> None:
    shown = command("play", "maze", stdin='{"movements": 3}\nquit\n').stdout
    assert "I could not follow your directions" in shown
    assert "2 requests left" in shown


def test_a_reply_may_have_several_lines(command: Command, tmp_path: Path) -> None:
    reply = json.dumps(json.loads(plan(("down", 1))), indent=1)
    command("play", "maze", "--level", 7, "--record", tmp_path / "r", stdin=reply + "\nquit\n")
    [turn] = record_in(tmp_path / "r").turns
    assert (turn.outcome, turn.reply) == ("ok", reply)


@pytest.mark.parametrize("stdin", [b"\xff\xfe\n", b"\x00\n", b"{\xff}\n", b"x" * 1_000_000 + b"\n", b"{" * 100_000])
def test_odd_input(command: Command, stdin: bytes, tmp_path: Path) -> None:
    assert command("play", "maze", "--record", tmp_path / "r", stdin=stdin).exit_code == 0
    assert record_in(tmp_path / "r").end is None


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["nothing"], "unknown environment"),
        (["maze", "--level", 4], "is from 5 to 1001"),
        (["maze", "--index", -1], "--index"),
        (["maze", "-O", "wording=latin"], "choose from ascii"),
        (["maze", "-O", "loops=1"], "choose from exit_hint"),
        (["maze", "-S", "wording=ascii"], "choose from algorithm"),
        (["maze", "--record", "/no/such/folder/file"], "cannot write"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("play", *args, stdin="d1\n"))


@pytest.fixture
def in_terminal() -> Any:
    """Run `waybench ARGS...` in a terminal of its own, type some lines, and return what it shows and its status.

    The last of them is typed again until the process ends: a Ctrl-C between the prompt and the read does nothing but
    set a flag, which Python looks at when the read returns.
    """
    pty = pytest.importorskip("pty", reason="terminals as POSIX has them")

    def run(*args: str, typed: list[bytes], **variables: str) -> tuple[str, int]:
        process, terminal = pty.fork()
        if process == 0:
            # A test runner's worker may ignore Ctrl-C, and a child inherits that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            environ = {**os.environ, "COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color", **variables}
            os.execve(sys.executable, [sys.executable, "-m", "waybench", *args], environ)
        shown, last = b"", b""
        deadline = time.monotonic() + PATIENCE
        while True:
            if not select.select([terminal], [], [], 0.5)[0]:
                if time.monotonic() > deadline:
                    os.kill(process, signal.SIGKILL)
                elif last == CTRL_C:
                    with suppress(OSError):  # it may end just now
                        os.write(terminal, last)
                continue
            try:
                block = os.read(terminal, 65536)
            except OSError:  # how Linux tells that the other side is gone
                break
            if not block:
                break
            shown += block
            if typed and shown.endswith(b"> "):
                last = typed.pop(0)
                os.write(terminal, last)
        os.close(terminal)
        return shown.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    return run


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_in_a_terminal_the_board_is_drawn(in_terminal: Any, solution: list[tuple[str, int]]) -> None:
    typed = [b"d1\r", b"u1 " + short(solution).encode() + b"\r"]
    shown, status = in_terminal("play", "maze", "--plain", "--level", "7", typed=typed)
    assert status == 0, shown
    assert shown.count("   6 ") == 3
    assert "\x1b[38;2;0;0;0m\x1b[1m()\x1b[0m" in shown
    assert "Solved." in shown


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_no_color(in_terminal: Any) -> None:
    shown, status = in_terminal("play", "maze", "--plain", typed=[b"quit\r"], NO_COLOR="1", TERM="dumb")
    assert status == 0, shown
    assert "   1 ██" in shown
    assert "\x1b[" not in shown


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_ctrl_c_keeps_the_record(in_terminal: Any, tmp_path: Path) -> None:
    shown, status = in_terminal("play", "maze", "--plain", "--record", str(tmp_path / "r"), typed=[b"d1\r", CTRL_C])
    assert status == 130, shown
    assert "Traceback" not in shown
    assert len(record_in(tmp_path / "r").turns) == 1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_ctrl_d_ends_the_game(in_terminal: Any) -> None:
    shown, status = in_terminal("play", "maze", "--plain", typed=[b"\x04"])
    assert status == 0, shown
    assert "Stopped before the end." in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("maze", "hanoi"), "several environments are for --web: add --web, or name one"),
        (("maze", "--items", "2"), "--items is for --web: add --web, or leave it out"),
        (("maze", "--codes", "{file}"), "--codes is for --web: add --web, or leave it out"),
        (("maze", "--web"), "--web needs a file for the records: add --record FILE"),
        (("maze", "--web", "--record", "{folder}/r", "--codes", "{file}"), "give a code in each line"),
        (("{items}", "--web", "--record", "{folder}/r"), "its first line names no environment"),
        (("maze", "maze", "--web", "--record", "{folder}/r"), "an item is there twice: name each environment once"),
    ],
)
def test_options_of_the_browser(command: Command, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "codes").write_text("a\na\n")
    (tmp_path / "items.jsonl").write_text("{}\n")
    names = {"file": tmp_path / "codes", "folder": tmp_path, "items": tmp_path / "items.jsonl"}
    result = command("play", *(option.format(**names) for option in options))
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())


def test_items_of_a_file_are_played_in_their_order(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("waybench.people.web._app.study_application", lambda study, port, token: served.append(study))
    monkeypatch.setattr("waybench.reporting.view._serve.serve_application", lambda app, listener: listener.close())
    items = tmp_path / "items.jsonl"
    command("generate", "maze", "--level", 7, "--count", 3, "--key", "k", "--out", items)
    result = command("play", "--web", items, "rps", "--items", 2, "--record", tmp_path / "r", "--port", 0)
    assert result.exit_code == 0, result.stderr
    assert "http://127.0.0.1:" in result.stdout and "?token=" in result.stdout
    lines = [json.loads(line) for line in items.read_text().splitlines()][:2]
    hashes = [each.item.instance.hash for each in served[0].items]
    assert hashes[:2] == [line["hash"] for line in lines]
    assert [each.environment.id for each in served[0].items[2:]] == ["rps/rounds"] * 2


def test_an_item_that_a_set_repeats_is_taken_once(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("waybench.people.web._app.study_application", lambda study, port, token: served.append(study))
    monkeypatch.setattr("waybench.reporting.view._serve.serve_application", lambda app, listener: listener.close())
    result = command(
        *("play", "--web", "hanoi", "maze", "--items", 2, "--attempts", 3, "--record", tmp_path / "r", "--port", 0)
    )
    assert result.exit_code == 0, result.stderr
    assert "hanoi: 1 different item among the 2; each is taken once" in " ".join(result.stderr.split())
    assert [each.environment.id for each in served[0].items] == ["hanoi/rods", "maze/alicia", "maze/alicia"]
    assert served[0].rounds == 9
    assert "3 items with 3 attempts each" in result.stdout
