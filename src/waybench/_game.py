"""One episode of one item as a small server: the game in a box of its own, beside an agent that knows nothing of it.

The endpoints are /health, /look, /act, /mcp (the Model Context Protocol, with the tools `look` and `act`) and /record,
which asks for a token of which the item has the hash alone. The record is written at the start and after each turn, so
that an agent that is killed keeps its turns. It needs the standard library alone.
"""

import hashlib
import hmac
import json
import os
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from waybench.core import DataError, Episode, EpisodeRecord, Item, Json, Reply, replay
from waybench.envs import registry

AnyEpisode = Episode[Any, Any, Any]
_LONGEST_REQUEST = 1 << 20  # bytes
_PROTOCOL_VERSION = "2025-06-18"  # of the Model Context Protocol
_METHOD_NOT_FOUND = -32601  # the error code of JSON-RPC
_TOOLS: list[Json] = [
    {
        "name": "look",
        "description": "Show what the game says now.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
    {
        "name": "act",
        "description": "Send a reply to the game and show what happens.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "reply": {"type": "string", "description": "The reply, in the form that the game asks for."}
            },
            "required": ["reply"],
            "additionalProperties": False,
        },
    },
]


def describe_item(episode: AnyEpisode, kind: str, token: str = "") -> dict[str, Json]:
    """Return the item, its proof and the options of an episode that has not begun as JSON, without the key.

    `kind` is "answer" or "turns". `token` is the secret that /record asks for; the result contains only its hash.
    """
    record = episode.record()
    return {
        "kind": kind,
        "env": record.env,
        "version": record.env_version,
        "instance": record.instance,
        "hash": record.instance_hash,
        "proof": dict(record.proof),
        "options": dict(record.options),
        "examples": list(record.examples),
        "level": record.item["level"],
        "token_sha256": hashlib.sha256(token.encode()).hexdigest() if token else "",
    }


def open_item(described: Mapping[str, Any]) -> AnyEpisode:
    """Return a new episode of the item that `describe_item` describes."""
    environment = registry.load(f"{described['env']}@{described['version']}")
    examples = tuple(environment.items.decode(example) for example in described["examples"])
    instance = environment.items.decode(described["instance"])
    if instance.hash != described["hash"]:
        raise DataError("the item does not have its hash")
    item: Item[Any] = Item(
        instance,
        id="item",
        level=described["level"],
        key="harbor",
        index=0,
        proof=described["proof"],
        examples=examples,
    )
    return Episode(environment, item, described["options"], player="harbor")


def play_again(described: Mapping[str, Any], record: EpisodeRecord) -> AnyEpisode:
    """Return the episode of a record, simulated again on the described item.

    Raises:
        DataError: If the record is of another item or other options, or does not agree with its simulation.
    """
    fresh = open_item(described)
    expected = fresh.record()
    if (record.env, record.env_version, record.instance_hash, dict(record.options), record.examples) != (
        expected.env,
        expected.env_version,
        expected.instance_hash,
        dict(expected.options),
        expected.examples,
    ):
        raise DataError("the record is of another item or of other options")
    return replay(fresh.environment, record)


def reward_of(episode: AnyEpisode) -> float:
    """Return the headline metric of an episode so far from 0 to 1; 0 without a reply."""
    record = episode.record()
    value = episode.environment.scoring.headline_percent(record) if record.own_turns else None
    return 0.0 if value is None else min(max(value / 100, 0.0), 1.0)


class GameServer(ThreadingHTTPServer):
    """Serves one episode.

    Args:
        described: The item, as `describe_item` returns it.
        record: The file of the record, which is replaced after each turn.
    """

    daemon_threads = True

    def __init__(self, described: Mapping[str, Any], record: Path, address: tuple[str, int]) -> None:
        super().__init__(address, _GameRequestHandler)
        self.described, self._record, self._lock = described, record, threading.Lock()
        self.episode = open_item(described)
        self._write_record()

    def _write_record(self) -> None:
        """Replace the file of the record in one step, so that it is never half written."""
        part = self._record.with_name(f"{self._record.name}.part")
        part.write_text(json.dumps(self.episode.record().to_json()), "utf-8")
        os.replace(part, self._record)

    def latest_text(self) -> str:
        """Return the first prompt before the first reply, and later the last message."""
        messages = self.episode.messages
        new_messages = messages if not self.episode.turns else messages[-1:]
        return "\n\n".join(message.text for message in new_messages if message.role != "assistant")

    def text_after_reply(self, reply: str) -> str:
        """Play a turn and return the environment's message."""
        with self._lock:
            if self.episode.done:
                return "The game is over."
            text = self.episode.step(Reply(reply)).message
            self._write_record()
        return f"{text}\n\nThe game is over.".lstrip() if self.episode.done else text

    def has_record_token(self, authorization: str) -> bool:
        """Return whether an Authorization header has the token for the record."""
        token = hashlib.sha256(authorization.removeprefix("Bearer ").strip().encode()).hexdigest()
        return bool(self.described["token_sha256"]) and hmac.compare_digest(token, self.described["token_sha256"])


