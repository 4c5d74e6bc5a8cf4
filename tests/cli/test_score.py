import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.cli.support import Command, lines_of, one_line_error, plan, watched
from waybench.core import End, EpisodeRecord, Item, play_to_end, policy

SIX = plan(("down", 3), ("left", 2), ("down", 1))
EIGHT = plan(("down", 1), ("left", 1), ("right", 1), ("down", 2), ("left", 2), ("down", 1))


@pytest.fixture
def line(maze_501: dict[str, Any]) -> dict[str, Any]:
    return {"env": "maze/alicia", "instance": maze_501, "replies": [SIX]}


def scored(command: Command, *lines: object) -> list[Any]:
    result = command("score", "-", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert (result.exit_code, result.stderr) == (0, "")
    return lines_of(result)


def test_a_shortest_path_scores_100(command: Command, line: dict[str, Any]) -> None:
    [result] = scored(command, line | {"options": {"protocol": "paper"}})
    assert result == {
        "env": "maze/alicia",
        "metrics": {
            "score": 100.0,
            "raw_score": 100.0,
            "reached": 1.0,
            "steps": 6.0,
            "minimum": 6.0,
            "requests": 1.0,
            "unparsed": 0.0,
            "illegal": 0.0,
        },
        "end": "solved",
        "turns": [
            {
                "outcome": "ok",
                "action": [["down", 3], ["left", 2], ["down", 1]],
                "message": "I have reached the exit at [1,4].",
            }
        ],
    }


def test_two_steps_more_score_two_thirds(command: Command, line: dict[str, Any]) -> None:
    [result] = scored(command, line | {"replies": [EIGHT]})
    assert (result["metrics"]["steps"], result["end"]) == (8.0, "solved")
    assert result["metrics"]["score"] == pytest.approx(200 / 3)


def test_replies_that_run_out_leave_the_end_open(command: Command, line: dict[str, Any]) -> None:
    none, one, all_ = scored(command, *(line | {"replies": ["?"] * count} for count in (0, 1, 3)))
    assert (none["end"], none["turns"], none["metrics"]["requests"]) == (None, [], 0.0)
    assert (one["end"], one["metrics"]["unparsed"]) == (None, 1.0)
    assert (all_["end"], all_["metrics"]["unparsed"]) == ("turn_limit", 3.0)


def test_replies_too_many_are_counted(command: Command, line: dict[str, Any]) -> None:
    solved, over = scored(command, line | {"replies": [SIX, SIX]}, line | {"replies": ["?"] * 5})
    assert (solved["unused_replies"], len(solved["turns"])) == (1, 1)
    assert (over["unused_replies"], len(over["turns"])) == (2, 3)


def test_each_turn_says_what_the_player_would_be_told(command: Command, line: dict[str, Any]) -> None:
    [result] = scored(command, line | {"replies": ["none", plan(("up", 2)), SIX]})
    unparsed, illegal, solved = result["turns"]
    assert unparsed["outcome"] == "unparsed" and unparsed["action"] is None
    assert unparsed["reason"] in unparsed["message"]
    assert illegal["outcome"] == "illegal" and illegal["action"] == [["up", 2]] and "reason" not in illegal
    assert "Movement 1 (direction: up, cells: 2) is not viable: it leaves the maze" in illegal["message"]
    assert solved["outcome"] == "ok"


def test_replies_may_say_why_they_stopped(command: Command, line: dict[str, Any]) -> None:
    replies = [{"text": SIX, "stop": "truncated"}, {"text": SIX, "stop": "refused"}, {"text": SIX, "stop": "stop"}]
    [result] = scored(command, line | {"replies": replies})
    assert [turn["outcome"] for turn in result["turns"]] == ["truncated", "refused", "ok"]
    assert scored(command, line | {"replies": [{"text": SIX}]})[0]["end"] == "solved"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (None, "unparsed"),
        ({"text": None}, "unparsed"),
        ({"text": SIX, "stop": None}, "ok"),
        ({"text": None, "stop": "refused"}, "refused"),
        ({"text": SIX, "stop": "overflow"}, "overflow"),
    ],
)
def test_replies_as_logs_store_them(command: Command, line: dict[str, Any], reply: Any, outcome: str) -> None:
    [result] = scored(command, line | {"replies": [reply]})
    assert [turn["outcome"] for turn in result["turns"]] == [outcome]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("shape", ["\r", "\r\n", "list", "pretty"])
def test_files_of_any_editor_give_the_same_scores(
    command: Command, line: dict[str, Any], tmp_path: Path, encoding: str, shape: str
) -> None:
    given = [line | {"id": "é\u2028"}, line | {"replies": [EIGHT]}, {"env": "?"}]
    text = json.dumps(given, ensure_ascii=False, indent=1)
    if shape == "pretty":
        text = "\n".join(json.dumps(each, ensure_ascii=False, indent=1) for each in given)
    elif shape != "list":
        text = shape.join(json.dumps(each, ensure_ascii=False) for each in given)
    (tmp_path / "in").write_bytes(text.encode(encoding))
    result = command("score", tmp_path / "in")
    assert result.exit_code == 1
    first, second, bad = lines_of(result)
    assert (first["id"], first["metrics"]["steps"], second["metrics"]["steps"]) == ("é\u2028", 6.0, 8.0)
    assert bad["line"] == 3


