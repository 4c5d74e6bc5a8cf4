"""The parts of a run: each is some tasks with one model, and a job of an executor."""

import json
import shutil
import textwrap
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import zip_longest
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from waybench.cli._options import PRIVATE_KEY_IN_JOB
from waybench.cli._output import to_stderr
from waybench.cli._progress import ended_jobs_text, report_parts
from waybench.core import (
    SHARD,
    Price,
    Prices,
    PromptKinds,
    UsageError,
    WaybenchError,
    credentials_in_address,
    find_secrets,
    is_public_key,
    parse_budget,
)
from waybench.data import cache_folder
from waybench.envs import registry
from waybench.evaluation.tasks import TaskEntry, find_task, load_task, task_prompts
from waybench.evaluation.tasks._catalogue import split_args_into_shards
from waybench.ext.scale import StorageFolder
from waybench.ext.scale._executors import Executor
from waybench.ext.scale._folders import mirror_folder, short_digest

if TYPE_CHECKING:
    from waybench.evaluation._run_progress import RunProgress
    from waybench.evaluation.tasks._estimate import QuoteRow, TaskQuote
    from waybench.evaluation.tasks._stream import ComparisonSettings

NO_BUDGET = "none"
# Of a ladder, or a task with very long episodes, for each model: at least this much, for replies with reasoning on a
# short ladder; and as much as an optimal player without reasoning needs to the last level, so that no perfect player is
# stopped. A player that needs all attempts takes many times as much: without a limit, `alicia`, `aqa` and `gtb` with
# four items each took 3.8 million.
_LEAST_LADDER_BUDGET = 1_000_000
_LONGEST_NAME = 40  # letters of models' names in a quote
_UNPAID_PREFIXES = ("waybench/", "python:")
_BUDGET_STEP = 100_000  # budgets are multiples of it
_checked_models: set[str] = set()  # models that have answered this process, and need no check before their next part


class RunBudget(NamedTuple):
    """What a run may spend.

    Attributes:
        amount: Tokens or dollars; None for no limit.
        note: A line for the user on a limit that was not asked for; "" for none.
        tasks: The tasks whose requests count; all where it is empty.
    """

    amount: float | None
    in_dollars: bool = False
    note: str = ""
    tasks: tuple[str, ...] = ()


NO_LIMIT = RunBudget(None)


def quote_lines(quotes: Iterable["TaskQuote"], models: Sequence[str], prices: Mapping[str, Price]) -> list[str]:
    """Return the estimated requests, tokens and dollars of tasks as lines of a table, with notes.

    What a search may take is a line of its own, first.
    """
    from waybench.evaluation.tasks._estimate import QUOTE_COLUMNS
    from waybench.results.formatting import align_columns, one_line

    models, searches, notes = list(dict.fromkeys(models)), list[str](), dict[str, None]()
    rows: list[QuoteRow] = []
    for quote in quotes:
        models_by_row: dict[QuoteRow, list[str]] = {}
        for model in models:
            if text := quote.search_text(model):
                searches.append(text)
            else:
                models_by_row.setdefault(quote.row(model, prices.get(model))._replace(model=""), []).append(model)
        for row, models_of_row in models_by_row.items():
            name = (
                f"each of {len(models)} models" if 1 < len(models_of_row) == len(models) else ", ".join(models_of_row)
            )
            rows.append(row._replace(model=one_line(name, _LONGEST_NAME)))
        notes |= dict.fromkeys(quote.notes)
    if not rows:
        return searches
    n_columns = len(QUOTE_COLUMNS) if any(row.dollars for row in rows) else len(QUOTE_COLUMNS) - 1  # without dollars
    table = align_columns([line[:n_columns] for line in ([*QUOTE_COLUMNS], *map(list, rows))])
    width = min(shutil.get_terminal_size().columns, 120)
    return [*searches, *table.splitlines(), *(line for note in notes for line in textwrap.wrap(note, width))]


def price_notes(prices: Prices, models: Sequence[str]) -> list[str]:
    """Return a line on the source of the models' prices, and one on models without a price."""
    unpriced_models = prices.models_without_price(models)
    warning = f"no price for {', '.join(unpriced_models)[:200]}: give --price IN/OUT or --prices FILE to see dollars"
    return [line for line in (prices.source_note(models), warning if unpriced_models else "") if line]


