"""Items by difficulty, with the least cost of their episodes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, log2
from statistics import fmean
from typing import Any, NamedTuple

from waybench.core import NOTHING, Axis, Environment, Episode, Item, Json, Price, Source, policy
from waybench.eval._images import picture_tokens

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
