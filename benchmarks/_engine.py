"""What our layer adds to a model call, against a bare loop in the same engine."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Episode, Item
from waybench.llm import episode, play, to_sample

MAZES = waybench.load("maze/alicia")
REPLY = '{"movements": [{"direction": "up", "cells": 1}]}'  # outside: the attempt takes all its requests


def _answer(*_: Any) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", REPLY)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def _answered(item: Item[Any]) -> str:
    return Episode(MAZES, item).step(REPLY).message


@solver
def bare_loop(calls: int) -> Solver:
    """Ask a number of times in one growing chat."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        for _ in range(calls):
            state.output = await model.generate(state.messages)
            state.messages.append(state.output.message)
            state.messages.append(ChatMessageUser(content=state.metadata["answer"]))
        return state

    return solve


@scorer(metrics=[mean()])
def nothing() -> Scorer:
    """Give every sample the same score."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=0)

    return score


def engine() -> Iterator[Comparison]:
    """Run the same number of model calls with our solver and scorer, and with a bare loop."""
    calls, size = 10, 21
    items = MAZES.source("bench", size).head(40)
    samples = [to_sample(MAZES, item, MAZES.resolve_options({"requests": calls}), 1) for item in items]
    plain = [  # the same words to read and to log, made before the clock starts
        Sample(id=sample.id, input=sample.input, metadata={"answer": _answered(item)})
        for sample, item in zip(samples, items, strict=True)
    ]

    def run(task: Task) -> None:
        with tempfile.TemporaryDirectory() as folder:
            [log] = eval(
                task,
                model=get_model("mockllm/model", custom_outputs=_answer, memoize=False),
                log_dir=str(Path(folder)),
                display="none",
            )
            assert log.status == "success" and log.samples is not None
            assert sum(event.event == "model" for sample in log.samples for event in sample.events) == calls * len(
                items
            )

    yield compare(
        f"model call of a maze N = {size} through the engine, prompts and records included",
        lambda: run(Task(dataset=samples, solver=play(), scorer=episode())),
        lambda: run(Task(dataset=plain, solver=bare_loop(calls), scorer=nothing())),
        against="a bare loop of as many calls in the same engine",
        count=calls * len(items),
        unit="calls",
        rounds=9,
    )
