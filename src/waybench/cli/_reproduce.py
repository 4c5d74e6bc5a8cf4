"""`waybench reproduce`: run what makes a table or figure of a paper, and print it beside the published numbers."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shlex import join

import click

from waybench.cli._options import argument, option, with_parameters
from waybench.cli._parameters import combinations, task_args, task_parameters
from waybench.cli._run import run
from waybench.core import UsageError, plural
from waybench.evaluation.tasks import count_episodes, find_task
from waybench.results.papers import Command, Paper, PaperTable, find_paper, find_table, papers

DEFAULT_OUT = Path("waybench-reproduce")
_EXAMPLES = """\b
waybench reproduce PAPER table-3 --dry-run
waybench reproduce PAPER table-3 --model openai/gpt-4o --limit 50
waybench reproduce PAPER table-3 --model hf/local -- -M model_path=./my-model"""


@click.command(epilog=_EXAMPLES)
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
    if paper is None:
        for each in papers():
            count = plural(len(each.tables), "table or figure", "tables and figures")
            click.echo(f"{each.name:12} {each.title} ({each.source}); {count}")
        return
    known = find_paper(paper)
    if table is None:
        click.echo(_listing(known))
        return
    chosen = find_table(known, table)
    commands = [_limited(each, limit) for each in chosen.commands]
    if dry_run:
        click.echo("\n".join(_lines(commands, models, options)))
        return
    if not models:
        raise UsageError("no model: name one with --model, or see the commands with --dry-run")
    folder = out or DEFAULT_OUT / known.name / chosen.id
    runnable = [each for each in commands if each.tasks]
    if not runnable:
        texts = "; ".join(each.text or f"not yet: {each.not_yet}" for each in commands)
        raise UsageError(f"{known.name} {chosen.id} is not made by running models: {texts}")
    click.echo(_amount(runnable, models, options))
    unfinished = [each for each in runnable if not _run(each, models, folder, options)]
    click.echo(f"\n{_result(known, chosen, folder)}")
    for each in commands:
        if each.not_yet:
            click.echo(f"Not yet: {each.not_yet}.")
    if unfinished:
        sys.exit(1)


def _listing(paper: Paper) -> str:
    lines = [f"{paper.title} ({paper.source})", "", *paper.about.splitlines(), ""]
    for table in paper.tables:
        lines.append(f"{table.id:12} {table.shows}")
        lines += [f"{'':12} not yet: {each.not_yet}" for each in table.commands if each.not_yet]
    return "\n".join([*lines, "", f"waybench reproduce {paper.name} TABLE --model MODEL makes one of them."])


def _limited(command: Command, limit: int | None) -> Command:
    if limit is None or not command.tasks:
        return command
    return replace(command, parameters={**command.parameters, "limit": limit})


def _arguments(command: Command, models: tuple[str, ...], folder: Path | None, options: tuple[str, ...]) -> list[str]:
    named = chain.from_iterable(("--model", model) for model in models or ("MODEL",))
    return [*command.arguments, *named, *(["--out", str(folder)] if folder else []), *options]


def _lines(commands: list[Command], models: tuple[str, ...], options: tuple[str, ...]) -> Iterator[str]:
    for each in commands:
        if each.tasks:
            yield join(["waybench", "run", *_arguments(each, models, None, options)])
        elif each.line:
            yield each.line
        else:
            yield f"# not yet: {each.not_yet}"


def _amount(commands: list[Command], models: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return how much is going to be run, since it may cost money."""
    counts = [
        count_episodes(entry, task_args(entry, given | values))
        for command in commands
        for params in [run.make_context("waybench run", _arguments(command, models, None, options)).params]
        for given in [task_parameters(params["parameters"], limit=params["limit"], attempts=params["attempts"])]
        for entry in map(find_task, params["tasks"])
        for values in combinations(params["each"], given)
    ]
    episodes = sum(count or 0 for count in counts)
    known = plural(episodes, "episode")
    open_end = None in counts
    count = f"{known} and more" if open_end and episodes else "an unknown number of episodes" if open_end else known
    where = f"in {plural(len(counts), 'run')} of tasks, for each of {plural(len(models), 'model')}"
    return f"{count} {where}; an episode takes a request at least"


def _run(command: Command, models: tuple[str, ...], folder: Path, options: tuple[str, ...]) -> bool:
    """Run a command as `waybench run` does; return whether it was finished."""
    try:
        run.main(_arguments(command, models, folder, options), prog_name="waybench run", standalone_mode=False)
    except SystemExit as ended:
        return not ended.code
    return True


def _result(paper: Paper, table: PaperTable, folder: Path) -> str:
    from waybench.results import by_level, overall, read_logs
    from waybench.results.published import beside, published_text
    from waybench.results.results import measurable

    _, rows = measurable(read_logs(folder, on_problem=lambda _: None), on_problem=lambda _: None, confirm=True)
    text = published_text(beside(by_level(rows), overall(rows), [(paper, table)]), table.numbers)
    of_maps = sum(bool(row.cluster) for block in table.published for row in block.rows)
    kept = f"{plural(of_maps, 'published number')} of single maps: see data/published.csv of the report."
    return "\n".join(
        [
            *([text, ""] if text else []),
            *([kept] if of_maps else []),
            f"In the report (waybench report {folder} --published): {table.report}",
            f"How far they can agree: {table.agreement}",
        ]
    )
