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
    evenly_spaced,
    plural,
    short_count,
)
from waybench.envs import registry
from waybench.evaluation._adaptive import Tokens, episode_tokens
from waybench.evaluation.tasks._entry import TaskEntry, resolve_key
from waybench.evaluation.tasks._horizon import horizon_quote
from waybench.evaluation.tasks._items import TaskItem, prompt_kinds, task_items
from waybench.evaluation.tasks._samples import ladder

_SAMPLE = 3  # items of each environment and options that are played to estimate tokens
_LEVELS = 6  # levels of a ladder at which an item is played
_TURNS = 100  # turns of an episode that are played for an estimate


class RunEstimate(NamedTuple):
    """What a task asks of a model.

    Attributes:
        episodes: Number of episodes at most; of a ladder those of its first level.
        requests: Number of requests at most, likewise.
        least: Tokens of an optimal player without reasoning; None where the environment cannot be played here.
        most: Tokens of a player that moves at random, which plays all attempts and most of their turns; likewise.
        turns: Most turns of an episode, without those of a prefix.
        levels: The levels of a ladder, all of which the tokens are for.
    """

    episodes: int = 0
    requests: int = 0
    least: Tokens | None = None
    most: Tokens | None = None
    turns: int = 0
    levels: Sequence[int] = ()


class TaskQuote:
    """What a task with these parameters takes, whatever the model.

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
        self._args = resolve_key(entry.resolve(args))
        estimate = RunEstimate()
        if entry.climb is not None:
            estimate = ladder_estimate(entry, self._args)
        elif not entry.searches:
            estimate = fixed_estimate(list(task_items(entry.parts, self._args)))
        self._estimate = estimate
        self.requests = estimate.requests
        self.to_last_level = sum(estimate.least) if estimate.levels and estimate.least is not None else None
        pictures = "" if prompt_kinds(entry.parts, self._args).picture is None else " or 750 pixels"
        self._note = f"at four characters{pictures} a token and without reasoning"

    def text(self, model: str, price: Price | None = None) -> str:
        """Return in a line what the task asks of a model at most, and about how many tokens and dollars that takes.

        Raises:
            UsageError: If the budget of a search is in dollars and the model's price is not known.
        """
        entry, estimate = self._entry, self._estimate
        if entry.searches:
            return horizon_quote(entry, self._args, model)
        most = f"at most {plural(estimate.requests, 'request')}"
        if estimate.levels:
            name = registry.load(entry.envs[0]).presentation.level
            first, last = estimate.levels[0], estimate.levels[-1]
            what = (
                f"climbs from {name} {first} as long as the model solves an item of a {name}; "
                f"{most} at {name} {first}; up to {name} {last}, "
            )
        else:
            what = f"{plural(estimate.episodes, 'episode')}, {most}; "
        probe = self._args.get(PROBE)
        more = "" if probe is None else f"; the requests of probe={probe[:40]} come on top"
        return f"{entry.name}, {model}: {what}{_tokens_text(estimate, price, self._note)}{more}"


def _tokens_text(estimate: RunEstimate, price: Price | None, note: str) -> str:
    least, most, turns = estimate.least, estimate.most, estimate.turns
    if least is None or most is None:
        return "tokens are not estimated for this environment"

    def text(tokens: Tokens) -> str:
        dollars = "" if price is None else f", {tokens.cost(price):,.2f} USD"
        return f"{short_count(round(sum(tokens)))} tokens{dollars}"

    if turns > _TURNS:
        note += f"; of episodes of up to {turns:,} turns the first {_TURNS} are played, the rest is extrapolated"
    if sum(most) <= sum(least):
        return f"about {text(least)} ({note})"
    return f"about {text(least)} for an optimal player, {text(most)} for one that moves at random ({note})"


def fixed_estimate(items: Sequence[TaskItem]) -> RunEstimate:
    """Return the estimate of items that are all played."""
    groups: dict[str, list[TaskItem]] = {}
    for item in items:
        groups.setdefault(f"{item.environment.id} {sorted(item.options.items(), key=str)}", []).append(item)
    episodes = requests = longest = 0
    least: Tokens | None = Tokens(0.0, 0.0)
    most: Tokens | None = Tokens(0.0, 0.0)
    for group in groups.values():
        environment, options = group[0].environment, group[0].options
        attempts = sum(item.attempts for item in group)
        turns = _turns(environment, group[0].item, options)
        longest = max(longest, turns)
        episodes, requests = episodes + attempts, requests + attempts * turns
        sample = [item.item for item in evenly_spaced(group, _SAMPLE)]
        # An item whose attempts end with a perfect one is played once by an optimal player.
        plays = len(group) if environment.scoring.best_of else attempts
        least = _add_tokens(least, _tokens(environment, options, sample, "oracle"), plays)
        most = _add_tokens(most, _tokens(environment, options, sample, "random"), attempts)
    return RunEstimate(episodes, requests, least, most, longest)


def ladder_estimate(entry: TaskEntry, args: Mapping[str, Any]) -> RunEstimate:
    """Return the estimate of a ladder: episodes and requests of its first level, and tokens of all levels."""
    source = ladder(entry, args)
    environment, options, levels = source.environment, source.options, list(source.levels())
    turns = _turns(environment, source.items(levels[0])[0], options)
    sample = {level: source.items(level) for level in [*evenly_spaced(levels[:-1], _LEVELS), levels[-1]]}

    def tokens(player: str, attempts: int) -> Tokens | None:
        """Return the tokens of all levels, linear between those that are played; None if they cannot be played."""
        means = {level: _tokens(environment, options, items[:1], player) for level, items in sample.items()}
        sums = {
            level: [side * attempts * len(sample[level]) for side in mean]
            for level, mean in sorted(means.items())
            if mean is not None
        }
        if not sums:
            return None
        return Tokens(
            *(float(np.interp(levels, list(sums), sides).sum()) for sides in zip(*sums.values(), strict=True))
        )

    episodes = len(sample[levels[0]]) * source.attempts
    least, most = tokens("oracle", 1), tokens("random", source.attempts)
    return RunEstimate(episodes, episodes * turns, least, most, turns, levels)


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


def _add_tokens(total: Tokens | None, mean: Tokens | None, times: int) -> Tokens | None:
    if total is None or mean is None:
        return None
    return Tokens(total.input + mean.input * times, total.output + mean.output * times)
