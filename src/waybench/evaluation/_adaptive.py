"""Sample sources that choose the next samples from results: what they have in common, and searches for a horizon."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import floor, log2
from statistics import fmean
from typing import Any, Generic, NamedTuple, TypeVar

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from waybench.core import (
    DIFFICULTY_INDEX,
    NOTHING,
    Axis,
    End,
    Environment,
    Episode,
    EpisodeRecord,
    Item,
    ItemIndex,
    Json,
    Price,
    Source,
    UsageError,
    policy,
)
from waybench.evaluation._agents import PrerequisiteError, estimate_picture_tokens, one_line_errors
from waybench.evaluation._sample import finished_record, to_sample
from waybench.results.stats import Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import Candidate
from waybench.results.stats._curves import CurvePrior

S = TypeVar("S")
_BINS_PER_DOUBLING = 3  # strata for each doubling of the difficulty, where items have difficulties of their own
_ITEMS_MEASURED = 3  # items of a stratum that are played to learn what an episode takes
_LETTERS_PER_TOKEN = 4  # an estimate
_TOKENS_PER_MESSAGE = 4  # what chat templates add, about


class AdaptiveSampleSource(SampleSource, ABC, Generic[S]):
    """Supplies a task's samples; for each player, the next samples depend on its results alone.

    The engine gives one source to all models of a run, and tells a retried task's source again of everything that is
    finished, from the first sample on. An attempt that ended in an infrastructure error has no result, and nothing
    follows from it until a later run has repeated it.
    """

    one_epoch: str  # what to do instead of asking for several epochs
    total: int | None = None  # number of items, where the results do not decide it

    def __init__(self) -> None:
        self._states: dict[str, S] = {}  # by player, as the ids below
        self._finished_ids: dict[str, set[str]] = {}

    @abstractmethod
    def initial_state(self, player: str) -> S:
        """Return the state of a player to whom the initial samples were given."""

    @abstractmethod
    def samples_after(self, state: S, sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Update the player's state by the result of a sample, and return the samples to play next."""

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return the samples to play after a finished sample; None if it ended in an infrastructure error."""
        if sample.epoch != 1:
            raise PrerequisiteError(self.one_epoch)
        record, sample_id = finished_record(sample), str(sample.id)
        state = self._state_for_sample(record.player, sample_id)
        if sample.error or record.end in (None, End.INFRASTRUCTURE):
            return None
        return self.samples_after(state, sample_id, record)

    def _state_for_sample(self, player: str, sample_id: str) -> S:
        """Return a player's state; a new one if it has the sample already, as when the engine retries a task."""
        if player not in self._states or sample_id in self._finished_ids[player]:
            self._states[player], self._finished_ids[player] = self.initial_state(player), set()
        self._finished_ids[player].add(sample_id)
        return self._states[player]


class Tokens(NamedTuple):
    """Tokens of an episode, or their mean over episodes."""

    input: float
    output: float

    def cost(self, price: Price | None) -> float:
        """Return the cost in dollars, or the number of tokens without a price."""
        return sum(self) if price is None else price.cost(*self)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items of about the same difficulty.

    Attributes:
        difficulty: The mean difficulty of the items.
        item: Index, from 0 -> (item, its own difficulty).
        n_items: Number of items; None if there is no end.
        tokens: Estimated tokens of an episode.
        options: Further options of play of these items.
    """

    difficulty: float
    item: Callable[[int], tuple[Item[Any], float]]
    n_items: int | None
    tokens: Tokens
    options: Mapping[str, Json] = field(default_factory=lambda: NOTHING)


def strata_of_levels(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    axis: Axis,
    sources: Mapping[int, Source[Any]],
    items_per_level: int | None,
) -> list[Stratum]:
    """Return the strata of the items of some levels (`sources`: level -> its items), easiest first.

    With `items_per_level`, that many items of each level are sorted by their own difficulty; None where the level
    itself is the difficulty.
    """
    levels = sorted(sources)
    if items_per_level is None:
        return [_stratum_of_level(environment, options, level, sources[level]) for level in levels]
    bins: dict[int, list[tuple[Item[Any], float]]] = {}
    # Items of all levels alternate, so that no stratum begins with one level.
    for items in zip(*(sources[level].head(items_per_level) for level in levels), strict=True):
        for item in items:
            difficulty = axis.of(Episode(environment, item, options).record())
            if difficulty is not None and difficulty > 0:
                bins.setdefault(floor(_BINS_PER_DOUBLING * log2(difficulty)), []).append((item, difficulty))
    return [_stratum_of_items(environment, options, items) for _, items in sorted(bins.items())]


class OptionItems(NamedTuple):
    """Items that are played with the same options.

    Attributes:
        difficulty: The difficulty of all items with these options.
        options: Further options of play.
        id_suffix: Suffix of the items' ids, since several strata have the same items.
        tokens: Estimated tokens of an episode; None to measure them on some episodes.
    """

    difficulty: float
    options: Mapping[str, Json]
    id_suffix: str
    items: Sequence[Item[Any]]
    tokens: Tokens | None = None


def option_strata(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], groups: Sequence[OptionItems]
) -> list[Stratum]:
    """Return one stratum for each group of items, in their order, whose items have the group's difficulty and options.

    The items' ids get the group's suffix. Tokens of an episode are measured where the group does not give them.
    """
    strata: list[Stratum] = []
    for group in groups:
        items = [(replace(item, id=f"{item.id}-{group.id_suffix}"), group.difficulty) for item in group.items]
        stratum = _stratum_of_items(environment, {**options, **group.options}, items, group.tokens)
        strata.append(replace(stratum, options=group.options))
    return strata


def _stratum_of_level(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], level: int, source: Source[Any]
) -> Stratum:
    """Return a level's items as one stratum whose difficulty is the level."""
    difficulty = float(level)
    tokens = estimate_episode_tokens(environment, options, [source.item(0)])
    return Stratum(difficulty, lambda index: (source.item(index), difficulty), source.space, tokens)


