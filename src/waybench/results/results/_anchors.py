"""Floors and ceilings of scores on the same items: empty or constant replies, and the oracle."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from math import fsum
from typing import Any, NamedTuple

from waybench.core import (
    PREFIX,
    Environment,
    Episode,
    EpisodeRecord,
    Item,
    Json,
    Metric,
    Policy,
    Range,
    WaybenchError,
    evenly_spaced,
    own_turns,
    play_out,
    policy,
)
from waybench.envs import registry
from waybench.results.results._groups import Cluster
from waybench.results.results._rows import ItemKey, ItemValues, ReferenceBounds, Row, at_items, headline_values
from waybench.results.stats import LostAttempts, Mean, clustered_mean
from waybench.results.stats._cells import Cell

MOST_TURNS = 500  # an episode that may last longer is not played again
MOST_ITEMS = 5_000  # about ten seconds of playing for a summary in a terminal
MOST_CONSTANTS = 16  # replies tried at an item
_FEW = 5  # items of which it can be said that more may resolve the distance from floor to ceiling
_STATES = 6  # on the oracle's way, in which replies to try are looked for
_LONGEST = 200  # characters of such a reply
_TINY = 1e-9
_NAMED = 60  # characters of a constant reply in a sentence


class ConstantPolicy(Policy):
    """Gives the same reply in every turn."""

    name = "constant"

    def __init__(self, text: str) -> None:
        self._text = text

    def reply(self, episode: Episode[Any, Any, Any]) -> str:
        """Return the reply."""
        return self._text


class Anchoring:
    """Plays items again to find their floors and ceilings, each item once for all players."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], ReferenceBounds | None] = {}

    def of(self, record: EpisodeRecord) -> ReferenceBounds | None:
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
        item_key = record.env, options, record.instance_hash
        if item_key not in self._known:
            self._known[item_key] = _anchors(record, " ".join(item_key))
        return self._known[item_key]


def anchored(records: Iterable[EpisodeRecord], rows: Iterable[Row]) -> list[Row]:
    """Return rows with the floors and ceilings of their items, for records that are not simulated again.

    With more than 5,000 items nothing is played, and the rows are returned as they are.
    """
    pairs = list(zip(records, rows, strict=True))
    if len({(record.env, record.instance_hash) for record, _ in pairs}) > MOST_ITEMS:
        return [row for _, row in pairs]
    anchoring, anchored_rows = Anchoring(), list[Row]()
    for record, row in pairs:
        anchors = None
        if row.is_included and not row.error:
            with suppress(WaybenchError):  # a record that somebody has edited
                anchors = anchoring.of(record)
        anchored_rows.append(replace(row, anchors=anchors))
    return anchored_rows


def _anchors(record: EpisodeRecord, item_name: str) -> ReferenceBounds | None:
    environment = registry.load(record.env)
    anchors = known_anchors(environment, record)
    if anchors is not None:
        return anchors._replace(item=item_name)
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
    chosen = evenly_spaced(list(tried), MOST_CONSTANTS)
    values = {text: _value(environment, item, options, ConstantPolicy(text)) for text in chosen}
    best = oracle.record()
    is_ceiling = environment.players.oracle_is_ceiling is None or environment.players.oracle_is_ceiling(best)
    return ReferenceBounds(
        nothing=_value(environment, item, options, policy("null")),
        constants={text: value for text, value in values.items() if value is not None},
        ceiling=environment.scoring.metrics[0].of(best) if is_ceiling else None,
        item=item_name,
    )


def _replies(episode: Episode[Any, Any, Any]) -> list[str]:
    play = episode.play
    actions = evenly_spaced(play.game.legal(episode.state), MOST_CONSTANTS)
    replies = [play.wording.render(action, episode.state) for action in actions]
    return [text for text in replies if len(text) <= _LONGEST]


def _value(
    environment: Environment[Any, Any, Any], item: Item[Any], options: dict[str, Any], player: Policy
) -> float | None:
    return environment.scoring.metrics[0].of(play_out(environment, item, player, options).record())


class ItemRange(NamedTuple):
    """An item's score with what it lies between, signed so that more is better.

    Attributes:
        score: The score.
        floor: The score at its floor.
        ceiling: The oracle's score.
        ends: The least and the greatest score possible; None if there is none.
    """

    score: float
    floor: float
    ceiling: float
    ends: Range


