"""Writing a site: its pages, from episodes that are read one at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from waybench.core import Price, UsageError, Workers
from waybench.reporting._cache import ReportCache, is_cacheable
from waybench.reporting._episode_store import EpisodeStore
from waybench.reporting._files import Folder
from waybench.reporting._model_facts import ModelFacts
from waybench.reporting._progress import Progress, no_progress
from waybench.reporting._reading import simulate
from waybench.reporting._replays import BY_DEFAULT, Replays
from waybench.reporting._site import Site
from waybench.reporting._summary import skip_reasons
from waybench.reporting._templates import templates
from waybench.reporting._unchanged import earlier, keep
from waybench.reporting.charts import drawings_in
from waybench.results import LoggedEpisode, Row
from waybench.results.logs import EpisodeBatches, Skipped, is_embedded, is_human
from waybench.results.papers import Paper
from waybench.results.results import UNFINISHED


@dataclass(frozen=True, slots=True)
class Report:
    """A site that was written.

    Attributes:
        index: Its first page.
        episodes: Number of episodes.
        unconfirmed: Those of them that a new simulation does not confirm, and that count in no number.
        not_simulated: By reason, those of them that could not be simulated again here, and count as recorded.
        unpriced: Models whose tokens are known, without a price; none where no prices were given.
        passed_over: What of the logs is passed over, and why; the site names it, too.
        unlisted: Models of which nothing is known, where facts of models were given.
        unfinished: Episodes without an end, which count in no number.
        rows: The rows of all episodes.
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

    Nothing is fetched from elsewhere, and nothing is executed but scripts of the site's own. Every episode is simulated
    again from its record; where the two do not agree, the episode counts in no number, and the pages say so. One that
    cannot even be measured is passed over, and named. Episodes are taken one at a time, and at most those of one item
    are in memory.

    Args:
        episodes: The episodes of any number of runs.
        out: The folder; it is made if need be, and files of the same names are replaced.
        title: The site's title.
        prices: What models' tokens cost.
        models: Names, sizes, dates and series of models (`read_models`), for charts against these.
        passed_over: What has been passed over while the episodes were read; it is looked at when they all are.
        published: Papers whose rows the tasks' pages show beside the results, and data/published.* holds.
        png: Whether each chart is also written as a PNG.
        processes: In how many processes batches of episodes are read and pages are made; more than one only on Linux,
            and where no other threads run.
        progress: Receives how much is written.
        kept: What an earlier report of the folder worked out (`open_cache`); nothing by default.
        key: The report's key (`inputs_key`), by which `unchanged_report` finds it; none by default.
        replays: Which replays have a page of their own.
        workers: Simulate the episodes of batches; these processes by default.

    Returns:
        What was written: index.html; beside it are models/*.html, results/*.html, replays/*.html, assets/*,
        summary.json (`SUMMARY_SCHEMA`), and for programs and papers data/*, charts/* and table.md.

    Raises:
        UsageError: If there are no episodes, or the folder cannot be written.
    """
    kept = kept or ReportCache(None)
    if workers is not None and isinstance(episodes, EpisodeBatches):
        simulate(episodes, prices or {}, kept, workers)
    found = EpisodeStore(episodes, prices or {}, kept, lambda done: progress("episodes", done, 0), processes)
    try:
        found.passed_over[:0] = [*passed_over, *found.unread]
        if not found.rows and found.passed_over:
            raise UsageError(
                f"none of the {len(found.passed_over)} episodes can be measured: {found.passed_over[0].error}"
            )
        if not found.rows:
            raise UsageError(
                "no episodes to report: run a task first, for example `waybench run TASK --model waybench/oracle`"
            )
        folder = Folder(out)
        site = Site(
            *(found, folder, templates(title), models or {}, published),
            png=png,
            kept=kept,
            processes=processes,
            progress=progress,
            replays=replays,
        )
        with drawings_in(kept):
            site.write(title)
        folder.finish()
        counted = dict.fromkeys(row.group.model for row in found.rows if row.input_tokens is not None)
        unpriced = tuple(name for name in counted if prices and name not in prices and not is_embedded(name))
        ran = dict.fromkeys(row.group.model for row in found.rows)
        others = (name for name in ran if not is_embedded(name) and not is_human(name))
        unlisted = tuple(name for name in others if models is not None and name not in models)
        unconfirmed = sum(bool(again.mismatch) for again in found.again)
        again = skip_reasons(found.again)
        report = Report(
            out / "index.html",
            len(found.rows),
            unconfirmed,
            unpriced,
            again,
            tuple(found.passed_over),
            unlisted,
            sum(row.exclusion_reason == UNFINISHED for row in found.rows),
            tuple(found.rows),
        )
        # What is not confirmed, or could not be read, may be due to this machine, and other packages may change.
        alike = all(each.confirmed for each in found.again) and not found.passed_over
        if key and alike and all(is_cacheable(total.group.env) for total in site.totals):
            keep(kept, key, folder, _values(report))
        kept.save()
        return report
    finally:
        found.close()


def unchanged_report(out: Path, kept: ReportCache, key: bytes) -> Report | None:
    """Return a report that was written before if neither what it is made of nor its pages have changed since.

    Args:
        out: The site's folder.
        kept: What an earlier report of the folder has kept (`open_cache`).
        key: The report's key (`inputs_key`).
    """
    found = earlier(kept, key, Folder(out))
    return Report(out / "index.html", *cast(tuple[Any, ...], found)) if isinstance(found, tuple) else None


def _values(report: Report) -> tuple[Any, ...]:
    """Return all fields of a report but the path of its first page."""
    return tuple(getattr(report, each.name) for each in fields(report)[1:])
