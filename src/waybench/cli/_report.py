"""`waybench report`: a static site out of logs."""

import json
from pathlib import Path

import click

from waybench.cli._run import prepare_folder


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Where the site goes; DIR/site by default.")
@click.option("--title", default="waybench", show_default=True, help="The site's title.")
def report(folders: tuple[Path, ...], out: Path | None, title: str) -> None:
    """Write a site of the runs in some folders.

    It opens from a folder, with no server and no network.
    """
    click.echo(f"report: {build(folders, out or folders[0] / 'site', title)}")


def build(folders: tuple[Path, ...], out: Path, title: str) -> Path:
    """Read the logs of some folders and write the site; return its first page."""
    from waybench.analysis import read_logs
    from waybench.report import write_report

    episodes = list(read_logs(*folders))
    index = write_report(episodes, prepare_folder(out), title=title)
    summary = json.loads((index.parent / "summary.json").read_text(encoding="utf-8"))
    if count := sum(total["unconfirmed"] for total in summary["overall"]):
        click.echo(
            f"warning: {count} of {len(episodes)} episodes count in no number, for a new simulation of their records "
            "does not agree, or was not possible here; the models' pages say why",
            err=True,
        )
    return index