def run_budget(
    text: str | None,
    entries: Sequence[TaskEntry],
    models: Sequence[str],
    prices: Mapping[str, Price],
    needed_tokens: Mapping[str, float],
) -> RunBudget:
    """Return the budget of a run: the user's, or a default one for tasks of unknown or great length.

    A run of searches alone has no limit of its own: each search plans with the budget. Tasks that climb have a limit by
    default, since results decide how long they go on, and tasks with very long episodes, since few who try them mean to
    pay for these; what other tasks spend does not count in it. Embedded players cost nothing.

    `text` is the budget that the user gave, None for none, and `needed_tokens` has for each task the least tokens that
    a default limit has to allow (`TaskQuote.needed`).
    """
    paid_models = [model for model in dict.fromkeys(models) if not model.startswith(_UNPAID_PREFIXES)]
    if text == NO_BUDGET or not paid_models or all(entry.searches for entry in entries):
        return NO_LIMIT
    if text is not None:
        amount, in_dollars = parse_budget(text)
        unpriced_models = [model for model in paid_models if model not in prices] if in_dollars else []
        if unpriced_models:
            names = ", ".join(unpriced_models)[:200]
            raise UsageError(f"--budget {text[:40]}: no price for {names}; give --price IN/OUT, or --prices FILE")
        return RunBudget(amount, in_dollars)
    climbing_tasks = [entry.name for entry in entries if entry.climb is not None]
    long_tasks = [entry.name for entry in entries if entry.climb is None and entry.name in needed_tokens]
    limited_tasks = [*climbing_tasks, *long_tasks]
    if not limited_tasks:
        return NO_LIMIT
    tokens_per_model = sum(
        max(_LEAST_LADDER_BUDGET, _BUDGET_STEP * ceil(needed_tokens.get(name, 0.0) / _BUDGET_STEP))
        for name in limited_tasks
    )
    tokens = tokens_per_model * len(paid_models)
    is_mixed = len(limited_tasks) < len(entries)
    tasks_text = f" of {', '.join(limited_tasks)}" if is_mixed else ""
    amounts = ["enough for an optimal player without reasoning up to the last level"] * bool(climbing_tasks)
    amounts += ["as many as shorter episodes take"] * bool(long_tasks)
    reasons = [f"{', '.join(climbing_tasks)}: climbs as long as the model solves an item of a level."] * bool(
        climbing_tasks
    )
    reasons += [f"{', '.join(long_tasks)}: has episodes of thousands of turns, which parameters can shorten."] * bool(
        long_tasks
    )
    return RunBudget(
        float(tokens),
        note=f"{' '.join(reasons)} The run stops after {tokens:,} tokens{tasks_text}, "
        f"{' and '.join(amounts)}; --budget 5M or --budget none changes that.",
        tasks=tuple(limited_tasks) if is_mixed else (),
    )


