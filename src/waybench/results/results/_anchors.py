"""Floors and ceilings of scores on the same items: empty or constant replies, and the oracle."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import fsum
from typing import Any, NamedTuple

from waybench.core import (
    PREFIX,
    Environment,
    Episode,
    EpisodeRecord,
    Item,
    Metric,
    Policy,
    Range,
    WaybenchError,
    evenly_chosen,
    own_turns,
    play_out,
    policy,
)
from waybench.envs import registry
from waybench.results.results._groups import Cluster
from waybench.results.results._rows import Anchors, ItemKey, Measured, Row
from waybench.results.stats import LostAttempts, Mean, clustered_mean

MOST_TURNS = 500  # an episode that may last longer is not played again
MOST_ITEMS = 5_000  # about ten seconds of playing for a summary in a terminal
MOST_CONSTANTS = 16  # replies tried at an item
_FEW = 5  # items of which it can be said that more may resolve the distance from floor to ceiling
_STATES = 6  # on the oracle's way, in which replies to try are looked for
_LONGEST = 200  # characters of such a reply
_TINY = 1e-9
_NAMED = 60  # characters of a constant reply in a sentence


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
    """Plays items again to find their floors and ceilings, each item once for all players."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Anchors | None] = {}

    def of(self, record: EpisodeRecord) -> Anchors | None:
        """Return the floor and the ceiling of an episode's headline metric.

        The item is played with empty replies, with the same reply in every turn, and by the oracle; in a game of
        chance each has the luck of the first attempt. Where the environment knows these scores (`reference_scores`),
        nothing is played. The replies are legal actions of the first states on the oracle's
        way, evenly chosen if there are many. No model takes part.

        Args:
            record: The episode's record, confirmed by a new simulation.

        Returns:
            The values; None where whole episodes take too long even for tests (`Playing.check_options`) or may have
            more than 500 turns, where a record cannot be simulated again, and where a teacher acted.
        """
        options = json.dumps(dict(record.options), sort_keys=True, default=str)
        place = record.env, options, record.instance_hash
        if place not in self._known:
            self._known[place] = _anchors(record, " ".join(place))
        return self._known[place]


def anchored(records: Iterable[EpisodeRecord], made: Iterable[Row]) -> list[Row]:
    """Return rows with the floors and ceilings of their items, for records that are not simulated again.

    With more than 5,000 items nothing is played, and the rows are returned as they are.

    Args:
        records: The records of the rows.
        made: The rows.
    """
    pairs = list(zip(records, made, strict=True))
    if len({(record.env, record.instance_hash) for record, _ in pairs}) > MOST_ITEMS:
        return [row for _, row in pairs]
    anchoring, found = Anchoring(), list[Row]()
    for record, row in pairs:
        anchors = None
        if row.is_included and not row.error:
            with suppress(WaybenchError):  # a record that somebody has edited
                anchors = anchoring.of(record)
        found.append(replace(row, anchors=anchors))
    return found


def _anchors(record: EpisodeRecord, item_name: str) -> Anchors | None:
    environment = registry.load(record.env)
    known = known_anchors(environment, record)
    if known is not None:
        return known._replace(item=item_name)
    playing = environment.playing
    if playing.check_options or (playing.not_replayable is not None and playing.not_replayable(record)):
        return None
    item, options = environment.item(record.instance), dict(record.options)
    oracle: Episode[Any, Any, Any] = Episode(environment, item, options)
    if oracle.play.guide is not None or oracle.limits.turns > MOST_TURNS:
        return None
    tried: dict[str, None] = {}
    player = policy("oracle")
    while not oracle.done:
        if len(own_turns(oracle.turns)) < _STATES:
            tried |= dict.fromkeys(_replies(oracle))
        oracle.step(player.reply(oracle))
    chosen = evenly_chosen(list(tried), MOST_CONSTANTS)
    values = {text: _value(environment, item, options, ConstantPolicy(text)) for text in chosen}
    best = oracle.record()
    is_ceiling = environment.players.oracle_is_ceiling is None or environment.players.oracle_is_ceiling(best)
    return Anchors(
        nothing=_value(environment, item, options, policy("null")),
        constants={text: value for text, value in values.items() if value is not None},
        ceiling=environment.scoring.metrics[0].of(best) if is_ceiling else None,
        item=item_name,
    )


