"""`waybench demo`: the embedded players on every family, and the report."""

from functools import partial
from pathlib import Path

import click

from waybench.cli._parameters import task_args
from waybench.cli._report import build
from waybench.cli._summary import level_tables
from waybench.core import plural, prepare_folder
from waybench.tasks import DEMO, DEMO_HORIZON, find_task, load_task

# Players that err at a rate, whose horizon can be computed.
SEARCHED = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")


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
    from waybench.analysis import read_logs, rows
    from waybench.analysis.horizons import searches
    from waybench.eval import check_folder, evaluate  # seconds to import

    check_folder(out)
    prepare_folder(out)
    entries = [(find_task(name), args) for name, args in DEMO.items()]
    chosen = [partial(load_task(entry), **task_args(entry, args)) for entry, args in entries]
    for number, player in enumerate(PLAYERS, start=1):
        click.echo(f"[{number}/{len(PLAYERS)}] waybench/{player} plays {', '.join(DEMO)}")
        evaluate(chosen, [f"waybench/{player}"], out)
    click.echo()
    click.echo(level_tables(read_logs(out)))
    click.echo(f"\nHorizons that are known by construction: {', '.join(SEARCHED)} on {DEMO_HORIZON[0]}")
    search = find_task(DEMO_HORIZON[0])
    searching = partial(load_task(search), **task_args(search, DEMO_HORIZON[1]))
    # Beside the others: a model's rows are not to be of different tasks in one table.
    folder = prepare_folder(out / search.name)
    evaluate([searching], [f"waybench/{player}" for player in SEARCHED], folder)
    episodes = list(read_logs(folder))
    assert search.horizon is not None and search.horizon.known is not None
    for found in searches(episodes, rows(episodes)):
        rate = float(found.group.model.rpartition("-")[2])
        known = search.horizon.known(rate)
        click.echo(f"  {found.group.model}: {found.text}; {plural(found.trials, 'episode')}; known: {known:.3g}")
    click.echo(f"\nreport: {build((out,), out / 'site', 'waybench demo')}")
