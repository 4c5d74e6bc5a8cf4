"""Searches for a horizon: the results so far decide which items are played next."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample

from waybench.core import DIFFICULTY_INDEX, Axis, Environment, EpisodeRecord, ItemIndex, Json, Price, UsageError
from waybench.evaluation._adaptive import AdaptiveSampleSource, Stratum
from waybench.evaluation._function import PrerequisiteError
from waybench.evaluation._sample import to_sample
from waybench.results.stats import Candidate, Seeker, StoppingRule, Trial

PLAN = "waybench_search"  # where a sample's metadata has what the search is for


class HorizonSearch(AdaptiveSampleSource["_Search"]):
    """Supplies the items with the most information about the player's horizon for their cost.

    Items come in rounds; the next round follows when the last of this one is finished, and is a function of all
    results so far. So neither the order in which they finish nor an interruption changes what is played. A round waits
    for a later run to repeat what an infrastructure error has ended.

    Args:
        environment: What is played.
        options: Options of play.
        axis: What is difficult.
        found: Items by difficulty.
        rule: When the search stops.
        price_of: Model -> its price, by which costs are counted in dollars; None if they are counted in tokens.
        budget_of: Model -> its budget; None for no limit.
        index: By what `axis` tells the difficulty of single items of a level; None if it does not.
    """

    one_epoch = "this task plays every item once: remove --epochs"

    def __init__(
        self,
        environment: Environment[Any, Any, Any],
        options: Mapping[str, Json],
        axis: Axis,
        found: Sequence[Stratum],
        rule: StoppingRule,
        price_of: Callable[[str], Price | None],
        budget_of: Callable[[str], float | None],
        index: ItemIndex | None = None,
    ) -> None:
        super().__init__()
        self._environment = environment
        self._options = options
        self._axis = axis
        self._strata = found
        self._rule = rule
        self._price_of = price_of
        self._budget_of = budget_of
        self._seeker = Seeker(rule, found[0].at, found[-1].at)
        ends = {"lowest": found[0].at, "highest": found[-1].at}
        by_index = {} if index is None else {DIFFICULTY_INDEX: index.to_json()}
        self._plan = json.dumps({**asdict(rule), **ends, "axis": axis.name, **by_index}, sort_keys=True)

    def initial_samples(self) -> list[Sample]:
        """Return the first round, which is the same for all players."""
        return self._round(_Search(""))

    def begin(self, player: str) -> "_Search":
        """Return the search for a player's horizon that waits for its first round."""
        search = _Search(player)
        self._round(search)
        return search

    def follow(self, at: "_Search", name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the next round if this was the last sample of one."""
        if name not in at.waiting:
            return []
        at.ended[name] = record
        if at.ended.keys() < at.waiting.keys():
            return []
        price = self._price(record.player)
        at.trials += [self._trial(at.ended[each], candidate, price) for each, candidate in at.waiting.items()]
        return self._round(at)

    def _trial(self, record: EpisodeRecord, candidate: "_Waiting", price: Price | None) -> Trial:
        expected_cost = self._strata[candidate.stratum].takes.cost(price)
        return Trial(
            candidate.at, self._environment.difficulty.succeeded(record), cost_of(record, price), expected_cost
        )

    def _price(self, player: str) -> Price | None:
        try:
            return self._price_of(player)
        except UsageError as error:
            raise PrerequisiteError(str(error)) from None

    def _round(self, search: "_Search") -> list[Sample]:
        # Of the first round one does not know whose it is: costs are counted in tokens, and it is within any budget.
        price, budget = (self._price(search.player), self._budget_of(search.player)) if search.trials else (None, None)
        candidates = [
            Candidate(
                each.at, each.takes.cost(price), None if each.left is None else each.left - search.used.get(number, 0)
            )
            for number, each in enumerate(self._strata)
        ]
        search.waiting, search.ended = {}, {}
        samples: list[Sample] = []
        for number in self._seeker.next(search.trials, candidates, budget).candidates:
            item, at = self._strata[number].item(search.used.get(number, 0))
            search.used[number] = search.used.get(number, 0) + 1
            sample = to_sample(self._environment, item, {**self._options, **self._strata[number].options}, 1)
            sample.metadata = {**(sample.metadata or {}), PLAN: self._plan}
            search.waiting[str(sample.id)] = _Waiting(number, at)
            samples.append(sample)
        return samples


def cost_of(record: EpisodeRecord, price: Price | None) -> float | None:
    """Return what an episode cost, in dollars, or its tokens if there is no price; None if its tokens are not known."""
    if price is not None:
        return price.episode_cost(record)
    return float(sum(record.tokens)) if any(record.tokens) else None


class _Waiting(NamedTuple):
    stratum: int
    at: float


@dataclass(slots=True)
class _Search:
    """The state of the search for one player's horizon.

    Attributes:
        player: The model.
        trials: What has been tried, in rounds that are complete.
        used: How many items of each stratum were begun.
        waiting: The round's samples.
        ended: Those of them that have ended.
    """

    player: str
    trials: list[Trial] = field(default_factory=list[Trial])
    used: dict[int, int] = field(default_factory=dict[int, int])
    waiting: "dict[str, _Waiting]" = field(default_factory=dict[str, _Waiting])
    ended: dict[str, EpisodeRecord] = field(default_factory=dict[str, EpisodeRecord])