def _replies(episode: Episode[Any, Any, Any]) -> list[str]:
    play = episode.play
    actions = evenly_chosen(play.game.legal(episode.state), MOST_CONSTANTS)
    said = [play.wording.render(action, episode.state) for action in actions]
    return [text for text in said if len(text) <= _LONGEST]


def _value(
    environment: Environment[Any, Any, Any], item: Item[Any], options: dict[str, Any], player: Policy
) -> float | None:
    return environment.scoring.metrics[0].of(play_out(environment, item, player, options).record())


@dataclass(frozen=True, slots=True)
class Rescaled:
    """A score between its floor, 0, and its ceiling, 1, on the same items.

    Attributes:
        mean: The score; below 0 if it is worse than the floor.
        floor: The better of the score of empty replies and that of the best constant reply; or the expected score of
            random choices, where an environment declares that.
        ceiling: The oracle's score.
        constant: The constant reply of most items; "" where an empty reply is as good. Items can have different ones,
            since the reply of an item is chosen on other items.
        chance: Whether the floor is the expected score of random choices.
    """

    mean: Mean
    floor: float
    ceiling: float
    constant: str
    chance: bool = False

    def with_lost(self, lost: LostAttempts | None) -> "Rescaled":
        """Return the score with the attempts that it lacks.

        Their floor and ceiling are taken to be the mean ones of the others.

        Args:
            lost: The lost attempts, with the bounds of the score before it is normalised; None for none.
        """
        lost = lost and lost.scaled(1 / (self.ceiling - self.floor), self.floor)
        return replace(self, mean=replace(self.mean, lost=lost))

    @property
    def floor_player(self) -> str:
        """Who scores the floor: "an empty reply", "“Rock” in every turn"."""
        if self.constant:
            return f"“{self.constant[:_NAMED]}” in every turn"
        return "a random player, on average," if self.chance else "an empty reply"


class _Between(NamedTuple):
    """Of an item, what its score lies between, signed so that more is better.

    Attributes:
        nothing: The score of empty replies.
        constants: The scores of constant replies.
        ceiling: The oracle's score.
        ends: The least and the greatest score possible; None if there is none.
        chance: Whether `nothing` is that of random choices.
    """

    nothing: float
    constants: Mapping[str, float]
    ceiling: float
    ends: Range
    chance: bool = False


