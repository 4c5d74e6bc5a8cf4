"""The server for agents, through a real client of the SDK."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE, missing

try:
    import anyio
    import httpx2
    import mcp_types
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client
except ModuleNotFoundError as error:
    missing(f"{error.name} is not installed: it comes with the extra [mcp]", allow_module_level=True)

from tests.rl.faces.scripts import ENVIRONMENTS, script, told
from waybench.analysis.logs import read_records
from waybench.cli._serve import _records
from waybench.core import Episode, UsageError, is_tool_name, key_label, policy, read_calls
from waybench.envs import registry
from waybench.rl import mcp as face

ME = mcp_types.Implementation(name="Some Agent/2", version="2.0")
PLAYER = "community/Some-Agent-2"
FEW = ["hanoi/rods", "maze/alicia", "search/guessnum"]
COMMAND = ["-m", "waybench", "serve", "mcp"]


def connected(*args: str, mode: str = "auto") -> Client:
    """Return a client of a server that it starts, over standard input and output."""
    server = StdioServerParameters(command=sys.executable, args=[*COMMAND, *args], env=dict(os.environ))
    return Client(server, client_info=ME, mode=mode)


async def called(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Call a tool, and return the environment's text and the rest."""
    result = await client.call_tool(tool, arguments)
    text, data = (block.text for block in result.content if isinstance(block, mcp_types.TextContent))
    assert not result.is_error
    return text, json.loads(data)


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error and len(result.content) == 1
    text = result.content[0]
    assert isinstance(text, mcp_types.TextContent) and "\n" not in text.text and "Traceback" not in text.text
    return text.text


async def play(client: Client, env: str, index: int, options: dict[str, Any]) -> dict[str, Any]:
    """Play the script of an environment's item, and return the record that `finish` gives."""
    expected = script(env, index, options, key=registry.load(env).public_key)
    prompt, started = await called(client, "start", environment=env, index=index, options=options)
    assert prompt == "\n\n".join(message["text"] for message in expected.record["opening"])
    for reply, turn in zip(expected.replies, expected.record["turns"], strict=True):
        call = read_calls(reply)
        given: dict[str, Any] = {"reply": reply}
        if call.calls:
            given = {"action": {"name": call.calls[0].name, "arguments": dict(call.calls[0].arguments)}}
        text, state = await called(client, "act", session=started["session"], **given)
        assert text == turn["message"].encode("utf-8", "backslashreplace").decode()
    assert state["done"] == (expected.end != "None") and str(state.get("end")) == expected.end
    assert (await called(client, "look", session=started["session"]))[0] == text
    _, finished = await called(client, "finish", session=started["session"])
    assert told_of(finished["record"]) == json.loads(json.dumps(expected.record))
    return finished


