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
    evenly_spaced_values,
    short_count,
)
from waybench.core._errors import KitError, reraise_as_defect
from waybench.envs import registry
from waybench.evaluation._adaptive import Tokens, estimate_episode_tokens
from waybench.evaluation._ladders import Ladder
from waybench.evaluation.tasks._entry import TaskEntry, resolve_key
from waybench.evaluation.tasks._horizon import horizon_quote
from waybench.evaluation.tasks._items import TaskItem, prompt_kinds, task_items
from waybench.evaluation.tasks._samples import ladders_of_task
from waybench.evaluation.tasks._stream import TaskStream

# Items of each environment and options that are played to estimate tokens; more where that takes one reply, for maps
# differ in size.
_SAMPLED_ITEMS, _SAMPLED_SINGLE_REPLIES = 3, 30
_SAMPLED_UNITS = 30  # of a stream that are drawn
_SAMPLED_LEVELS = 6  # levels of a ladder at which an item is played
_LONG_EPISODE = 5_000  # turns of an episode from which a run of it has a limit by default
_NO_TOKENS = Tokens(0.0, 0.0)
_PLAYED_TURNS = 100  # turns of an episode that are played for an estimate


class RunEstimate(NamedTuple):
    """What a task asks of a model.

    Attributes:
        episodes: Number of episodes at most; of a ladder those of its first level.
        requests: Number of requests at most; of a ladder those of its first level.
        least: Tokens of an optimal player without reasoning; None if it cannot play here.
        most: Tokens of a player that moves at random, which plays all attempts and most of their turns; None if it
            cannot play here.
        turns: Most turns of an episode, without those of a prefix.
        levels: The levels of a ladder, all of which the tokens are for.
        most_of_short: Tokens of that player for the episodes of at most 5,000 turns.
    """

    episodes: int = 0
    requests: int = 0
    least: Tokens | None = None
    most: Tokens | None = None
    turns: int = 0
    levels: Sequence[int] = ()
    most_of_short: float = 0.0


QUOTE_COLUMNS = "task", "model", "episodes", "requests, at most", "tokens", "USD"


class QuoteRow(NamedTuple):
    """What a task asks of a model, as text; see `QUOTE_COLUMNS`."""

    task: str
    model: str
    episodes: str
    requests: str
    tokens: str
    dollars: str


