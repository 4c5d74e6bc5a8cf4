"""Tasks that climb: the next level is run if the player gets anywhere in this one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from waybench.core import End, Environment, EpisodeRecord, Item, Json
from waybench.llm._errors import PrerequisiteError
from waybench.llm._sample import finished_record, to_sample


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
        self._climbs: dict[str, _Climb] = {}

    def _samples(self, level: int) -> list[Sample]:
        return [to_sample(self._environment, item, self._options, 1) for item in self._items(level)]

    def initial_samples(self) -> list[Sample]:
        """Return the first attempts of the first level."""
        return self._samples(next(iter(self._levels())))

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return what follows from a finished attempt."""
        if sample.epoch != 1:
            raise PrerequisiteError("this task counts its own attempts: use -T attempts=n in place of --epochs n")
        record = finished_record(sample)
        climb = self._climb_of(record.player, str(sample.id))
        if sample.error or record.end in (None, End.INFRASTRUCTURE):
            return None
        following: list[Sample] = []
        if record.attempt < self._attempts and not self._perfect(record):
            item = self._items(record.item["level"])[int(record.item["index"])]
            following.append(to_sample(self._environment, item, self._options, record.attempt + 1))
        if record.item["level"] == climb.level and self._passed(record):
            climb.level = next(climb.levels, None)
            if climb.level is not None:
                following += self._samples(climb.level)
        return following

    def _climb_of(self, player: str, sample_id: str) -> "_Climb":
        # The engine gives one source to all models of a run, and tells a retried task's source again of everything that
        # is finished, from the first level on.
        climb = self._climbs.get(player)
        if climb is None or sample_id in climb.finished:
            levels = iter(self._levels())
            climb = self._climbs[player] = _Climb(levels, next(levels))
        climb.finished.add(sample_id)
        return climb


@dataclass(slots=True)
class _Climb:
    """How far one player is: the levels to come, the highest one that is open, and the samples that are finished."""

    levels: Iterator[int]
    level: int | None
    finished: set[str] = field(default_factory=set[str])
