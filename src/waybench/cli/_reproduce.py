"""`waybench reproduce`: a paper's tables and figures by their commands, beside the published numbers."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._options import argument, option, with_parameters
from waybench.cli._run import run
from waybench.cli._run_settings import RunSettings, parameter_combinations, plan_runs
from waybench.core import UsageError, WaybenchError, make_writable_folder, plural
from waybench.evaluation.tasks import TaskEntry, count_episodes, find_task
from waybench.evaluation.tasks._catalogue import check_playable
from waybench.results.papers import ATTEMPTS, SETS, Command, Paper, PaperTable, find_paper, find_table, papers

if TYPE_CHECKING:
    from waybench.results.results import Row

DEFAULT_OUT = Path("waybench-reproduce")
_EXAMPLES = """\b
waybench reproduce PAPER table-3 --dry-run
waybench reproduce PAPER table-3 --model openai/gpt-4o --limit 50
waybench reproduce PAPER table-3 --model hf/local -- -M model_path=./my-model
waybench reproduce --all --model waybench/oracle --limit 1"""


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a table, and whether it can run here.

    Attributes:
        words: The arguments of `waybench`.
        problem: What is missing; "" for nothing.
        is_for_user: Whether only the user can supply what is missing, such as a prompt.
        episodes: The number of episodes of each task that it runs; None where results decide.
    """

    command: Command
    words: list[str]
    problem: str = ""
    is_for_user: bool = False
    episodes: tuple[int | None, ...] = ()

    @property
    def text(self) -> str:
        """The command as a person types it."""
        return shlex.join(["waybench", *self.words])


@dataclass(frozen=True, slots=True)
class Entry:
    """A table or figure with its commands, and the folder of their results.

    Attributes:
        is_repeated: Whether its commands are those of an earlier table, whose results it shows.
    """

    paper: Paper
    table: PaperTable
    folder: Path
    steps: list[Step]
    is_repeated: bool = False


@click.command(epilog=_EXAMPLES)
@with_parameters
def reproduce(
    paper: str | None = argument(),
    table: str | None = argument(),
    options: tuple[str, ...] = argument("[-- RUN_OPTION...]"),
    models: tuple[str, ...] = option("Model, as provider/name; repeatable.", "--model", "-m"),
    every: bool = option("All tables and figures, of all papers or of PAPER.", "--all", default=False),
    out: Path | None = option(f"Log folder.  [default: {DEFAULT_OUT}/PAPER/TABLE, with --all {DEFAULT_OUT}]"),
    limit: int | None = option("Maximum items per level, instead of all published ones.", type=click.IntRange(min=1)),
    dry_run: bool = option("Print the commands without running them."),
) -> None:
    """List the papers' tables and figures, or make one of them or all.

    Without TABLE, the tables of a paper are listed; without PAPER, the papers. What follows -- are options of
    `waybench run`, such as the model's temperature. All commands are checked before the first request: one that
    cannot run here, for example since a program is not installed, is named and left out.
    """
    if every:
        words = [word for word in (paper, table, *options) if word is not None]
        paper = words.pop(0) if words and not words[0].startswith("-") else None
        if words and not words[0].startswith("-"):
            raise UsageError(f"--all: it runs all tables; leave out {words[0]}")
        options = tuple(words)
        sources = papers() if paper is None else (find_paper(paper),)
        papers_and_tables = [(source, shown_table) for source in sources for shown_table in source.tables]
    elif paper is None:
        for source in papers():
            count = plural(len(source.tables), "table or figure", "tables and figures")
            click.echo(f"{source.name:12} {source.title} ({source.source}); {count}")
        return
    elif table is None:
        click.echo(_paper_text(find_paper(paper)))
        return
    else:
        source = find_paper(paper)
        papers_and_tables = [(source, find_table(source, table))]
    run_options = [word for model in models or ("MODEL",) for word in ("--model", model)] + list(options)
    entries = _plan_entries(papers_and_tables, out, run_options, limit, in_one_folder=every)
    if dry_run:
        for entry in entries:
            for step in entry.steps if not entry.is_repeated else ():
                click.echo(step.text + (f"  # {step.command.by_hand}" if step.command.by_hand else ""))
        return
    if not models and any(command.tasks for _, shown_table in papers_and_tables for command in shown_table.commands):
        raise UsageError("no model: name one with --model, or see the commands with --dry-run")
    entries = [replace(entry, steps=[_check_step(step) for step in entry.steps]) for entry in entries]
    steps = [step for entry in entries if not entry.is_repeated for step in entry.steps]
    playable_steps = [step for step in steps if not step.problem]
    if not playable_steps and (problems := dict.fromkeys(step.problem for step in steps if not step.is_for_user)):
        raise UsageError("; ".join(problems))
    for step in steps:
        if step.problem:
            click.echo(f"left out: {step.text}: {step.problem}")
    if any(step.episodes for step in playable_steps):
        click.echo(_amount_text(playable_steps, len(models)))
    failed_names = [
        _entry_name(entry) for entry in entries if not _reproduce_entry(entry, may_raise=not every, has_title=every)
    ]
    if every:
        left_out = [_entry_name(entry) for entry in entries if any(step.problem for step in entry.steps)]
        ran = f"{plural(len(entries) - len(failed_names), 'table or figure', 'tables and figures')} of {len(entries)}"
        click.echo(f"\n{ran} ran to the end; with commands left out: {', '.join(left_out) or 'none'}")
    if failed_names:
        if every:
            click.echo(f"not complete: {', '.join(failed_names)}")
        sys.exit(1)


