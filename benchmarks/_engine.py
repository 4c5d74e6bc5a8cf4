"""What our layer adds to a model call, against a bare loop in the same engine."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Episode, Item
from waybench.evaluation._engine import freeze_existing_objects
from waybench.evaluation._run_journals import RunJournals
from waybench.evaluation._run_progress import RunProgress
from waybench.evaluation._sample import to_sample
from waybench.evaluation._scores import episode
from waybench.evaluation._solver import play

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


def _player() -> Model:
    return get_model("mockllm/model", custom_outputs=_answer, memoize=False)


def engine() -> Iterator[Comparison]:
    """Run the same number of model calls with our solver and scorer, with a bare loop, and without a journal."""
    calls, size = 10, 21
    items = MAZES.source("bench", size).head(40)
    samples = [to_sample(MAZES, item, MAZES.resolve_options({"requests": calls}), 1) for item in items]
    plain = [  # the same words to read and to log, made before the clock starts
        Sample(id=sample.id, input=sample.input, metadata={"answer": _answered(item)})
        for sample, item in zip(samples, items, strict=True)
    ]

    def played() -> Task:
        return Task(dataset=samples, solver=play(), scorer=episode())

    def run(task: Task, model: Model, folder: str) -> None:
        [log] = eval(task, model=model, log_dir=folder, display="none")
        assert log.status == "success" and log.samples is not None
        events = [event.event for sample in log.samples for event in sample.events]
        assert events.count("model") == calls * len(items)

    def alone(task: Task) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run(task, _player(), folder)

    def with_journal() -> None:
        with tempfile.TemporaryDirectory() as folder:
            model, journals = _player(), RunJournals(Path(folder), {}, print)
            task = journals.create_task(played)
            journals.open_journals([model], RunProgress())
            run(task, model, folder)
            journals.close_journals()
            [journal] = Path(folder).glob("*.journal")
            assert journal.read_bytes().count(b"\n") == 1 + (calls + 1) * len(items)  # a head; turns, and an end each

    def as_evaluate() -> None:
        with freeze_existing_objects():
            with_journal()

    def bare() -> None:
        alone(Task(dataset=plain, solver=bare_loop(calls), scorer=nothing()))

    yield compare(
        f"model call of a maze N = {size} through the engine, prompts and records included",
        lambda: alone(played()),
        bare,
        against="a bare loop of as many calls in the same engine",
        count=calls * len(items),
        unit="calls",
        rounds=9,
    )
    yield compare(
        "the same calls with a journal, in which each turn is before the next call",
        with_journal,
        lambda: alone(played()),
        against="without a journal",
        count=calls * len(items),
        unit="calls",
        rounds=9,
    )
    yield compare(
        "the same calls as `waybench run` makes them: with a journal, and without garbage collections of older objects",
        as_evaluate,
        bare,
        against="a bare loop of as many calls in the same engine",
        count=calls * len(items),
        unit="calls",
        rounds=9,
    )
