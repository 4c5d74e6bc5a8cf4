"""The last thing that `waybench run` prints: scores, what went wrong, and the next command."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waybench.cli._output import skipped_warning, tell_skipped, to_stderr
from waybench.core import End, Price
from waybench.ext.scale import is_url

if TYPE_CHECKING:
    from waybench.results import LoggedEpisode
    from waybench.results.logs import Skipped
    from waybench.results.results import Row

_MOST_WARNINGS = 5
_DEFAULT_IN = "waybench-out"


def print_summary(
    out: Path,
    prices: Mapping[str, Price],
    unfinished: Sequence[str],
    *,
    levels: bool = False,
    shown: str | None = None,
) -> None:
    """Print the summary of a run: results on standard output, warnings and problems on standard error.

    Args:
        out: The folder of the logs.
        prices: Model -> its prices.
        unfinished: What is not finished, as "task with model".
        levels: Whether to print the scores of each level, too.
        shown: The folder as the user gave it, where that is a URL.

    Raises:
        NoEpisodesError: If there is no episode.
    """
    from waybench.results import read_logs
    from waybench.results.estimates import unreadable_replies
    from waybench.results.logs import NoEpisodesError
    from waybench.results.results import anchored, measurable

    skipped: list[Skipped] = []
    try:
        episodes = list(read_logs(out, on_problem=skipped.append))
        measured, rows = measurable(episodes, prices=prices, on_problem=skipped.append, confirm=True)
    except NoEpisodesError:  # which what was skipped explains
        tell_skipped(skipped)
        raise
    rows = anchored((episode.record for episode in measured), rows)
    if text := summary_text(measured, rows, unfinished=bool(unfinished), levels=levels):
        click.echo(text)
    unreadable = unreadable_replies(measured, rows)
    for warning in unreadable[:_MOST_WARNINGS]:
        to_stderr(warning.text)
    if len(unreadable) > _MOST_WARNINGS:
        to_stderr(f"warning: {len(unreadable) - _MOST_WARNINGS} more models and tasks have many unreadable replies")
    tell_skipped(skipped)
    if skipped:
        to_stderr(skipped_warning(skipped))
    if unfinished:
        to_stderr(
            f"unfinished: {', '.join(unfinished)}; scores that lack episodes have bounds and no rank. To retry only "
            "these, run the same command again."
        )
        for problem in problems(episodes):
            to_stderr(f"  {problem}")
    if rows:
        click.echo(f"\nnext: {next_command(shown or out, rows)}")


def problems(episodes: Iterable["LoggedEpisode"]) -> list[str]:
    """Return what went wrong with the infrastructure, in the providers' words, each with how often it did."""
    from waybench.results.formatting import one_line

    ended = [episode for episode in episodes if episode.record.end == End.INFRASTRUCTURE]
    counted = Counter((episode.model, one_line(str(episode.record.error), 200)) for episode in ended)
    return [f"{times} x {model}: {error}" for (model, error), times in counted.most_common(5)]


def next_command(out: Path | str, rows: Iterable["Row"]) -> str:
    """Return the commands to continue with, a line each: `compare` for two models on the same task, and `report`.

    Args:
        out: The folder of the logs.
        rows: The rows of all episodes.
    """
    models: dict[str, dict[str, None]] = {}
    for row in rows:
        models.setdefault(row.group.task, {})[row.group.model] = None
    to = " --out site" if is_url(str(out)) else ""  # a site is not written to a URL
    report = f"waybench report {shlex.quote(str(out))}{to}"
    pair = next((list(some) for some in models.values() if len(some) == 2), None)
    if pair is None:
        return report
    where = f" --in {shlex.quote(str(out))}" if str(out) != _DEFAULT_IN else ""  # of `compare`
    return f"waybench compare {' '.join(map(shlex.quote, pair))}{where}\n      {report}"


def summary_text(
    episodes: Sequence["LoggedEpisode"],
    rows: Sequence["Row"],
    *,
    unfinished: bool = False,
    levels: bool = False,
    overview: bool = True,
) -> str:
    """Return the table of a run, what wordings, belief probes and horizons show, and what searches have found.

    Args:
        episodes: The episodes that can be measured.
        rows: Their rows.
        unfinished: Whether some task is not finished.
        levels: Whether to add the scores of each level.
        overview: Whether to begin with the table of the run.
    """
    from waybench.results import by_level, overall
    from waybench.results.comparisons import agent_table, belief_text, wording_table
    from waybench.results.estimates import difficulty_text, item_difficulties, summary_table, text_table
    from waybench.results.horizons import horizon_table, horizons, search_text, searches
    from waybench.results.results import fixed

    scored = fixed(rows)
    found = searches(episodes, rows, unfinished)
    searched = {each.group for each in found}
    parts = (
        summary_table(rows, searched=searched) if overview else "",
        text_table(by_level(scored), totals=overall(scored)) if levels and scored else "",
        difficulty_text(item_difficulties(rows)) if levels else "",
        wording_table(rows),
        agent_table(rows),
        belief_text(rows),
        horizon_table(each for each in horizons(rows) if each.group not in searched),
        search_text(found),
    )
    return "\n\n".join(part for part in parts if part)


def level_tables(episodes: Iterable["LoggedEpisode"], *, on_problem: Callable[["Skipped"], None] | None = None) -> str:
    """Return the tables of scores by level, of wordings, belief probes and horizons, and what searches have found.

    Args:
        episodes: The episodes.
        on_problem: Receives each episode that is left out since it cannot be measured; if None, it is an error.
    """
    from waybench.results.results import measurable

    measured, rows = measurable(episodes, on_problem=on_problem)
    return summary_text(measured, rows, levels=True, overview=False)