def _entry_name(entry: Entry) -> str:
    """Return the names of paper and table, such as "gtb table-3"."""
    return f"{entry.paper.name} {entry.table.id}"


def _plan_entries(
    papers_and_tables: Sequence[tuple[Paper, PaperTable]],
    out: Path | None,
    run_options: Sequence[str],
    limit: int | None,
    *,
    in_one_folder: bool,
) -> list[Entry]:
    """Return tables with their commands; commands that several tables share run once."""
    entries: list[Entry] = []
    for paper, table in papers_and_tables:
        shared_key = paper.name, table.commands
        earlier_entry = next(
            (entry for entry in entries if shared_key == (entry.paper.name, entry.table.commands)), None
        )
        if earlier_entry is not None:
            entries.append(replace(earlier_entry, table=table, is_repeated=True))
            continue
        folder = out or DEFAULT_OUT
        if out is None or in_one_folder:
            folder = folder / paper.name / table.id
        steps = [
            Step(command, _command_words(command, paper, table, folder, run_options, limit))
            for command in table.commands
        ]
        entries.append(Entry(paper, table, folder, steps))
    return entries


def _reproduce_entry(entry: Entry, *, may_raise: bool, has_title: bool) -> bool:
    """Run the commands of a table that can run, and print the table; return whether all of them finished."""
    if has_title:
        click.echo(f"\n## {_entry_name(entry)}: {entry.table.shows}")
    steps = [] if entry.is_repeated else [step for step in entry.steps if not step.problem]
    is_complete = _run_steps(steps, entry.folder, may_raise=may_raise)
    click.echo(f"\n{_result_text(entry.paper, entry.table, entry.folder)}")
    return is_complete


def _command_words(
    command: Command, paper: Paper, table: PaperTable, folder: Path, run_options: Sequence[str], limit: int | None
) -> list[str]:
    """Return the arguments of a paper's command, with the folder and the limit that the user gives."""
    if not command.tasks:
        default = (DEFAULT_OUT / paper.name / table.id).as_posix()
        return [word.replace(default, str(folder)) for word in shlex.split(command.line)[1:]]
    if limit:
        command = replace(command, parameters={**command.parameters, "limit": limit})
    return ["run", *command.arguments, *run_options]


def _check_step(step: Step) -> Step:
    """Return a step with its number of episodes, or with what is missing to run it here."""
    command = step.command
    if command.by_hand:
        return replace(step, problem=command.by_hand, is_for_user=True)
    if missing := [name for name in command.needs if not os.path.exists(name)]:
        return replace(step, problem=f"write {', '.join(missing)} first", is_for_user=True)
    try:
        runs = _planned_runs(step.words[1:]) if command.tasks else []
        for entry, args in runs:
            check_playable(entry, args)
        return replace(step, episodes=tuple(count_episodes(entry, args) for entry, args in runs))
    except WaybenchError as error:
        return replace(step, problem=str(error))
    except click.ClickException as error:
        return replace(step, problem=error.format_message())