def test_what_is_no_text_is_one_line(command: Command, line: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(gzip.compress(json.dumps(line).encode()))
    assert "in is a gzip file: decompress it first" in one_line_error(command("score", tmp_path / "in"))


def test_options_and_attempt_count(command: Command, line: dict[str, Any]) -> None:
    told, wrong = scored(
        command,
        line | {"replies": ["?", "?"], "options": {"requests": 1, "wording": "ascii"}, "attempt": 2},
        line | {"replies": ["?"], "options": None},
    )
    assert (told["end"], told["unused_replies"]) == ("turn_limit", 1)
    assert "###X#" in told["turns"][0]["message"]
    assert "[0,1,1,1,0]" in wrong["turns"][0]["message"]


def test_ids_and_fields_of_ones_own_pass(command: Command, line: dict[str, Any]) -> None:
    named, numbered = scored(command, line | {"id": "\u00e9\ud800", "model": "mine"}, line | {"id": 7})
    assert named["id"] == "\u00e9\ud800" and "model" not in named
    assert numbered["id"] == 7


def test_a_bad_line_has_its_place_and_the_others_are_scored(
    command: Command, line: dict[str, Any], tmp_path: Path
) -> None:
    good = json.dumps(line).encode()
    (tmp_path / "in.jsonl").write_bytes(b"\n".join([good, b"", b"{", b"\xff\xfe", b"  ", b'{"id": "x"}', good]))
    result = command("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "3 of 5 lines could not be scored: see 'error' in the output\n"
    first, *bad, last = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert first == last and first["end"] == "solved"
    assert bad == [
        {"line": 3, "error": bad[0]["error"]},
        {"line": 4, "error": "the line is not UTF-8 (byte 1)"},
        {"line": 6, "id": "x", "error": '"env" is missing'},
    ]


def test_lines_that_are_too_long_are_not_read(
    command: Command, line: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waybench.cli._score.LONGEST_LINE", 1000)
    text = json.dumps(line)
    result = command("score", "-", stdin="\n".join([text, "x" * 5000, text, "y" * 3000]))
    assert result.exit_code == 1
    assert [("longer than" in found.get("error", "")) for found in lines_of(result)] == [False, True, False, True]
    assert [found["line"] for found in lines_of(result) if "error" in found] == [2, 4]


@pytest.mark.slow
def test_a_huge_line_stays_within_the_stated_memory(line: dict[str, Any], tmp_path: Path) -> None:
    # docs/howto/score.md states 3 GB. A character beyond the Basic Multilingual Plane makes Python keep four bytes for
    # each character of the text.
    head, tail = json.dumps(line | {"replies": ["?"]}, ensure_ascii=False).split("?")
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    with source.open("wb") as file:
        file.write(f"{head}\N{GRINNING FACE}".encode())
        for _ in range(255):
            file.write(b"a" * (1 << 20))
        file.write(f"{tail}\n".encode())
    with watched("score", str(source), "--out", str(out)) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    [result] = [json.loads(text) for text in out.read_text().splitlines()]
    assert result["metrics"]["unparsed"] == 1
    assert 1 << 28 < usage.ru_maxrss * 1024 < 3 * 10**9


def test_results_are_out_before_the_next_line_is_read(line: dict[str, Any]) -> None:
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    with watched("score", "-", stdin=-1, text=True, env=buffered) as process:
        assert process.stdin and process.stdout
        for _ in range(2):
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["end"] == "solved"
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["/no/such/file"], "cannot read '/no/such/file': No such file"),
        (["/"], "cannot read '/': Is a directory"),
        (["-", "--out", "/no/such/folder/file"], "cannot write"),
        (["-"], "standard input has no lines: give one JSON object a line"),
    ],
)
def test_files_that_cannot_be_had(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("score", *args))


