import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.cli.support import Command, lines_of, one_line_error, plan
from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL
from tests.eval.scripted_author import LENGTH, OBJECTIVES, author
from waybench.envs.tilemap._items import MapFile


def test_lines_are_the_sources_items(command: Command) -> None:
    maze = waybench.load("maze/alicia")
    lines = lines_of(
        command("generate", "maze", "--level", 7, "--key", "k", "--count", 3, "--start", 1, "-T", "loops=0")
    )
    items = [maze.source("k", 7, loops=0.0).item(index) for index in (1, 2, 3)]
    label = "private-" + hashlib.sha256(b"waybench key k").hexdigest()[:8]  # the lines do not give the key away
    assert [*lines[0]] == ["env", "version", "id", "level", "key", "index", "instance", "hash", "proof"]
    assert [line["instance"] for line in lines] == [item.instance.to_json() for item in items]
    assert [line["hash"] for line in lines] == [item.instance.hash for item in items]
    assert [(line["id"], line["index"], line["level"], line["key"]) for line in lines] == [
        ("702", 1, 7, label),
        ("703", 2, 7, label),
        ("704", 3, 7, label),
    ]
    assert all((line["env"], line["version"]) == (maze.id, maze.version) for line in lines)
    assert all(line["proof"]["minimum"] == sum(n for _, n in line["proof"]["solution"]) for line in lines)


def test_defaults_are_the_public_set(command: Command) -> None:
    lines = lines_of(command("generate", "maze/alicia"))
    assert [line["id"] for line in lines] == [f"5{number:02d}" for number in range(1, 11)]
    assert {line["key"] for line in lines} == {waybench.load("maze/alicia").items.public_key}


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


def test_one_flag_carries_the_options(command: Command) -> None:
    chosen = ("generate", "maze", "--level", 9, "--start", 12, "--count", 2)  # beyond the ten mazes that `run` plays
    by_t = command(*chosen, "-T", "algorithm=wilson", "-T", "wording=ascii", "--prompts").stdout
    assert by_t == command(*chosen, "-S", "algorithm=wilson", "-O", "wording=ascii", "--prompts").stdout
    assert by_t != command(*chosen, "--prompts").stdout
    shown = command("generate", "--help").stdout
    assert "-T" in shown
    assert "-S" not in shown
    assert "-O" not in shown


def test_a_level_and_a_parameter_of_a_task_that_climbs(command: Command) -> None:
    chosen = command("generate", "alicia", "--level", 9, "-T", "limit=2", "--count", 2).stdout.splitlines()
    assert chosen == command("generate", "alicia", "--level", 9, "--count", 2).stdout.splitlines()
    assert [json.loads(line)["level"] for line in chosen] == [9, 9]


@pytest.mark.parametrize(
    ("args", "told", "written"),
    [
        (["maze", "--level", 5, "--count", 400], "level 5 has only 20 different items: wrote 20 of 400", 20),
        (["maze", "--count", 1, "--start", 20], "level 5 has only 20 different items: wrote 1 of 1", 1),
        (
            ["maze", "--level", 7, "--count", 2, "--start", 1475],
            "level 7 has only 1,476 different items: wrote 2 of 2",
            2,
        ),
        (["hanoi", "--count", 2], "level 3 has only 1 different item: wrote 1 of 2", 1),
    ],
)
def test_a_level_with_fewer_items_than_asked_for_gives_each_once(
    command: Command, args: list[object], told: str, written: int
) -> None:
    result = command("generate", *args)
    assert result.exit_code == 0
    assert result.stderr == f"Warning: {told}, each once\n"
    hashes = [line["hash"] for line in lines_of(result)]
    assert len(hashes) == len(set(hashes)) == written


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
        (["maze", "--level", 4], "is from 5 to 1001"),
        (["maze", "--level", -5], "is from 5 to 1001"),
        (["maze", "--level", 10**30 + 1], "is from 5 to 1001"),
        (["maze", "--level", "five"], "not a whole number"),
        (["maze", "--count", -1], "--count"),
        (["maze", "--start", -1], "--start"),
        (["maze", "-T", "loops"], "key=value"),
        (["maze", "-T", "=1"], "key=value"),
        (["maze", "-T", "loops=2"], "from 0 to 1"),
        (["maze", "-T", "loops=nan"], "give a number"),
        (["maze", "-T", "levle=7"], "unknown parameter of alicia 'levle'"),
        (["maze", "-S", "wording=ascii"], "choose from algorithm, aspect, loops, sides"),
        (["maze", "-T", "algorithm=wilsn"], "did you mean 'wilson'?"),
        (["maze", "--out", "/"], "cannot write '/'"),
        (["maze", "--out", "/no/such/folder/file"], "cannot write"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("generate", *args))