def _stratum_of_items(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    items: Sequence[tuple[Item[Any], float]],
    tokens: Tokens | None = None,
) -> Stratum:
    """Return a stratum of (item, difficulty) pairs; `tokens` of an episode are measured if None."""
    tokens = tokens or estimate_episode_tokens(environment, options, [item for item, _ in items[:_ITEMS_MEASURED]])
    return Stratum(fmean(difficulty for _, difficulty in items), lambda index: items[index], len(items), tokens)


def estimate_episode_tokens(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    items: Sequence[Item[Any]],
    player: str = "oracle",
    max_turns: int | None = None,
) -> Tokens:
    """Return the estimated mean tokens of an episode that an embedded player plays, without reasoning.

    Four letters, or 750 pixels of a picture, count as one token. At most `max_turns` are played, and the tokens of the
    others, up to the limit on turns, are extrapolated; None to play episodes to their end.
    """
    player_policy = policy(player)
    total = Tokens(0.0, 0.0)
    for item in items:
        episode: Episode[Any, Any, Any] = Episode(environment, item, options)
        prompt_sizes: list[float] = []  # tokens of each turn's prompt
        reply_tokens = 0.0
        while not episode.done and (max_turns is None or len(prompt_sizes) < max_turns):
            messages = episode.messages
            picture_tokens = sum(estimate_picture_tokens(message.picture) for message in messages if message.picture)
            n_letters = sum(len(message.text) for message in messages)
            prompt_sizes.append(n_letters / _LETTERS_PER_TOKEN + _TOKENS_PER_MESSAGE * len(messages) + picture_tokens)
            reply = player_policy.reply(episode)
            reply_tokens += len(reply) / _LETTERS_PER_TOKEN
            episode.step(reply)
        remaining_turns = 0 if episode.done else max(episode.turns_left, 0)
        prompt_tokens = sum(prompt_sizes)
        if remaining_turns:
            # A chat grows by the same amount each turn; other prompts stay as long as they are.
            is_chat = episode.play.wording.memory.kind == "chat" and len(prompt_sizes) > 1
            growth = (prompt_sizes[-1] - prompt_sizes[0]) / (len(prompt_sizes) - 1) if is_chat else 0.0
            prompt_tokens += remaining_turns * prompt_sizes[-1] + growth * remaining_turns * (remaining_turns + 1) / 2
            reply_tokens += remaining_turns * reply_tokens / len(prompt_sizes)
        total = Tokens(total.input + prompt_tokens, total.output + reply_tokens)
    return Tokens(total.input / len(items), total.output / len(items))


@dataclass(frozen=True, slots=True)
class HorizonConfig:
    """The configuration of a search for a horizon.

    Attributes:
        strata: Items by difficulty, the easiest first.
        prices: Model -> its prices; None if costs are counted in tokens.
        item_index: The difficulty index of single items; None if items of one level count as equally hard.
    """

    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    axis: Axis
    strata: list[Stratum]
    rule: StoppingRule
    prices: Mapping[str, Price] | None
    item_index: ItemIndex | None = None

    def price(self, model: str) -> Price | None:
        """Return a model's price; None if costs are in tokens, the player is free, or an unneeded price is not known.

        Raises:
            UsageError: If the budget is in dollars and the price is not known.
        """
        if self._is_free(model):
            return None
        price = (self.prices or {}).get(model)
        if price is None and self.prices is not None and self.rule.budget is not None:
            raise UsageError(f"no price for {model[:120]}: a budget in dollars needs one; add it to the price table")
        return price

    def budget(self, model: str) -> float | None:
        """Return a model's budget; None for no limit, as for players that cost nothing where it is in dollars."""
        return None if self.prices is not None and self._is_free(model) else self.rule.budget

    def _is_free(self, model: str) -> bool:
        """Return whether a model is an embedded player or has prices of 0."""
        price = (self.prices or {}).get(model)
        return model.startswith("waybench/") or (price is not None and not price.input and not price.output)