def told_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a file as a record, without what says who played."""
    return {name: value for name, value in told(line).items() if name not in ("settings", "source", "client")}


async def play_all(environments: list[str], folder: Path) -> None:
    async with connected("--out", str(folder)) as client:
        _, listed = await called(client, "list_environments")
        assert [each["id"] for each in listed["environments"]] == ENVIRONMENTS
        for env in environments:
            finished = await play(client, env, 2, {})
            assert finished["metrics"] and finished["turns"] == len(finished["record"]["turns"])


def check_files(environments: list[str], folder: Path) -> None:
    """Check that reports read the records, and that each is the one of an episode in this process."""
    logged = list(read_records([folder], lambda problem: pytest.fail(str(problem))))
    assert [each.record.env for each in logged] == environments
    assert {each.model for each in logged} == {PLAYER}
    for each in logged:
        expected = script(each.record.env, 2, {}, key=registry.load(each.record.env).public_key)
        assert told(each.record.to_json()) == expected.record
    lines = [json.loads(line) for file in folder.iterdir() for line in file.read_text("ascii").splitlines()]
    assert all(
        line["source"] == "community" and line["client"] == ME.model_dump(include={"name", "version"}) for line in lines
    )


@pytest.mark.slow
def test_the_same_replies_have_the_same_record(tmp_path: Path) -> None:
    anyio.run(play_all, ENVIRONMENTS, tmp_path)
    check_files(ENVIRONMENTS, tmp_path)


def test_some_environments_have_the_same_record(tmp_path: Path) -> None:
    anyio.run(play_all, FEW, tmp_path)
    check_files(FEW, tmp_path)


def test_actions_are_calls_of_the_declared_tools() -> None:
    """In this process, by the handshake that other versions of the protocol have."""

    async def run() -> None:
        async with Client(face.server(face.Games()), client_info=ME, mode="legacy") as client:
            for env in ("maze/alicia", "search/guessnum"):
                finished = await play(client, env, 1, {"interface": "tools"})
                record = finished["record"]
                assert is_tool_name(record["options"]["wording"]) and record["player"] == PLAYER
            _, started = await called(client, "start", environment="maze/alicia", options={"interface": "tools"})
            assert started["actions"][0]["arguments"]["properties"]
            text, _ = await called(client, "act", session=started["session"], action={"name": "fly", "arguments": {}})
            assert "There is no tool" in text

    anyio.run(run)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("start", {}, "environment is missing"),
    ("start", {"environment": 3}, "must be a text"),
    ("start", {"environment": "maze/alice"}, "did you mean 'maze/alicia'"),
    ("start", {"environment": "maze/alicia", "level": 8}, "odd"),
    ("start", {"environment": "maze/alicia", "level": True}, "whole number"),
    ("start", {"environment": "maze/alicia", "index": -1}, "index"),
    ("start", {"environment": "maze/alicia", "index": 10**30}, "too large"),
    ("start", {"environment": "maze/alicia", "key": "file:/etc/passwd"}, "not where it is"),
    ("start", {"environment": "maze/alicia", "options": {"wording": "file:/etc/passwd"}}, "cannot name files"),
    ("start", {"environment": "maze/alicia", "options": {"wording": "tools:file:/etc/passwd"}}, "cannot name files"),
    ("start", {"environment": "maze/alicia", "options": {"__class__": 1}}, "unknown option"),
    ("start", {"environment": "maze/alicia", "options": {"protocol": ["x"]}}, "protocol"),
    ("start", {"environment": "maze/alicia", "levle": 5}, "did you mean 'level'"),
    ("act", {"session": "x", "reply": "up"}, "no such session"),
    ("act", {"session": "OPEN"}, "one of them"),
    ("act", {"session": "OPEN", "reply": "up", "action": {}}, "one of them"),
    ("act", {"session": "OPEN", "reply": "x" * 1_100_000}, "longer than"),
    ("act", {"session": "OPEN", "action": {"name": "move"}}, "takes a reply as text"),
    ("finish", {"session": []}, "must be a text"),
    ("__init__", {}, "unknown tool"),
]


def test_hostile_arguments_are_one_clear_error() -> None:
    async def run() -> None:
        async with Client(face.server(face.Games()), client_info=ME) as client:
            _, started = await called(client, "start", environment="maze/alicia")
            for tool, arguments, message in WRONG:
                given = (
                    {**arguments, "session": started["session"]} if arguments.get("session") == "OPEN" else arguments
                )
                assert message in await refused(client, tool, given), (tool, arguments)
            for reply in ("", "\x00 <script>", "__import__('os')", '{"calls":[' + "[" * 50_000):
                _, started = await called(client, "start", environment="maze/alicia")
                text, _ = await called(client, "act", session=started["session"], reply=reply)
                assert "could not follow" in text

    anyio.run(run)


def test_a_server_of_one_set_keeps_its_items_to_itself() -> None:
    async def run() -> None:
        written: list[Any] = []
        games = face.Games(["maze/alicia"], key="mine", options={"protocol": "sound"}, write=written.append)
        async with Client(face.server(games), client_info=ME) as client:
            assert "maze/alicia" in await refused(client, "start", {"environment": "hanoi/rods"})
            assert "one set" in await refused(client, "start", {"environment": "maze/alicia", "key": "other"})
            options = {"protocol": "paper"}
            assert "fixed" in await refused(client, "start", {"environment": "maze/alicia", "options": options})
            _, started = await called(client, "start", environment="maze/alicia")
            _, finished = await called(client, "finish", session=started["session"])
        assert finished["end"] == "unfinished" and "record" not in finished
        (line,) = written
        assert (line["end"], line["item"]["key"]) == (None, key_label("mine"))
        assert line["options"]["protocol"] == "sound"

    anyio.run(run)
    with pytest.raises(UsageError, match="unknown option"):
        face.Games(["maze/alicia"], options={"disks": 3})


def test_sessions_are_separate_limited_and_freed_when_idle() -> None:
    now = 0.0
    written: list[Any] = []
    games = face.Games(sessions=2, idle=100, write=written.append, clock=lambda: now)
    me = face.Client("me")
    first, second = (games.start("maze/alicia", me, index=index).data for index in (0, 0))
    assert (first["attempt"], second["attempt"]) == (1, 2) and first["session"] != second["session"]
    games.act(str(first["session"]), reply="nonsense")
    assert "could not follow" not in games.look(str(second["session"])).text
    with pytest.raises(UsageError, match="2 sessions are open"):
        games.start("maze/alicia", me)
    now = 99.0
    games.look(str(second["session"]))
    now = 101.0
    games.free_idle()
    assert [len(line["turns"]) for line in written] == [1]
    with pytest.raises(UsageError, match="no such session"):
        games.look(str(first["session"]))
    assert games.start("maze/alicia", me).data["attempt"] == 3
    games.look(str(second["session"]))
    games.close()
    assert [line["attempt"] for line in sorted(written, key=lambda line: line["attempt"])] == [1, 2, 3]


def test_an_ended_episode_is_written_once() -> None:
    written: list[Any] = []
    games = face.Games(write=written.append)
    env = registry.load("hanoi/rods")
    item = env.source().item(0)
    episode: Episode[Any, Any, Any] = Episode(env, item, player="community/me")
    started = games.start("hanoi/rods", face.Client("me")).data
    while not episode.done:
        reply = policy("oracle").reply(episode)
        episode.step(reply)
        state = games.act(str(started["session"]), reply=reply).data
    assert state == {"done": True, "end": "solved"} and len(written) == 1
    with pytest.raises(UsageError, match="over"):
        games.act(str(started["session"]), reply="x")
    games.finish(str(started["session"]))
    games.close()
    assert len(written) == 1 and told_of(written[0]) == told(episode.record().to_json())


@contextmanager
def serving(*args: str) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """Start the command over HTTP, and end it; yield the address, the token and the process."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "0", *args],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("serve: ").partition(" ")[0]
        token = process.stdout.readline().removeprefix("token: ").strip()
        yield url, token, process
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        process.communicate()


