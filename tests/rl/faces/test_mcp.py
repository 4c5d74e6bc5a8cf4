"""The Model Context Protocol with the official client: in this process, over standard input and output, over HTTP."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from scripts import ENVIRONMENTS, script, told

import waybench
from waybench.core import EpisodeRecord, UsageError, calls_in_reply, replay
from waybench.ext.train import TRAINING_KEY
from waybench.ext.train._session import IDLE, LARGEST_BODY, Session
from waybench.ext.train.mcp import AgentEpisodes, server
from waybench.results import read_logs
from waybench.results.results import rows

PATIENCE = 300
MAZE = {"environment": "maze/alicia", "level": 5}
TOOLS = ["environments", "options", "start", "look", "act", "finish"]


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return its result."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    *texts, rest = (block.text for block in result.content)
    said = {**dict(zip(["text"], texts, strict=False)), **json.loads(rest)}
    assert result.structured_content == said, "clients that read structured content get the same"
    return said


async def error_of(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that fails, and return the error's text."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


def records(out: Path) -> list[Any]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


async def played(client: Client, replies: list[str], **item: Any) -> list[Any]:
    """Play an episode with given replies; return the results of all calls."""
    results = [await call(client, "start", **item)]
    name = results[0]["episode"]
    for reply in replies:
        calls = calls_in_reply(reply).calls
        given = (
            {"action": {"name": calls[0].name, "arguments": dict(calls[0].arguments)}} if calls else {"reply": reply}
        )
        results.append(await call(client, "act", episode=name, **given))
    return [*results, await call(client, "finish", episode=name)]


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_the_same_replies_have_the_same_record(env: str, tmp_path: Path) -> None:
    expected = script(env, 2, {})
    level = waybench.load(env).items.smallest_level

    out = tmp_path / "records.jsonl"

    async def play() -> list[Any]:
        episodes = AgentEpisodes([env], out=out)
        async with Client(server(episodes)) as client:
            item = {"environment": env, "level": level, "index": 2, "key": TRAINING_KEY}
            found = await played(client, expected.replies, **item)
            assert len(episodes) == 0
            return found

    first, *turns, _ = asyncio.run(play())
    record = records(out)[0]
    assert record.pop("settings")["interface"] == "mcp"
    if expected.end == "None":  # the script ends before the episode: the player has left it
        record["end"] = record["error"] = None
    assert told(record) == json.loads(json.dumps(expected.record))
    assert first["text"] == "\n\n".join(message["text"] for message in expected.record["opening"])
    assert [turn["text"] for turn in turns] == [
        turn["message"].encode("utf-8", "backslashreplace").decode() for turn in expected.record["turns"]
    ]
    seen = set[str]().union(*turns)
    assert seen <= {"text", "done", "end", "metrics"}, "an agent sees what an evaluation shows, and no more"
    assert str(record["end"]) == expected.end
    assert first.keys() == {"episode", "item", "level", "text", "done", "counts"}


@pytest.mark.parametrize("env", ["maze/alicia", "search/guessnum", "hanoi/rods"])
def test_actions_are_calls_of_the_declared_tools(env: str, tmp_path: Path) -> None:
    options = {"interface": "tools"}
    expected = script(env, 1, options, hostile=False)

    out = tmp_path / "records.jsonl"

    async def play() -> list[Any]:
        async with Client(server(AgentEpisodes([env], out=out))) as client:
            item = {"environment": env, "index": 1, "key": TRAINING_KEY, "options": options}
            listed = (await call(client, "options", environment=env))["options"]
            assert "interface" in {option["name"] for option in listed}
            results = await played(client, expected.replies, **item)
            one = await call(client, "start", **item)
            wrong = await call(client, "act", episode=one["episode"], action={"name": "fly", "arguments": {}})
            assert wrong["text"] and not wrong["done"]
            return results

    first, *_ = asyncio.run(play())
    (record,) = records(out)
    assert record.pop("settings")["interface"] == "mcp"
    assert told(record) == json.loads(json.dumps(expected.record))
    assert all(action["name"] and action["arguments"]["type"] == "object" for action in first["actions"])
    assert record["options"]["wording"].startswith("tools:")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"key": "file:/etc/passwd"}, "cannot name files"),
    ({"options": {"wording": "file:/etc/passwd"}}, "cannot name files"),
    ({"options": {"wording": "tools:file:/etc/passwd"}}, "cannot name files"),
    ({"options": {"prefix": "record:/etc/passwd"}}, "cannot name files"),
    ({"environment": "graph/paths", "options": {"tokenizer": "/etc/passwd"}}, "cannot name files"),
    ({"options": {"__class__": 1}}, "unknown option"),
    ({"options": {"level": 5}}, "unknown option"),
    ({"options": {"protocol": ["sound"]}}, "protocol"),
    ({"environment": "x" * 10_000}, "unknown environment"),
]


def test_hostile_arguments_are_errors_and_nothing_is_read_or_run() -> None:
    async def errors() -> None:
        async with Client(server(AgentEpisodes(["maze/alicia", "graph/paths"]))) as client:
            for given, expected in WRONG:
                text = await error_of(client, "start", **{**MAZE, **given})
                assert expected in text and "root:" not in text and "Traceback" not in text, (given, text)
            name = (await call(client, "start", **MAZE))["episode"]
            for wrong, expected in [
                ({}, "one of them"),
                ({"reply": "x", "action": {"name": "x"}}, "one of them"),
                ({"action": {"name": "move", "arguments": {}}}, "takes replies"),
                ({"reply": "x" * (LARGEST_BODY + 1)}, "longer than"),
            ]:
                assert expected in await error_of(client, "act", episode=name, **wrong)
            for reply in ("", "\x00 <script>", "__import__('os')"):
                assert (await call(client, "act", episode=name, reply=reply))["text"]

    asyncio.run(errors())


def test_a_server_of_one_set_gives_away_no_items() -> None:
    episodes = AgentEpisodes(["maze/alicia"], key="mine", options={"protocol": "sound"})
    for given, message in (({"key": "other"}, "one set"), ({"options": {"protocol": "paper"}}, "fixed the option")):
        with pytest.raises(UsageError, match=message):
            episodes.start("maze/alicia", 5, 0, 1, "", **given)
    name = episodes.start("maze/alicia", 5, 0, 1, "")["episode"]
    assert episodes.finish(name).keys() == {"text", "done", "end"}
    assert "protocol" not in {option["name"] for option in episodes.options("maze/alicia")}


def test_a_file_that_cannot_be_written_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        AgentEpisodes(["maze/alicia"], out=tmp_path / "no" / "records.jsonl")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_keeps_the_record(tmp_path: Path, number: signal.Signals) -> None:
    """Some products end servers so; the client here keeps its end of the pipe open."""
    out = tmp_path / "records.jsonl"
    process = subprocess.Popen(command("maze", "--out", out), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin is not None and process.stdout is not None
        me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
        started = {"name": "start", "arguments": MAZE}
        for count, (method, params) in enumerate([("initialize", me), ("tools/call", started)]):
            sent = {"jsonrpc": "2.0", "id": count, "method": method, "params": params}
            process.stdin.write(json.dumps(sent) + "\n")
            process.stdin.flush()
            assert "result" in json.loads(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
    finally:
        process.kill()
        process.wait()
    (line,) = out.read_text(encoding="utf-8").splitlines()
    assert (json.loads(line)["player"], json.loads(line)["end"]) == ("agent/me", "turn_limit")
    assert out.stat().st_mode & 0o777 == 0o600


def test_hints_of_the_tools_say_what_they_change() -> None:
    async def hints() -> dict[str, tuple[bool, ...]]:
        async with Client(server(AgentEpisodes(["maze/alicia"]))) as client:
            tools = (await client.list_tools()).tools
        assert all(tool.title and not tool.annotations.open_world_hint for tool in tools)
        return {
            tool.name: (
                tool.annotations.read_only_hint,
                tool.annotations.destructive_hint,
                tool.annotations.idempotent_hint,
            )
            for tool in tools
        }

    reads, adds, ends = (True, False, True), (False, False, False), (False, True, True)
    assert asyncio.run(hints()) == dict(zip(TOOLS, (reads, reads, adds, reads, adds, ends), strict=True))


def test_rules_and_board_are_resources_and_a_picture_is_a_setting_of_the_record(tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"

    async def read(client: Client, episode: str, what: str) -> Any:
        (part,) = (await client.read_resource(f"waybench://episodes/{episode}/{what}")).contents
        return part

    async def play() -> None:
        async with Client(server(AgentEpisodes(["maze/alicia", "bandit/arms"], out=out))) as client:
            seen, unseen = [await call(client, "start", **MAZE, index=index) for index in (0, 1)]
            words = await call(client, "start", environment="bandit/arms")
            for started in (seen, unseen, words):
                part = await read(client, started["episode"], "rules")
                assert part.mime_type == "text/plain" and started["text"].startswith(part.text) and len(part.text) > 99
            board = await read(client, seen["episode"], "board")
            root = ElementTree.fromstring(board.text)
            assert (board.mime_type, root.tag) == ("image/svg+xml", "{http://www.w3.org/2000/svg}svg")
            with pytest.raises(MCPError, match="bandit/arms has no pictures: use `look`"):
                await read(client, words["episode"], "board")
            for episode, what, message in (
                ("nobody", "rules", "no episode 'nobody'"),
                (seen["episode"], "record", "Unknown resource"),
                ("..", "board", "Unknown resource"),
            ):
                with pytest.raises(MCPError, match=message):
                    await read(client, episode, what)
            for started in (seen, unseen, words):
                await call(client, "finish", episode=started["episode"])

    asyncio.run(play())
    assert [line["settings"].get("pictures") for line in records(out)] == [True, None, None]
    assert len({row.group for row in rows(read_logs(out)) if row.group.env == "maze/alicia"}) == 2


def test_the_prompt_asks_for_items() -> None:
    async def prompts() -> None:
        async with Client(server(AgentEpisodes(["maze/alicia"]))) as client:
            for given, expected in (
                ({}, "play item 0 of maze/alicia, and"),
                ({"level": "9", "first": "5", "count": "3"}, "play the items 5 to 7 of maze/alicia at level 9, and"),
            ):
                (message,) = (await client.get_prompt("play", {"environment": "maze/alicia", **given})).messages
                assert expected in message.content.text
            for wrong, expected in (
                ({"environment": "maze/alica"}, "did you mean 'maze/alicia'"),
                ({"level": "hard"}, "level='hard': give a whole number"),
                ({"count": "0"}, "give 1 or more"),
            ):
                with pytest.raises(MCPError, match=expected):
                    await client.get_prompt("play", {"environment": "maze/alicia", **wrong})

    asyncio.run(prompts())


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    async def errors() -> list[str]:
        async with Client(server(AgentEpisodes(["maze/alicia"], most=2))) as client:
            found = [
                await error_of(client, "start", environment="maze/alica"),
                await error_of(client, "start", environment="search/dfs"),
                await error_of(client, "start", environment="maze/alicia", level=4),
                await error_of(client, "start", environment="maze/alicia", index=-1),
                await error_of(client, "act", episode="nobody's", reply="x"),
                await error_of(client, "act", episode="nobody's"),
            ]
            name = (await call(client, "start", **MAZE))["episode"]
            await call(client, "start", **MAZE)
            found.append(await error_of(client, "start", **MAZE))
            for _ in range(3):
                turn = await call(client, "act", episode=name, reply="no answer")
            assert turn["end"] == "turn_limit"
            found.append(await error_of(client, "act", episode=name, reply="once more"))
            assert (await call(client, "look", episode=name))["done"] is True
            return found

    expected = [
        "did you mean 'maze/alicia'",
        "unknown environment 'search/dfs'",
        "from 5 to 1001",
        "index=-1",
        "there is no episode",
        "there is no episode",
        "2 episodes are open, the maximum",
        "the episode is over",
    ]
    found = asyncio.run(errors())
    assert len(found) == len(expected)
    assert [want for want, text in zip(expected, found, strict=True) if want not in text] == []


def test_options_of_play_are_the_server_s(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'colour'"):
        AgentEpisodes(["maze/alicia"], options={"colour": "red"})
    episodes = AgentEpisodes(["maze/alicia"], options={"wording": "ascii"})
    assert "The maze is a drawing" in episodes.start("maze/alicia", 5, 0, 1, "")["text"]


def test_episodes_that_nobody_uses_are_freed_and_recorded(tmp_path: Path) -> None:
    now = [0.0]
    out = tmp_path / "records.jsonl"
    episodes = AgentEpisodes(["maze/alicia"], most=2, out=out, clock=lambda: now[0])
    old = episodes.start("maze/alicia", 5, 0, 1, "a\nb\x1b")["episode"]
    now[0] = IDLE / 2
    kept = episodes.start("maze/alicia", 5, 1, 1, "")["episode"]
    now[0] = IDLE + 1
    episodes.prompt_of(kept)
    assert len(episodes) == 1
    with pytest.raises(UsageError, match="unused for too long"):
        episodes.prompt_of(old)
    episodes.start("maze/alicia", 5, 2, 1, "")
    episodes.end_all_episodes()
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(line["end"], line["player"]) for line in lines] == [
        ("turn_limit", "agent/a b"),
        ("turn_limit", "agent/unnamed"),
        ("turn_limit", "agent/unnamed"),
    ]
    assert lines[0]["settings"] == {"interface": "mcp", "client": "a b"}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "waybench", "serve", "mcp", *map(str, arguments)]


def stdio(*arguments: object) -> Any:
    program, *rest = command(*arguments)
    return stdio_client(StdioServerParameters(command=program, args=rest, env=dict(os.environ)))


def test_an_agent_product_plays_over_standard_input_and_output(tmp_path: Path) -> None:
    """The record is written when the episode ends, replays, and names the client."""
    out = tmp_path / "records.jsonl"
    expected = script("maze/alicia", 0, {}, hostile=False)

    async def play() -> None:
        async with Client(stdio("maze", "--out", out, "--key", TRAINING_KEY)) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == TOOLS
            listed = (await call(client, "environments"))["environments"]
            assert [each["environment"] for each in listed] == ["maze/alicia"]
            await played(client, expected.replies, environment="maze/alicia")
            await call(client, "start", **MAZE, index=1)  # never finished: the client goes

    asyncio.run(play())
    lines = records(out)
    assert [line["end"] for line in lines] == [expected.end, "turn_limit"]
    settings = lines[0].pop("settings")
    assert (settings["interface"], lines[0]["player"]) == ("mcp", f"agent/{settings['client']}")
    assert told(lines[0]) == json.loads(json.dumps(expected.record))
    replay(waybench.load("maze/alicia"), EpisodeRecord.from_json(lines[0]))


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(command("--http", port, *arguments), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert f"http://127.0.0.1:{port}/mcp" in process.stdout.readline()
        patience = time.monotonic() + PATIENCE
        while time.monotonic() < patience and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), PATIENCE).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def test_http_asks_for_the_token_and_keeps_clients_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "a secret")
    with serving("maze", "--token", "env:TOKEN", "--out", tmp_path / "x.jsonl") as (url, process):

        async def two() -> None:
            async with connected(url, "a secret") as one, connected(url, "a secret") as other:
                first = await call(one, "start", **MAZE)
                second = await call(other, "start", **MAZE, index=1)
                await call(one, "act", episode=first["episode"], reply="x")
                text = (await call(other, "look", episode=second["episode"]))["messages"]
                assert len(text) == 1
                # A client that vanishes leaves its episode to others that know its name, and the server goes on.
            async with connected(url, "a secret") as third:
                assert (await call(third, "look", episode=first["episode"]))["done"] is False

        asyncio.run(two())
        for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "a secret"}):
            answer = httpx2.post(url, headers=headers, json={})
            assert answer.status_code == 401
            assert "a secret" not in answer.text
        headers = {"Authorization": "Bearer a secret", "Accept": "application/json, text/event-stream"}
        strange = httpx2.post(url, headers={**headers, "Host": "example.com"}, json={})
        assert strange.status_code in (403, 421)
        large = httpx2.post(url, headers=headers, content=b" " * (LARGEST_BODY + 1))
        assert large.status_code == 413
        assert process.poll() is None
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2, "what is not finished is recorded when the server stops"


def test_a_new_token_is_printed() -> None:
    with serving("maze") as (url, process):
        assert process.stdout is not None
        name, _, token = process.stdout.readline().strip().partition(": ")
        assert name == "token"

        async def listed() -> int:
            async with connected(url, token) as client:
                return len((await client.list_tools()).tools)

        assert asyncio.run(listed()) == 6


def secrets_of(session: Session) -> list[str]:
    """Return texts of the item's record that no player is shown: the instance, its hash and the solution."""
    record = session.record()
    parts = [record.instance, *record.proof.values()]
    texts = [json.dumps(part) for part in parts] + [json.dumps(part, separators=(",", ":")) for part in parts]
    return [record.instance_hash, *(text for text in texts if len(text) > 24)]


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_nothing_gives_an_agent_the_instance_or_the_solution(env: str, tmp_path: Path) -> None:
    """What tools and resources say of an episode that is left at once, played badly and started again: a public set."""
    public = waybench.load(env).items.public_key
    session = Session(env, key=public)
    session.start(0)
    hidden = secrets_of(session)
    shown = session.start(0).text
    level = waybench.load(env).items.smallest_level

    async def outputs() -> list[str]:
        texts: list[str] = []

        async def take(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            texts.append("\n".join(block.text for block in result.content))
            if result.is_error:
                return None
            texts.append(json.dumps(result.structured_content))
            assert result.structured_content.keys() <= declared[tool], tool
            return json.loads(result.content[-1].text)

        async def read(episode: str) -> None:
            for template in templates:
                with suppress(MCPError):  # an environment without pictures
                    address = template.uri_template.replace("{episode}", episode)
                    texts.extend(part.text for part in (await client.read_resource(address)).contents)

        async with Client(server(AgentEpisodes([env], out=tmp_path / "x.jsonl"))) as client:
            declared = {
                tool.name: tool.output_schema["properties"].keys() for tool in (await client.list_tools()).tools
            }
            assert [*declared] == TOOLS, "a new tool has to be played here"
            templates = (await client.list_resource_templates()).resource_templates
            assert len(templates) == 2 and not (await client.list_resources()).resources
            await take("environments")
            await take("options", environment=env)
            for replies in ([], ["no answer"], ["no answer"] * 200):
                started = await take("start", environment=env, level=level)
                await read(started["episode"])
                for reply in replies:
                    turn = await take("act", episode=started["episode"], reply=reply)
                    await take("look", episode=started["episode"])
                    if turn["done"]:
                        break
                await read(started["episode"])
                await take("finish", episode=started["episode"])
                await take("finish", episode=started["episode"])
        return texts

    texts = asyncio.run(outputs())
    leaks = [text for text in hidden if text not in shown and any(text in output for output in texts)]
    assert leaks == []
    assert not any(f'"{name}"' in output for name in ("proof", "instance", "instance_hash") for output in texts)


def test_an_item_that_was_left_counts_as_failed_and_a_later_start_of_it_does_not_count(tmp_path: Path) -> None:
    """The agent leaves hard items, looks at them with other options, plays two at once, and starts the server again."""
    out = tmp_path / "records.jsonl"
    solver = script("maze/alicia", 0, {}, hostile=False)

    def solve(episodes: AgentEpisodes, **item: Any) -> bool:
        started = episodes.start("maze/alicia", 5, 0, 1, "me", key=TRAINING_KEY, **item)
        for reply in solver.replies:
            episodes.act(started["episode"], reply)
        episodes.finish(started["episode"])
        return bool(started["counts"])

    episodes = AgentEpisodes(["maze/alicia"], out=out)
    left = episodes.start("maze/alicia", 5, 0, 1, "me", key=TRAINING_KEY)
    assert left["counts"] and not solve(episodes), "another one is open"
    episodes.finish(left["episode"])
    assert not solve(episodes) and not solve(episodes, options={"protocol": "sound"})
    assert not solve(AgentEpisodes(["maze/alicia"], out=out, attempts=9)), "the server was started again"
    assert [(line["end"], line["error"]) for line in records(out)] == [
        ("turn_limit", "abandoned: the player left before the end")
    ]
    (episode,) = read_logs(out)
    (row,) = rows([episode])
    assert (row.exclusion_reason, row.metrics.get("solved", 0)) == ("", 0)
    for number in (1, 2, 3):
        again = AgentEpisodes(["maze/alicia"], out=tmp_path / "two.jsonl", attempts=2)
        assert solve(again) == (number < 3), "attempts that the server allows count"


def test_sigterm_writes_the_open_episodes_of_a_server_with_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "a secret")
    out = tmp_path / "x.jsonl"
    with serving("maze", "--token", "env:TOKEN", "--out", out) as (url, process):

        async def three() -> None:
            async with connected(url, "a secret") as client:
                for index in range(3):
                    await call(client, "start", **MAZE, index=index)
                process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(process.wait, PATIENCE)

        with suppress(Exception):  # the connection breaks
            asyncio.run(three())
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert [line["end"] for line in records(out)] == ["turn_limit"] * 3
