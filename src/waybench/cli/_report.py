"""`waybench report`: a static site out of logs."""

import os
from pathlib import Path

import click

from waybench.cli._run import prepare_folder

PRICES = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prices of models' tokens, as JSON, for the cost of each solved item.",
)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Where the site goes; DIR/site by default.")
@click.option("--title", default="waybench", show_default=True, help="The site's title.")
@PRICES
def report(folders: tuple[Path, ...], out: Path | None, title: str, prices: Path | None) -> None:
    """Write a site of the runs in some folders.

    It opens from a folder, with no server and no network.
    """
    click.echo(f"report: {build(folders, out or folders[0] / 'site', title, prices)}")


def build(folders: tuple[Path, ...], out: Path, title: str, prices: Path | None = None) -> Path:
    """Read the logs of some folders and write the site; return its first page."""
    from waybench.analysis import read_logs, read_prices
    from waybench.report import write_report

    known = read_prices(prices) if prices else None
    # Reading takes longest, and simulating what was read about as long as one process reads.
    processes = min(3, os.cpu_count() or 1)
    made = write_report(read_logs(*folders, processes=processes), prepare_folder(out), title=title, prices=known)
    if made.unconfirmed:
        click.echo(
            f"warning: {made.unconfirmed} of {made.episodes} episodes count in no number, for a new simulation of "
            "their records does not agree, or was not possible here; the models' pages say why",
            err=True,
        )
    return made.index
