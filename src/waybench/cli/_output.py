"""What commands write: lines to a file or to standard output, what of the logs is skipped, and the summary of a run."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from waybench.cli._environments import local_locations
from waybench.core import End, Json, Prices, UsageError, plural
from waybench.core._errors import DEFECT
from waybench.ext.scale import is_url

if TYPE_CHECKING:
    from waybench.results import LoggedEpisode
    from waybench.results.logs import Skipped
    from waybench.results.results import Row

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
MOST_SKIPPED = 10  # samples that are skipped, of which the terminal has a line each
_ROWS_PER_GROUP = 1000  # rows that are held in memory
_MOST_WARNINGS = 5
_MOST_PROBLEMS = 5  # infrastructure errors that are printed
_MOST_ITEMS = 5  # that a warning names
_DEFAULT_FOLDER = "waybench-out"
DEFECTIVE = 3  # the exit status where an environment has a defect


def size_text(size: float) -> str:
    """Write a number of bytes in a fitting unit, with three digits that count."""
    for unit in _UNITS[:-1]:
        if size < 999.5:  # what three digits do not round to 1000
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.0f} {_UNITS[-1]}"


def dumps(value: Json) -> str:
    """Return a value as one line of ASCII JSON."""
    return json.dumps(value, separators=(",", ":"))


@contextmanager
def open_lines(path: str | None, *, append: bool = False) -> Generator[Callable[[str], None], None, None]:
    """Open a file, or standard output for None or "-", and yield a function that writes a line and flushes it."""
    if path is None or path == "-":
        yield _flushing_writer(sys.stdout, None)
        return
    try:
        stream = open(path, "a" if append else "w", encoding="utf-8", newline="\n")  # noqa: SIM115  closed below
    except OSError as error:
        raise _write_error(path, error) from None
    try:
        yield _flushing_writer(stream, path)
    finally:
        with suppress(OSError):  # every line is flushed when it is written, so that nothing new can go wrong here
            stream.close()


def _flushing_writer(stream: IO[str], path: str | None) -> Callable[[str], None]:
    """Return a function that writes a line and flushes it."""

    def write(line: str) -> None:
        try:
            stream.write(line + "\n")
            stream.flush()
        except OSError as error:
            if path is None:
                raise  # standard output is everyone's: its errors are shown in one place
            raise _write_error(path, error) from None

    return write


def _write_error(path: str, error: OSError) -> UsageError:
    """Return the error that a file cannot be written."""
    return UsageError(f"cannot write {path!r}: {error.strerror}; choose another file")


def write_json(path: str, value: Json) -> None:
    """Write a value as one line of JSON to a file, or to standard output for "-"."""
    with open_lines(path) as write:
        write(json.dumps(value, allow_nan=False))


def to_stderr(line: str) -> None:
    """Print a line on standard error."""
    click.echo(line, err=True)


def print_skipped(skipped: "Sequence[Skipped]", tell: Callable[[str], None] = to_stderr) -> None:
    """Print which parts of the logs are skipped: a line for each log and reason, at most ten."""
    skipped_by_reason: dict[tuple[str, str], list[Skipped]] = {}
    for problem in skipped:
        skipped_by_reason.setdefault((problem.log, problem.error), []).append(problem)
    for first_problem, *other_problems in [*skipped_by_reason.values()][:MOST_SKIPPED]:
        tell(
            f"waybench: {first_problem}"
            + (f" (and {plural(len(other_problems), 'sample')} more of this log)" if other_problems else "")
        )
    if len(skipped_by_reason) > MOST_SKIPPED:
        tell(f"waybench: and {sum(map(len, [*skipped_by_reason.values()][MOST_SKIPPED:]))} more")


def skipped_warning(skipped: "Sequence[Skipped]") -> str:
    """Return a warning with the number of samples and files of the logs that are skipped."""
    count = plural(len(skipped), "sample or file", "samples and files")
    return f"warning: {count} of the logs could not be read and are excluded from all results"


@contextmanager
def open_parquet(path: str) -> Generator[Callable[[str], None], None, None]:
    """Open a new Parquet file for JSON lines that all have the same fields, and yield a function that writes one."""
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    rows: list[Any] = []
    writer: Any = None

    def write_rows() -> None:
        """Append the rows to the file, which the first ones create with their fields."""
        nonlocal writer
        table = arrow.Table.from_pylist(rows, schema=None if writer is None else writer.schema)
        if writer is None:
            try:
                writer = parquet.ParquetWriter(path, table.schema)
            except OSError as error:
                raise UsageError(f"cannot write {path!r}: {error.strerror or error}") from None
        writer.write_table(table)
        rows.clear()

    def write(line: str) -> None:
        rows.append(json.loads(line))
        if len(rows) == _ROWS_PER_GROUP:
            write_rows()

    try:
        yield write
        if rows:
            write_rows()
    finally:
        if writer is not None:
            writer.close()


def is_parquet(path: str | None) -> bool:
    """Return whether a file's name ends in .parquet."""
    return path is not None and Path(path).suffix.lower() == ".parquet"


