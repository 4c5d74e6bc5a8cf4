"""Runs in parts: two processes against one."""

import json
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks._timing import Comparison, compare
from tests.eval.model_server import Answer, model_server
from waybench.cli._parts import RunPart, run_part, split_run
from waybench.ext.scale._executors import executor_by_name

EPISODES = 200
DELAY = 0.02  # seconds of each answer
MODELS = ("openai-api/scripted/first", "openai-api/scripted/second")


def _answer(messages: list[dict[str, Any]], before: int) -> Answer:
    return Answer(str(random.Random(json.dumps(messages)).randrange(100)), delay=DELAY)


def parts() -> Iterator[Comparison]:
    """Run 200 episodes of two tasks with two models of a server on loopback, which takes processor time as well."""
    os.environ["SCRIPTED_API_KEY"] = "none"
    tasks = tuple((name, {"limit": EPISODES // 4}) for name in ("dfs", "guessnum"))
    with model_server(_answer) as server, tempfile.TemporaryDirectory() as folder:
        settings = {"model_base_url": server.url, "model_args": {}, "config": {"max_connections": 20}, "limits": {}}
        runs = iter(range(100))

        def run(processes: int) -> None:
            out = str(Path(folder, str(next(runs))))
            run_settings = RunPart(tasks, MODELS, out, settings)
            results = [
                result
                for _, result in executor_by_name(f"processes:{processes}").map(
                    run_part, split_run(run_settings, by_task=True)
                )
            ]
            assert len(results) == 4 and not any(result.error or result.unfinished for result in results), results

        comparison = compare(
            f"{EPISODES} episodes of two tasks with two models of a server on this machine, in two processes",
            lambda: run(2),
            lambda: run(1),
            against="in one process",
            count=EPISODES,
            unit="episodes",
            rounds=2,
        )
        yield replace(comparison, count=sum(server.asked.values()) // next(runs), unit="calls")
