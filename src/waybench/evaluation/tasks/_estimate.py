"""What a task takes before anything is sent: requests at most, and about how many tokens."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from waybench.core import (
    PROBE,
    Environment,
    Episode,
    Item,
    Json,
    Price,
    WaybenchError,
    evenly_chosen,
    plural,
    short_count,
)
from waybench.envs import registry
from waybench.evaluation import Tokens, episode_tokens
from waybench.evaluation.tasks._entry import TaskEntry, resolve_key
from waybench.evaluation.tasks._horizon import horizon_quote
from waybench.evaluation.tasks._items import TaskItem, prompt_kinds, task_items
from waybench.evaluation.tasks._samples import ladder

_SAMPLE = 3  # items of each environment and options that are played to estimate tokens
_LEVELS = 6  # levels of a ladder at which an item is played
_TURNS = 100  # turns of an episode that are played for an estimate
_NOTE = "at four characters a token and without reasoning"
_NOTE_PICTURES = "at four characters or 750 pixels a token and without reasoning"


class Estimate(NamedTuple):
    """What a task asks of a model.

    Attributes:
        episodes: Number of episodes at most.
        requests: Number of requests at most.
        least: Tokens of an optimal player without reasoning; None where the environment cannot be played here.
        most: Tokens of a player that moves at random, which plays all attempts and most of their turns; likewise.
        turns: Most turns of an episode, without those of a prefix.
    """

    episodes: int
    requests: int
    least: Tokens | None
    most: Tokens | None
    turns: int = 0


class TaskQuote:
    """What a task takes, whatever the model.

    Args:
        entry: The task.
        args: Parameters that are given, checked.

    Attributes:
        requests: Number of requests at most; of a ladder those of its first level, and of a search 0, since results
            decide the others.
        to_last_level: Tokens of an optimal player up to a ladder's last level; None for other tasks, and where it
            cannot be played here.

    Raises:
        UsageError: If a parameter is unfit, or a data set is not here.
    """

    def __init__(self, entry: TaskEntry, args: Mapping[str, Any]) -> None:
        self._entry = entry
        self._given = resolve_key(entry.resolve(args))
        self._levels: AllLevels | None = None
        self._estimate = Estimate(0, 0, None, None)
        if entry.climb is not None:
            self._estimate, self._levels = _ladder(entry, self._given)
        elif not entry.searches:
            self._estimate = _fixed(list(task_items(entry.parts, self._given)))
        self._note = _NOTE if prompt_kinds(entry.parts, self._given).picture is None else _NOTE_PICTURES
        self.requests = self._estimate.requests
        least = None if self._levels is None else self._levels.least
        self.to_last_level = None if least is None else sum(least)

    def text(self, model: str, price: Price | None) -> str:
        """Return in a line what the task takes at most, and about how many tokens that is.

        Args:
            model: The model.
            price: The model's price; None if it is not known.

        Raises:
            UsageError: If the budget of a search is in dollars and the model's price is not known.
        """
        entry, found = self._entry, self._estimate
        if entry.searches:
            return horizon_quote(entry, self._given, model)
        probe = self._given.get(PROBE)
        more = "" if probe is None else f"; the requests of probe={probe[:40]} come on top"
        most = f"at most {plural(found.requests, 'request')}"
        if self._levels is not None:
            levels, name = self._levels.levels, registry.load(entry.envs[0]).presentation.level
            return (
                f"{entry.name}, {model}: climbs from {name} {levels[0]} as long as the model solves an item of a "
                f"{name}; {most} at {name} {levels[0]}; up to {name} {levels[-1]}, "
                f"{_about(self._levels.least, self._levels.most, price, found.turns, self._note)}{more}"
            )
        return (
            f"{entry.name}, {model}: {plural(found.episodes, 'episode')}, {most}; "
            f"{_about(found.least, found.most, price, found.turns, self._note)}{more}"
        )


def _about(least: Tokens | None, most: Tokens | None, price: Price | None, turns: int, note: str) -> str:
    if least is None or most is None:
        return "tokens are not estimated for this environment"

    def text(tokens: Tokens) -> str:
        dollars = "" if price is None else f", {tokens.cost(price):,.2f} USD"
        return f"{short_count(round(sum(tokens)))} tokens{dollars}"

    long = f"; of episodes of up to {turns:,} turns the first {_TURNS} are played, the rest is extrapolated"
    note += long if turns > _TURNS else ""
    if sum(most) <= sum(least):
        return f"about {text(least)} ({note})"
    return f"about {text(least)} for an optimal player, {text(most)} for one that moves at random ({note})"


def _fixed(played: Sequence[TaskItem]) -> Estimate:
    """Return the estimate of items that are all played."""
    alike: dict[str, list[TaskItem]] = {}
    for each in played:
        alike.setdefault(f"{each.environment.id} {sorted(each.options.items(), key=str)}", []).append(each)
    episodes = requests = longest = 0
    least: Tokens | None = Tokens(0.0, 0.0)
    most: Tokens | None = Tokens(0.0, 0.0)
    for own in alike.values():
        environment, options = own[0].environment, own[0].options
        attempts = sum(each.attempts for each in own)
        turns = _turns(environment, own[0].item, options)
        longest = max(longest, turns)
        episodes, requests = episodes + attempts, requests + attempts * turns
        sample = [each.item for each in evenly_chosen(own, _SAMPLE)]
        # An item whose attempts end with a perfect one is played once by an optimal player.
        least = _added(
            least,
            _tokens(environment, options, sample, "oracle"),
            len(own) if environment.scoring.best_of else attempts,
        )
        most = _added(most, _tokens(environment, options, sample, "random"), attempts)
    return Estimate(episodes, requests, least, most, longest)


class AllLevels(NamedTuple):
    """The estimate of all levels of a ladder.

    Attributes:
        levels: The levels.
        least: Tokens of an optimal player, as in `Estimate`.
        most: Tokens of a player that needs all attempts and moves at random.
    """

    levels: list[int]
    least: Tokens | None
    most: Tokens | None


def _ladder(entry: TaskEntry, given: Mapping[str, Any]) -> tuple[Estimate, AllLevels]:
    """Return the estimates of a ladder's first level, and of all levels."""
    source = ladder(entry, given)
    environment, options, levels = source.environment, source.options, list(source.levels())
    turns = _turns(environment, source.items(levels[0])[0], options)
    tried = {level: source.items(level) for level in [*evenly_chosen(levels[:-1], _LEVELS), levels[-1]]}

    def tokens(player: str, attempts: int) -> dict[int, Tokens]:
        """Return the tokens of the levels that are tried; none if they cannot be played."""
        means = {level: _tokens(environment, options, items[:1], player) for level, items in tried.items()}
        return {level: _times(mean, attempts * len(tried[level])) for level, mean in means.items() if mean is not None}

    least, most = tokens("oracle", 1), tokens("random", source.attempts)
    first = len(tried[levels[0]]) * source.attempts
    at_first = Estimate(first, first * turns, least.get(levels[0]), most.get(levels[0]), turns)
    return at_first, AllLevels(levels, _interpolated(levels, least), _interpolated(levels, most))


def _interpolated(levels: Sequence[int], sums: Mapping[int, Tokens]) -> Tokens | None:
    """Return the tokens of all levels, linear between the levels that were tried; None if none was."""
    if not sums:
        return None
    tried = sorted(sums)
    sides = [np.interp(levels, tried, [sums[level][side] for level in tried]).sum() for side in (0, 1)]
    return Tokens(*map(float, sides))


def _turns(environment: Environment[Any, Any, Any], item: Item[Any], options: Mapping[str, Json]) -> int:
    episode: Episode[Any, Any, Any] = Episode(environment, item, options)
    return episode.turns_left


def _tokens(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], items: Sequence[Item[Any]], player: str
) -> Tokens | None:
    try:
        return episode_tokens(environment, options, items, player, _TURNS)
    except WaybenchError:  # for example, an engine that the run itself will start
        return None


def _times(tokens: Tokens, times: int) -> Tokens:
    return Tokens(tokens.input * times, tokens.output * times)


def _added(total: Tokens | None, mean: Tokens | None, times: int) -> Tokens | None:
    if total is None or mean is None:
        return None
    return Tokens(total.input + mean.input * times, total.output + mean.output * times)
