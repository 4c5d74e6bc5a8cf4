"""Sample sources that choose the next samples from results."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from waybench.core import End, EpisodeRecord
from waybench.eval._errors import PrerequisiteError
from waybench.eval._sample import finished_record

S = TypeVar("S")


class AdaptiveSampleSource(SampleSource, ABC, Generic[S]):
    """Supplies a task's samples; for each player, the next samples depend on its results alone.

    The engine gives one source to all models of a run, and tells a retried task's source again of everything that is
    finished, from the first sample on. An attempt that ended in an infrastructure error has no result, and nothing
    follows from it until a later run has repeated it.
    """

    one_epoch: str  # what to do instead of asking for several epochs
    total: int | None = None  # number of items, where the results do not decide it

    def __init__(self) -> None:
        self._players: dict[str, tuple[S, set[str]]] = {}

    @abstractmethod
    def begin(self, player: str) -> S:
        """Return a player's state after the initial samples."""

    @abstractmethod
    def follow(self, at: S, name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the next samples after a result, and update the player's state.

        Args:
            at: How far the player is.
            name: The sample's id.
            record: Its episode, which no infrastructure error ended.
        """

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return what follows from a finished sample."""
        if sample.epoch != 1:
            raise PrerequisiteError(self.one_epoch)
        record, name = finished_record(sample), str(sample.id)
        at = self._at(record.player, name)
        if sample.error or record.end in (None, End.INFRASTRUCTURE):
            return None
        return self.follow(at, name, record)

    def _at(self, player: str, name: str) -> S:
        known = self._players.get(player)
        if known is None or name in known[1]:
            known = self._players[player] = self.begin(player), set[str]()
        known[1].add(name)
        return known[0]
