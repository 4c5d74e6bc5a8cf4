"""The parts of a run: each is some tasks with one model, and a job of an executor."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from waybench.cli._budget import NO_LIMIT, RunBudget
from waybench.cli._output import to_stderr
from waybench.cli._progress import ended_text, reported
from waybench.core import (
    SHARD,
    Price,
    PromptKinds,
    UsageError,
    WaybenchError,
    credentials,
    is_public_key,
    secrets_in,
)
from waybench.data import cache_dir
from waybench.envs import registry
from waybench.evaluation.tasks import find_task, load_task, shards_of, task_prompts
from waybench.ext.scale import Executor, Folder, digest, mirrored

_checked: set[str] = set()  # models that have answered this process, and need no check before their next part


@dataclass(frozen=True, slots=True)
class RunPart:
    """Some tasks with some models, as a value that another process takes.

    Attributes:
        tasks: The tasks: name and parameters.
        models: The models.
        out: Path or URL of the folder of the logs.
        settings: Arguments of `waybench.evaluation.evaluate`.
        budget: What it may spend.
        prices: Model -> its prices.
    """

    tasks: tuple[tuple[str, Mapping[str, Any]], ...]
    models: tuple[str, ...]
    out: str
    settings: Mapping[str, Any]
    budget: RunBudget = NO_LIMIT
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])

    @property
    def name(self) -> str:
        """Return the tasks, their shards, and the model, for people."""
        tasks = dict.fromkeys(f"{name} {args.get(SHARD) or ''}".strip() for name, args in self.tasks)
        return f"{', '.join(tasks)} with {', '.join(self.models)}"


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of a part.

    Attributes:
        text: What it has done: items, time, requests and tokens.
        unfinished: What is not finished, as "task with model".
        notes: Lines for the user.
        error: Why it could not run; "" if it could.
        stopped: Why it stopped before its end, as where its budget was spent; "" if it did not.
    """

    text: str = ""
    unfinished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    stopped: str = ""


def split(part: RunPart, *, by_task: bool, shards: int = 1) -> list[RunPart]:
    """Return a run's parts, always in the same order.

    Args:
        part: The whole run.
        by_task: Whether each task is a part of its own; if not, a part has all tasks, so that a model that is loaded
            into a GPU is loaded once.
        shards: Into how many parts the items of each fixed set are divided.
    """
    sharded = [[(name, args) for args in shards_of(find_task(name), args, shards)] for name, args in part.tasks]
    if by_task:
        tasks = [(task,) for own in sharded for task in own]
    else:
        most = max(map(len, sharded))
        tasks = [tuple(own[number] for own in sharded if number < len(own)) for number in range(most)]
    return [replace(part, tasks=some, models=(model,)) for some in tasks for model in dict.fromkeys(part.models)]


def refuse_secrets(part: RunPart) -> None:
    """Refuse what would show a key or password in the description of a job.

    Raises:
        UsageError: If there is one.
    """
    address = str(part.settings.get("model_base_url") or "")
    if any(secrets_in(dict(part.settings.get("model_args") or {}))) or any(credentials(address)):
        raise UsageError(
            "jobs on other machines take keys and passwords from their environment: leave them out of -M and "
            "--model-base-url, and set the provider's variable (such as OPENAI_API_KEY) where the workers start"
        )
    for name, args in part.tasks:
        key = str(args.get("key") or "")
        envs = find_task(name).envs
        is_public = any(is_public_key(key, registry.load(env).items.public_key) for env in envs)
        if key and not is_public and not key.startswith(("env:", "file:")):
            raise UsageError(
                "a private key is in no description of a job: put it into a variable of the workers' environment and "
                "write -T key=env:NAME"
            )


def working_folder(part: RunPart) -> Path:
    """Return the folder of this machine in which a part works, the same whenever it starts again."""
    tasks = json.dumps([part.tasks, part.models], sort_keys=True, default=str)
    return cache_dir() / "parts" / digest(Folder(part.out).place, tasks)


@contextmanager
def part_folder(part: RunPart, warn: Callable[[str], None]) -> Generator[Path]:
    """Work in a folder of this machine that is mirrored to the folder of the logs.

    Args:
        part: The part.
        warn: Receives a line when the folder of the logs does not answer.

    Yields:
        The folder to work in.

    Raises:
        UsageError: If the folder of the logs cannot be read or written.
    """
    from waybench.evaluation import part_files  # seconds to import

    folder, work = Folder(part.out), working_folder(part)
    with mirrored(folder, work, part_files(part.tasks, part.models, folder.path), warn):
        yield work


def part_arguments(part: RunPart) -> tuple[list[Callable[[], Any]], dict[str, Any]]:
    """Return the tasks of a part, and the other arguments of `evaluate`."""
    entries = [(find_task(name), args) for name, args in part.tasks]
    more = {
        **part.settings,
        "prompts": reduce(PromptKinds.__or__, (task_prompts(entry, args) for entry, args in entries)),
    }
    return [partial(load_task(entry), **args) for entry, args in entries], more


def run_part(part: RunPart) -> PartResult:
    """Run a part to its end, from where an earlier call stopped; what is finished sends no request."""
    from waybench.evaluation import RunProgress, evaluate  # seconds to import

    notes: list[str] = []
    limit = part.budget
    progress = RunProgress(
        prices=part.prices, budget=limit.amount, in_dollars=limit.in_dollars, budget_tasks=limit.tasks
    )
    try:
        tasks, more = part_arguments(part)
        more["check"] = more.get("check", False) and not _checked.issuperset(part.models)
        with part_folder(part, notes.append) as work:
            unfinished = evaluate(tasks, part.models, work, **more, progress=progress, warn=notes.append)
        _checked.update(part.models)
    except WaybenchError as error:
        return PartResult(notes=(*notes, *progress.notes), error=str(error))
    return PartResult(
        progress.totals_text,
        () if progress.budget_is_spent else tuple(unfinished),
        (*notes, *progress.notes),
        stopped=progress.interrupted_text if progress.budget_is_spent else "",
    )


def run_parts(parts: Sequence[RunPart], executor: Executor) -> list[str]:
    """Run parts where an executor runs them, and show on standard error which have ended.

    Args:
        parts: The parts.
        executor: The executor.

    Returns:
        What is not finished, as "task with model"; a part whose budget was spent is finished.

    Raises:
        UsageError: If no part could run, in the words of all of them.
    """
    unfinished: list[str] = []
    errors: dict[str, list[str]] = {}
    ended: set[int] = set()

    def running() -> list[Path]:
        return [working_folder(part) for index, part in enumerate(parts) if index not in ended]

    with reported(running, lambda: ended_text(len(ended), len(parts)), to_stderr):
        for index, result in executor.map(run_part, parts):
            part = parts[index]
            ended.add(index)
            for note in result.notes:
                to_stderr(note if note.startswith(part.name) else f"{part.name}: {note}")
            what = result.error or result.stopped or result.text
            to_stderr(f"[{len(ended)}/{len(parts)}] {part.name}: {what}")
            unfinished += result.unfinished
            if result.error:
                errors.setdefault(result.error, []).append(part.name)
    if errors and sum(map(len, errors.values())) == len(parts):
        raise UsageError("; ".join(errors))
    return unfinished + [name for names in errors.values() for name in names]
