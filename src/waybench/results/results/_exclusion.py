"""The exclusion of rows that never count, and rows of records that are simulated again."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from waybench.core import Price, WaybenchError
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode, Skipped, skipped
from waybench.results.results._anchors import Anchoring
from waybench.results.results._measured_row import Simulated, row, simulate, with_outcomes
from waybench.results.results._rows import Row, grouped, is_perfect

REPEATED = "repeated"
AFTER_PERFECT = "after a perfect attempt"


def measurable(
    episodes: Iterable[LoggedEpisode],
    *,
    prices: Mapping[str, Price] | None = None,
    on_problem: Callable[[Skipped], None] | None = None,
    confirm: bool = False,
) -> tuple[list[LoggedEpisode], list[Row]]:
    """Return the episodes that can be measured, in the given order, and the row of each, as `exclude` leaves it.

    Args:
        episodes: The episodes; those of a later run come later.
        prices: Model -> what its tokens cost, as far as that is known.
        on_problem: Is called with each episode that is skipped since it cannot be measured; if None, it is an error.
        confirm: Whether each episode is simulated again, as for a report: one that does not agree with its simulation
            is excluded. Whatever tells numbers to users does this; rows of records just made need it not.

    Raises:
        UsageError: If an episode's environment is not installed.
        DataError: If a record lacks what its environment's metrics need.
    """
    measured: list[LoggedEpisode] = []
    episode_rows: list[Row] = []
    for episode in episodes:
        price = (prices or {}).get(episode.model)
        try:
            if confirm:
                again = simulate(episode)
                episode = with_outcomes(episode, again)
                made = row(episode, price=price, confirmed=not again.mismatch, not_simulated=again.skipped)
            else:
                made = row(episode, price=price)
            episode_rows.append(made)
            measured.append(episode)
        except WaybenchError as error:
            problem = skipped(episode.log, error, episode.sample)
            if on_problem is None:
                raise type(error)(str(problem).removeprefix("skipped ")) from None
            on_problem(problem)
    return measured, exclude(episode_rows)


def rows(
    episodes: Iterable[LoggedEpisode],
    *,
    on_problem: Callable[[Skipped], None] | None = None,
    confirm: bool = False,
) -> list[Row]:
    """Return one row for each episode that can be measured: the rows of `measurable`."""
    return measurable(episodes, on_problem=on_problem, confirm=confirm)[1]


def exclude(episode_rows: Iterable[Row]) -> list[Row]:
    """Mark the rows that never count as excluded.

    There are four reasons:

    * "does not replay": the caller says that re-simulation does not confirm the record (see `row`);
    * "unfinished": the episode has no end, because a person quit or the stored replies ran out;
    * "repeated": several runs of one model have the same settings. All attempts at an item come from the last run that
      has one without an infrastructure error there, or else from the last run, since attempts of different runs are
      not one series. Within a run, the same holds for episodes of the same item and attempt;
    * "after a perfect attempt": the attempt has a higher number than the first perfect one at the item. A run that
      skips such attempts must have the same scores, so their results are ignored. This applies only where the best
      attempt at an item is its score; with a teacher, no attempt is perfect.

    Args:
        episode_rows: The rows, ordered by run.
    """
    listed = list(episode_rows)
    _exclude_earlier_runs(listed)
    _exclude_repeated(listed)
    _exclude_after_perfect(listed)
    return listed


def _exclude_earlier_runs(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    order = {run: number for number, run in enumerate(dict.fromkeys(row.run for row in episode_rows))}
    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        last = max((episode_rows[position] for position in positions), key=lambda row: (not row.error, order[row.run]))
        for position in positions:
            if episode_rows[position].run != last.run:
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=REPEATED)


def _exclude_repeated(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance, row.attempt

    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        latest = max(positions, key=lambda position: (not episode_rows[position].error, position))
        for position in positions:
            if position != latest:
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=REPEATED)


def _exclude_after_perfect(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        environment = registry.load(episode_rows[positions[0]].group.env)
        if not environment.scoring.best_of:
            continue
        headline = environment.scoring.metrics[0]
        scores = {
            episode_rows[p].attempt: episode_rows[p].metrics[headline.name]
            for p in positions
            if not episode_rows[p].guided
        }
        perfect = [attempt for attempt, score in scores.items() if is_perfect(score, headline)]
        for position in positions:
            if perfect and episode_rows[position].attempt > min(perfect):
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=AFTER_PERFECT)


class Verified(NamedTuple):
    """An episode with its row.

    Attributes:
        episode: The episode, with the outcomes of the simulation.
        row: Its row. It is not measured where the simulation does not agree with the record.
        simulated: What the simulation says.
    """

    episode: LoggedEpisode
    row: Row
    simulated: Simulated


def verified(
    episodes: Iterable[LoggedEpisode], prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]
) -> Iterator[Verified]:
    """Simulate episodes again and measure them, one at a time.

    Args:
        episodes: The episodes.
        prices: Model -> the prices of its tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.

    Yields:
        Each episode that can be measured, in the given order.
    """
    verifier = Verifier(prices, on_problem)
    for recorded in episodes:
        found = verifier.verify(recorded)
        if found is not None:
            yield found


class Verifier:
    """Simulates episodes again and measures them; what it works out of an item serves all episodes of the item.

    Args:
        prices: Model -> the prices of its tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.
    """

    def __init__(self, prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]) -> None:
        self._prices, self.on_problem = prices, on_problem
        self._anchoring = Anchoring()

    def verify(self, recorded: LoggedEpisode, again: Simulated | None = None) -> Verified | None:
        """Return an episode with its row; None if it cannot be measured.

        Args:
            recorded: The episode.
            again: What a simulation of it has said; None to simulate it here.
        """
        try:
            again = again or simulate(recorded)
            episode = with_outcomes(recorded, again)
            found = row(
                episode,
                confirmed=not again.mismatch,
                price=self._prices.get(episode.model),
                anchors=self._anchoring.of(episode.record) if again.confirmed else None,
                not_simulated=again.skipped,
            )
        except Exception as error:  # a record is data from outside: it is not to take the others with it
            self.on_problem(skipped(recorded.log, error, recorded.sample))
            return None
        return Verified(episode, found, again)