def rescaled(scores: Measured, items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> Rescaled | None:
    """Return a score between floor and ceiling: the sum of (score - floor) over that of (ceiling - floor).

    This is (mean score - mean floor) / (mean ceiling - mean floor), with the clustered interval of a ratio, so that
    floors and ceilings are paired with scores item by item. The constant reply that is an item's floor is the best one
    at the items of the other clusters (cross-fitting): the best of many replies at the very same few items would be
    better by chance than it is elsewhere. It is taken where it is better there than saying nothing; where an item has
    nothing to do with it, it is worth what saying nothing is.

    Args:
        scores: The headline metric, item by item.
        items: Attempts by item.
        head: The headline metric, with its bounds over these attempts.

    Returns:
        The score; None where floor or ceiling of an item are not known (`Players.oracle_is_ceiling`), and where the
        mean distance between them is not resolved: its interval holds 0, or there is no interval for a distance that
        differs.
    """
    if not scores.values:
        return None
    known = [_between(items[key], head) for key in scores.values]
    if any(one is None for one in known):
        return None
    each, sign = [one for one in known if one is not None], _sign(head)
    chosen = _chosen(each, scores.clusters)
    nothing = [one.nothing for one in each]
    floors = [one.constants.get(text, one.nothing) for one, text in zip(each, chosen, strict=True)]
    if fsum(floors) <= fsum(nothing) + _TINY:  # what was best elsewhere is no better here
        floors, chosen = nothing, [""]
    room = [one.ceiling - floor for one, floor in zip(each, floors, strict=True)]
    if not _resolved(room, scores.clusters):
        return None
    above = [sign * score - floor for score, floor in zip(scores.values.values(), floors, strict=True)]
    mean = clustered_mean(above, scores.clusters, *_ends(each, floors, fsum(room)), room)
    if mean is None:
        return None
    # Of several that were taken as often, the first by its text: the order of the episodes is to make no difference.
    count, constant = len(each), min(Counter(chosen).items(), key=lambda pair: (-pair[1], pair[0]))[0]
    floor, ceiling = (
        sign * fsum(ends) / count + 0.0 for ends in (floors, [one.ceiling for one in each])
    )  # and no -0.0
    return Rescaled(mean, floor, ceiling, constant, any(one.chance for one in each))


def why_not_rescaled(items: Mapping[ItemKey, Sequence[Row]]) -> str:
    """Return in a few words why `rescaled` has no score of these items."""
    anchors = [item[0].anchors for item in items.values()]
    if any(one is None for one in anchors):
        return "floor and ceiling not measured"
    if any(one is not None and one.ceiling is None for one in anchors):
        return "best possible score not known"
    return "too few items" if len(items) < _FEW else "floor and ceiling cannot be distinguished"


def _sign(head: Metric) -> int:
    return -1 if head.better == "lower" else 1


def _between(item: Sequence[Row], head: Metric) -> _Between | None:
    found, sign = item[0].anchors, _sign(head)
    low, high = item[0].ranges.get(head.name, (head.low, head.high))
    worst, best = (low, high) if sign > 0 else (high, low)
    nothing = worst if found is None or found.nothing is None else found.nothing
    if found is None or nothing is None or found.ceiling is None:
        return None
    constants = {text: sign * value for text, value in found.constants.items()}
    ends = None if worst is None else sign * worst, None if best is None else sign * best
    return _Between(sign * nothing, constants, sign * found.ceiling, ends, found.chance)


def _chosen(each: Sequence[_Between], clusters: Sequence[Cluster]) -> list[str]:
    """Return for each item the constant reply that is best at the items of all other clusters; "" for saying nothing.

    Of equally good ones it is the first in the order of their texts.
    """
    totals, own = defaultdict[str, float](float), dict[Cluster, dict[str, float]]()
    for one, cluster in zip(each, clusters, strict=True):
        gains = own.setdefault(cluster, defaultdict(float))
        for text, value in one.constants.items():
            totals[text] += value - one.nothing
            gains[text] += value - one.nothing
    best: dict[Cluster, str] = {}
    for cluster, gains in own.items():
        # An empty reply gains 0. Sums are rounded, since their last digits depend on the order of the items.
        elsewhere = {text: round(total - gains.get(text, 0.0), 9) for text, total in totals.items()}
        text = min(elsewhere, key=lambda text: (-elsewhere[text], text), default="")
        best[cluster] = text if text and elsewhere[text] > 0 else ""
    return [best[cluster] for cluster in clusters]


def _resolved(room: Sequence[float], clusters: Sequence[Cluster]) -> bool:
    """Return whether the mean distance from floor to ceiling is above 0 beyond doubt."""
    distance = clustered_mean(room, clusters)
    if distance is None or distance.value <= _TINY:
        return False
    alike = distance.clusters > 1 and max(room) - min(room) <= _TINY
    return alike or (distance.low is not None and distance.low > 0)


def _ends(each: Sequence[_Between], floors: Sequence[float], room: float) -> Range:
    """Return the normalised least and greatest scores of these items."""
    ends: list[float | None] = []
    for side in (0, 1):
        most = [one.ends[side] for one in each]
        known = [end - floor for end, floor in zip(most, floors, strict=True) if end is not None]
        ends.append(fsum(known) / room if len(known) == len(each) else None)
    return ends[0], ends[1]


def known_anchors(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> Anchors | None:
    """Return the floor and the ceiling of a record's item that its environment knows without playing it.

    They are those of whole episodes, so that nothing is known of an episode with a prefix.
    """
    reference_scores = None if PREFIX in record.options else environment.scoring.reference_scores
    known = None if reference_scores is None else reference_scores(record)
    return None if known is None else Anchors(*known)
