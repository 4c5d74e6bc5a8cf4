"""Ladders: sample sources that go on to the next level as long as a player solves an item."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.dataset import Sample

from waybench.core import NOTHING, End, Environment, EpisodeRecord, Item, Json
from waybench.core._designs import max_failed_levels
from waybench.evaluation._adaptive import AdaptiveSampleSource
from waybench.evaluation._sample import to_sample


@dataclass(slots=True)
class _Climb:
    """One player's state on a ladder.

    Attributes:
        levels: The remaining levels.
        level: The highest open one; None once all are.
        open_items: Number of its items whose attempts are not over.
        failures: Number of the levels just below it without a success.
    """

    levels: Iterator[int]
    level: int | None
    open_items: int
    failures: int = 0


@dataclass(eq=False)
class Ladder(AdaptiveSampleSource[_Climb]):
    """Supplies a task's items level by level, and the attempts at each item one by one.

    An item's next attempt follows when the one before it is finished and could still be improved; the next level
    follows as soon as one attempt of this level has solved its item, or after all attempts if fewer levels than
    `max_failed_levels` had no success. So the set of episodes that are run is a function of the results alone: neither
    the order in which they finish nor an interruption changes it.

    Attributes:
        levels: Returns the levels, easiest first; may be endless.
        items: Level -> its items.
        attempts: Most attempts at an item.
        design: What its samples declare (`ladder_design`).
        drawn: The options with which its items were drawn.
    """

    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    levels: Callable[[], Iterable[int]]
    items: Callable[[int], list[Item[Any]]]
    attempts: int
    design: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    drawn: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    one_epoch = "this task counts its own attempts: use -T attempts=n instead of --epochs n"

    def __post_init__(self) -> None:
        super().__init__()

    @property
    def _patience(self) -> int:
        return max_failed_levels(self.environment.scoring.best_of)

    def _samples(self, level: int) -> list[Sample]:
        return [self._sample(item, 1) for item in self.items(level)]

    def _sample(self, item: Item[Any], attempt: int) -> Sample:
        sample = to_sample(self.environment, item, self.options, attempt, self.design, self.drawn)
        return sample.model_copy(update={"metadata": {**(sample.metadata or {}), "attempts": self.attempts}})

    def initial_samples(self) -> list[Sample]:
        """Return the first attempts of the first level."""
        return self._samples(next(iter(self.levels())))

    def begin(self, player: str) -> _Climb:
        """Return the state of a player at the first level."""
        levels = iter(self.levels())
        first = next(levels)
        return _Climb(levels, first, len(self.items(first)))

    def follow(self, at: _Climb, name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples that follow an attempt."""
        samples: list[Sample] = []
        score = self.environment.scoring.metrics[0]
        is_over = record.attempt >= self.attempts or score.of(record) == score.high
        if not is_over:
            item = self.items(record.item["level"])[int(record.item["index"])]
            samples.append(self._sample(item, record.attempt + 1))
        if record.item["level"] != at.level:
            return samples
        at.open_items -= is_over
        if record.end == End.SOLVED:
            at.failures = 0
        elif at.open_items > 0:
            return samples
        else:
            at.failures += 1
        if at.failures < self._patience:
            at.level = next(at.levels, None)
            if at.level is not None:
                at.open_items = len(self.items(at.level))
                samples += self._samples(at.level)
        return samples


class Ladders(AdaptiveSampleSource[dict[str, _Climb]]):
    """Supplies the samples of several ladders, each of which is climbed by itself.

    Args:
        ladders: The ladders by the part of their samples' ids before the first "-".
    """

    one_epoch = Ladder.one_epoch

    def __init__(self, ladders: Mapping[str, Ladder]) -> None:
        super().__init__()
        self.ladders = ladders

    def levels(self) -> Iterable[int]:
        """Return the levels, which all of them have."""
        return next(iter(self.ladders.values())).levels()

    def initial_samples(self) -> list[Sample]:
        """Return the first attempts of the first level of each."""
        return [sample for ladder in self.ladders.values() for sample in ladder.initial_samples()]

    def begin(self, player: str) -> dict[str, _Climb]:
        """Return the state of a player at the first levels."""
        return {name: ladder.begin(player) for name, ladder in self.ladders.items()}

    def follow(self, at: dict[str, _Climb], name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples that follow an attempt on its own ladder."""
        ladder, _, _ = name.partition("-")
        return self.ladders[ladder].follow(at[ladder], name, record)
