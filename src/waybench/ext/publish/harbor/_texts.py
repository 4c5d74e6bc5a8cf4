"""The texts of a task's directory: settings, instruction, images, programs of a line or two, and lists of tasks."""

import json
from collections.abc import Mapping
from typing import Any

from waybench._version import __version__
from waybench.core import Json, is_array, is_object
from waybench.evaluation.tasks import TaskEntry

_BASE = "python:3.12-slim"
_ANSWER = "/app/answer.txt"
_SECONDS = 30  # of a turn
TEST = """#!/bin/sh
exec python3 -I "$(dirname "$0")/verify.py"
"""
SOLVE_ANSWER = """#!/bin/sh
cp /solution/answer.txt /app/answer.txt
"""
SOLVE_TURNS = """#!/bin/sh
exec /app/play file /solution/replies.txt
"""
COMPOSE = """services:
  main:
    build:
      context: ${CONTEXT_DIR:-.}
    command: ["sleep", "infinity"]
    depends_on:
      game:
        condition: service_healthy
  game:
    build:
      context: ./game
    expose:
      - "8000"
    healthcheck:
      test: ["CMD", "python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
      interval: 2s
      timeout: 5s
      retries: 30
"""
SERVER = '''"""The game of this task: one episode of one item, for the agent's box and for nobody else."""

import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

HERE = Path(__file__).resolve().parent
folder = tempfile.mkdtemp()
with ZipFile(HERE / "waybench.zip") as packed:
    packed.extractall(folder)
sys.path.insert(0, folder)

from waybench._game import serve_item  # noqa: E402

Path("/record").mkdir(exist_ok=True)
serve_item(HERE / "item.json", Path("/record/record.json"), "0.0.0.0", 8000)
'''


def toml_value(value: Json) -> str:
    """Return a value as TOML on one line."""
    if is_object(value):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_value(part)}" for key, part in value.items()) + " }"
    if is_array(value):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value)


def _toml_table(header: str, fields: Mapping[str, Any]) -> str:
    """Return a TOML table; `header` is its line in brackets, "" for the top level."""
    lines = [f"{key} = {toml_value(value)}" for key, value in fields.items()]
    return "\n".join([*([header] if header else []), *lines, ""])


def task_toml(
    name: str, entry: TaskEntry, metadata: Mapping[str, Json], turns: int, image: str, has_network: bool
) -> str:
    """Return task.toml: the settings of the directory `name`, an item with at most `turns` turns."""
    in_turns = turns > 1
    artifacts: list[Json] = [{"source": "/record/record.json", "service": "game"}] if in_turns else [_ANSWER]
    environment: dict[str, Json] = {
        "cpus": 1,
        "memory_mb": 2048,
        "workdir": "/app",
        "network_mode": "public" if has_network else "no-network",
        **({"docker_image": image} if image else {}),
    }
    tags: list[Json] = ["waybench", str(metadata["environment"])]
    tables = [
        _toml_table("", {"schema_version": "1.4", "artifacts": artifacts}),
        _toml_table(
            "[task]",
            {
                "name": f"waybench/{name}",
                "version": __version__,
                "description": entry.summary,
                "keywords": ["navigation", "planning", "games"],
            },
        ),
        _toml_table("[metadata]", {"difficulty": "medium", "category": "games", "tags": tags}),
        _toml_table("[metadata.waybench]", {**metadata, "interface": "harbor"}),
        _toml_table("[agent]", {"timeout_sec": max(600.0, float(_SECONDS * turns)), "user": "agent"}),
        _toml_table("[verifier]", {"timeout_sec": 120.0, "environment_mode": "separate"}),
        _toml_table("[environment]", environment),
    ]
    if in_turns:
        address = "http://game:8000/mcp" if has_network else "http://127.0.0.1:8000/mcp"
        server = {"name": "game", "transport": "streamable-http", "url": address}
        tables.append(_toml_table("[[environment.mcp_servers]]", server))
    return "\n".join(tables)


def instruction_text(prompt: str, *, in_turns: bool) -> str:
    """Return instruction.md: the prompt, and how the agent replies."""
    reply_text = (
        "The game goes on in turns. `/app/play act 'REPLY'` sends a reply and shows what follows (`/app/play act -` "
        "reads it from standard input); `/app/play look` shows the last message again. The tools `act` and `look` of "
        "the MCP server `game` do the same. Play until the game says that it is over."
        if in_turns
        else f"Write your reply, and nothing else, to the file {_ANSWER}."
    )
    return f"{prompt}\n\n---\n\n{reply_text}\n"


def agent_dockerfile(image: str, *, in_turns: bool) -> str:
    """Return the Dockerfile of the agent's image: Python, a user and, for a game in turns, the client."""
    lines = [f"FROM {image or _BASE}"]
    if not image:
        lines.append("RUN useradd --create-home agent && mkdir -p /app && chown agent:agent /app")
    lines += ["COPY play /app/play"] * in_turns
    return "\n".join([*lines, "WORKDIR /app", ""])


def game_dockerfile(image: str) -> str:
    """Return the Dockerfile of the container that runs the game."""
    return f"""FROM {image or _BASE}
USER root
COPY server.py item.json waybench.zip /game/
RUN mkdir -p /record
WORKDIR /game
CMD ["python3", "-I", "/game/server.py"]
"""


def dataset_toml(entry: TaskEntry, digests: Mapping[str, str]) -> str:
    """Return dataset.toml: the description of the set, and each task with its digest."""
    description = {"name": f"waybench/{entry.name}", "version": __version__, "description": entry.summary}
    tasks = (_toml_table("[[tasks]]", {"name": f"waybench/{name}", "digest": text}) for name, text in digests.items())
    return "\n".join([_toml_table("[dataset]", description), *tasks])


def registry_json(entry: TaskEntry, digests: Mapping[str, str]) -> str:
    """Return registry.json, which lists the directories beside it."""
    tasks: list[Json] = [{"name": f"waybench/{name}", "path": name} for name in digests]
    task_set = {"name": entry.name, "version": __version__, "description": entry.summary, "tasks": tasks, "metrics": []}
    return json.dumps([task_set], indent=1) + "\n"


def readme_text(entry: TaskEntry, digests: Mapping[str, str], commitment: str) -> str:
    """Return README.md of the set; `commitment` is that of its private key, "" for a public set."""
    key_sentence = (
        f"The items are drawn with a private key, which is not here; its commitment is `{commitment}`."
        if commitment
        else "The items are public: whoever can install waybench can make them with their answers."
    )
    first_name = next(iter(digests), "NAME")
    return f"""# {entry.name}

{entry.summary}. {len(digests)} tasks of waybench {__version__} for Harbor. {key_sentence}

    harbor run -p {first_name} -a oracle

The reward is the headline metric from 0 to 1. `tests/`, `solution/` and `environment/game/` hold items and answers:
keep them from agents.
"""
