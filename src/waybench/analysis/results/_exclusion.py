"""The rows of episodes, and the exclusion of those that never count."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from waybench.analysis.logs import LoggedEpisode, Skipped, skipped
from waybench.analysis.results._rows import Row, grouped, is_perfect, row
from waybench.core import Price, WaybenchError
from waybench.envs import registry

REPEATED = "repeated"
AFTER_PERFECT = "after a perfect attempt"


def measurable(
    episodes: Iterable[LoggedEpisode],
    *,
    prices: Mapping[str, Price] | None = None,
    on_problem: Callable[[Skipped], None] | None = None,
) -> tuple[list[LoggedEpisode], list[Row]]:
    """Return the episodes that can be measured, in the given order, and the row of each, as `exclude` leaves it.

    Args:
        episodes: The episodes; those of a later run come later.
        prices: Model -> what its tokens cost, as far as that is known.
        on_problem: Is called with each episode that is skipped since it cannot be measured; if None, it is an error.

    Raises:
        UsageError: If an episode's environment is not installed.
        DataError: If a record lacks what its environment's metrics need.
    """
    measured: list[LoggedEpisode] = []
    made: list[Row] = []
    for episode in episodes:
        try:
            made.append(row(episode, price=(prices or {}).get(episode.model)))
            measured.append(episode)
        except WaybenchError as error:
            problem = skipped(episode.log, error, episode.sample)
            if on_problem is None:
                raise type(error)(str(problem).removeprefix("skipped ")) from None
            on_problem(problem)
    return measured, exclude(made)


def rows(episodes: Iterable[LoggedEpisode], *, on_problem: Callable[[Skipped], None] | None = None) -> list[Row]:
    """Return one row for each episode that can be measured: the rows of `measurable`."""
    return measurable(episodes, on_problem=on_problem)[1]


def exclude(made: Iterable[Row]) -> list[Row]:
    """Return rows with those excluded that never count.

    Four kinds do not:

    * "does not replay": those that the caller says a new simulation does not confirm (see `row`);
    * "unfinished": those without an end, for a person quit or stored replies ran out;
    * "repeated": of several runs of one model with the same settings, the last one with an attempt at an item that
      ended without an infrastructure error gives all attempts at that item, or else the last one, for attempts of
      different runs are no series; within a run, the same holds for episodes of the same item and attempt;
    * "after a perfect attempt": attempts at an item with a higher number than its first perfect one, whatever they
      came to, for a run that skips them must have the same scores; only where the best attempt at an item is its
      score, and with a teacher no attempt is perfect.

    Args:
        made: The rows, those of a later run later.
    """
    listed = list(made)
    _exclude_earlier_runs(listed)
    _exclude_repeated(listed)
    _exclude_after_perfect(listed)
    return listed


def _exclude_earlier_runs(made: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    order = {run: number for number, run in enumerate(dict.fromkeys(row.run for row in made))}
    valid = [position for position, row in enumerate(made) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(made[position])).values():
        last = max((made[position] for position in positions), key=lambda row: (not row.error, order[row.run]))
        for position in positions:
            if made[position].run != last.run:
                made[position] = replace(made[position], exclusion_reason=REPEATED)


def _exclude_repeated(made: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance, row.attempt

    valid = [position for position, row in enumerate(made) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(made[position])).values():
        kept = max(positions, key=lambda position: (not made[position].error, position))
        for position in positions:
            if position != kept:
                made[position] = replace(made[position], exclusion_reason=REPEATED)


def _exclude_after_perfect(made: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    kept = [position for position, row in enumerate(made) if not row.exclusion_reason]
    for positions in grouped(kept, lambda position: same(made[position])).values():
        environment = registry.load(made[positions[0]].group.env)
        if not environment.best_of:
            continue
        headline = environment.metrics[0]
        scores = {made[p].attempt: made[p].metrics[headline.name] for p in positions if not made[p].guided}
        perfect = [attempt for attempt, score in scores.items() if is_perfect(score, headline)]
        for position in positions:
            if perfect and made[position].attempt > min(perfect):
                made[position] = replace(made[position], exclusion_reason=AFTER_PERFECT)