class _Waiting(NamedTuple):
    """A sample of the present round: the index of its stratum, and its item's difficulty."""

    stratum: int
    difficulty: float


@dataclass(slots=True)
class _Search:
    """The state of the search for one player's horizon.

    Attributes:
        trials: Items that were played in complete rounds, with their results.
        n_begun: Index of a stratum -> number of its items that were begun.
        waiting: The samples of the present round, by id.
        ended: Records of the round's episodes that have ended, by the sample's id.
    """

    player: str
    trials: list[Trial] = field(default_factory=list[Trial])
    n_begun: Counter[int] = field(default_factory=Counter[int])
    waiting: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    ended: dict[str, EpisodeRecord] = field(default_factory=dict[str, EpisodeRecord])


class HorizonSearch(AdaptiveSampleSource[_Search]):
    """Supplies the items with the most information about the player's horizon for their cost.

    Items come in rounds; the next round follows when the last of this one is finished, and is a function of all
    results so far. So neither the order in which they finish nor an interruption changes what is played. A round waits
    for a later run to repeat what an infrastructure error has ended.
    """

    one_epoch = "this task plays every item once: remove --epochs"

    def __init__(self, config: HorizonConfig) -> None:
        super().__init__()
        self._config = config
        lowest, highest = config.strata[0].difficulty, config.strata[-1].difficulty
        rates = config.environment.difficulty.guess_rates_on(config.axis.name, config.options)
        self._seeker = Seeker(config.rule, lowest, highest, CurvePrior().with_guess_rates(rates))
        plan = {**asdict(config.rule), "lowest": lowest, "highest": highest, "axis": config.axis.name}
        if config.item_index is not None:
            plan[DIFFICULTY_INDEX] = config.item_index.to_json()
        self._plan = plan

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first round, which is the same for all players."""
        return self._start_round(_Search(""))

    def initial_state(self, player: str) -> _Search:
        """Return the state of a player whose first round is being played."""
        search = _Search(player)
        self._start_round(search)
        return search

    def samples_after(self, state: _Search, sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples of the next round if this sample was the last one of its round; otherwise none."""
        if sample_id not in state.waiting:
            return []
        state.ended[sample_id] = record
        if state.ended.keys() < state.waiting.keys():
            return []
        price = self._price_of_player(record.player)
        for sample, waiting in state.waiting.items():
            succeeded = self._config.environment.difficulty.is_success(state.ended[sample])
            expected_cost = self._config.strata[waiting.stratum].tokens.cost(price)
            state.trials.append(
                Trial(waiting.difficulty, succeeded, cost_or_tokens(state.ended[sample], price), expected_cost)
            )
        return self._start_round(state)

    def _price_of_player(self, player: str) -> Price | None:
        """Return a player's price, as `HorizonConfig.price`; an unknown price is Inspect's error of one line."""
        with one_line_errors():
            return self._config.price(player)

    def _start_round(self, search: _Search) -> list[Sample]:
        """Choose the samples of the next round by the results so far, note them in the search and return them."""
        config, price, budget = self._config, None, None
        # The first round is the same for all players: costs are counted in tokens, and it is within any budget.
        if search.trials:
            price, budget = self._price_of_player(search.player), config.budget(search.player)
        candidates = [
            Candidate(
                stratum.difficulty,
                stratum.tokens.cost(price),
                None if stratum.n_items is None else stratum.n_items - search.n_begun[index],
            )
            for index, stratum in enumerate(config.strata)
        ]
        search.waiting, search.ended = {}, {}
        samples: list[Sample] = []
        for index in self._seeker.next(search.trials, candidates, budget).candidates:
            stratum = config.strata[index]
            item, difficulty = stratum.item(search.n_begun[index])
            search.n_begun[index] += 1
            options = {**config.options, **stratum.options}
            sample = to_sample(config.environment, item, options, 1, self._plan)
            search.waiting[str(sample.id)] = _Waiting(index, difficulty)
            samples.append(sample)
        return samples


def cost_or_tokens(record: EpisodeRecord, price: Price | None) -> float | None:
    """Return an episode's cost in dollars, or its tokens if there is no price; None if its tokens are not known."""
    if price is not None:
        return price.episode_cost(record)
    return float(sum(record.tokens)) if any(record.tokens) else None
