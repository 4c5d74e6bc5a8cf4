"""Checks of players: the oracle is at the ceiling, empty replies are at the floor, all others are between them."""

from statistics import fmean
from typing import Any

from waybench.core import Episode, Item, Metric, play_out, policy
from waybench.testing._require import AnyEnvironment, Message, require
from waybench.testing._walks import SAMPLE_PLAYERS, Options, items, play_name, way_of, ways

_ITEMS = 10
_ATTEMPTS = 2
_TINY = 1e-9


def check_players(environment: AnyEnvironment, level: int) -> None:
    """The oracle reaches the ceiling of the headline metric, the null player stays at its floor, others lie between.

    Where the environment says that the oracle is no ceiling (`oracle_is_ceiling`), it need not reach the ceiling; where
    it is one, nobody does better on any item of a game without chance. In a game of chance the oracle need not reach
    the ceiling, but nobody does better on average; nor need the null player be at the floor there, if saying nothing is
    taken for an action.
    """
    headline = environment.scoring.metrics[0]
    floor, ceiling = (headline.low, headline.high) if headline.better == "higher" else (headline.high, headline.low)
    require(headline.better, f"metric {headline.name}: the headline metric has a better direction")
    require(
        (floor is not None or headline.floor) and (ceiling is not None or headline.ceiling),
        f"metric {headline.name}: the headline metric needs a floor and a ceiling; give low and high, or functions",
    )
    sample = items(environment, level)
    for options in ways(environment):
        deterministic = way_of(environment, options).game.facts.deterministic
        for item in sample:
            start = Episode(environment, item, options).record()
            acts = not deterministic and _acts(environment, item, options)
            worst = floor if headline.floor is None else headline.floor(start)
            best = ceiling if headline.ceiling is None else headline.ceiling(start)
            known = deterministic and _is_ceiling(environment, item, options)
            require(
                _weight(environment, item, headline, "null", options)
                == _weight(environment, item, headline, "oracle", options),
                f"{options}, item {item.id}: an empty reply changes the denominator of the headline metric "
                f"{headline.name}; count it as a failure, and give a number that leaves it out a metric of its own",
            )
            for player, wanted in (("oracle", best if known else None), ("null", None if acts else worst)):
                value = _value(environment, item, headline, player, options)
                require(
                    wanted is None or value is None or abs(value - float(wanted)) <= _TINY,
                    "{}, item {}: the {} has {} {}, not {}",
                    options,
                    item.id,
                    player,
                    headline.name,
                    value,
                    wanted,
                )
            if known:
                _require_ceiling(environment, item, headline, options)
    _require_order(environment, level, headline)


def _is_ceiling(environment: AnyEnvironment, item: Item[Any], options: Options) -> bool:
    """Return whether the environment says that no player can have a better score than the oracle."""
    if environment.players.oracle_is_ceiling is None:
        return True
    return environment.players.oracle_is_ceiling(play_out(environment, item, policy("oracle"), options).record())


def _require_ceiling(environment: AnyEnvironment, item: Item[Any], headline: Metric, options: Options) -> None:
    sign = 1 if headline.better == "higher" else -1
    most = _value(environment, item, headline, "oracle", options)
    for player in ("random", "heuristic"):
        value = _value(environment, item, headline, player, options)
        require(
            most is None or value is None or sign * value <= sign * most + _TINY,
            f"{options}, item {item.id}: the {player} player has {headline.name} {value}, better than the oracle's "
            f"{most}, which the environment calls the ceiling (oracle_is_ceiling)",
        )


def _acts(environment: AnyEnvironment, item: Item[Any], options: Options) -> bool:
    """Return whether saying nothing is taken for an action."""
    record = play_out(environment, item, policy("null"), options).record()
    return any(turn.action is not None for turn in record.turns)


def _value(
    environment: AnyEnvironment, item: Item[Any], metric: Metric, player: str, options: Options, attempt: int = 1
) -> float | None:
    """Return a metric's value; None where the metric itself says that there is nothing to count."""
    record = play_out(environment, item, policy(player), options, attempt=attempt).record()
    value = metric.of(record)
    uncounted = value is None and metric.per is not None and metric.per(record) == 0
    require(
        uncounted or value is not None,
        f"item {item.id}: {metric.name} is not defined for a finished episode of {player}",
    )
    return value


def _weight(
    environment: AnyEnvironment, item: Item[Any], headline: Metric, player: str, options: Options
) -> float | None:
    """Return what an episode adds to the denominator of the headline metric; None where it adds an item."""
    record = play_out(environment, item, policy(player), options).record()
    return None if headline.per is None else float(headline.per(record))


def _require_order(environment: AnyEnvironment, level: int, headline: Metric) -> None:
    sign = 1 if headline.better == "higher" else -1
    mean: dict[str, float] = {}
    trial = dict(environment.playing.check_options)
    for player in SAMPLE_PLAYERS:
        values = [
            value
            for item in items(environment, level, _ITEMS)
            for attempt in range(1, _ATTEMPTS + 1)
            if (value := _value(environment, item, headline, player, trial, attempt)) is not None
        ]
        if values:
            mean[player] = sign * fmean(values)
    acts = _acts(environment, items(environment, level, 1)[0], trial)
    require({"random", "oracle"} <= mean.keys(), f"{headline.name} is not defined for any episode of random or oracle")
    for player, value in mean.items():
        what = Message("mean {} of {}, {:g},", headline.name, player, sign * value)
        require(acts or value >= mean.get("null", value) - _TINY, "{} is worse than that of saying nothing", what)
        require(value <= mean["oracle"] + _TINY, "{} is better than the oracle's, {:g}", what, sign * mean["oracle"])
    require(mean["random"] < mean["oracle"], "a random player is as good as the oracle: the level tests nothing")


def check_same_episode(environment: AnyEnvironment, level: int) -> None:
    """The same key, item and attempt give the same episode, byte for byte."""
    for name in ("random", "noisy-0.5"):
        first, again = (
            [play_name(environment, item, name).record().dumps() for item in items(environment, level)]
            for _ in range(2)
        )
        require(first == again, f"two episodes of {name} with the same key differ")