def _planned_runs(words: Sequence[str]) -> list[tuple[TaskEntry, dict[str, Any]]]:
    """Return the tasks of a `waybench run` command with their arguments, checked as the command does."""
    from waybench.evaluation._provider import check_player_exists  # seconds to import

    settings = RunSettings(**run.make_context("waybench run", list(words)).params)
    settings.evaluate_arguments()  # which refuses unfit values
    parameters = settings.task_parameters(None)
    entries = [*map(find_task, dict.fromkeys(settings.tasks))]
    runs, _ = plan_runs(entries, parameters, parameter_combinations(settings.each, parameters), settings.prices)
    for model in settings.models:
        if model.startswith("waybench/"):
            check_player_exists(model.removeprefix("waybench/"), [env for entry, _ in runs for env in entry.envs])
    return runs


def _amount_text(steps: Sequence[Step], n_models: int) -> str:
    """Return the number of episodes to run, in words."""
    counts = [count for step in steps for count in step.episodes]
    episodes = sum(count or 0 for count in counts)
    count = plural(episodes, "episode")
    if None in counts:
        count = f"{count} and more" if episodes else "an unknown number of episodes"
    runs_text = f"in {plural(len(counts), 'run')} of tasks, for each of {plural(n_models, 'model')}"
    return f"{count} {runs_text}; an episode takes a request at least"


def _run_steps(steps: Sequence[Step], folder: Path, *, may_raise: bool) -> bool:
    """Run commands one after the other; return whether all of them finished.

    Raises:
        WaybenchError: If the first one fails before anything is run and `may_raise`.
    """
    is_complete = True
    for index, step in enumerate(steps):
        click.echo(f"\n$ {step.text}")
        for name, text in step.command.files.items():
            make_writable_folder(folder).joinpath(name).write_text(text, encoding="utf-8")
        try:
            is_complete &= not _run_step(step, folder)
        except (WaybenchError, click.ClickException) as error:
            if may_raise and not index:
                raise
            message = error.format_message() if isinstance(error, click.ClickException) else str(error)
            click.echo(f"left out: {step.text}: {message}")
            is_complete = False
    return is_complete


def _run_step(step: Step, folder: Path) -> int:
    """Run a command in this process; return its exit status."""
    try:
        words = [*step.words, "--out", str(folder)] if step.command.tasks else step.words
        waybench = click.get_current_context().find_root().command
        return waybench.main(words, prog_name="waybench", standalone_mode=False) or 0
    except SystemExit as exit_error:
        return int(bool(exit_error.code))


def _paper_text(paper: Paper) -> str:
    """Return the title of a paper and a list of its tables."""
    lines = [f"{paper.title} ({paper.source})", "", *paper.about.splitlines(), ""]
    lines += [f"{table.id:12} {table.shows}" for table in paper.tables]
    return "\n".join([*lines, "", f"waybench reproduce {paper.name} TABLE --model MODEL makes one of them."])


def _result_text(paper: Paper, table: PaperTable, folder: Path) -> str:
    """Return a table of the runs in a folder beside the published numbers."""
    from waybench.results import by_level, overall, read_logs
    from waybench.results.estimates._difficulty import spreads_over_attempts, spreads_over_sets
    from waybench.results.published import match_published, published_text
    from waybench.results.results import measure_episodes

    rows: Sequence[Row] = ()
    if any(folder.glob("**/*.eval")):
        _, rows = measure_episodes(
            read_logs(folder, on_problem=lambda _: None), on_problem=lambda _: None, confirm=True
        )
    levels = by_level(rows)
    spreads = {SETS: spreads_over_sets(levels), ATTEMPTS: spreads_over_attempts(rows)}
    text = published_text(match_published(levels, overall(rows), [(paper, table)], spreads), table.numbers)
    n_map_numbers = sum(bool(row.cluster) for block in table.published for row in block.rows)
    lines = [text, ""] if text else []
    if n_map_numbers:
        count = plural(n_map_numbers, "published number")
        lines.append(f"{count} of single maps: see data/published.csv of the report.")
    lines.append(f"In the report{f' (waybench report {folder} --published)' if rows else ''}: {table.report}")
    return "\n".join([*lines, f"How far they can agree: {table.agreement}"])
