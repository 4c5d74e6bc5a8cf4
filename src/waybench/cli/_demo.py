"""`waybench demo`: the embedded players on every family, and the report."""

from functools import partial
from pathlib import Path

import click

from waybench.cli._output import to_stderr
from waybench.cli._parameters import task_args
from waybench.cli._report import build
from waybench.cli._report_progress import ReportProgress
from waybench.core import plural, prepare_folder
from waybench.tasks import DEMO, DEMO_HORIZON, find_task, load_task

# Players that err at a rate, whose horizon can be computed.
SEARCHED = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")
INTRODUCTION = """\
Normalised scores: 0 is the score of a player that says nothing useful, 100 the best score there is.
The players are waybench's own, from null, which replies nothing, to oracle, which plays perfectly.
"""


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("waybench-demo"),
    show_default=True,
    help="Folder for the logs.",
)
def demo(out: Path) -> None:
    """Run the embedded players on some tasks and write the report. No API key or network is needed."""
    from waybench.analysis.estimates import matrix, matrix_text
    from waybench.eval import check_folder, evaluate  # seconds to import

    check_folder(out)
    prepare_folder(out)
    click.echo(INTRODUCTION)
    to_stderr(f"demo: {plural(len(PLAYERS), 'player')} on {', '.join(DEMO)}, {len(SEARCHED)} on {DEMO_HORIZON[0]}")
    entries = [(find_task(name), args) for name, args in DEMO.items()]
    chosen = [partial(load_task(entry), **task_args(entry, args)) for entry, args in entries]
    evaluate(chosen, [f"waybench/{player}" for player in PLAYERS], out)
    search = find_task(DEMO_HORIZON[0])
    searching = partial(load_task(search), **task_args(search, DEMO_HORIZON[1]))
    # Beside the others: a model's rows are not to be of different tasks in one table.
    folder = prepare_folder(out / search.name)
    evaluate([searching], [f"waybench/{player}" for player in SEARCHED], folder)
    with ReportProgress() as progress:
        report = build((out,), out / "site", "waybench demo", progress=progress)
    click.echo(matrix_text(matrix(report.rows)))
    click.echo(f"\nHorizons on {search.name}, with the horizon that is known by construction:")
    for line in _horizons(folder):
        click.echo(f"  {line}")
    click.echo(f"\nreport: {report.index}")


def _horizons(folder: Path) -> list[str]:
    """Return a line for each player's search: the horizon that it found and the one that is known."""
    from waybench.analysis import read_logs
    from waybench.analysis.horizons import reference_text, searches
    from waybench.analysis.logs import Skipped
    from waybench.analysis.results import measurable

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
