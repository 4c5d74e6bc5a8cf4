"""Rows of episodes whose records are simulated again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from waybench.analysis.logs import LoggedEpisode, Skipped, skipped
from waybench.analysis.results._anchors import Anchoring
from waybench.analysis.results._measured_row import row
from waybench.analysis.results._rows import Row
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