@dataclass(frozen=True, slots=True)
class RunPart:
    """Some tasks with some models, as a value that another process takes.

    Attributes:
        tasks: The tasks: name and parameters.
        out: Path or URL of the folder of the logs.
        settings: Arguments of `waybench.evaluation.evaluate`.
        comparison: What its models are compared by until that is decided; None for runs that play all items.
    """

    tasks: tuple[tuple[str, Mapping[str, Any]], ...]
    models: tuple[str, ...]
    out: str
    settings: Mapping[str, Any]
    budget: RunBudget = NO_LIMIT
    prices: Prices = field(default_factory=Prices)
    comparison: "ComparisonSettings | None" = None

    @property
    def name(self) -> str:
        """Tasks, their shards, and models, such as "alicia 1/2 with openai/gpt-4o"."""
        tasks = dict.fromkeys(f"{name} {args.get(SHARD) or ''}".strip() for name, args in self.tasks)
        return f"{', '.join(tasks)} with {', '.join(self.models)}"

    def progress(self) -> "RunProgress":
        """Return a new progress of this part, which stops it when its budget is spent."""
        from waybench.evaluation._run_progress import RunProgress

        limit = self.budget
        return RunProgress(
            prices=self.prices, budget=limit.amount, in_dollars=limit.in_dollars, budget_tasks=limit.tasks
        )


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of a part.

    Attributes:
        text: What it has done: items, time, requests and tokens.
        unfinished: What is not finished, as "task with model".
        error: Why it could not run; "" if it could.
        stopped: Why it stopped before its end, as where its budget was spent; "" if it did not.
    """

    text: str = ""
    unfinished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    stopped: str = ""


def split_run(part: RunPart, *, by_task: bool, shards: int = 1) -> list[RunPart]:
    """Return the parts of a run in a fixed order: by task (or all tasks), shard of the items, and model."""
    shards_by_task = [
        [(name, args) for args in split_args_into_shards(find_task(name), args, shards)] for name, args in part.tasks
    ]
    if by_task:
        groups = [(task,) for tasks in shards_by_task for task in tasks]
    else:
        groups = [tuple(task for task in tasks if task is not None) for tasks in zip_longest(*shards_by_task)]
    return [replace(part, tasks=tasks, models=(model,)) for tasks in groups for model in dict.fromkeys(part.models)]


def refuse_secrets(part: RunPart) -> None:
    """Raise a UsageError if the description of a job would show a key or a password."""
    address = str(part.settings.get("model_base_url") or "")
    if any(find_secrets(dict(part.settings.get("model_args") or {}))) or any(credentials_in_address(address)):
        raise UsageError(
            "jobs on other machines take keys and passwords from their environment: leave them out of -M and "
            "--model-base-url, and set the provider's variable (such as OPENAI_API_KEY) where the workers start"
        )
    for name, args in part.tasks:
        key = str(args.get("key") or "")
        envs = find_task(name).envs
        is_public = any(is_public_key(key, registry.load(env).items.public_key) for env in envs)
        if key and not is_public and not key.startswith(("env:", "file:")):
            raise UsageError(f"{PRIVATE_KEY_IN_JOB} -T key=env:NAME")


def working_folder(part: RunPart) -> Path:
    """Return the local folder in which a part works, which is the same whenever it starts again."""
    tasks = json.dumps([part.tasks, part.models], sort_keys=True, default=str)
    return cache_folder() / "parts" / short_digest(StorageFolder(part.out).place, tasks)


@contextmanager
def mirrored_part_folder(part: RunPart, warn: Callable[[str], None]) -> Generator[Path]:
    """Open the local folder in which a part works, mirrored to the folder of the logs, and yield it."""
    from waybench.evaluation._run_journals import resumption_file_filter

    log_folder, local_folder = StorageFolder(part.out), working_folder(part)
    with mirror_folder(
        log_folder, local_folder, resumption_file_filter(part.tasks, part.models, log_folder.path_of), warn
    ):
        yield local_folder


def task_loaders(
    tasks: Iterable[tuple[str, Mapping[str, Any]]], comparison: "ComparisonSettings | None" = None
) -> list[Callable[[], Any]]:
    """Return functions that load tasks with their parameters; those of a comparison play its stream of items."""
    loaders = [partial(load_task(find_task(name)), **args) for name, args in tasks]
    if comparison is None:
        return loaders
    from waybench.evaluation.tasks._samples import as_comparison

    return [as_comparison(load, comparison) for load in loaders]


def part_arguments(part: RunPart) -> tuple[list[Callable[[], Any]], dict[str, Any]]:
    """Return the task loaders of a part, and the other arguments of `evaluate`."""
    prompts = reduce(PromptKinds.__or__, (task_prompts(find_task(name), args) for name, args in part.tasks))
    return task_loaders(part.tasks, part.comparison), {**part.settings, "prompts": prompts}


def run_part(part: RunPart) -> PartResult:
    """Run a part to its end; finished episodes of an earlier call are kept and send no request."""
    from waybench.evaluation import evaluate  # seconds to import

    notes: list[str] = []
    progress = part.progress()
    try:
        tasks, arguments = part_arguments(part)
        arguments["check"] = arguments.get("check", False) and not _checked_models.issuperset(part.models)
        with mirrored_part_folder(part, notes.append) as folder:
            unfinished = evaluate(tasks, part.models, folder, **arguments, progress=progress, warn=notes.append)
        _checked_models.update(part.models)
    except WaybenchError as error:
        return PartResult(notes=(*notes, *progress.notes), error=str(error))
    return PartResult(
        progress.totals_text,
        () if progress.budget_is_spent else tuple(unfinished),
        (*notes, *progress.notes),
        stopped=progress.interrupted_text if progress.budget_is_spent else "",
    )


def run_parts(parts: Sequence[RunPart], executor: Executor) -> list[str]:
    """Run parts on an executor; return the unfinished ones as "task with model"."""
    unfinished: list[str] = []
    errors: dict[str, list[str]] = {}
    ended: set[int] = set()

    def running_folders() -> list[Path]:
        """Return the folders of the parts that have not ended."""
        return [working_folder(part) for index, part in enumerate(parts) if index not in ended]

    with report_parts(running_folders, lambda: ended_jobs_text(len(ended), len(parts)), to_stderr):
        for index, result in executor.map(run_part, parts):
            part = parts[index]
            ended.add(index)
            for note in result.notes:
                to_stderr(note if note.startswith(part.name) else f"{part.name}: {note}")
            text = result.error or result.stopped or result.text
            to_stderr(f"[{len(ended)}/{len(parts)}] {part.name}: {text}")
            unfinished += result.unfinished
            if result.error:
                errors.setdefault(result.error, []).append(part.name)
    if errors and sum(map(len, errors.values())) == len(parts):  # no part could run
        raise UsageError("; ".join(errors))
    return unfinished + [name for names in errors.values() for name in names]
