"""`waybench demo`: the embedded players on every family, and the report."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from waybench.cli._report import build
from waybench.cli._run import prepare_folder, summary, task_args, task_entry
from waybench.tasks import load_task

# Small enough for a minute, large enough that the players part.
TASKS: dict[str, dict[str, Any]] = {
    "alicia": {"max_dimension": 13},
    "aqa": {"limit": 5},
    # In "paper", who says nothing has no success at all, and so no number.
    "mango_destination": {"level": 2, "worlds": 3, "limit": 6, "protocol": "sound"},
    "mango_route": {"level": 2, "worlds": 3, "limit": 6, "protocol": "sound"},
    "gtb": {"limit": 5},
    # Otherwise saying nothing is taken for the first action.
    "smartplay": {"limit": 4, "protocol": "sound", "wording": "one_question", "crafter_steps": 60},
}
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("waybench-demo"), show_default=True, help="Logs go here."
)
def demo(out: Path) -> None:
    """Let the embedded players play, without a key or a network, and write the report."""
    prepare_folder(out)
    from waybench.analysis import read_logs
    from waybench.llm import evaluate  # seconds to import

    entries = [(task_entry(name), args) for name, args in TASKS.items()]
    chosen = [partial(load_task(entry), **task_args(entry, args)) for entry, args in entries]
    for number, player in enumerate(PLAYERS, start=1):
        click.echo(f"[{number}/{len(PLAYERS)}] waybench/{player} plays {', '.join(TASKS)}")
        evaluate(chosen, [f"waybench/{player}"], out)
    click.echo()
    click.echo(summary(read_logs(out)))
    click.echo(f"\nreport: {build((out,), out / 'site', 'waybench demo')}")
