"""Ladders: the next level is run if the player solves any item of this one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from inspect_ai.dataset import Sample

from waybench.core import Environment, EpisodeRecord, Item, Json
from waybench.eval._adaptive import AdaptiveSampleSource
from waybench.eval._sample import to_sample


class Ladder(AdaptiveSampleSource["_Climb"]):
    """Supplies a task's items level by level, and the attempts at each item one by one.

    An item's next attempt follows when the one before it is finished and could still be improved; the next level
    follows as soon as one attempt of this level has passed. So the set of episodes that are run is a function of the
    results alone: neither the order in which they finish nor an interruption changes it.

    Args:
        environment: What is played.
        options: Options of play.
        levels: The levels, easiest first; may be endless.
        items: Level -> its items.
        attempts: Most attempts at an item.
        perfect: Whether a finished attempt cannot be improved.
        passed: Whether an attempt opens the next level.
    """

    one_epoch = "this task counts its own attempts: use -T attempts=n instead of --epochs n"

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
        super().__init__()
        self.environment = environment
        self.options = options
        self.levels = levels
        self.items = items
        self.attempts = attempts
        self._perfect = perfect
        self._passed = passed

    def _samples(self, level: int) -> list[Sample]:
        return [to_sample(self.environment, item, self.options, 1) for item in self.items(level)]

    def initial_samples(self) -> list[Sample]:
        """Return the first attempts of the first level."""
        return self._samples(next(iter(self.levels())))

    def begin(self, player: str) -> "_Climb":
        """Return the state of a player at the first level."""
        levels = iter(self.levels())
        return _Climb(levels, next(levels))

    def follow(self, at: "_Climb", name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples that follow an attempt."""
        following: list[Sample] = []
        if record.attempt < self.attempts and not self._perfect(record):
            item = self.items(record.item["level"])[int(record.item["index"])]
            following.append(to_sample(self.environment, item, self.options, record.attempt + 1))
        if record.item["level"] == at.level and self._passed(record):
            at.level = next(at.levels, None)
            if at.level is not None:
                following += self._samples(at.level)
        return following


@dataclass(slots=True)
class _Climb:
    """One player's state: the remaining levels, and the highest open one."""

    levels: Iterator[int]
    level: int | None
