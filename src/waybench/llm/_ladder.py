"""Tasks that climb: the next level is run if the player gets anywhere in this one."""

from collections.abc import Callable, Iterable
from typing import Any

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from waybench.core import End, Environment, EpisodeRecord, Item, Json
from waybench.llm._sample import stored_record, to_sample


class Ladder(SampleSource):
    """Feeds a task the items of one level after the other, and of each item one attempt after the other.

    An item's next attempt follows when the one before it is finished and could still be improved; the next level
    follows as soon as one attempt of this level has passed. So the set of episodes that are run is a function of the
    results alone: neither the order in which they finish nor an interruption changes it. An attempt that ended in an
    infrastructure error has no result, and nothing follows from it until a later run has repeated it.

    Args:
        environment: What is played.
        options: Options of play.
        levels: The levels, easiest first; may be endless.
        items: Level -> its items.
        attempts: Most attempts at an item.
        perfect: Whether a finished attempt cannot be improved.
        passed: Whether an attempt opens the next level.
    """

    def __init__(
        self,
        environment: Environment[Any, Any, Any],
        options: dict[str, Json],
        levels: Callable[[], Iterable[int]],
        items: Callable[[int], list[Item[Any]]],
        attempts: int,
        perfect: Callable[[EpisodeRecord], bool],
        passed: Callable[[EpisodeRecord], bool],
    ) -> None:
        self._environment = environment
        self._options = options
        self._levels = levels
        self._items = items
        self._attempts = attempts
        self._perfect = perfect
        self._passed = passed
        self._restart()

    def _restart(self) -> None:
        self._finished: set[str] = set()
        self._climb = iter(self._levels())
        self._level = next(self._climb)

    def _samples(self, level: int) -> list[Sample]:
        return [to_sample(self._environment, item, self._options, 1) for item in self._items(level)]

    def initial_samples(self) -> list[Sample]:
        """Return the first attempts of the first level."""
        return self._samples(self._level)

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return what follows from a finished attempt."""
        if str(sample.id) in self._finished:
            # The engine tells a retried task's source again of everything that is finished, from the first level on.
            self._restart()
        self._finished.add(str(sample.id))
        record = stored_record(sample.metadata, sample.store)
        if sample.error or record.end in (None, End.INFRASTRUCTURE):
            return None
        following: list[Sample] = []
        if record.attempt < self._attempts and not self._perfect(record):
            item = self._items(record.item["level"])[int(record.item["index"])]
            following.append(to_sample(self._environment, item, self._options, record.attempt + 1))
        if record.item["level"] == self._level and self._passed(record):
            level = next(self._climb, None)
            if level is not None:
                self._level = level
                following += self._samples(level)
        return following