def normalized_cell(items: Mapping[ItemKey, ItemRange]) -> Cell:
    """Return the cell of the sum of (score - floor) over that of (ceiling - floor).

    Args:
        items: The items, at least one, with a distance between floor and ceiling in all.
    """
    rooms = [item.ceiling - item.floor for item in items.values()]
    above = [item.score - item.floor for item in items.values()]
    bounds: list[float | None] = []
    for side in (0, 1):
        ends = [item.ends[side] for item in items.values()]
        reach = [end - item.floor for end, item in zip(ends, items.values(), strict=True) if end is not None]
        bounds.append(fsum(reach) / fsum(rooms) if len(reach) == len(items) else None)
    return Cell.from_values(above, [key.cluster for key in items], bounds[0], bounds[1], rooms)


@dataclass(frozen=True, slots=True)
class NormalizedScore:
    """A score between its floor, 0, and its ceiling, 1, on the same items.

    Attributes:
        mean: The score; below 0 if it is worse than the floor.
        floor: The better of the score of empty replies and that of the best constant reply; or the expected score of
            random choices, where an environment declares that.
        ceiling: The oracle's score.
        constant: The constant reply of most items; "" where an empty reply is as good. Items can have different ones,
            since the reply of an item is chosen on other items.
        chance: Whether the floor is the expected score of random choices.
        items: The items' scores with their floors and ceilings.
    """

    mean: Mean
    floor: float
    ceiling: float
    constant: str
    chance: bool = False
    items: Mapping[ItemKey, ItemRange] = field(default_factory=dict[ItemKey, ItemRange], repr=False, compare=False)

    @property
    def cell(self) -> Cell:
        """The normalised scores by cluster, of which `mean` is the mean."""
        return normalized_cell(self.items)

    def to_json(self) -> dict[str, Json]:
        """Return the score as JSON values, without the items."""
        return {name: value for name, value in asdict(replace(self, items={})).items() if name != "items"}

    def with_lost(self, lost: LostAttempts | None) -> "NormalizedScore":
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


