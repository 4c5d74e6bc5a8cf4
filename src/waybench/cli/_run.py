"""`waybench run`, and two commands that run given tasks: `waybench reproduce` and `waybench demo`."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._options import argument, chosen_executor, option, with_parameters
from waybench.cli._output import DEFECTIVE, print_summary, to_stderr
from waybench.cli._parts import (
    NO_BUDGET,
    RunPart,
    part_arguments,
    part_folder,
    quote_lines,
    refuse_secrets,
    run_budget,
    run_parts,
    split,
    task_loaders,
)
from waybench.cli._progress import ReportProgress, evaluate_shown
from waybench.cli._report import build
from waybench.cli._run_settings import RunSettings, combinations, plan_runs, task_args, task_parameters
from waybench.core import (
    LOCAL_MODELS,
    PROBE,
    PROCESSES,
    Json,
    Price,
    UsageError,
    map_in_processes,
    plural,
    prepare_folder,
    read_budget,
    read_prices,
)
from waybench.data import cache_dir
from waybench.evaluation.tasks import TASKS, TaskEntry, count_episodes, find_task
from waybench.evaluation.tasks._presets import DEMO, DEMO_HORIZON, DEMO_MODEL
from waybench.ext.scale import StorageFolder, is_url
from waybench.ext.scale._executors import Executor, is_on_this_machine
from waybench.ext.scale._folders import local_copy

if TYPE_CHECKING:
    from waybench.evaluation.tasks._estimate import TaskQuote
    from waybench.results.papers import Paper, PaperTable

DEFAULT_OUT = Path("waybench-reproduce")
# Players that err at a rate, whose horizon can be computed.
SEARCHED = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")
MOST_TOKENS = 64  # of a reply of a language model: a minute or two for all of them
INTRODUCTION = """\
Normalised scores: 0 is the floor (empty, random or constant replies), 100 the ceiling.
The players are waybench's own, from null, which replies nothing, to oracle, which plays perfectly.
"""
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
    parameters = settings.task_parameters(budget if searches and budget != NO_BUDGET else None)
    prices = read_prices(settings.prices) if settings.prices else {}
    chosen, partly = plan_runs(entries, parameters, combinations(settings.each, parameters), settings.prices)
    for line in partly if len(entries) > 1 else ():
        click.echo(line, err=True)
    from waybench.evaluation._engine import check_folder
    from waybench.evaluation._provider import check_player

    engine = chosen_executor(settings.executor_name, settings.address, settings.gpus_per_model or 0)
    if engine is None and settings.shards > 1:
        raise UsageError("--shards: without an executor there is one job only; add --executor, or use -T shard=1/2")
    is_local = not is_url(out)
    if is_local:
        check_folder(Path(out))
    if not settings.quote_only:
        _ = prepare_folder(Path(out)) if is_local else StorageFolder(out).check()
    for model in models:
        if model.startswith("waybench/"):
            check_player(model.removeprefix("waybench/"), [env for entry, _ in chosen for env in entry.envs])
    quotes, opening = _quote_tasks(chosen, models, prices, quote_only=settings.quote_only)
    to_last_level = {name: quote.to_last_level for name, quote in quotes if quote.to_last_level is not None}
    run_limit = run_budget(budget, entries, models, prices, to_last_level)
    if settings.quote_only:
        if run_limit.note:
            click.echo(run_limit.note)
        return
    opening += [run_limit.note] if run_limit.note else []
    tasks = tuple((entry.name, args) for entry, args in chosen)
    run_part = RunPart(tasks, models, out, arguments, run_limit, prices)
    if engine is not None:
        if not is_on_this_machine(engine):
            refuse_secrets(run_part)
        parts = split(run_part, by_task=not settings.gpus_per_model, shards=settings.shards)
        for line in opening:
            click.echo(line, err=True)
        parts = _with_budgets(parts, to_last_level, is_given=budget is not None)
        _run_with(engine, parts, prices, levels=settings.levels)
        return
    progress = run_part.progress()
    progress.opening, progress.most_requests = opening, sum(quote.requests for _, quote in quotes)
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
    if _summarise(out, prices, () if progress.budget_is_spent else unfinished, levels=settings.levels):
        sys.exit(DEFECTIVE)
    if unfinished:
        sys.exit(1)


def _quote_tasks(
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
    from waybench.evaluation.tasks._estimate import TaskQuote

    quotes: list[tuple[str, TaskQuote]] = []
    opening: list[str] = []
    paid = [model for model in models if not model.startswith("waybench/")]  # embedded players cost nothing
    for entry, args in chosen:
        if not paid and not quote_only and not entry.searches:
            continue
        quote = TaskQuote(entry, args)
        quotes.append((entry.name, quote))
        if quote_only or entry.searches:
            for line in quote_lines(entry.name, quote, models, prices):
                click.echo(line)
        else:
            opening += quote_lines(entry.name, quote, paid, prices)
    return quotes, opening


def _with_budgets(parts: Sequence[RunPart], to_last_level: Mapping[str, float], *, is_given: bool) -> list[RunPart]:
    """Return the parts of a run, each with its share of a budget that was given, or with that of its own ladders."""
    if parts[0].budget.amount is None:
        return list(parts)
    if is_given:
        shared = parts[0].budget._replace(amount=parts[0].budget.amount / len(parts))
        return [replace(part, budget=shared) for part in parts]
    entries = ([find_task(name) for name, _ in part.tasks] for part in parts)
    return [
        replace(part, budget=run_budget(None, tasks, part.models, part.prices, to_last_level))
        for tasks, part in zip(entries, parts, strict=True)
    ]


def _run_with(engine: Executor, parts: Sequence[RunPart], prices: Mapping[str, Price], *, levels: bool) -> None:
    """Run a run's parts where an executor runs them."""
    try:
        unfinished = run_parts(parts, engine)
    except KeyboardInterrupt:
        click.echo("Interrupted. What is finished is kept. To resume, run the same command again.", err=True)
        raise
    if engine.is_whole and _summarise(parts[0].out, prices, unfinished, levels=levels):
        sys.exit(DEFECTIVE)
    if unfinished:
        sys.exit(1)


