"""What scores lie between: saying nothing or always the same, and what the oracle reaches, on the very same items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis._intervals import Mean, clustered_mean
from waybench.analysis._items import ItemKey, Measured
from waybench.analysis._rows import Anchors, Row
from waybench.core import Environment, Episode, EpisodeRecord, Item, Metric, Policy, play_out, policy
from waybench.envs import registry

MOST_TURNS = 500  # an episode that may last longer is not played again
MOST_CONSTANTS = 16  # replies tried at an item
_STATES = 6  # on the oracle's way, in which replies to try are looked for
_LONGEST = 200  # characters of such a reply


class ConstantPolicy(Policy):
    """Gives the same reply in every turn.

    Args:
        text: The reply.
    """

    name = "constant"

    def __init__(self, text: str) -> None:
        self._text = text

    def reply(self, episode: Episode[Any, Any, Any]) -> str:
        """Return the reply."""
        return self._text


class Anchoring:
    """Plays items again to find their floors and ceilings, each once, whoever played it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Anchors | None] = {}

    def of(self, record: EpisodeRecord) -> Anchors | None:
        """Return what an episode's headline metric lies between.

        The item is played as it was: by nobody, with the same reply in every turn, and by the oracle; in a game of
        chance each has the luck of the first attempt. The replies are legal actions of the first states on the oracle's
        way, evenly chosen if there are many. No model takes part.

        Args:
            record: The episode's record, confirmed by a new simulation.

        Returns:
            The values; None where whole episodes take too long even for tests (`Environment.trial`) or may have more
            than 500 turns, where a world is alive, and where a teacher acted.
        """
        options = json.dumps(dict(record.options), sort_keys=True, default=str)
        place = record.env, options, record.instance_hash
        if place not in self._known:
            self._known[place] = _anchors(record)
        return self._known[place]


def _anchors(record: EpisodeRecord) -> Anchors | None:
    environment = registry.load(record.env)
    if environment.trial or (environment.live is not None and environment.live(record)):
        return None
    item, options = environment.item(record.instance), dict(record.options)
    oracle: Episode[Any, Any, Any] = Episode(environment, item, options)
    if oracle.play.guide is not None or oracle.limits.turns > MOST_TURNS:
        return None
    tried: dict[str, None] = {}
    player = policy("oracle")
    while not oracle.done:
        if len(oracle.turns) < _STATES:
            tried |= dict.fromkeys(_replies(oracle))
        oracle.step(player.reply(oracle))
    values = {text: _value(environment, item, options, ConstantPolicy(text)) for text in _some(list(tried))}
    best = oracle.record()
    is_ceiling = environment.oracle_is_ceiling is None or environment.oracle_is_ceiling(best)
    return Anchors(
        nothing=_value(environment, item, options, policy("null")),
        constants={text: value for text, value in values.items() if value is not None},
        ceiling=environment.metrics[0].of(best) if is_ceiling else None,
    )


def _replies(episode: Episode[Any, Any, Any]) -> list[str]:
    play = episode.play
    said = [play.wording.render(action, episode.state) for action in _some(list(play.game.legal(episode.state)))]
    return [text for text in said if len(text) <= _LONGEST]


def _some(values: list[Any]) -> list[Any]:
    return values[:: max(1, -(-len(values) // MOST_CONSTANTS))]


def _value(
    environment: Environment[Any, Any, Any], item: Item[Any], options: dict[str, Any], player: Policy
) -> float | None:
    return environment.metrics[0].of(play_out(environment, item, player, options).record())


@dataclass(frozen=True, slots=True)
class Rescaled:
    """A score between its floor, 0, and its ceiling, 1, on the same items.

    Attributes:
        mean: The score; below 0 if it is worse than the floor.
        floor: The better of what saying nothing comes to and what the best constant reply does.
        ceiling: What the oracle comes to.
        constant: That reply; "" where saying nothing is as good.
    """

    mean: Mean
    floor: float
    ceiling: float
    constant: str


def rescaled(scores: Measured, items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> Rescaled | None:
    """Return a score between floor and ceiling: the sum of (score - floor) over that of (ceiling - floor).

    This is (mean score - mean floor) / (mean ceiling - mean floor), with the clustered interval of a ratio, so that
    floors and ceilings are paired with scores item by item. The best constant reply is the best for the set as a whole;
    where an item has nothing to do with it, it is worth what saying nothing is.

    Args:
        scores: The headline metric, item by item.
        items: Attempts by item.
        head: The headline metric.

    Returns:
        The score; None where floor or ceiling of an item are not known, or the oracle is no better than the floor.
    """
    if not scores.values:
        return None
    sign, worst = (-1, head.high) if head.better == "lower" else (1, head.low)
    nothing: list[float] = []
    ceilings: list[float] = []
    known: list[Mapping[str, float]] = []
    for key in scores.values:
        found = items[key][0].anchors
        none = worst if found is None or found.nothing is None else found.nothing
        if found is None or none is None or found.ceiling is None:
            return None
        nothing.append(none)
        ceilings.append(found.ceiling)
        known.append(found.constants)
    floors, constant = nothing, ""
    for text in sorted({text for constants in known for text in constants}):
        other = [constants.get(text, none) for constants, none in zip(known, nothing, strict=True)]
        if sign * (sum(other) - sum(floors)) > 1e-9:
            floors, constant = other, text
    room = [sign * (ceiling - floor) for ceiling, floor in zip(ceilings, floors, strict=True)]
    above = [sign * (score - floor) for score, floor in zip(scores.values.values(), floors, strict=True)]
    if sum(room) <= 1e-9:
        return None
    ends = (
        (0.0, 1.0) if all(-1e-9 <= one <= most + 1e-9 for one, most in zip(above, room, strict=True)) else (None, None)
    )
    mean = clustered_mean(above, scores.clusters, *ends, room)
    return None if mean is None else Rescaled(mean, sum(floors) / len(floors), sum(ceilings) / len(ceilings), constant)
