"""`waybench run`: evaluate models on tasks, resumably."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._budget import NO_BUDGET, quote_lines, run_budget
from waybench.cli._options import chosen_executor, with_parameters
from waybench.cli._parameters import combinations, runs_of
from waybench.cli._parts import RunPart, part_arguments, part_folder, refuse_secrets, run_parts, split
from waybench.cli._progress import evaluate_shown
from waybench.cli._run_settings import RunSettings
from waybench.cli._summary import print_summary
from waybench.core import PROBE, Price, UsageError, prepare_folder, read_budget, read_prices
from waybench.data import cache_dir
from waybench.evaluation.tasks import TASKS, TaskEntry, find_task
from waybench.ext.scale import Executor, Folder, is_on_this_machine, is_url, local_copy

if TYPE_CHECKING:
    from waybench.evaluation.tasks import TaskQuote

_EXAMPLE = TASKS[0].name
_EXAMPLES = f"""\b
waybench run {_EXAMPLE} --model openai/gpt-4o
waybench run {_EXAMPLE} --model openai-api/local/llama --model-base-url http://127.0.0.1:8000/v1
waybench run {_EXAMPLE} --model hf/local -M model_path=./my-model"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def run(settings: RunSettings) -> None:
    """Evaluate models on tasks.

    TASK is the name of a task, or the id of an environment to play it with all of its options. To resume an
    interrupted run, run the same command again: it continues where the run stopped.
    """
    entries = [*map(find_task, dict.fromkeys(settings.tasks))]
    models, out, budget = settings.models, settings.out, settings.budget
    searches = any(entry.searches for entry in entries)
    names = ", ".join(entry.name for entry in entries)[:200]
    if settings.probe is not None and not any(option.name == PROBE for entry in entries for option in entry.options):
        raise UsageError(
            f"--probe: there are no belief probes in {names}: no state is declared that follows from what a player was "
            "shown; leave the option out"
        )
    if settings.precision is not None and not searches:
        raise UsageError(f"--precision: no search for a horizon is among {names}; leave the option out")
    arguments = settings.evaluate_arguments()
    if budget != NO_BUDGET:
        read_budget(budget)  # what is no budget is refused even where it limits nothing
    given = settings.task_parameters(budget if searches and budget != NO_BUDGET else None)
    known = read_prices(settings.prices) if settings.prices else {}
    chosen, partly = runs_of(entries, given, combinations(settings.each, given), settings.prices)
    for line in partly if len(entries) > 1 else ():
        click.echo(line, err=True)
    from waybench.evaluation import RunProgress, check_folder, check_player  # seconds to import

    engine = chosen_executor(settings.executor_name, settings.address, settings.gpus_per_model or 0)
    if engine is None and settings.shards > 1:
        raise UsageError("--shards: without an executor there is one job only; add --executor, or use -T shard=1/2")
    is_local = not is_url(out)
    if is_local:
        check_folder(Path(out))
    if not settings.quote_only:
        _ = prepare_folder(Path(out)) if is_local else Folder(out).check()
    for model in models:
        if model.startswith("waybench/"):
            check_player(model.removeprefix("waybench/"), [env for entry, _ in chosen for env in entry.envs])
    quotes, opening = _quoted(chosen, models, known, quote_only=settings.quote_only)
    to_last_level = {name: quote.to_last_level for name, quote in quotes if quote.to_last_level is not None}
    limit_of_run = run_budget(budget, entries, models, known, to_last_level)
    if limit_of_run.note:
        opening.append(limit_of_run.note)
    if settings.quote_only:
        if limit_of_run.note:
            click.echo(limit_of_run.note)
        return
    tasks = tuple((entry.name, args) for entry, args in chosen)
    run_part = RunPart(tasks, models, out, arguments, limit_of_run, known)
    if engine is not None:
        if not is_on_this_machine(engine):
            refuse_secrets(run_part)
        parts = split(run_part, by_task=not settings.gpus_per_model, shards=settings.shards)
        for line in opening:
            click.echo(line, err=True)
        parts = _with_budgets(parts, to_last_level, is_given=budget is not None)
        _run_with(engine, parts, known, levels=settings.levels)
        return
    progress = RunProgress(
        prices=known,
        budget=limit_of_run.amount,
        in_dollars=limit_of_run.in_dollars,
        budget_tasks=limit_of_run.tasks,
        opening=opening,
        most_requests=sum(quote.requests for _, quote in quotes),
    )
    loaders, arguments = part_arguments(run_part)
    try:
        with nullcontext(Path(out)) if is_local else part_folder(run_part, progress.notes.append) as folder:
            unfinished = evaluate_shown(
                loaders, models, folder, **arguments, display=settings.display, progress=progress
            )
    except KeyboardInterrupt:
        click.echo(progress.interrupted_text, err=True)
        raise
    if progress.budget_is_spent:
        click.echo(progress.interrupted_text, err=True)
    _summarise(out, known, () if progress.budget_is_spent else unfinished, levels=settings.levels)
    if unfinished:
        sys.exit(1)