class TaskQuote:
    """What a task with these parameters takes, whatever the model.

    Args:
        args: Its parameters, as the user gives them.
        stream: Its items as a comparison plays them until it is decided; None where all items are played.

    Attributes:
        requests: Number of requests at most; of a ladder those of its first level, and of a search 0, since results
            decide the others.
        needed: The least tokens that a default limit has to allow: for a ladder those of an optimal player up to its
            last level, and for a task with episodes of more than 5,000 turns those of a random player for the others.
            None for other tasks, which need no limit, and where it is not known.

    Raises:
        UsageError: If a parameter is unfit, or a data set is not here.
    """

    def __init__(self, entry: TaskEntry, args: Mapping[str, Any], stream: TaskStream | None = None) -> None:
        self._entry = entry
        self._args = resolve_key(entry.resolve(args))
        self._stream = stream
        estimate = RunEstimate()
        if stream is not None:
            estimate = estimate_of_stream(stream)
        elif entry.climb is not None:
            estimate = estimate_of_ladders(entry, self._args)
        elif not entry.searches:
            estimate = estimate_of_items(list(task_items(entry.parts, self._args)))
        self._estimate = estimate
        self.requests = estimate.requests
        self.needed: float | None = None
        if estimate.levels:
            self.needed = None if estimate.least is None else sum(estimate.least)
        elif estimate.turns > _LONG_EPISODE:
            self.needed = estimate.most_of_short
        pictures = "" if prompt_kinds(entry.parts, self._args).picture is None else " or 750 pixels"
        self._note = f"at four characters{pictures} a token and without reasoning"

    def row(self, model: str, price: Price | None = None) -> QuoteRow:
        """Return the row of the price table for a model: episodes, requests, tokens and dollars.

        Tokens and dollars are those of an optimal player, and of one that moves at random where these are more.
        Searches have no row (`search_text`).
        """
        estimate = self._estimate
        at_first_level = f" at {self._level_noun} {estimate.levels[0]}" if estimate.levels else ""
        oracle_tokens, random_tokens = estimate.least, estimate.most
        tokens = dollars = "not known"
        if oracle_tokens is not None and random_tokens is not None:
            bounds = [oracle_tokens, random_tokens] if sum(random_tokens) > sum(oracle_tokens) else [oracle_tokens]
            tokens = " to ".join(short_count(round(sum(bound))) for bound in bounds)
            dollars = "" if price is None else " to ".join(f"{bound.cost(price):,.2f}" for bound in bounds)
        return QuoteRow(
            self._entry.name,
            model,
            f"{estimate.episodes:,}{at_first_level}",
            f"{estimate.requests:,}{at_first_level}",
            tokens,
            dollars,
        )

    def search_text(self, model: str) -> str:
        """Return a line on the cost of a horizon search; "" for other tasks.

        Raises:
            UsageError: If the budget of a search is in dollars and the model's price is not known.
        """
        return horizon_quote(self._entry, self._args, model) if self._entry.searches else ""

    @property
    def notes(self) -> list[str]:
        """Sentences that explain the estimate."""
        name, estimate, probe = self._entry.name, self._estimate, self._args.get(PROBE)
        notes: list[str] = []
        if self._entry.searches:
            return notes
        if estimate.least is not None:
            notes.append(f"Tokens: from an optimal player to one that moves at random, {self._note}.")
        if self._stream is not None:
            notes.append("That is for all items; less where the comparison is decided sooner.")
        if estimate.levels:
            first_level, last_level = estimate.levels[0], estimate.levels[-1]
            notes.append(
                f"{name} climbs from {self._level_noun} {first_level} to at most {last_level} as long as the model "
                f"solves an item of a {self._level_noun}; tokens are for all of them."
            )
        if estimate.least is not None and estimate.turns > _PLAYED_TURNS:
            notes.append(
                f"{name}: of episodes of up to {estimate.turns:,} turns the first {_PLAYED_TURNS} are played, the rest "
                "is extrapolated."
            )
        if self._entry.further:
            notes.append(
                f"{name}: further items follow while all tokens stay within {short_count(self._entry.budget)}."
            )
        if probe is not None:
            notes.append(f"{name}: the requests of probe={probe[:40]} come on top.")
        return notes

    @property
    def _level_noun(self) -> str:
        """The environment's word for a level."""
        return registry.load(self._entry.envs[0]).presentation.level


def estimate_of_items(items: Sequence[TaskItem]) -> RunEstimate:
    """Return the estimate of a fixed set of items."""
    groups: dict[str, list[TaskItem]] = {}
    for item in items:
        groups.setdefault(f"{item.environment.id} {sorted(item.options.items(), key=str)}", []).append(item)
    episodes = requests = longest = 0
    most_of_short = 0.0
    oracle_tokens: Tokens | None = _NO_TOKENS
    random_tokens_of_all: Tokens | None = _NO_TOKENS
    for group in groups.values():
        environment, options = group[0].environment, group[0].options
        attempts = sum(item.attempts for item in group)
        turns = Episode[Any, Any, Any](environment, group[0].item, options).turns_left
        longest = max(longest, turns)
        episodes, requests = episodes + attempts, requests + attempts * turns
        sample = [
            item.item for item in evenly_spaced_values(group, _SAMPLED_ITEMS if turns > 1 else _SAMPLED_SINGLE_REPLIES)
        ]
        # An item whose attempts end with a perfect one is played once by an optimal player.
        oracle_attempts = len(group) if environment.scoring.best_of else attempts
        oracle_tokens = _add_tokens(
            oracle_tokens, _episode_tokens_if_playable(environment, options, sample, "oracle"), oracle_attempts
        )
        random_tokens = _episode_tokens_if_playable(environment, options, sample, "random")
        random_tokens_of_all = _add_tokens(random_tokens_of_all, random_tokens, attempts)
        most_of_short += sum(random_tokens or ()) * attempts * (turns <= _LONG_EPISODE)
    return RunEstimate(episodes, requests, oracle_tokens, random_tokens_of_all, longest, most_of_short=most_of_short)