@pytest.fixture
def of_model(monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    return ("--model", MODEL, "-T", f"objectives={len(OBJECTIVES)}")


def test_a_model_s_worlds_can_be_scored_and_read(
    command: Command, tmp_path: Path, of_model: tuple[object, ...]
) -> None:
    path = tmp_path / "worlds.jsonl"
    wrong = {1: {"map": [Answer("no")]}}
    with model_server(author(lambda world: wrong.get(world, {}))) as server:
        result = command(
            *("generate", "tilemap", *of_model, "--model-base-url", server.url, "--count", 3, "--out", path),
            *("--temperature", 0.5, "--max-tokens", 4000, "-M", "responses_api=false"),
        )
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert sorted(line["index"] for line in lines) == [0, 1, 2]
    assert sorted(line["asked"] for line in lines) == [5, 5, 6]
    environment = waybench.load("tilemap/gtb")
    for line in lines:
        assert (line["env"], line["level"], line["model"]) == ("tilemap/gtb", 1, MODEL)
        case = environment.items.decode(line["instance"])
        assert (case.hash, dict(environment.items.prove(case))) == (line["hash"], line["proof"])
        assert line["proof"]["unreachable"] == [] and line["proof"]["minimum"] == case.path_length == LENGTH
        line["replies"] = ['{"action": []}'] * 3
    scored = lines_of(command("score", "-", stdin="\n".join(map(json.dumps, lines))))
    assert [line["end"] for line in scored] == ["failed"] * 3
    read = MapFile(path, "mine")
    assert [item.instance.to_json() for item in read.head(3)] == [line["instance"] for line in lines]


@pytest.mark.slow
def test_worlds_that_cannot_be_had_are_named_and_the_others_written(
    command: Command, of_model: tuple[object, ...]
) -> None:
    wrong = {1: {"tiles": [Answer("{}")] * 9}, 2: {"map": [Answer('{"map": []}')] * 9}}
    with model_server(author(lambda world: wrong.get(world, {}))) as server:
        result = command(
            *("generate", "tilemap/gtb", *of_model, "--model-base-url", server.url, "--count", 4, "-T", "attempts=2"),
            *("--max-connections", 1),  # so that the server's numbers are ours
        )
    assert result.exit_code == 1
    assert [line["index"] for line in lines_of(result)] == [0, 3]
    assert result.stderr.splitlines() == [
        '1: no usable tiles in 2 requests; the last problem: tiles: The reply has no JSON object with the key "tiles".',
        "2: no usable map in 2 requests; the last problem: map: The map has 0 rows: give 7.",
    ]


def test_the_same_world_again_is_none(command: Command, of_model: tuple[object, ...]) -> None:
    with model_server(lambda messages, before: author({})(messages, 0)) as server:
        result = command(
            *("generate", "tilemap", *of_model, "--model-base-url", server.url, "--count", 2, "--max-connections", 1)
        )
    assert (result.exit_code, len(lines_of(result))) == (1, 1)
    assert result.stderr == "1: it is identical to number 0: try another temperature or theme\n"


def test_theme_and_level(command: Command, of_model: tuple[object, ...]) -> None:
    with model_server(author({})) as server:
        arguments = ("--model-base-url", server.url, "--level", 3, "-T", "theme=salt  mines", "-T", "attempts=1")
        result = command("generate", "tilemap/stepwise", *of_model, *arguments, "--count", 1)
    assert result.exit_code == 1
    assert result.stderr == "0: no usable map in 1 request; the last problem: map: The map has 7 rows: give 13.\n"
    assert "It is about: salt mines." in next(iter(server.asked))


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(status=401)])
def test_a_provider_s_errors_are_one_line(command: Command, of_model: tuple[object, ...], answer: Answer) -> None:
    with model_server(lambda messages, before: answer) as server:
        result = command(
            *("generate", "tilemap", *of_model, "--model-base-url", server.url, "--count", 1, "--max-retries", 0)
        )
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"0: {MODEL}: ") and f"scripted {answer.status}" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["maze", "--model", MODEL], "models cannot write instances of maze/alicia: remove --model, or choose from"),
        (["tilemap", "--model", "waybench/oracle"], "waybench/oracle: embedded players cannot write worlds"),
        (["tilemap", "--model", "gpt"], "model 'gpt': "),
        (["tilemap", "--model", MODEL, "--key", "k"], "--key and --start have no effect on items that a model writes"),
        (["tilemap", "--model", MODEL, "--start", 1], "--key and --start have no effect on items that a model writes"),
        (["tilemap", "--model", MODEL, "--level", 0], "level 0: a model writes worlds of levels 1 to 9"),
        (["tilemap", "--model", MODEL, "--level", 10], "level 10: a model writes worlds of levels 1 to 9"),
        (["tilemap", "--model", MODEL, "-T", "objectives=0"], "objectives=0 is out of range"),
        (["tilemap", "--model", MODEL, "-T", "biome=wood"], "choose from attempts, objectives, theme"),
        (["tilemap", "--model", MODEL, "-T", f"theme={'x' * 201}"], "the theme has 201 characters"),
        (["tilemap", "--model", MODEL, "-M", "x"], "key=value"),
        (["tilemap", "--model", MODEL, "--temperature", -1], "--temperature"),
        (["tilemap", "--temperature", 1], "add --model"),
        (["maze", "-M", "x=1"], "add --model"),
    ],
)
def test_bad_input_for_a_model(
    command: Command, of_model: tuple[object, ...], args: list[object], expected: str
) -> None:
    assert expected in one_line_error(command("generate", *args))