def test_a_report_of_no_lines_leaves_no_records(command: Command, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").touch()
    assert "has no lines" in one_line_error(command("score", tmp_path / "in.jsonl", "--report", tmp_path / "site"))
    assert not list((tmp_path / "site").iterdir())


def test_the_input_is_not_overwritten(command: Command, line: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps(line))
    assert "choose another file" in one_line_error(command("score", file, "--out", file))
    assert file.read_text() == json.dumps(line)


def record(player: str = "heuristic") -> EpisodeRecord:
    environment = waybench.load("maze/alicia")
    item: Item[Any] = environment.source("a key", 9).item(3)
    return play_to_end(environment, item, policy(player), {"wording": "prose"}, attempt=2).record()


@pytest.mark.parametrize("player", ["null", "heuristic", "oracle", "noisy-0.3"])
def test_a_record_is_replayed(command: Command, player: str) -> None:
    played = record(player)
    [result] = scored(command, json.loads(played.dumps()))
    assert (result["id"], result["replayed"], result["end"]) == ("904", True, played.end)
    assert result["metrics"] == {
        metric.name: metric.of(played) for metric in waybench.load("maze/alicia").scoring.metrics
    }
    assert [turn["message"] for turn in result["turns"]] == [turn.message for turn in played.turns]


def test_an_infrastructure_error_has_no_metrics(command: Command) -> None:
    data = json.loads(record().dumps()) | {"turns": [], "end": str(End.INFRASTRUCTURE), "error": "HTTP 500"}
    [result] = scored(command, data)
    assert (result["metrics"], result["end"], result["replayed"]) == (None, "infrastructure_error", True)


def changed(data: Any, path: str, value: object) -> Any:
    """Return JSON data with the value at a path such as "turns.0.reply" replaced."""
    head, _, rest = path.partition(".")
    key: Any = int(head) if isinstance(data, list) else head
    new = list(data) if isinstance(data, list) else dict(data)
    new[key] = changed(data[key], rest, value) if rest else value
    return new


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", 99),
        ("schema", "1"),
        ("env", "maze/nothing"),
        ("env", 3),
        ("env_version", 99),
        ("options", {"wording": "matrix"}),
        ("options", {"colour": "red"}),
        ("options", None),
        ("instance", {"maze": []}),
        ("instance_hash", "0" * 64),
        ("item", {"size": 3}),
        ("item", []),
        ("item.level", "x"),
        ("proof", {"minimum": 1}),
        ("attempt", "two"),
        ("opening", [{"role": "user", "text": "other"}]),
        ("opening", [3]),
        ("turns", {}),
        ("turns", [None]),
        ("turns.0.reply", None),
        ("turns.0.reply", plan(("up", 1))),
        ("turns.0.outcome", "fine"),
        ("turns.0.outcome", "truncated"),
        ("turns.0.executed", "down"),
        ("turns.0.executed", [["sideways", 1]]),
        ("turns.0.executed", [["down", -3]]),
        ("turns.0.executed", [["down", "3"]]),
        ("turns.0.events", []),
        ("turns.0.events", {"moved": 1}),
        ("turns.0.message", 5),
        ("turns.0.usage", {"seconds": "long"}),
        ("turns.0.usage", {"price": 3}),
        ("turns.0.usage", [1]),
        ("end", "turn_limit"),
        ("end", "won"),
        ("end", []),
    ],
)
def test_a_record_that_does_not_agree_is_an_error_line(command: Command, path: str, value: object) -> None:
    data = changed(json.loads(record().dumps()), path, value)
    result = command("score", "-", stdin=json.dumps(data))
    [found] = lines_of(result)
    assert result.exit_code == 1
    assert found["line"] == 1 and found["error"]


def test_marks_of_a_user_s_own_are_in_the_record(command: Command, line: dict[str, Any], tmp_path: Path) -> None:
    lines = [line | {"replies": [f"<plan>{EIGHT}</plan>so: {SIX}", f"<plan>{EIGHT}"]}]
    text = "".join(json.dumps(each) + "\n" for each in lines)
    records = tmp_path / "site" / "records.jsonl"
    result = command("score", "-", "--think-tags", "<plan>", "</plan>", "--report", tmp_path / "site", stdin=text)
    assert result.exit_code == 0
    record = json.loads(records.read_text())
    assert record["options"]["think_tags"] == "<plan> </plan>"
    assert record["turns"][0]["reasoning"] == EIGHT
    assert record["turns"][0]["action"] == [["down", 3], ["left", 2], ["down", 1]]
    # The record needs no flag, and a line's options come first.
    (again,) = scored(command, record)
    assert again["end"] == "solved"
    (mine,) = lines_of(
        command(
            "score",
            "-",
            "--think-tags",
            "(",
            ")",
            stdin=json.dumps(lines[0] | {"options": {"think_tags": "<plan> </plan>"}}),
        )
    )
    assert mine["end"] == "solved"


def test_marks_that_are_the_same_are_refused(command: Command, line: dict[str, Any]) -> None:
    (result,) = lines_of(command("score", "-", "--think-tags", "<a>", "<A>", stdin=json.dumps(line)))
    assert "give two different marks" in result["error"]


def test_replies_that_look_like_reasoning_are_warned_of(command: Command, line: dict[str, Any]) -> None:
    thinking = "Okay, the user wants me to find the exit of the maze. " + "I go down, then I go left. " * 12 + SIX
    lines = [line | {"replies": [thinking]}, line]
    result = command("score", "-", stdin="".join(json.dumps(each) + "\n" for each in lines))
    assert (result.exit_code, len(lines_of(result))) == (0, 2)
    assert "1 of the first 2 replies" in result.stderr
    assert "Okay, the user wants me" in result.stderr
    assert result.stderr.count("\n") == 1
    marked = command("score", "-", stdin=json.dumps(line | {"replies": [f"{thinking}</think>{SIX}"]}))
    assert marked.stderr == ""
