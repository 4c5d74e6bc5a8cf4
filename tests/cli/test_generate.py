import json
from pathlib import Path

import pytest

import waybench
from tests.cli.support import Command, lines_of, one_line_error, plan


def test_lines_are_the_sources_items(command: Command) -> None:
    maze = waybench.load("maze/alicia")
    lines = lines_of(
        command("generate", "maze", "--level", 7, "--key", "k", "--count", 3, "--start", 1, "-S", "loops=0")
    )
    items = [maze.source("k", 7, loops=0.0).item(index) for index in (1, 2, 3)]
    assert [*lines[0]] == ["env", "version", "id", "level", "key", "index", "instance", "hash", "proof"]
    assert [line["instance"] for line in lines] == [item.instance.to_json() for item in items]
    assert [line["hash"] for line in lines] == [item.instance.hash for item in items]
    assert [(line["id"], line["index"], line["level"], line["key"]) for line in lines] == [
        ("702", 1, 7, "k"),
        ("703", 2, 7, "k"),
        ("704", 3, 7, "k"),
    ]
    assert all((line["env"], line["version"]) == (maze.id, maze.version) for line in lines)
    assert all(line["proof"]["minimum"] == sum(n for _, n in line["proof"]["solution"]) for line in lines)


def test_defaults_are_the_public_set(command: Command) -> None:
    lines = lines_of(command("generate", "maze/alicia"))
    assert [line["id"] for line in lines] == [f"5{number:02d}" for number in range(1, 11)]
    assert {line["key"] for line in lines} == {waybench.load("maze/alicia").public_key}


def test_lines_with_replies_can_be_scored(command: Command) -> None:
    lines = lines_of(command("generate", "maze", "--level", 9, "--count", 2))
    for line in lines:
        line["replies"] = [plan(*line["proof"]["solution"])]
    scored = lines_of(command("score", "-", stdin="\n".join(map(json.dumps, lines))))
    assert [(line["id"], line["end"], line["metrics"]["score"]) for line in scored] == [
        ("901", "solved", 100.0),
        ("902", "solved", 100.0),
    ]


def test_out(command: Command, tmp_path: Path) -> None:
    result = command("generate", "maze", "--count", 2, "--out", tmp_path / "items.jsonl")
    assert result.stdout == ""
    assert (tmp_path / "items.jsonl").read_text() == command("generate", "maze", "--count", 2).stdout


def test_none_are_no_lines(command: Command) -> None:
    result = command("generate", "maze", "--count", 0)
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("args", "space"),
    [
        (["--level", 5, "--count", 400], 20),
        (["--count", 1, "--start", 20], 20),
        (["--level", 7, "--count", 2, "--start", 1475], 1476),
    ],
)
def test_a_level_with_fewer_items_than_asked_for_is_told(command: Command, args: list[object], space: int) -> None:
    result = command("generate", "maze", *args)
    assert result.exit_code == 0
    level = 5 if space == 20 else 7
    assert result.stderr == f"Warning: level {level} holds only {space} different items; beyond these they repeat\n"
    assert len({line["hash"] for line in lines_of(result)}) <= space


@pytest.mark.parametrize("args", [["--count", 20], ["--level", 7, "--count", 1476], ["--level", 9, "--count", 30]])
def test_a_level_with_enough_items_is_not_talked_about(command: Command, args: list[object]) -> None:
    result = command("generate", "maze", *args)
    assert result.stderr == ""
    assert len({line["hash"] for line in lines_of(result)}) == args[-1]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["mazes"], "did you mean 'maze'?"),
        (["maze@2"], "use maze/alicia@1"),
        (["maze", "--level", 6], "odd and from 5"),
        (["maze", "--level", -5], "odd and from 5"),
        (["maze", "--level", 10**30 + 1], "odd and from 5"),
        (["maze", "--level", "five"], "not a valid integer"),
        (["maze", "--count", -1], "--count"),
        (["maze", "--start", -1], "--start"),
        (["maze", "-S", "loops"], "option=value"),
        (["maze", "-S", "=1"], "option=value"),
        (["maze", "-S", "loops=2"], "from 0 to 1"),
        (["maze", "-S", "loops=nan"], "give a number"),
        (["maze", "-S", "level=7"], "choose from algorithm, loops, sides"),
        (["maze", "-S", "key=7"], "choose from algorithm, loops, sides"),
        (["maze", "-S", "algorithm=wilsn"], "did you mean 'wilson'?"),
        (["maze", "--out", "/"], "cannot write '/'"),
        (["maze", "--out", "/no/such/folder/file"], "cannot write"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("generate", *args))
