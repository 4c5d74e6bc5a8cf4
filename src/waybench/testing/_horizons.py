"""Whether horizons measure competence: players that know nothing of an item have none above the smallest level."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from waybench.core import Episode, EpisodeRecord, Item, Policy, play_out, policy
from waybench.testing._exploits import SayingPolicy
from waybench.testing._require import AnyEnvironment, Message, require
from waybench.testing._walks import AnyEpisode, Options, ways

MOST_REPLIES = 12
_LOOKED_AT = 8  # items whose first actions are tried as constant replies
_ACTIONS = 12  # of each of these items
_LONGEST = 200  # characters of a constant reply
_LEVELS = 2  # the easiest ones, where chance does most
_ITEMS = 40
_FIRST = 8  # items without a success, after which a player plays no more of a level


def constant_players(environment: AnyEnvironment, items: Iterable[Item[Any]], options: Options) -> list[Policy]:
    """Return players that give the same reply in every turn of every item: each of the most frequent first actions."""
    counts: Counter[str] = Counter()
    for item in islice(items, _LOOKED_AT):
        episode: AnyEpisode = Episode(environment, item, options)
        play = episode.play
        actions = islice(play.game.legal(episode.state), _ACTIONS)
        # In the order of the actions, which decides between equally frequent ones; that of a set differs by process.
        counts.update(dict.fromkeys(play.wording.render(action, episode.state) for action in actions).keys())
    found = [text for text, _ in counts.most_common() if len(text) <= _LONGEST][:MOST_REPLIES]
    return [SayingPolicy(f"constant {number}", lambda episode, text=text: text) for number, text in enumerate(found)]


def play_each(
    environment: AnyEnvironment, items: Iterable[Item[Any]], player: Policy, options: Options
) -> list[EpisodeRecord]:
    """Return a player's episodes at some items. Each has a luck of its own, also where items are equal."""
    return [
        play_out(environment, item, player, options, attempt=attempt).record() for attempt, item in enumerate(items, 1)
    ]


def success_rates(
    environment: AnyEnvironment, level: int, options: Options, count: int = _ITEMS
) -> Mapping[str, float]:
    """Return the rates of success, as horizons count it, of players that know nothing, by their names.

    Who fails at the first eight items plays no more.

    Args:
        environment: The environment.
        level: The level.
        options: How it is played; see `ways`.
        count: Number of items.
    """
    drawn = dict(environment.difficulty.horizon.source_options) if environment.difficulty.horizon is not None else {}
    given = environment.source(level=level, protocol=str(options["protocol"]), **drawn).head(count)
    players = [policy("random"), policy("null"), *constant_players(environment, given, options)]
    rates: dict[str, float] = {}
    for player in players:
        records = play_each(environment, given[:_FIRST], player, options)
        if any(map(environment.difficulty.succeeded, records)):
            records = play_each(environment, given, player, options)
        rates[player.name] = sum(map(environment.difficulty.succeeded, records)) / len(records)
    return rates


def check_horizon(environment: AnyEnvironment) -> None:
    """Neither a random player nor one that always replies the same has a 50 % horizon above the smallest level.

    This holds at the two smallest levels of the search for a horizon, or of the sample levels where there is none.
    """
    declared = environment.difficulty
    require(bool(declared.axes) == bool(declared.success), "an environment with axes says what success is: success")
    require(declared.axes or declared.competent is None, "competent is for horizons: declare axes")
    if not declared.axes:
        return
    levels = declared.horizon.levels if declared.horizon is not None else environment.items.sample_levels
    first: dict[object, Options] = {options["protocol"]: options for options in reversed(ways(environment))}
    for protocol, options in first.items():
        for level in levels[:_LEVELS]:
            for player, rate in success_rates(environment, level, options).items():
                what = Message("{} player at level {} in {!r}", player, level, protocol)
                require(
                    rate <= 0.5,
                    "{} succeeds at {:.0%} of items: declare what a success is that shows competence (competent)",
                    what,
                    rate,
                )
