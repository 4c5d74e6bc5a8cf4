"""`waybench demo`: the embedded players on every family, and the report."""

from pathlib import Path
from typing import Any

import click

from waybench.cli._report import build
from waybench.cli._run import evaluate, prepare_folder, summary, task_args, task_entry

# Small enough for a minute, large enough that the players part.
TASKS: dict[str, dict[str, Any]] = {"alicia": {"max_dimension": 13}}
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("waybench-demo"), show_default=True, help="Logs go here."
)
def demo(out: Path) -> None:
    """Let the embedded players play, without a key or a network, and write the report."""
    prepare_folder(out)
    chosen = [(entry, task_args(entry, args)) for entry, args in ((task_entry(name), TASKS[name]) for name in TASKS)]
    for number, player in enumerate(PLAYERS, start=1):
        click.echo(f"[{number}/{len(PLAYERS)}] waybench/{player} plays {', '.join(TASKS)}")
        evaluate(chosen, [f"waybench/{player}"], out)
    click.echo()
    click.echo(summary(out))
    click.echo(f"\nreport: {build((out,), out / 'site', 'waybench demo')}")
