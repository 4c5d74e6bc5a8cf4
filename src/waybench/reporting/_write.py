"""Writing a report of episodes that are read one at a time, and the first page of a leaderboard beside reports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from waybench.core import Price, UsageError, Workers
from waybench.reporting._cache import ReportCache, is_cacheable, load_report, save_report
from waybench.reporting._episode_store import EpisodeStore
from waybench.reporting._files import SiteFolder, asset_files, make_templates, slug
from waybench.reporting._pages import write_site
from waybench.reporting._reading import ModelFacts, simulate_uncached
from waybench.reporting._replays import BY_DEFAULT, Replays
from waybench.reporting._site import Site, count_skip_reasons, results_page_name
from waybench.reporting.charts._svg import use_drawing_cache
from waybench.reporting.tables import Table
from waybench.reporting.tables._matrix import matrix_table
from waybench.results import LoggedEpisode, Row
from waybench.results.estimates import Matrix, matrix
from waybench.results.logs import EpisodeBatches, Skipped, is_embedded, is_human
from waybench.results.papers import Paper
from waybench.results.results import UNFINISHED


class Progress(Protocol):
    """Callback for the progress of a report."""

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """Show that `done` of `total` (0 if not known) "episodes" or "pages", as `stage` says, are done."""
        ...


def no_progress(stage: str, done: int, total: int, /) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class Report:
    """A site that was written.

    Attributes:
        unconfirmed: Number of episodes that a new simulation does not confirm; they are excluded from all numbers.
        unpriced: Models with known tokens but without a price; none if no prices were given.
        not_simulated: Number of episodes that could not be simulated again here, by reason; they count as recorded.
        passed_over: Skipped parts of the logs with their reasons, which the site lists too.
        unlisted: Models that are not in the file of models; none without a file.
        unfinished: Number of episodes without an end; they are excluded from all numbers.
    """

    index: Path
    episodes: int
    unconfirmed: int
    unpriced: tuple[str, ...] = ()
    not_simulated: Mapping[str, int] = field(default_factory=dict[str, int])
    passed_over: tuple[Skipped, ...] = ()
    unlisted: tuple[str, ...] = ()
    unfinished: int = 0
    rows: tuple[Row, ...] = ()


def write_report(
    episodes: Iterable[LoggedEpisode] | EpisodeBatches,
    out: Path,
    *,
    title: str = "waybench",
    prices: Mapping[str, Price] | None = None,
    models: Mapping[str, ModelFacts] | None = None,
    passed_over: Sequence[Skipped] = (),
    published: Sequence[Paper] = (),
    png: bool = False,
    processes: int = 1,
    progress: Progress = no_progress,
    kept: ReportCache | None = None,
    key: bytes = b"",
    replays: Replays = BY_DEFAULT,
    workers: Workers | None = None,
) -> Report:
    """Write a static site of some episodes: a first page, pages of models, of results and of episodes, a summary.

    Pages fetch nothing from elsewhere, and execute only scripts of the site. Every episode is simulated again from its
    record; if the simulation does not confirm it, the episode is excluded from all numbers, and the pages say so. An
    episode that cannot be measured is skipped, and named. Episodes are read one at a time, and at most those of one
    item are in memory.

    Args:
        episodes: The episodes of any number of runs.
        out: The folder; it is made if need be, and files of the same names are replaced.
        title: The site's title.
        prices: Prices of the models' tokens.
        models: Names, sizes, dates and series of models (`read_models`), for charts against these.
        passed_over: Parts of the logs that were skipped while the episodes were read; it is used after all have been
            read.
        published: Papers whose rows the tasks' pages show beside the results, and data/published.* holds.
        png: Whether each chart is also written as a PNG.
        processes: Number of processes that read batches and write pages; more than one only on Linux, and where no
            other threads run.
        progress: Receives the progress.
        kept: The cache of the folder, with results of earlier reports (`open_cache`); none by default.
        key: The report's key (`inputs_key`), by which `unchanged_report` finds it; none by default.
        replays: Which replays have a page of their own.
        workers: Simulate the episodes of `EpisodeBatches`; by default the processes of this report do.

    Returns:
        What was written: index.html; beside it are models/*.html, results/*.html, replays/*.html, assets/*,
        summary.json (`SUMMARY_SCHEMA`), and for programs and papers data/*, charts/* and table.md.

    Raises:
        UsageError: If there are no episodes, or the folder cannot be written.
    """
    cache = kept or ReportCache(None)
    if workers is not None and isinstance(episodes, EpisodeBatches):
        simulate_uncached(episodes, prices or {}, cache, workers)
    store = EpisodeStore(episodes, prices or {}, cache, lambda done: progress("episodes", done, 0), processes)
    try:
        store.passed_over[:0] = [*passed_over, *store.unread]
        if not store.rows and store.passed_over:
            raise UsageError(
                f"none of the {len(store.passed_over)} episodes can be measured: {store.passed_over[0].error}"
            )
        if not store.rows:
            raise UsageError(
                "no episodes to report: run a task first, for example `waybench run TASK --model waybench/oracle`"
            )
        folder = SiteFolder(out)
        site = Site(
            *(store, folder, make_templates(title), models or {}, published, cache, replays),
            png=png,
            processes=processes,
        )
        with use_drawing_cache(cache):
            write_site(site, title, partial(progress, "pages"))
        folder.finish()
        # In order of first appearance.
        models_with_tokens = dict.fromkeys(row.group.model for row in store.rows if row.input_tokens is not None)
        players = dict.fromkeys(row.group.model for row in store.rows)
        report = Report(
            out / "index.html",
            len(store.rows),
            unconfirmed=sum(bool(simulated.mismatch) for simulated in store.again),
            unpriced=tuple(
                name
                for name in models_with_tokens
                if prices is not None and len(prices) and name not in prices and not is_embedded(name)
            ),
            not_simulated=count_skip_reasons(store.again),
            passed_over=tuple(store.passed_over),
            unlisted=tuple(
                name
                for name in players
                if models is not None and name not in models and not is_embedded(name) and not is_human(name)
            ),
            unfinished=sum(row.exclusion_reason == UNFINISHED for row in store.rows),
            rows=tuple(store.rows),
        )
        # An episode that is not confirmed or not read may be so on this machine alone, and an environment that is not
        # cacheable may change with its package: such a report is written anew the next time.
        is_certain = all(simulated.confirmed for simulated in store.again) and not store.passed_over
        if key and is_certain and all(is_cacheable(total.group.env) for total in site.totals):
            save_report(cache, key, folder, tuple(getattr(report, attribute.name) for attribute in fields(report)[1:]))
        cache.save()
        return report
    finally:
        store.close()


def unchanged_report(out: Path, kept: ReportCache, key: bytes) -> Report | None:
    """Return an earlier report whose inputs and pages have not changed since; None if there is none.

    `kept` is the cache of the folder `out` (`open_cache`), and `key` the report's key (`inputs_key`).
    """
    values = load_report(kept, key, SiteFolder(out))  # all fields of a report but the path of its first page
    return Report(out / "index.html", *cast(tuple[Any, ...], values)) if isinstance(values, tuple) else None


class BoardTable(NamedTuple):
    """A table of a leaderboard.

    Attributes:
        root: The folder that its links start from, as "report/"; "" for the leaderboard's own.
    """

    table: Table
    root: str = ""


class BoardSection(NamedTuple):
    """A section of a leaderboard's first page.

    Attributes:
        lead: Its first paragraph.
        links: Texts and addresses of pages that belong to it.
    """

    title: str
    lead: str
    tables: Sequence[BoardTable]
    links: Sequence[tuple[str, str]] = ()


def model_page_path(model: str) -> str:
    """Return the path of a model's page in a report, from the report's root."""
    return f"models/{slug(model, model)}.html"


def report_matrix(rows: Sequence[Row], *, ranked: bool = True) -> tuple[Matrix, Table]:
    """Return the matrix of models by families of a report's rows, and its table with links from the report's root.

    Without `ranked`, the matrix has no ranks and no pairs of models.
    """
    result = matrix(rows)
    if not ranked:
        result = replace(result, rows=tuple(replace(row, rank=None) for row in result.rows), pairs=())
    results_pages = {row.group: results_page_name(row.group) for row in rows}
    model_pages = {group.model: model_page_path(group.model).removeprefix("models/") for group in results_pages}
    return result, matrix_table(result, {}, results_pages, model_pages)


def write_board(
    out: Path, title: str, lead: str, sections: Sequence[BoardSection], files: Mapping[str, str | bytes]
) -> Path:
    """Write the first page of a leaderboard, and other files by their names in the folder; return the page's path.

    `lead` is the page's first paragraph.

    Raises:
        UsageError: If the folder cannot be written.
    """
    folder = SiteFolder(out)
    for name, content in asset_files():
        if name.endswith(".css"):
            folder.write(name, content)
    for name, content in files.items():
        folder.write(name, content)
    page = make_templates(title).get_template("board.html").render(lead=lead, sections=sections)
    folder.write("index.html", page)
    folder.finish()
    return out / "index.html"


def remove_report(out: Path) -> None:
    """Remove an earlier report from a folder."""
    SiteFolder(out).remove_files()