def _summarise(out: str, prices: Mapping[str, Price], unfinished: Sequence[str], *, levels: bool) -> bool:
    """Print the summary of a run, whose folder may be elsewhere; return whether an environment has a defect."""
    folder = local_copy(out, cache_dir()) if is_url(out) else Path(out)
    return print_summary(folder, prices, unfinished, levels=levels, url=out)


_REPRODUCE_EXAMPLES = """\b
waybench reproduce PAPER table-3 --dry-run
waybench reproduce PAPER table-3 --model openai/gpt-4o --limit 50
waybench reproduce PAPER table-3 --model hf/local -- -M model_path=./my-model"""


@click.command(epilog=_REPRODUCE_EXAMPLES)
@with_parameters
def reproduce(
    paper: str | None = argument(),
    table: str | None = argument(),
    options: tuple[str, ...] = argument("[-- RUN_OPTION...]"),
    models: tuple[str, ...] = option("Model, as provider/name; repeatable.", "--model", "-m"),
    out: Path | None = option(f"Log folder.  [default: {DEFAULT_OUT}/PAPER/TABLE]"),
    limit: int | None = option("Maximum items per level, instead of all published ones.", type=click.IntRange(min=1)),
    dry_run: bool = option("Print the commands without running them."),
) -> None:
    """List the papers' tables and figures, or make one of them.

    Without TABLE, the tables of a paper are listed; without PAPER, the papers. What follows -- are options of
    `waybench run`, such as the model's temperature.
    """
    from waybench.results.papers import find_paper, find_table, papers

    if paper is None:
        for source in papers():
            count = plural(len(source.tables), "table or figure", "tables and figures")
            click.echo(f"{source.name:12} {source.title} ({source.source}); {count}")
        return
    source = find_paper(paper)
    if table is None:
        click.echo(_listing(source))
        return
    chosen = find_table(source, table)
    commands = [
        replace(command, parameters={**command.parameters, "limit": limit}) if limit and command.tasks else command
        for command in chosen.commands
    ]
    runnable = [command for command in commands if command.tasks]
    arguments = [
        [*command.arguments, *chain.from_iterable(("--model", model) for model in models or ("MODEL",)), *options]
        for command in runnable
    ]
    if dry_run:
        runs = iter(arguments)
        for command in commands:
            text = join(["waybench", "run", *next(runs)]) if command.tasks else command.line
            click.echo(text or f"# not yet: {command.not_yet}")
        return
    if not models:
        raise UsageError("no model: name one with --model, or see the commands with --dry-run")
    if not runnable:
        texts = "; ".join(command.text or f"not yet: {command.not_yet}" for command in commands)
        raise UsageError(f"{source.name} {chosen.id} is not made by running models: {texts}")
    click.echo(_amount(arguments, len(models)))
    folder = out or DEFAULT_OUT / source.name / chosen.id
    is_unfinished = False
    for words in arguments:
        try:
            run.main([*words, "--out", str(folder)], prog_name="waybench run", standalone_mode=False)
        except SystemExit as ended:
            is_unfinished |= bool(ended.code)
    click.echo(f"\n{_result(source, chosen, folder)}")
    for command in commands:
        if command.not_yet:
            click.echo(f"Not yet: {command.not_yet}.")
    if is_unfinished:
        sys.exit(1)