class _GameRequestHandler(BaseHTTPRequestHandler):
    """Answers the requests to a `GameServer`."""

    server_version, sys_version = "game", ""
    protocol_version = "HTTP/1.1"

    @property
    def _game(self) -> GameServer:
        return cast(GameServer, self.server)

    def do_GET(self) -> None:
        """Answer /health, /look and /record."""
        if self.path == "/health":
            self._send_json(200, {"status": "ok"})
        elif self.path == "/look":
            self._send_json(200, {"text": self._game.latest_text()})
        elif self.path == "/record":
            if self._game.has_record_token(self.headers.get("Authorization", "")):
                self._send_json(200, self._game.episode.record().to_json())
            else:
                self._send_json(403, {"error": "the record asks for a token"})
        else:
            self._send_json(405 if self.path == "/mcp" else 404, {"error": "there is no such page"})

    def do_POST(self) -> None:
        """Answer /act and /mcp."""
        try:
            size = int(self.headers.get("Content-Length", ""))
            if not 0 <= size <= _LONGEST_REQUEST:
                raise ValueError
            data: Any = json.loads(self.rfile.read(size))
        except (ValueError, RecursionError):
            self.close_connection = True
            self._send_json(400, {"error": "send JSON of at most 1 MiB, with its length"})
            return
        if self.path == "/act":
            reply = cast("dict[str, Any]", data).get("reply") if isinstance(data, dict) else None
            if isinstance(reply, str):
                self._send_json(200, {"text": self._game.text_after_reply(reply)})
            else:
                self._send_json(400, {"error": 'send {"reply": "..."}'})
        elif self.path == "/mcp":
            answer = self._mcp_response(cast("dict[str, Any]", data) if isinstance(data, dict) else {})
            self._send_json(202 if answer is None else 200, answer)
        else:
            self._send_json(404, {"error": "there is no such page"})

    def _mcp_response(self, request: Mapping[str, Any]) -> dict[str, Json] | None:
        """Return the response to a request of the Model Context Protocol; None for a notification."""
        if "id" not in request:
            return None
        params: Any = request.get("params")
        parameters = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        head: dict[str, Json] = {"jsonrpc": "2.0", "id": request["id"]}
        match request.get("method"):
            case "initialize":
                about: dict[str, Json] = {"name": "game", "version": "1"}
                version = str(parameters.get("protocolVersion", _PROTOCOL_VERSION))
                return head | {
                    "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
                }
            case "ping":
                return head | {"result": {}}
            case "tools/list":
                return head | {"result": {"tools": _TOOLS}}
            case "tools/call":
                return head | {"result": self._tool_result(parameters)}
            case _:
                return head | {"error": {"code": _METHOD_NOT_FOUND, "message": "there is no such method"}}

    def _tool_result(self, parameters: Mapping[str, Any]) -> Json:
        """Return the result of a tool call of the Model Context Protocol."""
        arguments: Any = parameters.get("arguments")
        reply: Any = cast("dict[str, Any]", arguments).get("reply") if isinstance(arguments, dict) else None
        if parameters.get("name") == "look":
            text, is_error = self._game.latest_text(), False
        elif parameters.get("name") == "act" and isinstance(reply, str):
            text, is_error = self._game.text_after_reply(reply), False
        else:
            text, is_error = "the tools are look, and act with a reply", True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    def _send_json(self, status: int, data: Json) -> None:
        """Send a response with JSON; with an empty body if data is None."""
        body = b"" if data is None else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: replies of an agent are in the record."""


def serve_item(item: Path, record: Path, host: str, port: int) -> None:
    """Serve the item of a file until the process is ended."""
    GameServer(json.loads(item.read_text("utf-8")), record, (host, port)).serve_forever()