def _quoted(
    chosen: Sequence[tuple[TaskEntry, Mapping[str, Any]]],
    models: Sequence[str],
    prices: Mapping[str, Price],
    *,
    quote_only: bool,
) -> "tuple[list[tuple[str, TaskQuote]], list[str]]":
    """Print what tasks ask of each model, for searches and for `--quote`.

    Returns:
        The quotes by the tasks' names, and the lines on the other tasks, which are shown when the run begins.
    """
    from waybench.evaluation.tasks import TaskQuote

    quotes: list[tuple[str, TaskQuote]] = []
    opening: list[str] = []
    paid = [model for model in models if not model.startswith("waybench/")]  # embedded players cost nothing
    for entry, args in chosen:
        if not paid and not quote_only and not entry.searches:
            continue
        found = TaskQuote(entry, args)
        quotes.append((entry.name, found))
        if quote_only or entry.searches:
            for line in quote_lines(entry.name, found, models, prices):
                click.echo(line)
        else:
            opening += quote_lines(entry.name, found, paid, prices)
    return quotes, opening


def _with_budgets(parts: Sequence[RunPart], to_last_level: Mapping[str, float], *, is_given: bool) -> list[RunPart]:
    """Return the parts of a run, each with its own budget.

    Args:
        parts: The parts with the budget of the whole run.
        to_last_level: Of each task that climbs, the tokens that an optimal player needs up to the last level.
        is_given: Whether the budget was given, so that the parts share it; otherwise it is that of each task that
            climbs, for each model.
    """
    if parts[0].budget.amount is None:
        return list(parts)
    if is_given:
        shared = parts[0].budget._replace(amount=parts[0].budget.amount / len(parts))
        return [replace(part, budget=shared) for part in parts]
    own = [[find_task(name) for name, _ in part.tasks] for part in parts]
    return [
        replace(part, budget=run_budget(None, some, part.models, part.prices, to_last_level))
        for some, part in zip(own, parts, strict=True)
    ]


def _run_with(engine: Executor, parts: Sequence[RunPart], prices: Mapping[str, Price], *, levels: bool) -> None:
    """Run a run's parts where an executor runs them."""
    try:
        unfinished = run_parts(parts, engine)
    except KeyboardInterrupt:
        click.echo("Interrupted. What is finished is kept. To resume, run the same command again.", err=True)
        raise
    if engine.is_whole:
        _summarise(parts[0].out, prices, unfinished, levels=levels)
    if unfinished:
        sys.exit(1)


def _summarise(out: str, prices: Mapping[str, Price], unfinished: Sequence[str], *, levels: bool) -> None:
    """Print the summary of a run, whose folder may be elsewhere."""
    folder = local_copy(out, cache_dir()) if is_url(out) else Path(out)
    print_summary(folder, prices, unfinished, levels=levels, shown=out)