def print_summary(
    out: Path,
    prices: Prices,
    unfinished: Sequence[str],
    *,
    levels: bool = False,
    url: str | None = None,
) -> int:
    """Print the summary of a run: results on standard output, warnings and problems on standard error.

    Returns:
        The exit status: `DEFECTIVE` if an environment has a defect, which running again does not mend; 1 if something
        is unfinished, or records no longer replay; otherwise 0.
    """
    from waybench.results import read_logs
    from waybench.results.comparisons._decisions import update_decisions
    from waybench.results.estimates._summary import unreadable_replies
    from waybench.results.logs._logs import NoEpisodesError
    from waybench.results.results import UNCONFIRMED, measure_episodes
    from waybench.results.results._anchors import with_reference_bounds

    skipped: list[Skipped] = []
    try:
        episodes = list(read_logs(out, on_problem=skipped.append))
        measured, rows = measure_episodes(episodes, prices=prices, on_problem=skipped.append, confirm=True)
    except NoEpisodesError:  # the skipped parts explain it
        print_skipped(skipped)
        raise
    rows = with_reference_bounds((episode.record for episode in measured), rows)
    update_decisions(out, rows)
    if text := summary_text(measured, rows, unfinished=bool(unfinished), levels=levels):
        click.echo(text)
    if source_note := prices.source_note(dict.fromkeys(row.group.model for row in rows if row.cost is not None)):
        click.echo(source_note)
    unreadable = unreadable_replies(measured, rows)
    for warning in unreadable[:_MOST_WARNINGS]:
        to_stderr(warning.text)
    if len(unreadable) > _MOST_WARNINGS:
        to_stderr(f"warning: {len(unreadable) - _MOST_WARNINGS} more models and tasks have many unreadable replies")
    errors = [*(part.error for part in skipped), *(str(episode.record.error or "") for episode in episodes)]
    defects = Counter(error for error in errors if error.startswith(DEFECT))
    unread_parts = [part for part in skipped if not part.error.startswith(DEFECT)]
    print_skipped(unread_parts)
    if unread_parts:
        to_stderr(skipped_warning(unread_parts))
    changed_rows = [row for row in rows if row.exclusion_reason == UNCONFIRMED]
    for text in _changed_record_warnings(changed_rows, url or out):
        to_stderr(text)
    for text, count in defects.most_common(MOST_SKIPPED):
        to_stderr(f"{text} ({plural(count, 'episode')} without a result)")
    if unfinished:
        advice = "" if defects else " To retry only these, run the same command again."
        to_stderr(f"unfinished: {', '.join(unfinished)}; scores that lack episodes have bounds and no rank.{advice}")
        for problem in infrastructure_problems(episodes):
            to_stderr(f"  {problem}")
    if rows:
        click.echo(f"\nnext: {next_commands_text(url or out, rows)}")
    return DEFECTIVE if defects else int(bool(unfinished or changed_rows))


def _changed_record_warnings(changed_rows: Iterable["Row"], out: Path | str) -> list[str]:
    """Return a warning for each task and model with records that the present code no longer re-simulates."""
    items_by_name: dict[str, dict[str, None]] = {}
    for row in changed_rows:
        items_by_name.setdefault(f"{row.group.task} with {row.group.model}", {})[row.item] = None
    return [
        f"warning: {name}: the records of {plural(len(items), 'item')} ({', '.join([*items][:_MOST_ITEMS])}"
        f"{', ...' if len(items) > _MOST_ITEMS else ''}) in {out} no longer re-simulate, since the environment's code "
        "or the records have changed. They are excluded, and not run again: to run these items, give another folder "
        "with --out"
        for name, items in items_by_name.items()
    ]


