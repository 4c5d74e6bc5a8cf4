"""`waybench report`: a static site out of logs."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from waybench.cli._output import skipped_warning, tell_skipped, to_stderr

PRICES = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prices of models' tokens, as JSON, for the cost of each solved item.",
)

# Reading takes longest, and simulating what was read about as long as one process reads.
PROCESSES = min(3, os.cpu_count() or 1)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR|FILE...")
@click.option(
    "--out", "-o", type=click.Path(path_type=Path), help="Where the site goes; DIR/site by default, or beside FILE."
)
@click.option("--title", default="waybench", show_default=True, help="The site's title.")
@PRICES
def report(folders: tuple[Path, ...], out: Path | None, title: str, prices: Path | None) -> None:
    """Write a site of the runs in some folders, and of what people played.

    DIR is a folder of logs. FILE has records of `waybench play --record`, one JSON object a line; such files (*.jsonl,
    *.jsonl.gz) are also found in the folders. The site opens from a folder, with no server and no network.
    """
    click.echo(f"report: {build(folders, out or site_beside(folders[0]), title, prices)}")


def site_beside(first: Path) -> Path:
    """Return where a site goes if the user does not say: into the first folder, or beside the first file."""
    return (first.parent if first.is_file() else first) / "site"


def build(
    folders: tuple[Path, ...],
    out: Path,
    title: str,
    prices: Path | None = None,
    *,
    tell: Callable[[str], None] = to_stderr,
    processes: int = PROCESSES,
) -> Path:
    """Read the logs of some folders and write the site; return its first page.

    Args:
        folders: The folders, and files of records.
        out: Where the site goes.
        title: The site's title.
        prices: A file with the prices of models' tokens.
        tell: Is given lines on what the user should know of the logs; by default stderr is.
        processes: In how many processes large runs are read ahead.
    """
    from waybench.analysis import read_logs
    from waybench.analysis.formatting import one_line
    from waybench.analysis.logs import Skipped
    from waybench.core import WaybenchError, plural, prepare_folder, read_prices
    from waybench.reporting import write_report

    known = read_prices(prices) if prices else None
    passed_over: list[Skipped] = []
    found = read_logs(*folders, on_problem=passed_over.append, processes=processes)
    try:
        made = write_report(found, prepare_folder(out), title=title, prices=known, passed_over=passed_over)
    except WaybenchError:  # such as that there is no episode, which what was passed over explains
        tell_skipped(passed_over, tell)
        raise
    tell_skipped(made.passed_over, tell)
    if made.passed_over:
        tell(f"{skipped_warning(made.passed_over)}; {out / 'summary.json'} names all")
    episodes = plural(made.episodes, "episode")
    if made.unconfirmed:
        tell(
            f"warning: {made.unconfirmed} of {episodes} left out of all numbers, for a new simulation of the records "
            "does not agree; the models' pages say why"
        )
    if made.unfinished:
        tell(f"note: {made.unfinished} of {episodes} excluded (unfinished): the player quit, or the replies ran out")
    for reason, count in made.not_simulated.items():
        tell(
            f"note: {count} of {episodes} not simulated again ({reason}); their recorded values count, and the pages "
            "mark them"
        )
    if made.unpriced:
        tell(
            f"no price in {prices} for {', '.join(one_line(name, 80) for name in made.unpriced)}; `waybench prices` "
            "prints a table to fill in"
        )
    return made.index