def test_what_cannot_be_written_is_known_before_anything_is_asked(
    command: Command, of_model: tuple[object, ...]
) -> None:
    with model_server(author({})) as server:
        arguments = ("--model-base-url", server.url, "--out", "/no/such/folder/file")
        assert "cannot write" in one_line_error(command("generate", "tilemap", *of_model, *arguments))
    assert not server.asked


def test_chats_with_tools_have_calls_and_results(command: Command) -> None:
    def line(*more: str) -> dict[str, Any]:
        return lines_of(command("generate", "search/coin", "--count", 1, "-T", "interface=tools", *more))[0]

    solved, prompt = line("--solutions", "-T", "protocol=sound"), line("--prompts")
    for found in (solved, prompt):
        (tool,) = found["tools"]
        assert tool["function"]["name"] == "guess" and tool["function"]["parameters"]["required"] == ["number"]
    assert [message["role"] for message in prompt["messages"]] == ["system", "user"]
    chat = solved["messages"]
    assert [message["role"] for message in chat[2:]] == ["assistant", "tool"] * ((len(chat) - 3) // 2) + ["assistant"]
    for number, message in enumerate(chat[2:], start=2):
        if message["role"] == "assistant":
            (call,) = message["tool_calls"]
            assert json.loads(call["function"]["arguments"]).keys() == {"number"} and message["content"] == ""
        else:
            assert message["tool_call_id"] == chat[number - 1]["tool_calls"][0]["id"]


def test_limit_is_count(command: Command) -> None:
    assert command("generate", "alicia", "--limit", 2).stdout == command("generate", "alicia", "--count", 2).stdout
