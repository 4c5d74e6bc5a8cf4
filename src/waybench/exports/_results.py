"""What exports are made of: confirmed episodes, by model, task and settings."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from waybench.analysis import Estimate, Row, overall, read_logs
from waybench.analysis.logs import LoggedEpisode, Skipped
from waybench.analysis.results import Group, fixed, grouped, measurable
from waybench.core import UsageError


class Results(NamedTuple):
    """The results of one model at one task with the same settings.

    Attributes:
        group: Model, task and settings.
        total: The estimates over all levels.
        episodes: The included episodes, with their rows.
    """

    group: Group
    total: Estimate
    episodes: list[tuple[LoggedEpisode, Row]]

    @property
    def date(self) -> str:
        """The date of the last run, as YYYY-MM-DD; "" if it is not known."""
        dates = [row.origin.created[:10] for _, row in self.episodes if row.origin is not None]
        return max(dates, default="")


def read_results(
    folders: Iterable[Path], model: str = "", on_problem: Callable[[Skipped], None] | None = None
) -> list[Results]:
    """Read runs, simulate every episode again and return what counts, in the order of the logs.

    Searches for horizons are left out: they choose their items by the results, so that their mean score means nothing.

    Args:
        folders: Folders with logs, and files of records.
        model: The model's name; all models if empty.
        on_problem: Receives what is skipped.

    Raises:
        UsageError: If there are no results.
    """
    episodes, rows = measurable(
        read_logs(*folders, on_problem=on_problem), on_problem=on_problem or (lambda _: None), confirm=True
    )
    kept = set(map(id, fixed(rows)))
    pairs = [
        (episode, row)
        for episode, row in zip(episodes, rows, strict=True)
        if id(row) in kept and model in ("", row.group.model)
    ]
    totals = {total.group: total for total in overall(row for _, row in pairs)}
    found = [
        Results(group, totals[group], [pair for pair in some if pair[1].is_included])
        for group, some in grouped(pairs, lambda pair: pair[1].group).items()
        if group in totals and totals[group].best is not None
    ]
    if not found:
        raise UsageError(
            f"no results of {model!r} to export"
            if model
            else "no results to export: run a task with a fixed set of items"
        )
    return found