@asynccontextmanager
async def over_http(url: str, token: str | None, mode: str = "auto") -> AsyncGenerator[Client]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), client_info=ME, mode=mode) as client,
    ):
        yield client


def test_http_needs_the_token(tmp_path: Path) -> None:
    async def run(url: str, token: str) -> None:
        for given in (None, "wrong", token + "x"):
            headers = {} if given is None else {"Authorization": f"Bearer {given}"}
            async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
                answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
                assert answer.status_code == 401 and "token" in answer.text
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http:
            assert (await http.post(url, json={}, headers={"Host": "elsewhere.example"})).status_code == 421
            assert (await http.post(url, content=b"x" * (1 << 21))).status_code == 413
        for index, mode in enumerate(("auto", "legacy")):
            async with over_http(url, token, mode) as client:
                await play(client, "search/guessnum", index, {})
                _, left = await called(client, "start", environment="maze/alicia")
        # The client of the older protocol has ended its connection; the other has vanished.
        async with over_http(url, token) as client:
            deadline = time.monotonic() + PATIENCE
            while (await client.call_tool("look", {"session": left["session"]})).is_error is False:
                assert time.monotonic() < deadline
                await anyio.sleep(0.1)

    with serving("--out", str(tmp_path)) as (url, token, _):
        anyio.run(run, url, token)
    logged = list(read_records([tmp_path], lambda problem: pytest.fail(str(problem))))
    assert sorted((each.record.env, each.record.end is None) for each in logged) == [
        ("maze/alicia", True),
        ("maze/alicia", True),
        ("search/guessnum", False),
        ("search/guessnum", False),
    ]


@pytest.mark.parametrize("vanish", ["close", pytest.param("terminate", marks=pytest.mark.slow)])
def test_a_client_that_vanishes_ends_the_server_and_its_episode_is_kept(tmp_path: Path, vanish: str) -> None:
    """By its input's end, as when the client dies, and by SIGTERM, as some products end servers."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--out", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        ask = asker(process)
        me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
        ask("initialize", me)
        ask("tools/call", {"name": "start", "arguments": {"environment": "maze/alicia"}})
        assert process.stdin is not None
        if vanish == "close":
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        else:
            process.terminate()
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
    (each,) = read_records([tmp_path], lambda problem: pytest.fail(str(problem)))
    assert (each.model, each.record.end, each.record.turns) == ("community/me", None, ())


def asker(process: subprocess.Popen[str]) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    count = 0

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        count += 1
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": count, "method": method, "params": params}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert answer["id"] == count and "error" not in answer
        return dict(answer["result"])

    return ask


def test_attempts_go_on_from_the_folder(tmp_path: Path) -> None:
    found: list[object] = []
    for player in ("ada", "ada", "bob"):
        with _records(str(tmp_path)) as (write, attempts):
            games = face.Games(player=player, write=write, attempts=attempts)
            found.append(games.start("maze/alicia", face.Client()).data["attempt"])
            games.close()
    assert found == [1, 2, 1]


@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("claude-code", "community/claude-code"),
        ("", "community/unnamed"),
        ("human/Ada", "community/human-Ada"),
        ("a\n<b>" + "c" * 100, f"community/a--b-{'c' * 55}"),
    ],
)
def test_the_name_of_an_agent_cannot_pass_for_another_player(name: str, player: str) -> None:
    assert face.player_of(name) == player
