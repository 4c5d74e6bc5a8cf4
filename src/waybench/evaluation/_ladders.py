"""Sample sources that go on while a player solves an item of a level (ladders), or within a budget of tokens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample

from waybench.core import NOTHING, End, Environment, EpisodeRecord, Item, Json
from waybench.core._designs import max_failed_levels
from waybench.evaluation._adaptive import AdaptiveSampleSource, Tokens, cost_or_tokens
from waybench.evaluation._sample import to_sample


@dataclass(slots=True)
class _Climb:
    """One player's state on a ladder.

    Attributes:
        levels: The remaining levels.
        level: The highest open level; None after the last.
        open_items: Number of its items whose attempts are not over.
        failed_levels: Number of consecutive levels without a success, up to the one before.
    """

    levels: Iterator[int]
    level: int | None
    open_items: int
    failed_levels: int = 0


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

    def _first_attempts(self, level: int) -> list[Sample]:
        """Return the samples of the first attempts at a level's items."""
        return [self._attempt_sample(item, 1) for item in self.items(level)]

    def _attempt_sample(self, item: Item[Any], attempt: int) -> Sample:
        """Return the sample of an attempt at an item, counted from 1."""
        sample = to_sample(self.environment, item, self.options, attempt, self.design, self.drawn)
        return sample.model_copy(update={"metadata": {**(sample.metadata or {}), "attempts": self.attempts}})

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first attempts at the first level."""
        return self._first_attempts(next(iter(self.levels())))

    def initial_state(self, player: str) -> _Climb:
        """Return the state of a player at the first level."""
        levels = iter(self.levels())
        first_level = next(levels)
        return _Climb(levels, first_level, len(self.items(first_level)))

    def samples_after(self, state: _Climb, sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Return the item's next attempt, if one is left, and the next level's samples, if it opens."""
        samples: list[Sample] = []
        score = self.environment.scoring.metrics[0]
        is_over = record.attempt >= self.attempts or score.of(record) == score.high
        if not is_over:
            item = self.items(record.item["level"])[int(record.item["index"])]
            samples.append(self._attempt_sample(item, record.attempt + 1))
        if record.item["level"] != state.level:  # the next level is open already
            return samples
        state.open_items -= is_over
        if record.end == End.SOLVED:
            state.failed_levels = 0
        elif state.open_items > 0:
            return samples
        else:
            state.failed_levels += 1
        if state.failed_levels < max_failed_levels(self.environment.scoring.best_of):
            state.level = next(state.levels, None)
            if state.level is not None:
                state.open_items = len(self.items(state.level))
                samples += self._first_attempts(state.level)
        return samples


class Ladders(AdaptiveSampleSource[dict[str, _Climb]]):
    """Supplies the samples of several ladders, each of which is climbed by itself.

    `ladders` has each one by the part of its samples' ids before the first "-".
    """

    one_epoch = Ladder.one_epoch

    def __init__(self, ladders: Mapping[str, Ladder]) -> None:
        super().__init__()
        self.ladders = ladders

    def levels(self) -> Iterable[int]:
        """Return the levels, which are the same for all ladders."""
        return next(iter(self.ladders.values())).levels()

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first attempts at the first level of each ladder."""
        return [sample for ladder in self.ladders.values() for sample in ladder.initial_samples()]

    def initial_state(self, player: str) -> dict[str, _Climb]:
        """Return the state of a player at the first level of each ladder."""
        return {name: ladder.initial_state(player) for name, ladder in self.ladders.items()}

    def samples_after(self, state: dict[str, _Climb], sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples to play after an attempt on its ladder."""
        ladder, _, _ = sample_id.partition("-")
        return self.ladders[ladder].samples_after(state[ladder], sample_id, record)


class SampleGroup(NamedTuple):
    """Samples that are played together or not at all.

    Attributes:
        least: Returns about how many tokens an optimal player takes for one of the samples.
        most: Returns about how many tokens a player that fails takes for one of them.
    """

    samples: Sequence[Sample]
    least: Callable[[], Tokens]
    most: Callable[[], Tokens]


@dataclass(slots=True)
class _Spending:
    """What one player has spent and may still play.

    Attributes:
        waiting: Ids of the samples that were supplied and are not finished.
        further: Indices of the further groups that were not supplied.
        spent: Tokens of the finished samples.
    """

    waiting: set[str]
    further: list[int]
    spent: float = 0.0


class WithinBudget(AdaptiveSampleSource[_Spending]):
    """Supplies groups of samples, and when these are finished further groups whose tokens fit into a budget.

    The groups `first` are played whatever they take. Once all samples so far are finished, those groups of `further`
    follow, in order, whose highest estimate fits into what is left of the budget of input and output tokens. So the
    results alone decide which samples are played. An episode whose tokens are not known counts as an optimal player's.
    """

    one_epoch = "this task spends a budget of tokens: use -T attempts=n instead of --epochs n"

    def __init__(self, first: Sequence[SampleGroup], further: Sequence[SampleGroup], budget: float) -> None:
        super().__init__()
        self._first, self._further, self._budget = first, further, budget
        self._groups = {str(sample.id): group for group in (*first, *further) for sample in group.samples}

    def initial_samples(self) -> list[Sample]:
        """Return the samples that are played whatever they cost."""
        return [sample for group in self._first for sample in group.samples]

    def initial_state(self, player: str) -> _Spending:
        """Return the state of a player that has spent no tokens."""
        return _Spending({str(sample.id) for sample in self.initial_samples()}, list(range(len(self._further))))

    def samples_after(self, state: _Spending, sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Return the further samples that fit into the budget if all samples so far are finished; otherwise none."""
        if sample_id not in state.waiting:
            return []
        state.waiting.remove(sample_id)
        tokens = cost_or_tokens(record, None)
        state.spent += sum(self._groups[sample_id].least()) if tokens is None else tokens
        samples: list[Sample] = []
        if not state.waiting:
            tokens_left = self._budget - state.spent
            for index in state.further.copy():
                group = self._further[index]
                most_tokens = sum(group.most()) * len(group.samples)
                if most_tokens <= tokens_left:
                    tokens_left -= most_tokens
                    state.further.remove(index)
                    samples += group.samples
            state.waiting = {str(sample.id) for sample in samples}
        return samples
