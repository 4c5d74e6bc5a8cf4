"""Rows of episodes whose records are simulated again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from waybench.analysis.logs import LoggedEpisode, Skipped, skipped
from waybench.analysis.results._anchors import Anchoring
from waybench.analysis.results._rows import Row, row
from waybench.analysis.results._simulated import Simulated, simulate, with_outcomes
from waybench.core import Price


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
    anchoring = Anchoring()
    for recorded in episodes:
        try:
            again = simulate(recorded)
            episode = with_outcomes(recorded, again)
            found = row(
                episode,
                confirmed=not again.mismatch,
                price=prices.get(episode.model),
                anchors=anchoring.of(episode.record) if again.confirmed else None,
                not_simulated=again.skipped,
            )
        except Exception as error:  # a record is data from outside: it is not to take the others with it
            on_problem(skipped(recorded.log, error, recorded.sample))
            continue
        yield Verified(episode, found, again)
