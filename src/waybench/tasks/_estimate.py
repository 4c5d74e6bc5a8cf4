"""What a task asks of a model, before anything is sent: requests at most, and about how many tokens."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from waybench.core import Environment, Episode, Item, Json, Price, evenly_chosen, plural, resolve, short_count
from waybench.envs import registry
from waybench.eval import Tokens, least_tokens
from waybench.tasks._entry import TaskEntry
from waybench.tasks._horizon import horizon_quote
from waybench.tasks._items import TaskItem, task_items
from waybench.tasks._keys import resolve_key
from waybench.tasks._ladder import ladder

_SAMPLE = 3  # items of each environment and options that are played to estimate tokens
_LEVELS = 6  # levels of a ladder at which an item is played
_MOST_TURNS = 500  # longer episodes are not played for an estimate
_NOTE = "for an optimal player without reasoning, at four characters a token; failures and reasoning add to it"


class Estimate(NamedTuple):
    """What a task asks of a model.

    Attributes:
        episodes: Number of episodes at most.
        requests: Number of requests at most.
        tokens: Tokens that an optimal player takes without reasoning; None where episodes are too long to try.
    """

    episodes: int
    requests: int
    tokens: Tokens | None


def estimate_text(entry: TaskEntry, args: Mapping[str, Any], model: str, price: Price | None) -> str:
    """Return in a line what a task asks of a model at most, and about how many tokens that takes.

    Args:
        entry: The task.
        args: Parameters that are given, checked.
        model: The model.
        price: The model's price; None if it is not known.

    Raises:
        UsageError: If a parameter is unfit, or a data set is not here.
    """
    given = resolve_key(resolve(entry.options, args, f"parameter of {entry.name}"))
    if entry.horizon is not None:
        return horizon_quote(entry, given, model)
    if entry.climb is not None:
        first, all_levels, levels = _ladder(entry, given)
        name = registry.load(entry.envs[0]).presentation.level
        return (
            f"{entry.name}, {model}: climbs from {name} {levels[0]} as long as the model solves an item of a {name}; "
            f"at most {plural(first.requests, 'request')} at {name} {levels[0]}; up to {name} {levels[-1]}, "
            f"{_about(all_levels, price)}"
        )
    found = _fixed(list(task_items(entry.parts, given)))
    return (
        f"{entry.name}, {model}: {plural(found.episodes, 'episode')}, at most {plural(found.requests, 'request')}; "
        f"{_about(found.tokens, price)}"
    )


def _about(tokens: Tokens | None, price: Price | None) -> str:
    if tokens is None:
        return "tokens are not estimated for episodes as long as these"
    dollars = "" if price is None else f", {tokens.cost(price):,.2f} USD"
    return f"about {short_count(round(sum(tokens)))} tokens{dollars} ({_NOTE})"


def _fixed(played: Sequence[TaskItem]) -> Estimate:
    """Return the estimate of items that are all played."""
    alike: dict[str, list[TaskItem]] = {}
    for each in played:
        alike.setdefault(f"{each.environment.id} {sorted(each.options.items(), key=str)}", []).append(each)
    episodes = requests = 0
    tokens: Tokens | None = Tokens(0.0, 0.0)
    for own in alike.values():
        environment, options = own[0].environment, own[0].options
        attempts = sum(each.attempts for each in own)
        turns = _turns(environment, own[0].item, options)
        episodes, requests = episodes + attempts, requests + attempts * turns
        mean = _tokens(environment, options, [each.item for each in evenly_chosen(own, _SAMPLE)], turns)
        # An item whose attempts end with a perfect one is played once by an optimal player.
        times = len(own) if environment.best_of else attempts
        tokens = None if tokens is None or mean is None else _sum([tokens, _times(mean, times)])
    return Estimate(episodes, requests, tokens)


def _ladder(entry: TaskEntry, given: Mapping[str, Any]) -> tuple[Estimate, Tokens | None, list[int]]:
    """Return the estimate of a ladder's first level, the tokens of all levels, and the levels."""
    source = ladder(entry, given)
    environment, options, levels = source.environment, source.options, list(source.levels())
    turns = _turns(environment, source.items(levels[0])[0], options)
    tried = {level: source.items(level) for level in [*evenly_chosen(levels[:-1], _LEVELS), levels[-1]]}
    means = {level: _tokens(environment, options, items[:1], turns) for level, items in tried.items()}
    sums = {level: _times(mean, len(tried[level])) for level, mean in means.items() if mean is not None}
    total = _interpolated(levels, sums) if len(sums) == len(tried) else None
    first = len(tried[levels[0]]) * source.attempts
    return Estimate(first, first * turns, means[levels[0]]), total, levels


def _interpolated(levels: Sequence[int], sums: Mapping[int, Tokens]) -> Tokens:
    """Return the tokens of all levels, one optimal episode for each item; linear between the levels that were tried."""
    tried = sorted(sums)
    sides = [np.interp(levels, tried, [sums[level][side] for level in tried]).sum() for side in (0, 1)]
    return Tokens(*map(float, sides))


def _turns(environment: Environment[Any, Any, Any], item: Item[Any], options: Mapping[str, Json]) -> int:
    episode: Episode[Any, Any, Any] = Episode(environment, item, options)
    return episode.limits.turns


def _tokens(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], items: Sequence[Item[Any]], turns: int
) -> Tokens | None:
    return None if turns > _MOST_TURNS or environment.check_options else least_tokens(environment, options, items)


def _times(tokens: Tokens, times: int) -> Tokens:
    return Tokens(tokens.input * times, tokens.output * times)


def _sum(some: Iterable[Tokens]) -> Tokens:
    listed = list(some)
    return Tokens(sum(each.input for each in listed), sum(each.output for each in listed))