def estimate_of_stream(stream: TaskStream) -> RunEstimate:
    """Return the estimate of all units of a stream, extrapolated from the first ones."""
    n_sampled = min(stream.size, _SAMPLED_UNITS)
    estimate = estimate_of_items([item for number in range(n_sampled) for item in stream.unit(number)])
    scale = stream.size / n_sampled
    return estimate._replace(
        episodes=round(estimate.episodes * scale),
        requests=round(estimate.requests * scale),
        least=_add_tokens(_NO_TOKENS, estimate.least, scale),
        most=_add_tokens(_NO_TOKENS, estimate.most, scale),
        most_of_short=estimate.most_of_short * scale,
    )


def estimate_of_ladders(entry: TaskEntry, args: Mapping[str, Any]) -> RunEstimate:
    """Return the estimate of a task's ladders: requests of their first level, and tokens of all levels."""
    total, *others = [_estimate_of_ladder(ladder) for ladder in ladders_of_task(entry, args)]
    for estimate in others:
        total = RunEstimate(
            total.episodes + estimate.episodes,
            total.requests + estimate.requests,
            _add_tokens(total.least, estimate.least, 1),
            _add_tokens(total.most, estimate.most, 1),
            max(total.turns, estimate.turns),
            total.levels,  # which are the same for all ladders of a task
        )
    return total


def _estimate_of_ladder(ladder: Ladder) -> RunEstimate:
    """Return the estimate of one ladder, from a sample of its levels."""
    environment, options, levels = ladder.environment, ladder.options, list(ladder.levels())
    turns = Episode[Any, Any, Any](environment, ladder.items(levels[0])[0], options).turns_left
    sampled_levels = [*evenly_spaced_values(levels[:-1], _SAMPLED_LEVELS), levels[-1]]
    items_by_level = {level: ladder.items(level) for level in sampled_levels}

    def tokens_of_all_levels(player: str, attempts: int) -> Tokens | None:
        """Return a player's tokens at all levels, interpolated between sampled ones; None if it cannot play."""
        level_tokens: dict[int, Tokens] = {}  # of all attempts at a sampled level
        for level, items in sorted(items_by_level.items()):
            mean = _episode_tokens_if_playable(environment, options, items[:1], player)
            if mean is not None:
                level_tokens[level] = Tokens(mean.input * attempts * len(items), mean.output * attempts * len(items))
        if not level_tokens:
            return None
        inputs, outputs = zip(*level_tokens.values(), strict=True)
        return Tokens(*(float(np.interp(levels, list(level_tokens), tokens).sum()) for tokens in (inputs, outputs)))

    episodes = len(items_by_level[levels[0]]) * ladder.attempts
    oracle_tokens, random_tokens = tokens_of_all_levels("oracle", 1), tokens_of_all_levels("random", ladder.attempts)
    return RunEstimate(episodes, episodes * turns, oracle_tokens, random_tokens, turns, levels)


def _episode_tokens_if_playable(
    environment: Environment[Any, Any, Any], options: Mapping[str, Json], items: Sequence[Item[Any]], player: str
) -> Tokens | None:
    """Return the estimated tokens of a player's episode; None if it cannot be played here."""
    try:
        with reraise_as_defect(environment.id, f"player {player}"):
            return estimate_episode_tokens(environment, options, items, player, _PLAYED_TURNS)
    except WaybenchError as error:  # for example, an engine that the run itself will start
        if isinstance(error.__cause__, KitError):  # then the run could play no item, either
            raise
        return None


def _add_tokens(total: Tokens | None, mean: Tokens | None, times: float) -> Tokens | None:
    """Return the total plus a number of times the mean; None if either is None."""
    if total is None or mean is None:
        return None
    return Tokens(total.input + mean.input * times, total.output + mean.output * times)
