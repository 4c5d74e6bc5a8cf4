"""`waybench demo`: the embedded players on every family, and the report."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from waybench.cli._options import option, with_parameters
from waybench.cli._output import to_stderr
from waybench.cli._parameters import task_args
from waybench.cli._progress import ReportProgress
from waybench.cli._report import build
from waybench.core import LOCAL_MODELS, PROCESSES, Json, plural, prepare_folder, spread
from waybench.evaluation.tasks import DEMO, DEMO_HORIZON, DEMO_MODEL, find_task, load_task

# Players that err at a rate, whose horizon can be computed.
SEARCHED = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")
MOST_TOKENS = 64  # of a reply of a language model: a minute or two for all of them
INTRODUCTION = """\
Normalised scores: 0 is the floor (empty or constant replies), 100 the ceiling; below 0 is worse.
The players are waybench's own, from null, which replies nothing, to oracle, which plays perfectly.
"""


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
    from waybench.evaluation import check_folder, check_player, evaluate  # seconds to import
    from waybench.results.estimates import matrix, matrix_text

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
        evaluate(_tasks({name: args}), [f"waybench/{player}" for player in players], prepare_folder(out / name))

    with spread(play, len(plays), PROCESSES) as done:
        list(done)
    if model is not None:
        to_stderr(f"demo: {model} on {', '.join(DEMO_MODEL)}; this takes a minute or two")
        own = prepare_folder(out / model)
        evaluate(_tasks(DEMO_MODEL), [f"waybench/{model}"], own, config={"max_tokens": MOST_TOKENS})
    with ReportProgress() as progress:
        report = build((out,), out / "site", "waybench demo", progress=progress)
    click.echo(matrix_text(matrix(report.rows)))
    click.echo(f"\nHorizons on {DEMO_HORIZON[0]}, with the horizon that is known by construction:")
    for line in _horizons(out / DEMO_HORIZON[0]):
        click.echo(f"  {line}")
    click.echo(f"\nreport: {report.index}")


def _tasks(named: Mapping[str, dict[str, Json]]) -> list[Callable[[], Any]]:
    """Return functions that make tasks.

    Args:
        named: Name -> parameters.
    """
    entries = [(find_task(name), args) for name, args in named.items()]
    return [partial(load_task(entry), **task_args(entry, args)) for entry, args in entries]


def _horizons(folder: Path) -> list[str]:
    """Return a line for each player's search: the horizon that it found and the one that is known."""
    from waybench.results import read_logs
    from waybench.results.horizons import reference_text, searches
    from waybench.results.logs import Skipped
    from waybench.results.results import measurable

    known = find_task(DEMO_HORIZON[0]).horizon
    assert known is not None and known.known is not None
    skipped: list[Skipped] = []  # the report has named them
    lines: list[str] = []
    references = ""
    for found in searches(*measurable(read_logs(folder, on_problem=skipped.append), on_problem=skipped.append)):
        player = found.group.model.removeprefix("waybench/")
        if player in SEARCHED:
            rate = float(player.rpartition("-")[2])
            lines.append(f"{player}: {found.text}; {plural(found.trials, 'episode')}; known: {known.known(rate):.3g}")
            references = reference_text(found.references)
    return [*lines, references]