def _listing(paper: "Paper") -> str:
    lines = [f"{paper.title} ({paper.source})", "", *paper.about.splitlines(), ""]
    for table in paper.tables:
        lines.append(f"{table.id:12} {table.shows}")
        lines += [f"{'':12} not yet: {command.not_yet}" for command in table.commands if command.not_yet]
    return "\n".join([*lines, "", f"waybench reproduce {paper.name} TABLE --model MODEL makes one of them."])


def _amount(arguments: list[list[str]], models: int) -> str:
    """Return how much is going to be run, since it may cost money."""
    counts = [
        count_episodes(entry, task_args(entry, parameters | values))
        for words in arguments
        for params in [run.make_context("waybench run", list(words)).params]
        for parameters in [task_parameters(params["parameters"], limit=params["limit"], attempts=params["attempts"])]
        for entry in map(find_task, params["tasks"])
        for values in combinations(params["each"], parameters)
    ]
    episodes = sum(count or 0 for count in counts)
    count = plural(episodes, "episode")
    if None in counts:
        count = f"{count} and more" if episodes else "an unknown number of episodes"
    where = f"in {plural(len(counts), 'run')} of tasks, for each of {plural(models, 'model')}"
    return f"{count} {where}; an episode takes a request at least"


def _result(paper: "Paper", table: "PaperTable", folder: Path) -> str:
    from waybench.results import by_level, overall, read_logs
    from waybench.results.published import beside, published_text
    from waybench.results.results import measurable

    _, rows = measurable(read_logs(folder, on_problem=lambda _: None), on_problem=lambda _: None, confirm=True)
    text = published_text(beside(by_level(rows), overall(rows), [(paper, table)]), table.numbers)
    of_maps = sum(bool(row.cluster) for block in table.published for row in block.rows)
    numbers = f"{plural(of_maps, 'published number')} of single maps: see data/published.csv of the report."
    return "\n".join(
        [
            *([text, ""] if text else []),
            *([numbers] if of_maps else []),
            f"In the report (waybench report {folder} --published): {table.report}",
            f"How far they can agree: {table.agreement}",
        ]
    )


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
    from waybench.evaluation._engine import check_folder
    from waybench.evaluation._provider import check_player
    from waybench.results.estimates import matrix
    from waybench.results.estimates._matrix import matrix_text

    if model is not None:
        check_player(model)
    check_folder(out)
    prepare_folder(out)
    click.echo(INTRODUCTION)
    to_stderr(f"demo: {plural(len(PLAYERS), 'player')} on {', '.join(DEMO)}, {len(SEARCHED)} on {DEMO_HORIZON[0]}")
    plays = [*((name, args, PLAYERS) for name, args in DEMO.items()), (*DEMO_HORIZON, SEARCHED)]

    def play(number: int) -> None:
        name, args, players = plays[number]
        # One process at a time can run in a folder.
        evaluate(task_loaders([(name, args)]), [f"waybench/{player}" for player in players], prepare_folder(out / name))

    with map_in_processes(play, len(plays), PROCESSES) as results:
        list(results)
    if model is not None:
        to_stderr(f"demo: {model} on {', '.join(DEMO_MODEL)}; this takes a minute or two")
        folder = prepare_folder(out / model)
        config: dict[str, Json] = {"max_tokens": MOST_TOKENS}
        evaluate(task_loaders(DEMO_MODEL.items()), [f"waybench/{model}"], folder, config=config)
    with ReportProgress() as progress:
        report = build((out,), out / "site", "waybench demo", progress=progress)
    click.echo(matrix_text(matrix(report.rows)))
    click.echo(f"\nHorizons on {DEMO_HORIZON[0]}, with the horizon that is known by construction:")
    for line in _horizons(out / DEMO_HORIZON[0]):
        click.echo(f"  {line}")
    click.echo(f"\nreport: {report.index}")


def _horizons(folder: Path) -> list[str]:
    """Return a line for each player's search: the horizon that it found and the one that is known."""
    from waybench.results import read_logs
    from waybench.results.horizons import reference_text
    from waybench.results.horizons._searches import searches
    from waybench.results.logs import Skipped
    from waybench.results.results import measurable

    spec = find_task(DEMO_HORIZON[0]).horizon
    assert spec is not None and spec.oracle_horizon is not None
    skipped: list[Skipped] = []  # the report has named them
    lines: list[str] = []
    references = ""
    for search in searches(*measurable(read_logs(folder, on_problem=skipped.append), on_problem=skipped.append)):
        player = search.group.model.removeprefix("waybench/")
        if player in SEARCHED:
            exact = spec.oracle_horizon(float(player.rpartition("-")[2]))
            lines.append(f"{player}: {search.text}; {plural(search.trials, 'episode')}; known: {exact:.3g}")
            references = reference_text(search.references)
    return [*lines, references]
