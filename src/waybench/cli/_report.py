"""`waybench report`, `view`, `prices` and `profile`: a site of logs, its live form, prices, and abilities of models."""

import os
import shlex
import shutil
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waybench.cli._options import (
    ADDRESS,
    JSON_FILE,
    PRICE,
    PRICES,
    WORKERS,
    FiniteRange,
    chosen_workers,
    is_copy_of_url,
    log_places,
    option,
    require_folders,
    same_option,
    with_parameters,
)
from waybench.cli._output import print_skipped, skipped_warning, to_stderr, write_json
from waybench.cli._progress import ReportProgress
from waybench.core import (
    PROCESSES,
    Prices,
    UsageError,
    WaybenchError,
    Workers,
    load_prices,
    make_writable_folder,
    plural,
)
from waybench.core._tokens import price_list_version
from waybench.evaluation.tasks import TASKS

if TYPE_CHECKING:
    from waybench.reporting._write import Progress, Report
    from waybench.reporting.view._serve import BuildOutcome

TITLE = option("Title of the site.", default="waybench")

ALL_REPLAYS = -1


def _read_replay_limit(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return the limit of --replays: `ALL_REPLAYS` for "all", None for the default."""
    if value is None or value == "all":
        return None if value is None else ALL_REPLAYS
    if not (value.isascii() and value.isdigit()):
        raise click.BadParameter(f"{value!r} is neither `all` nor a number from 0", ctx, param)
    return int(value)


@click.command()
@with_parameters
def report(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    out: Path | None = option(
        "Folder for the site; DIR/site by default, or a folder `site` beside FILE.", "--out", "-o"
    ),
    title: str = TITLE,
    prices: Path | None = same_option(PRICES),
    price: tuple[str, ...] = same_option(PRICE, default=()),
    published: bool = option("Show the papers' rows beside the results, marked as not run here."),
    models: Path | None = option(
        "Names, sizes, dates and series of models, as TOML, for charts against size and date.", metavar="FILE"
    ),
    png: bool = option("Also write each chart as a PNG; SVG files are always written."),
    replays: int | None = option(
        "Pages of replays: all, or at most NUMBER for each model and task. By default all for up to 1,000 episodes, "
        "and 1 to 20 for each model and task beyond that; `waybench view` makes the others when you open them.",
        callback=_read_replay_limit,
        type=str,
        metavar="all|NUMBER",
    ),
    executor_name: str | None = WORKERS,
    address: str = ADDRESS,
) -> None:
    """Write a static report site for the runs in some folders, and for people's records.

    DIR is a folder of logs, and URL one elsewhere (s3://bucket/folder). FILE is a file of records from `waybench play
    --record`; such files (*.jsonl, *.jsonl.gz) are also found in the folders. Open the site's index.html in a browser;
    it needs no server or network.
    """
    with ReportProgress() as progress:
        site = build_report(
            folders,
            out or default_site_folder(folders[0]),
            title,
            load_prices(prices, price),
            models,
            published=published,
            png=png,
            progress=progress,
            most_replays=replays,
            workers=chosen_workers(executor_name, address),
        ).index
    click.echo(f"report: {site}")


def default_site_folder(first: Path) -> Path:
    """Return the folder of the site if --out is not given: in the first folder, or beside the first file."""
    if is_copy_of_url(first):
        raise UsageError("the logs are at a URL: say with --out in which folder of this machine the site goes")
    return (first.parent if os.path.isfile(first) else first) / "site"


def build_report(
    folders: tuple[Path, ...],
    out: Path,
    title: str,
    prices: Prices | None = None,
    models: Path | None = None,
    *,
    published: bool = False,
    png: bool = False,
    tell: Callable[[str], None] = to_stderr,
    processes: int = PROCESSES,
    progress: "Progress | None" = None,
    most_replays: int | None = None,
    also_replays: frozenset[str] = frozenset(),
    workers: Workers | None = None,
) -> "Report":
    """Read the logs of some folders, write the report's site into `out`, and return the report.

    `prices` are list prices by default, `models` is the file of `waybench report --models`, and `published` shows rows
    of the papers beside the results. `tell` receives lines on what the user should know of the logs. Large runs are
    read ahead and pages made in `processes`. Replays have pages: at most `most_replays` of each model at a task
    (`ALL_REPLAYS` for all; by default all in a report that is not large), and those with the file names
    `also_replays`. `workers` simulate the episodes; by default the processes do.
    """
    if processes > 1:
        # Matrix products of several processes with several threads each get into each other's way.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from waybench.data import cache_folder
    from waybench.reporting import read_models, write_report
    from waybench.reporting._cache import inputs_key, open_cache
    from waybench.reporting._replays import Replays
    from waybench.reporting._write import no_progress, unchanged_report
    from waybench.results.logs import EpisodeBatches, Skipped
    from waybench.results.papers import papers

    require_folders(folders)
    price_table = load_prices() if prices is None else prices
    model_table = read_models(models) if models else None
    skipped: list[Skipped] = []
    cache = open_cache(cache_folder() / "reports", make_writable_folder(out))
    replays = Replays(most_replays, most_replays == ALL_REPLAYS, also_replays)
    report_key = inputs_key(
        folders,
        out,
        title,
        price_table,
        price_list_version(),
        model_table,
        published,
        png,
        replays.most,
        sorted(replays.also),
    )
    try:
        report = unchanged_report(out, cache, report_key) or write_report(
            EpisodeBatches(*folders, on_problem=skipped.append, cache=cache),
            out,
            workers=workers,
            title=title,
            prices=price_table,
            models=model_table,
            passed_over=skipped,
            published=papers() if published else (),
            png=png,
            processes=processes,
            progress=progress or no_progress,
            kept=cache,
            key=report_key,
            replays=replays,
        )
    except WaybenchError:  # such as that there is no episode, which the skipped files explain
        print_skipped(skipped, tell)
        raise
    print_skipped(report.passed_over, tell)
    _print_report_notes(report, out, models, tell)
    return report


def _print_report_notes(report: "Report", out: Path, models: Path | None, tell: Callable[[str], None]) -> None:
    """Tell which results are not in a report, and what files of prices and models lack."""
    from waybench.results.formatting import one_line

    if report.passed_over:
        tell(f"{skipped_warning(report.passed_over)}; {out / 'summary.json'} lists them all")
    episodes = plural(report.episodes, "episode")
    if report.unconfirmed:
        tell(
            f"warning: {report.unconfirmed} of {episodes} excluded from all results: re-simulation does not confirm "
            "their records; the models' pages say why"
        )
    if report.unfinished:
        tell(
            f"note: {report.unfinished} of {episodes} excluded (unfinished): the player quit, or the replies ran out: "
            "give more replies, or -O requests=1 where the environment has it"
        )
    for reason, count in report.not_simulated.items():
        tell(
            f"note: {count} of {episodes} could not be re-simulated ({reason}); their recorded values count, and the "
            "pages mark them"
        )
    if report.unpriced:
        tell(
            f"no price for {', '.join(one_line(name, 80) for name in report.unpriced)}; print a table to fill in with "
            "`waybench prices`"
        )
    if report.unlisted:
        tell(f"not in {models}: {', '.join(one_line(name, 80) for name in report.unlisted)}")


@click.command(epilog="waybench prices waybench-out > prices.json")
@with_parameters
def prices(
    folders: tuple[Path, ...] = log_places("DIR|URL"),
    price_file: Path | None = option("Existing price table; its prices are kept.", "--prices", metavar="FILE"),
) -> None:
    """Print a JSON price table for the models of the runs in some folders.

    It has the list prices that are known, in dollars per million tokens: of requests (input), of replies (output) and
    of requests read from a cache. Replace each null; a model with nulls has no cost. Pass the file to commands with
    --prices.
    """
    from waybench.core._tokens import price_table_json
    from waybench.results.logs._logs import logged_models

    models = logged_models(*folders)
    if not models:
        folder_names = ", ".join(map(str, folders))[:200]
        raise UsageError(
            f"no model to price in {folder_names}: it has no logs, or those of embedded players, which cost nothing"
        )
    list_prices = load_prices()
    if source_note := list_prices.source_note(models):
        to_stderr(source_note)
    click.echo(price_table_json(models, price_file, list_prices))


@click.command()
@with_parameters
def view(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    out: Path | None = option("Folder for the site; by default as for `waybench report`.", "--out", "-o"),
    title: str = TITLE,
    prices: Path | None = same_option(PRICES),
    price: tuple[str, ...] = same_option(PRICE, default=()),
    port: int | None = option(
        "Port of the server; by default 7575, or the next free one.", type=click.IntRange(0, 65535)
    ),
    every: float = option("Minimum seconds between two builds.", type=FiniteRange(min=0.1), default=5),
    open_browser: bool = option("Open the page in the browser.", "--open"),
) -> None:
    """Serve a live report of the runs in some folders, and of people's records.

    It writes the same site as `waybench report --png` and serves it on this machine only. When the logs change, it
    rebuilds the site, and open pages reload. The address has a token, which keeps out other users of this machine.
    Press Ctrl-C to stop.
    """
    from waybench.reporting.view._serve import address_with_token, new_token, open_listener, serve

    price_table = load_prices(prices, price)  # an error in it is shown now, and not by every build
    require_folders(folders, "; to start before the run, create the folder first")
    site = make_writable_folder(out or default_site_folder(folders[0]))
    if any(map(is_copy_of_url, folders)):
        to_stderr("view: logs at a URL are copied once; start again to see newer ones")
    listener, token = open_listener(port), new_token()
    url = address_with_token(listener, token)
    click.echo(f"view: {url} (press Ctrl-C to stop)")
    if open_browser:
        threading.Thread(target=open_page, args=(url,), daemon=True).start()
    serve(
        partial(build_live_site, folders, site, title, price_table),
        listener,
        site,
        folders,
        token=token,
        title=title,
        start=_first_commands(folders[0]),
        every=every,
        tell=to_stderr,
    )


def build_live_site(
    folders: tuple[Path, ...],
    site: Path,
    title: str,
    prices: Prices | None = None,
    *,
    replays: frozenset[str] = frozenset(),
) -> "BuildOutcome":
    """Build the site with charts as PNG, and return what the live server needs; called in a process of its own."""
    from waybench.reporting.view._serve import BuildOutcome
    from waybench.results.logs._logs import NoEpisodesError

    notes: list[str] = []
    try:
        # No further processes: this one may be ended at any time, and they would be left.
        build_report(folders, site, title, prices, png=True, tell=notes.append, processes=1, also_replays=replays)
    except WaybenchError as error:
        return BuildOutcome(tuple(notes), " ".join(str(error).split()), empty=isinstance(error, NoEpisodesError))
    return BuildOutcome(tuple(notes))


def _first_commands(folder: Path) -> dict[str, str]:
    """Return commands that produce first results for an empty folder, by purpose."""
    models = {
        "Run a hosted model, with its API key in an environment variable:": "openai/gpt-4o",
        "Or run an embedded player, which needs no API key or network:": "waybench/noisy-0.3",
    }
    out = shlex.quote(str(folder.parent if os.path.isfile(folder) else folder))
    return {purpose: f"waybench run {TASKS[0].name} --model {model} --out {out}" for purpose, model in models.items()}


def open_page(url: str) -> None:
    """Open a page in the user's browser, or print its address if there is none."""
    if not webbrowser.open(url):
        to_stderr(f"no browser found: open {url} yourself")


_PROFILE_EXAMPLES = """\b
waybench profile waybench-out
waybench profile waybench-out --json -
waybench profile waybench-out --references        with the embedded players, as for a demonstration"""


@click.command(epilog=_PROFILE_EXAMPLES)
@with_parameters
def profile(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    references: bool = option("Count the embedded players as models."),
    out: str | None = JSON_FILE,
) -> None:
    """Estimate each model's general ability from all runs in some folders, and predict scores of missing families.

    A joint model of all models and families (item response theory) has an ability of each model, which consists of a
    general ability and a deviation in each family, and a difficulty of each item. All models need not have run the
    same families or items. Where a model was not run on a family, the output shows in square brackets what score to
    expect, with a 90 % interval; predictions are never part of a mean or of a report. At least two models and two
    families with normalised scores are needed; with a handful of models, intervals are wide.
    """
    from waybench.results import read_logs
    from waybench.results.estimates._profiles import model_profiles, profiles_text
    from waybench.results.logs import Skipped
    from waybench.results.results import measure_episodes
    from waybench.results.results._anchors import with_reference_bounds

    skipped: list[Skipped] = []
    measured_episodes, rows = measure_episodes(
        read_logs(*folders, on_problem=skipped.append), on_problem=skipped.append, confirm=True
    )
    rows = with_reference_bounds((episode.record for episode in measured_episodes), rows)
    print_skipped(skipped)
    profiles = model_profiles(rows, include_references=references)
    if out is not None:
        write_json(out, profiles.to_json())
    if out != "-":
        click.echo(profiles_text(profiles, shutil.get_terminal_size().columns))