def infrastructure_problems(episodes: Iterable["LoggedEpisode"]) -> list[str]:
    """Return the most frequent infrastructure errors, in the providers' words, each with its count."""
    from waybench.results.formatting import one_line

    errors = (
        (episode.model, str(episode.record.error)) for episode in episodes if episode.record.end == End.INFRASTRUCTURE
    )
    counts = Counter((model, one_line(error, 200)) for model, error in errors if not error.startswith(DEFECT))
    return [f"{count} x {model}: {error}" for (model, error), count in counts.most_common(_MOST_PROBLEMS)]


def next_commands_text(out: Path | str, rows: Iterable["Row"]) -> str:
    """Return the commands to run next: `compare` for two models on the same task, and `report`."""
    models_by_task: dict[str, dict[str, None]] = {}
    for row in rows:
        models_by_task.setdefault(row.group.task, {})[row.group.model] = None
    locations = local_locations(dict.fromkeys(row.group.env for row in rows))
    program = " ".join(["waybench", *(f"--env {shlex.quote(location)}" for location in locations)])
    out_option = " --out site" if is_url(str(out)) else ""  # a site is not written to a URL
    report = f"{program} report {shlex.quote(str(out))}{out_option}"
    pair = next((list(models) for models in models_by_task.values() if len(models) == 2), None)
    if pair is None:
        return report
    in_option = f" --in {shlex.quote(str(out))}" if str(out) != _DEFAULT_FOLDER else ""  # of `compare`
    return f"{program} compare {' '.join(map(shlex.quote, pair))}{in_option}\n      {report}"


def summary_text(
    episodes: Sequence["LoggedEpisode"],
    rows: Sequence["Row"],
    *,
    unfinished: bool = False,
    levels: bool = False,
    overview: bool = True,
) -> str:
    """Return the tables of a run: scores, then wordings, agents, demands, beliefs, horizons, searches and decisions."""
    from waybench.results import by_level, overall
    from waybench.results.comparisons._agent_effects import agent_effects_text
    from waybench.results.comparisons._beliefs import belief_text
    from waybench.results.comparisons._contrasts import contrast_text
    from waybench.results.comparisons._decision_text import decisions_text
    from waybench.results.comparisons._decisions import stored_decisions
    from waybench.results.comparisons._prompts import wording_effects_text
    from waybench.results.estimates import item_difficulties
    from waybench.results.estimates._difficulty import difficulty_text
    from waybench.results.estimates._measures import score_tables_text
    from waybench.results.estimates._summary import summary_table
    from waybench.results.horizons import horizons
    from waybench.results.horizons._searches import search_results, search_results_text
    from waybench.results.horizons._text import horizon_table_text
    from waybench.results.results import without_searches

    scored_rows = without_searches(rows)
    horizon_searches = search_results(episodes, rows, unfinished)
    searched_groups = {search.group for search in horizon_searches}
    run_horizons = horizons(rows)
    streamed_groups = {row.group for row in rows if row.is_streamed}
    parts = (
        summary_table(rows, searched=searched_groups | streamed_groups) if overview else "",
        score_tables_text(by_level(scored_rows), totals=overall(scored_rows)) if levels and scored_rows else "",
        difficulty_text(item_difficulties(rows)) if levels else "",
        wording_effects_text(rows),
        agent_effects_text(rows),
        contrast_text(rows, run_horizons),
        belief_text(rows),
        horizon_table_text(horizon for horizon in run_horizons if horizon.group not in searched_groups),
        search_results_text(horizon_searches),
        decisions_text(stored_decisions(rows)),
    )
    return "\n\n".join(part for part in parts if part)


def level_tables_text(
    episodes: Iterable["LoggedEpisode"], *, on_problem: Callable[["Skipped"], None] | None = None
) -> str:
    """Return the tables of `summary_text` with scores by level in place of the overview."""
    from waybench.results.results import measure_episodes

    measured, rows = measure_episodes(episodes, on_problem=on_problem)
    return summary_text(measured, rows, levels=True, overview=False)