def normalize_score(scores: ItemValues, items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> NormalizedScore | None:
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
    ranges = [_between(items[key], head) for key in scores.values]
    if any(item_range is None for item_range in ranges):
        return None
    item_ranges, sign = [item_range for item_range in ranges if item_range is not None], _sign(head)
    chosen = _chosen(item_ranges, scores.clusters)
    nothing = [item_range.nothing for item_range in item_ranges]
    pairs = zip(item_ranges, chosen, strict=True)
    floors = [item_range.constants.get(text, item_range.nothing) for item_range, text in pairs]
    if fsum(floors) <= fsum(nothing) + _TINY:  # what was best elsewhere is no better here
        floors, chosen = nothing, [""]
    room = [item_range.ceiling - floor for item_range, floor in zip(item_ranges, floors, strict=True)]
    if not _resolved(room, scores.clusters):
        return None
    items_between = {
        key: ItemRange(sign * score, floor, item_range.ceiling, item_range.ends)
        for (key, score), floor, item_range in zip(scores.values.items(), floors, item_ranges, strict=True)
    }
    mean = normalized_cell(items_between).mean()
    # Of several that were taken as often, the first by its text: the order of the episodes is to make no difference.
    count, constant = len(item_ranges), min(Counter(chosen).items(), key=lambda pair: (-pair[1], pair[0]))[0]
    ceilings = [item_range.ceiling for item_range in item_ranges]
    floor, ceiling = (sign * fsum(ends) / count + 0.0 for ends in (floors, ceilings))  # and no -0.0
    return NormalizedScore(
        mean, floor, ceiling, constant, any(item_range.chance for item_range in item_ranges), items_between
    )


def why_not_normalized(items: Mapping[ItemKey, Sequence[Row]]) -> str:
    """Return in a few words why `normalize_score` has no score of these items."""
    anchors = [item[0].anchors for item in items.values()]
    if any(item_anchors is None for item_anchors in anchors):
        return "floor and ceiling not measured"
    if any(item_anchors is not None and item_anchors.ceiling is None for item_anchors in anchors):
        return "best possible score not known"
    return "too few items" if len(items) < _FEW else "floor and ceiling cannot be distinguished"


def _sign(head: Metric) -> int:
    return -1 if head.better == "lower" else 1


def _between(item: Sequence[Row], head: Metric) -> _Between | None:
    anchors, sign = item[0].anchors, _sign(head)
    low, high = item[0].ranges.get(head.name, (head.low, head.high))
    worst, best = (low, high) if sign > 0 else (high, low)
    nothing = worst if anchors is None or anchors.nothing is None else anchors.nothing
    if anchors is None or nothing is None or anchors.ceiling is None:
        return None
    constants = {text: sign * value for text, value in anchors.constants.items()}
    ends = None if worst is None else sign * worst, None if best is None else sign * best
    return _Between(sign * nothing, constants, sign * anchors.ceiling, ends, anchors.chance)


def _chosen(item_ranges: Sequence[_Between], clusters: Sequence[Cluster]) -> list[str]:
    """Return for each item the constant reply that is best at the items of all other clusters; "" for saying nothing.

    Of equally good ones it is the first in the order of their texts.
    """
    totals, gains_by_cluster = defaultdict[str, float](float), dict[Cluster, dict[str, float]]()
    for item_range, cluster in zip(item_ranges, clusters, strict=True):
        gains = gains_by_cluster.setdefault(cluster, defaultdict(float))
        for text, value in item_range.constants.items():
            totals[text] += value - item_range.nothing
            gains[text] += value - item_range.nothing
    best: dict[Cluster, str] = {}
    for cluster, gains in gains_by_cluster.items():
        # An empty reply gains 0. Sums are rounded, since their last digits depend on the order of the items.
        elsewhere = {text: round(total - gains.get(text, 0.0), 9) for text, total in totals.items()}
        text = min(elsewhere, key=lambda text: (-elsewhere[text], text), default="")
        best[cluster] = text if text and elsewhere[text] > 0 else ""
    return [best[cluster] for cluster in clusters]


def _resolved(room: Sequence[float], clusters: Sequence[Cluster]) -> bool:
    """Return whether the mean distance from floor to ceiling is above 0 beyond doubt."""
    distance = clustered_mean(room, clusters, fewest=2)
    if distance is None or distance.value <= _TINY:
        return False
    alike = distance.clusters > 1 and max(room) - min(room) <= _TINY
    return alike or (distance.low is not None and distance.low > 0)


def known_anchors(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> ReferenceBounds | None:
    """Return the floor and the ceiling of a record's item that its environment knows without playing it.

    They are those of whole episodes, so that nothing is known of an episode with a prefix.
    """
    reference_scores = None if PREFIX in record.options else environment.scoring.reference_scores
    scores = None if reference_scores is None else reference_scores(record)
    return None if scores is None else ReferenceBounds(*scores)


def beaten_items(samples: Iterable[Sequence[Row]]) -> frozenset[str]:
    """Return the items on which some player's mean score is better than the oracle's.

    The oracle's score is no ceiling there, for any player: a score that is rescaled by it would mean nothing.

    Args:
        samples: Rows of one model with one task's settings each, at one level or at all.

    Returns:
        Names of items with their options (`ReferenceBounds.item`).
    """
    beaten: set[str] = set()
    for rows in samples:
        items = {key: item for key, item in at_items(rows).items() if not any(row.guided for row in item)}
        if not items:
            continue
        head = rows[0].group.environment.scoring.metrics[0]
        excess, names = 0.0, set[str]()
        for key, score in headline_values(items, head).values.items():
            anchors = items[key][0].anchors
            if anchors is not None and anchors.ceiling is not None:
                excess += anchors.ceiling - score if head.better == "lower" else score - anchors.ceiling
                names.add(anchors.item)
        if excess > _TINY:
            beaten |= names
    return frozenset(beaten)


def without_ceilings(rows: Sequence[Row], items: Collection[str]) -> Sequence[Row]:
    """Return rows with no ceiling at some items."""
    return [
        replace(row, anchors=row.anchors._replace(ceiling=None)) if row.anchors and row.anchors.item in items else row
        for row in rows
    ]
