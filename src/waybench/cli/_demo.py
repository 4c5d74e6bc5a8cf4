"""`waybench demo`: the embedded players on every family, and the report."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from waybench.cli._report import build
from waybench.cli._run import prepare_folder, summary, task_args
from waybench.core import plural
from waybench.tasks import find_task, load_task

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
# Players of the mazes that make errors at a rate, in a single plan: how far they reach can be worked out.
SEARCH = "horizon_maze"
SEARCH_ARGS: dict[str, Any] = {"requests": 1, "hardest": 41, "precision": 0.2, "batch": 10}
SEARCHED = ("noisy-0.1", "noisy-0.05", "noisy-0.02")
PLAYERS = ("null", "random", "heuristic", "noisy-0.1", "oracle")


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("waybench-demo"), show_default=True, help="Logs go here."
)
def demo(out: Path) -> None:
    """Let the embedded players play, without a key or a network, and write the report."""
    from waybench.analysis import read_logs, rows
    from waybench.analysis.horizons import searches
    from waybench.envs.maze import known_horizon
    from waybench.eval import check_folder, evaluate  # seconds to import

    check_folder(out)
    prepare_folder(out)
    entries = [(find_task(name), args) for name, args in TASKS.items()]
    chosen = [partial(load_task(entry), **task_args(entry, args)) for entry, args in entries]
    for number, player in enumerate(PLAYERS, start=1):
        click.echo(f"[{number}/{len(PLAYERS)}] waybench/{player} plays {', '.join(TASKS)}")
        evaluate(chosen, [f"waybench/{player}"], out)
    click.echo()
    click.echo(summary(read_logs(out)))
    click.echo(f"\nHow far players reach whose horizon is known by construction: {', '.join(SEARCHED)} at {SEARCH}")
    searching = partial(load_task(find_task(SEARCH)), **task_args(find_task(SEARCH), SEARCH_ARGS))
    # Beside the others: a model's rows are not to be of different tasks in one table.
    folder = prepare_folder(out / SEARCH)
    evaluate([searching], [f"waybench/{player}" for player in SEARCHED], folder)
    episodes = list(read_logs(folder))
    horizon = find_task(SEARCH).horizon
    assert horizon is not None
    for found in searches(episodes, rows(episodes)):
        rate = float(found.group.model.rpartition("-")[2])
        known = known_horizon(rate, horizon.levels)
        click.echo(f"  {found.group.model}: {found.text}; {plural(found.trials, 'episode')}; known: {known:.3g}")
    click.echo(f"\nreport: {build((out,), out / 'site', 'waybench demo')}")
