"""Sample sources that choose the next samples from results, ladders, and items by difficulty."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, log2
from statistics import fmean
from typing import Any, Generic, NamedTuple, TypeVar

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from waybench.core import NOTHING, Axis, End, Environment, Episode, EpisodeRecord, Item, Json, Price, Source, policy
from waybench.evaluation._function import PrerequisiteError, picture_tokens
from waybench.evaluation._sample import finished_record, to_sample

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


_BINS = 3  # strata for each doubling of the difficulty, where items have difficulties of their own
_SAMPLE = 3  # items of a stratum that are played to learn what an episode takes
_LETTERS = 4  # for a token: an estimate
_TOKENS_PER_MESSAGE = 4  # what chat templates add, about


class Tokens(NamedTuple):
    """Tokens of an episode.

    Attributes:
        input: Of its requests.
        output: Of its replies.
    """

    input: float
    output: float

    def cost(self, price: Price | None) -> float:
        """Return the cost in dollars, or the number of tokens without a price."""
        return sum(self) if price is None else price.cost(*self)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items of about the same difficulty.

    Attributes:
        at: The difficulty.
        item: Number, from 0 -> the item with its own difficulty.
        left: How many items there are; None for as many as one likes.
        takes: Tokens of an episode without a word too much.
        options: Options of play that it has in addition to those of all strata.
    """

    at: float
    item: Callable[[int], tuple[Item[Any], float]]
    left: int | None
    takes: Tokens
    options: Mapping[str, Json] = field(default_factory=lambda: NOTHING)


def strata(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    axis: Axis,
    sources: Mapping[int, Source[Any]],
    pool: int | None,
) -> list[Stratum]:
    """Return the strata of some levels, easiest first.

    Args:
        environment: What is played.
        options: Options of play.
        axis: What is difficult.
        sources: Level -> its items.
        pool: None where a level is a difficulty; otherwise how many items of each level are sorted by theirs.
    """
    if pool is None:
        return [_of_level(environment, options, level, source) for level, source in sorted(sources.items())]
    items = _in_turn([source.head(pool) for _, source in sorted(sources.items())])
    bins: dict[int, list[tuple[Item[Any], float]]] = {}
    for item in items:
        at = axis.of(Episode(environment, item, options).record())
        if at is not None and at > 0:
            bins.setdefault(floor(_BINS * log2(at)), []).append((item, at))
    return [_of_pool(environment, options, own) for _, own in sorted(bins.items())]


class OptionItems(NamedTuple):
    """Items that are played with the same options.

    Attributes:
        at: How difficult that makes them.
        options: Options of play that they have in addition to those of all items.
        mark: What these options add to the id of an item, since several strata have the item.
        items: The items.
        takes: Tokens of an episode without a word too much, where they are known; otherwise some are played.
    """

    at: float
    options: Mapping[str, Json]
    mark: str
    items: Sequence[Item[Any]]
    takes: Tokens | None = None


def option_strata(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], found: Sequence[OptionItems]
) -> list[Stratum]:
    """Return a stratum for each value of an option.

    Args:
        environment: What is played.
        options: Options of play that all items have.
        found: The items by value, easiest first.
    """
    return [_of_option(environment, options, each) for each in found]


def _of_option(environment: Environment[Any, Any, Any], options: Mapping[str, Json], own: OptionItems) -> Stratum:
    items = [replace(item, id=f"{item.id}-{own.mark}") for item in own.items]
    takes = own.takes or episode_tokens(environment, {**options, **own.options}, items[:_SAMPLE])
    return Stratum(own.at, lambda number: (items[number], own.at), len(items), takes, own.options)


def _in_turn(columns: Sequence[Sequence[Item[Any]]]) -> Iterable[Item[Any]]:
    """Return items of all levels alternately, so that no stratum begins with one level."""
    return [item for row in zip(*columns, strict=True) for item in row]


def _of_level(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], level: int, source: Source[Any]
) -> Stratum:
    at = float(level)
    takes = episode_tokens(environment, options, [source.item(0)])
    return Stratum(at, lambda number: (source.item(number), at), source.space, takes)


def _of_pool(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], own: Sequence[tuple[Item[Any], float]]
) -> Stratum:
    takes = episode_tokens(environment, options, [item for item, _ in own[:_SAMPLE]])
    return Stratum(fmean(at for _, at in own), lambda number: own[number], len(own), takes)


def episode_tokens(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    items: Sequence[Item[Any]],
    player: str = "oracle",
    most_turns: int | None = None,
) -> Tokens:
    """Return about how many tokens an episode takes on average if an embedded player plays it without further words.

    A token is taken for four letters, and for 750 pixels of a picture.

    Args:
        environment: The environment.
        options: Options of play.
        items: The items that are played.
        player: The player.
        most_turns: Turns that are played; the rest of a longer episode is extrapolated to the limit on its turns. None
            to play episodes to their end.
    """
    own = policy(player)
    sums = Tokens(0.0, 0.0)
    for item in items:
        episode: Episode[Any, Any, Any] = Episode(environment, item, options)
        prompts: list[float] = []
        replies = 0.0
        while not episode.done and (most_turns is None or len(prompts) < most_turns):
            shown = episode.messages
            pictures = sum(picture_tokens(message.picture) for message in shown if message.picture)
            letters = sum(len(message.text) for message in shown)
            prompts.append(letters / _LETTERS + _TOKENS_PER_MESSAGE * len(shown) + pictures)
            reply = own.reply(episode)
            replies += len(reply) / _LETTERS
            episode.step(reply)
        rest = 0 if episode.done else max(episode.turns_left, 0)
        prompt_tokens = sum(prompts)
        if rest:
            # A chat grows by the same amount each turn; other prompts stay as long as they are.
            is_chat = episode.play.wording.memory.kind == "chat" and len(prompts) > 1
            growth = (prompts[-1] - prompts[0]) / (len(prompts) - 1) if is_chat else 0.0
            prompt_tokens += rest * prompts[-1] + growth * rest * (rest + 1) / 2
            replies += rest * replies / len(prompts)
        sums = Tokens(sums.input + prompt_tokens, sums.output + replies)
    return Tokens(sums.input / len(items), sums.output / len(items))


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
