"""Sample sources that go on to further items while a budget of tokens lasts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inspect_ai.dataset import Sample

from waybench.core import EpisodeRecord
from waybench.evaluation._adaptive import AdaptiveSampleSource, Tokens, cost_or_tokens


class SampleGroup(NamedTuple):
    """Samples that are played together or not at all.

    Attributes:
        samples: The samples.
        least: Returns about how many tokens an optimal player takes for one of them.
        most: Returns about how many a player takes that fails.
    """

    samples: Sequence[Sample]
    least: Callable[[], Tokens]
    most: Callable[[], Tokens]


@dataclass(slots=True)
class _Spending:
    """What one player has taken.

    Attributes:
        waiting: Ids of the samples that were supplied and are not finished.
        further: Numbers of the groups that were not supplied.
        spent: Tokens of the finished samples.
    """

    waiting: set[str]
    further: list[int]
    spent: float = 0.0


class WithinBudget(AdaptiveSampleSource[_Spending]):
    """Supplies groups of samples, and when these are finished further groups whose tokens fit into a budget.

    As soon as all samples so far are finished, those groups follow, in their order, that what they take at most leaves
    within the budget. So what is played is a function of the results alone. An episode whose tokens are not known
    counts as an optimal player's.

    Args:
        first: Groups that are played whatever they take.
        further: Groups that follow within the budget.
        budget: Tokens of all samples, input and output.
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
            left = self._budget - state.spent
            for number in state.further.copy():
                group = self._further[number]
                if (most := sum(group.most()) * len(group.samples)) <= left:
                    left -= most
                    state.further.remove(number)
                    samples += group.samples
            state.waiting = {str(sample.id) for sample in samples}
        return samples
