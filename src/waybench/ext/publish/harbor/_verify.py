#!/usr/bin/env python3
"""The verifier of a task's directory: plays the answer or the record again, and writes its reward from 0 to 1.

It needs the standard library and the files beside it alone: the item, and the part of waybench that plays it.

An answer that is missing or cannot be read has 0, as any other wrong one. A record that is missing, of another item or
changed is no result: the program then ends with 1 and writes no reward, which Harbor takes for an error, not for a 0.
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener
from zipfile import ZipFile

HERE = Path(__file__).resolve().parent
ANSWER, RECORD = Path("/app/answer.txt"), Path("/record/record.json")
OUT = Path("/logs/verifier")
ADDRESSES = ("http://game:8000", "http://127.0.0.1:8000")
MOST = 1 << 22  # bytes of an answer
MOST_OF_RECORD = 1 << 26  # bytes of a record


def read_answer(path: Path) -> str:
    """Return the agent's answer; "" if there is none, or it is too large or no text."""
    try:
        return path.read_text("utf-8") if path.stat().st_size <= MOST else ""
    except (OSError, ValueError):
        return ""


def read_record(path: Path) -> Any:
    """Return the record of the game, from its file or, if that is missing in Inspect, from the game's server."""
    if path.is_file():
        return json.loads(path.read_text("utf-8")) if path.stat().st_size <= MOST_OF_RECORD else None
    token = HERE / "token"
    if not (os.environ.get("TEST_DIR") and token.is_file()):
        return None
    for address in ADDRESSES:
        request = Request(address + "/record", headers={"Authorization": f"Bearer {token.read_text().strip()}"})
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
                return json.load(answer)
        except OSError:
            continue
    return None


def main() -> int:
    """Play the answer or the record again, write the reward, and return the exit status."""
    sys.setrecursionlimit(10_000)
    described = json.loads((HERE / "item.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        with ZipFile(HERE / "waybench.zip") as packed:
            packed.extractall(folder)
        sys.path.insert(0, folder)
        core, game = import_module("waybench.core"), import_module("waybench._game")
        episode = game.open_item(described)
        try:
            if described["kind"] == "answer":
                reply = read_answer(ANSWER)
                if reply.strip():
                    episode.step(core.Reply(reply))
            else:
                data = read_record(RECORD)
                if data is None:
                    raise ValueError("there is no record of the game")
                episode = game.play_again(described, core.EpisodeRecord.from_json(data))
        except (core.WaybenchError, ValueError, RecursionError, OSError) as error:
            print(f"no result: {error}", file=sys.stderr)
            return 1
        reward = game.reward_of(episode)
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "record.json").write_text(json.dumps(episode.record().to_json()), "utf-8")
    (OUT / "reward.json").write_text(json.dumps({"reward": reward}), "utf-8")
    print(f"reward {reward}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
