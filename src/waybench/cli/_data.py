"""`waybench data`: public data sets, their copies and their download."""

import os
from pathlib import Path

import click

from waybench.cli._options import argument, option, with_parameters
from waybench.core import DataError, DataFile, Download, UsageError, plural
from waybench.data import downloads, fetch, find_download, folder

_DATA_DIR = option("Folder with data sets.  [default: $WAYBENCH_DATA, then the cache]")


@click.group("data", invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List and download public data sets.

    Data sets are downloaded from their authors' sites and checked by SHA-256; the authors' licence applies.
    A task needs one only to play the published instances.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@data.command("list", short_help="List the data sets and their locations.")
@with_parameters
def list_(
    data_dir: Path | None = _DATA_DIR,
) -> None:
    """List the data sets with their licences, sizes and locations."""
    for wanted in downloads().values():
        facts = f"licence: {wanted.licence}; {_contents(wanted)}, {wanted.home}"
        click.echo(f"{wanted.name}  {wanted.title}; {facts}")
        click.echo(f"{'':{len(wanted.name)}}  {_whereabouts(wanted, data_dir)}")


@data.command("fetch", short_help="Download data sets.")
@with_parameters
def fetch_(
    names: tuple[str, ...] = argument("NAME...", required=True),
    to: Path | None = option(
        "Parent folder of the data sets' folders.  [default: $WAYBENCH_CACHE, or the user's cache]"
    ),
) -> None:
    """Download data sets from their authors' sites; existing files are kept.

    To download from a mirror, set $WAYBENCH_DATA_MIRROR to the address under which the files are, as NAME/FILE.
    """
    for wanted in [find_download(name) for name in dict.fromkeys(names)]:  # a wrong name ends it before any download
        _fetch(wanted, to)


@data.command("path", short_help="Print the folder of a data set.")
@with_parameters
def path_(
    name: str = argument(),
    data_dir: Path | None = _DATA_DIR,
) -> None:
    """Check all files of data set NAME and print its folder."""
    click.echo(os.fsencode(folder(name, data_dir)))  # as it is, for other programs, even where it is not valid text


def _fetch(wanted: Download, to: Path | None) -> None:
    kept = 0

    def progress(file: DataFile, downloaded: bool) -> None:
        nonlocal kept
        if downloaded:
            click.echo(f"{wanted.name}/{file.path} ({_size(file.size)})", err=True)
        else:
            kept += 1

    home = fetch(wanted.name, to, progress)
    were_there = f"; {kept} of them existed already" if kept else ""
    click.echo(f"{wanted.name}: {_contents(wanted)} in {click.format_filename(home)}{were_there}")


def _whereabouts(wanted: Download, data_dir: Path | None) -> str:
    try:
        return f"in {click.format_filename(folder(wanted.name, data_dir))}"
    except UsageError:
        return "missing or incomplete"
    except DataError as error:
        return f"damaged: {click.format_filename(str(error))}"


def _contents(wanted: Download) -> str:
    return f"{plural(len(wanted.files), 'file')}, {_size(wanted.size)}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
