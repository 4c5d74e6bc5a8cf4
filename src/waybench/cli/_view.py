"""`waybench view`: the report, served on this machine while a run goes on."""

import os
import shlex
import threading
import webbrowser
from functools import partial
from pathlib import Path

import click

from waybench.cli._options import FiniteRange, check_there, is_copy, log_places, option, with_parameters
from waybench.cli._output import to_stderr
from waybench.cli._report import PRICES, build, site_beside
from waybench.core import WaybenchError, prepare_folder, read_prices
from waybench.evaluation.tasks import TASKS
from waybench.reporting.view import Outcome, address, listen, new_token, serve


@click.command()
@with_parameters
def view(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    out: Path | None = option("Folder for the site; by default as for `waybench report`.", "--out", "-o"),
    title: str = option("Title of the site.", default="waybench"),
    prices: Path | None = PRICES,
    port: int | None = option(
        "Port of the server; by default 7575, or the next free one.", type=click.IntRange(0, 65535)
    ),
    every: float = option("Minimum seconds between two builds.", type=FiniteRange(min=0.1), default=5),
    open_browser: bool = option("Open the page in the browser.", "--open"),
) -> None:
    """Serve a live report of the runs in some folders, and of people's records.

    It writes the same site as `waybench report` and serves it on this machine only. When the logs change, it
    rebuilds the site, and open pages reload. The address has a token, which keeps out other users of this machine.
    Press Ctrl-C to stop.
    """
    if prices:
        read_prices(prices)  # an error in it is shown now, and not by every build
    check_there(folders, "; to start before the run, create the folder first")
    site = prepare_folder(out or site_beside(folders[0]))
    if any(map(is_copy, folders)):
        to_stderr("view: logs at a URL are copied once; start again to see newer ones")
    listener, token = listen(port), new_token()
    url = address(listener, token)
    click.echo(f"view: {url} (press Ctrl-C to stop)")
    if open_browser:
        threading.Thread(target=_open, args=(url,), daemon=True).start()
    serve(
        partial(build_once, folders, site, title, prices),
        listener,
        site,
        folders,
        token=token,
        title=title,
        start=_start(folders[0]),
        every=every,
        tell=to_stderr,
    )


def build_once(
    folders: tuple[Path, ...],
    site: Path,
    title: str,
    prices: Path | None = None,
    *,
    replays: frozenset[str] = frozenset(),
) -> Outcome:
    """Build the site and say what became of it; this is called in a process of its own.

    Args:
        folders: The folders with logs.
        site: The site's folder.
        title: Its title.
        prices: A file with the prices of models' tokens.
        replays: File names of pages of replays that somebody has opened.
    """
    from waybench.results.logs import NoEpisodesError

    notes: list[str] = []
    try:
        # No further processes: this one may be ended at any time, and they would be left.
        build(folders, site, title, prices, tell=notes.append, processes=1, also_replays=replays)
    except WaybenchError as error:
        return Outcome(tuple(notes), " ".join(str(error).split()), empty=isinstance(error, NoEpisodesError))
    return Outcome(tuple(notes))


def _start(folder: Path) -> dict[str, str]:
    models = {
        "Run a hosted model, with its API key in an environment variable:": "openai/gpt-4o",
        "Or run an embedded player, which needs no API key or network:": "waybench/noisy-0.3",
    }
    out = shlex.quote(str(folder.parent if os.path.isfile(folder) else folder))
    return {what: f"waybench run {TASKS[0].name} --model {model} --out {out}" for what, model in models.items()}


def _open(url: str) -> None:
    if not webbrowser.open(url):
        to_stderr(f"no browser found: open {url} yourself")
