"""Normalised scores: 0 at the floor, 1 at the ceiling."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import fsum, hypot
from typing import NamedTuple

from waybench.core import Json, Metric, Range
from waybench.results.references._measure import Reference, ReferenceScores, mean_reference, split_by_cluster
from waybench.results.results._rows import ItemKey, ItemValues, ReferenceBounds, Row, group_by_item, headline_values
from waybench.results.stats import CONFIDENCE, IntervalEstimate, LostAttempts, clustered_mean
from waybench.results.stats._cells import Cell
from waybench.results.stats._intervals import normal_quantile, t_quantile

BELOW_FLOOR = "below the floor"
_FEW = 5  # items of which it can be said that more may resolve the distance from floor to ceiling
_TINY = 1e-9
_NAMED = 60  # characters of a constant reply in a sentence
_LEAST_SHARE = 0.1  # of the range from the worst score to the best: how far the ceiling is from the floor
_SURELY = 0.998  # the confidence with which a mean score is above the oracle's
_TAIL = (1 - CONFIDENCE) / 2
_QUANTILE = normal_quantile(_TAIL)
_SILENCE, _RANDOM, _CONSTANT, _CEILING = "silence", "random", "constant", "ceiling"  # of `ReferenceScores`
_ORIGINS = ("known", "stored", "measured", "items")


class ItemRange(NamedTuple):
    """An item's score with what it lies between, signed so that more is better.

    Attributes:
        score: The score.
        floor: The mean score of the floor's player at items of its level.
        ceiling: The oracle's.
        ends: The bounds that the interval of a mean score takes into account; None if there is none.
    """

    score: float
    floor: float
    ceiling: float
    ends: Range


def normalized_cell(items: Mapping[ItemKey, ItemRange], *, cut_at_floor: bool = False) -> Cell:
    """Return the cell of normalised scores: 0 at the mean floor and 1 at the mean ceiling of the items.

    Floor and ceiling are the means over the items' levels, and the same for all items, so that the cell's value and
    limits are those of the score itself on another scale.

    Args:
        items: The items, at least one, with a distance between the mean floor and ceiling.
        cut_at_floor: Whether an item's score below the floor counts as 0.
    """
    count = len(items)
    floor = fsum(item.floor for item in items.values()) / count
    room = fsum(item.ceiling for item in items.values()) / count - floor
    ends: list[float | None] = []
    for side, outer in ((0, min), (1, max)):
        bounds = [bound for item in items.values() if (bound := item.ends[side]) is not None]
        ends.append((outer(bounds) - floor) / room if len(bounds) == count else None)
    values = [(item.score - floor) / room for item in items.values()]
    if cut_at_floor:
        values, ends[0] = [max(0.0, value) for value in values], 0.0
    return Cell.from_values(values, [key.cluster for key in items], ends[0], ends[1])


@dataclass(frozen=True, slots=True)
class NormalizedScore:
    """A score between its floor, 0, and its ceiling, 1.

    Attributes:
        mean: The score; below 0 if it is worse than the floor. Its interval allows for the errors of floor and ceiling.
        floor: The best of the mean scores of empty replies, a random player and the best constant reply, at the levels
            of the items.
        ceiling: The oracle's score.
        constant: The constant reply of most items, if that is the floor; "" otherwise.
        chance: Whether the floor is the score of random choices.
        origin: Where floor and ceiling come from: "stored", "measured" for independent items that were played for this
            result, "items" for the very items of the run, "known" for what the environment knows.
        reference_items: Number of items that they were measured on, the fewest of all levels; 0 where they are known.
        errors: What the interval allows for, in standard errors of the score: by the name of what was measured.
        items: The items' scores with their floors and ceilings.
    """

    mean: IntervalEstimate
    floor: float
    ceiling: float
    constant: str
    chance: bool = False
    origin: str = "known"
    reference_items: int = 0
    errors: Mapping[str, float] = field(default_factory=dict[str, float], repr=False, compare=False)
    items: Mapping[ItemKey, ItemRange] = field(default_factory=dict[ItemKey, ItemRange], repr=False, compare=False)

    @property
    def cell(self) -> Cell:
        """The normalised scores by cluster, of which `mean` is the mean."""
        return normalized_cell(self.items)

    @property
    def is_below_floor(self) -> bool:
        """Whether the whole interval is below the floor: in means over tasks, such a score counts as 0.

        Without an interval, as of few items or of scores that are all alike, it is below the floor if all items are.
        """
        if self.mean.high is None:
            return bool((self.cell.totals < 0).all())
        return self.mean.high < 0

    @property
    def clipped_mean(self) -> IntervalEstimate:
        """The score as it is printed: the ends of its interval are cut at floor and ceiling."""
        return replace(
            self.mean, low=cut_end(self.mean.low, self.mean.value), high=cut_end(self.mean.high, self.mean.value)
        )

    @property
    def origin_note(self) -> str:
        """On which items the floor was measured, in a few words; "" where it is known or stored."""
        if self.origin == "items":
            return "floor from these items"
        return f"floor from {self.reference_items} other items" if self.origin == "measured" else ""

    def to_json(self) -> dict[str, Json]:
        """Return the score as JSON values, without the items."""
        out: dict[str, Json] = asdict(replace(self, items={}, errors={}))
        return {name: value for name, value in out.items() if name not in ("items", "errors")}

    def with_lost_attempts(self, lost: LostAttempts | None) -> "NormalizedScore":
        """Return the score with the attempts that have no result, and with their bounds normalised.

        Args:
            lost: The lost attempts, with the bounds of the score before it is normalised; None for none.
        """
        lost = lost and lost.scaled(1 / (self.ceiling - self.floor), self.floor)
        return replace(self, mean=replace(self.mean, lost=lost))

    @property
    def floor_player(self) -> str:
        """The player whose score is the floor: "an empty reply", "“Rock” in every turn"."""
        if self.constant:
            return f"“{self.constant[:_NAMED]}” in every turn"
        return "a random player, on average," if self.chance else "an empty reply"


def cut_end(end: float | None, value: float, ceiling: float = 1.0) -> float | None:
    """Return an end of a normalised score's interval, cut at floor and ceiling unless the score itself is outside."""
    return None if end is None else max(min(end, max(ceiling, value)), min(0.0, value))


def widen_interval(low: float, value: float, high: float, errors: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an interval with the standard errors of floors and ceilings added in quadrature."""
    more = _QUANTILE * hypot(*errors)
    return value - hypot(value - low, more), value + hypot(high - value, more)


def normalize_score(scores: ItemValues, items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> NormalizedScore | None:
    """Return a score between floor and ceiling: (mean score - floor) / (ceiling - floor).

    The floor is the best of what silence, a random player and the best constant reply score, with the levels weighted
    as they are among the items. Floors and ceilings are measured on other items than these (`ReferenceScores`), once
    for all players; only where that is not possible they come from these items. Their standard errors are in the
    interval: with the score nu, those of the floor times 1 - nu and those of the ceiling times nu.

    Args:
        scores: The headline metric, item by item.
        items: Attempts by item.
        head: The headline metric, with its bounds over these attempts.

    Returns:
        The score; None where floor or ceiling of an item are not known (`Players.oracle_is_ceiling`), where the
        distance between them is not above 0 by more than its error, and where the distance is less than a tenth of the
        range of scores: where chance does nearly as well as is possible, a single failure costs many times that
        distance, and no number of items would give an interval that says anything.
    """
    references = _reference_scores(scores, items, head)
    if references is None:
        return None
    # All allowed attempts count, made or not, so that the floor of the best of several is the same for all players.
    rows = (row for key in scores.values for row in items[key])
    sign, attempts = _better_sign(head), max(max(row.attempt, row.most_attempts) for row in rows)
    floors: dict[str, _Side] = {}
    for player in (_SILENCE, _RANDOM, _CONSTANT):
        if side := _Side.from_references(player, references, attempts):
            floors[player] = side
    ceiling = _Side.from_references(_CEILING, references, attempts)
    if not floors or ceiling is None:
        return None
    player = max(floors, key=lambda player: round(sign * floors[player].mean, 9))  # the first of equally good ones
    floor, distance = floors[player], sign * (ceiling.mean - floors[player].mean)
    if distance <= max(_TINY, _QUANTILE * hypot(*floor.errors.values(), *ceiling.errors.values())):
        return None
    sides = zip(scores.values.items(), floor.values, ceiling.values, strict=True)
    ranges = {
        key: ItemRange(sign * score, sign * floor_value, sign * ceiling_value, _signed_bounds(items[key][0], head))
        for (key, score), floor_value, ceiling_value in sides
    }
    cell = normalized_cell(ranges)
    if cell.low is not None and cell.high is not None and _LEAST_SHARE * (cell.high - cell.low) > 1:
        return None
    mean = cell.mean()
    errors = {name: (1 - mean.value) * error / distance for name, error in floor.errors.items()}
    errors |= {name: mean.value * error / distance for name, error in ceiling.errors.items()}
    if mean.low is not None and mean.high is not None:
        low, high = widen_interval(mean.low, mean.value, mean.high, errors.values())
        mean = replace(mean, low=low, high=high)
    # The most frequent reply; of several, the first by its text: the order of episodes makes no difference.
    counts = Counter(reference.reply for reference in references)
    reply = min(counts, key=lambda text: (-counts[text], text))
    return NormalizedScore(
        mean,
        floor.mean,
        ceiling.mean,
        reply if player == _CONSTANT else "",
        chance=player == _RANDOM,
        origin=max((reference.origin for reference in references), key=_ORIGINS.index),
        reference_items=min(reference.items for reference in references),
        errors=errors,
        items=ranges,
    )


def _signed_bounds(row: Row, head: Metric) -> Range:
    """Return the worst and the best score of an item, signed so that more is better; None if unbounded."""
    low, high = row.ranges.get(head.name, (head.low, head.high))
    high = None if head.far_bounds else high
    worst, best = (high, low) if head.better == "lower" else (low, high)
    sign = _better_sign(head)
    return None if worst is None else sign * worst, None if best is None else sign * best


def _better_sign(head: Metric) -> int:
    """Return -1 where lower is better, otherwise 1."""
    return -1 if head.better == "lower" else 1


class _Side(NamedTuple):
    """The scores of a player at some items: their floor or their ceiling.

    Attributes:
        mean: The mean, with each level as often as it is among the items.
        errors: The standard errors of the mean, by what was measured.
        values: The mean at the level of each item.
    """

    mean: float
    errors: Mapping[str, float]
    values: Sequence[float]

    @classmethod
    def from_references(cls, player: str, references: Sequence[ReferenceScores], attempts: int) -> "_Side | None":
        """Return the scores of a player; None where they are not known at an item."""
        scores: dict[str, Reference] = {}
        for reference in references:
            score = _player_score(reference, player, attempts)
            if score is None:
                return None
            scores[reference.name] = score
        counts = Counter(reference.name for reference in references)
        values = [scores[reference.name].mean for reference in references]
        errors = {
            f"{player} {name}": counts[name] / len(references) * _error_with_t(score)
            for name, score in scores.items()
            if score.error
        }
        return cls(fsum(values) / len(values) + 0.0, errors, values)  # -0.0 becomes 0.0


def _player_score(references: ReferenceScores, player: str, attempts: int) -> Reference | None:
    """Return a player's reference score; of a random one, that of the best of the most attempts up to a number."""
    if player == _RANDOM and (counts := [count for count in references.best_random if count <= attempts]):
        return references.best_random[max(counts)]
    score: Reference | None = getattr(references, player)
    return score


def _error_with_t(score: Reference) -> float:
    """Return the standard error times the ratio of Student's quantile to the normal one, for few clusters."""
    return score.error * t_quantile(_TAIL, max(1, score.clusters - 1)) / _QUANTILE


def _reference_scores(
    scores: ItemValues, items: Mapping[ItemKey, Sequence[Row]], head: Metric
) -> list[ReferenceScores] | None:
    """Return the reference scores of each item; None where those of one are not known."""
    anchors = {key: items[key][0].anchors for key in scores.values}
    worst = head.high if head.better == "lower" else head.low
    known: dict[ItemKey, tuple[float, ReferenceBounds]] = {}
    played: dict[ItemKey, tuple[float, ReferenceBounds]] = {}
    for key, anchor in anchors.items():
        if anchor is None or anchor.ceiling is None:
            return None
        if isinstance(anchor, ReferenceBounds):
            nothing = worst if anchor.nothing is None else anchor.nothing
            if nothing is None:
                return None
            (played if anchor.was_played else known)[key] = nothing, anchor
    scores_of_items = _known_scores(known, head) | _played_scores(played, head)
    references: list[ReferenceScores] = []
    for key, anchor in anchors.items():
        reference = anchor if isinstance(anchor, ReferenceScores) else scores_of_items.get(key)
        if reference is None:
            return None
        references.append(reference)
    return references or None


_Bounds = Mapping[ItemKey, tuple[float, ReferenceBounds]]  # with the score of saying nothing


def _reply_gains(bounds: _Bounds, head: Metric) -> dict[str, float]:
    """Return for each constant reply how much better than an empty reply it is, summed over items."""
    gains: dict[str, float] = defaultdict(float)
    for nothing, item_bounds in bounds.values():
        for text, value in item_bounds.constants.items():
            gains[text] += (value - nothing) * _better_sign(head)
    # Rounded, since the last digits depend on the order of the items.
    return {text: round(gain, 9) for text, gain in gains.items()}


def _best_reply(bounds: _Bounds, keys: Sequence[ItemKey], head: Metric) -> tuple[str, list[ItemKey]]:
    """Return the constant reply that is best at every second cluster, and the items of the other clusters."""
    choosing, measuring = ([keys[index] for index in half] for half in split_by_cluster([key.cluster for key in keys]))
    gains = _reply_gains({key: bounds[key] for key in choosing}, head)
    return min(gains, key=lambda text: (-gains[text], text), default=""), measuring


def _known_scores(bounds: _Bounds, head: Metric) -> dict[ItemKey, ReferenceScores]:
    """Return the reference scores of items that their environment knows, without an error.

    A constant reply counts if it is better than saying nothing also at items that it was not chosen on.
    """
    reply, others = _best_reply(bounds, sorted(bounds), head)
    if _reply_gains({key: bounds[key] for key in others}, head).get(reply, 0.0) <= 0:
        reply = ""
    return {
        key: ReferenceScores(
            silence=None if item_bounds.chance else Reference(nothing),
            random=Reference(nothing) if item_bounds.chance else None,
            constant=Reference(item_bounds.constants.get(reply, nothing)) if reply else None,
            reply=reply,
            ceiling=Reference(item_bounds.ceiling or 0.0),
            origin="known",
            name=repr(key),
        )
        for key, (nothing, item_bounds) in bounds.items()
    }


def _played_scores(bounds: _Bounds, head: Metric) -> dict[ItemKey, ReferenceScores]:
    """Return the reference scores of items that were played themselves; empty for a single cluster.

    The best constant reply is chosen on every second cluster and measured on the others: the best of many replies at
    the very same few items would be better by chance than it is elsewhere.
    """
    keys = sorted(bounds)
    clusters = [key.cluster for key in keys]
    if len(set(clusters)) < 2:
        return {}
    reply, measuring = _best_reply(bounds, keys, head)
    best = min if head.better == "lower" else max
    most = min(len(item_bounds.random) for _, item_bounds in bounds.values())
    best_random: dict[int, Reference] = {}  # by number of attempts
    for n_attempts in range(1, most + 1):
        reference = mean_reference([best(bounds[key][1].random[:n_attempts]) for key in keys], clusters)
        if reference is not None:
            best_random[n_attempts] = reference
    constants = [bounds[key][1].constants.get(reply, bounds[key][0]) for key in measuring]
    scores = ReferenceScores(
        silence=mean_reference([bounds[key][0] for key in keys], clusters),
        random=best_random.get(1),
        constant=mean_reference(constants, [key.cluster for key in measuring]) if reply else None,
        reply=reply,
        ceiling=mean_reference([bounds[key][1].ceiling for key in keys], clusters),
        items=len(keys),
        origin="items",
        name=f"items {len(keys)} {bounds[keys[0]][1].name}",
        best_random=best_random,
    )
    return dict.fromkeys(keys, scores)


def why_not_normalized(items: Mapping[ItemKey, Sequence[Row]]) -> str:
    """Return in a few words why `normalize_score` has no score of these items."""
    anchors = [item[0].anchors for item in items.values()]
    if any(item_anchors is None for item_anchors in anchors):
        return "floor and ceiling not measured"
    if any(item_anchors is not None and item_anchors.ceiling is None for item_anchors in anchors):
        return "best possible score not known"
    is_of_items = any(isinstance(item_anchors, ReferenceBounds) for item_anchors in anchors)
    return "too few items" if is_of_items and len(items) < _FEW else "floor too close to the ceiling"


def beaten_ceilings(samples: Iterable[Sequence[Row]]) -> frozenset[str]:
    """Return the names of reference scores whose oracle is worse than some player.

    The oracle's score is no ceiling there, for any player: a score that is normalised by it would mean nothing. Where
    the oracle played the items themselves, the means are compared; where it played others of the level, the player has
    to be better beyond doubt.

    Args:
        samples: Rows of one model with one task's settings each, at one level or at all.

    Returns:
        Names of what was measured (`name` of `ReferenceScores` and `ReferenceBounds`).
    """
    beaten: set[str] = set()
    for rows in samples:
        items = {key: item for key, item in group_by_item(rows).items() if not any(row.guided for row in item)}
        if not items:
            continue
        head = rows[0].group.environment.scoring.metrics[0]
        excess_at_items, item_names = 0.0, set[str]()
        # By name: the ceiling that was measured on other items, each item's score less it, and each item's cluster.
        excesses_over_measured: dict[str, tuple[Reference, list[float], list[Hashable]]] = {}
        for key, score in headline_values(items, head).values.items():
            anchors = items[key][0].anchors
            if anchors is None or anchors.ceiling is None:
                continue
            if isinstance(anchors, ReferenceScores):
                _, values, clusters = excesses_over_measured.setdefault(anchors.name, (anchors.ceiling, [], []))
                values.append(_better_sign(head) * (score - anchors.ceiling.mean))
                clusters.append(key.cluster)
            else:
                excess_at_items += _better_sign(head) * (score - anchors.ceiling)
                item_names.add(anchors.name)
        if excess_at_items > _TINY:
            beaten |= item_names
        for name, (ceiling, values, clusters) in excesses_over_measured.items():
            mean = clustered_mean(values, clusters, confidence=_SURELY)
            error = normal_quantile((1 - _SURELY) / 2) * ceiling.error
            if mean is not None and mean.low is not None and mean.low > _TINY + error:
                beaten.add(name)
    return frozenset(beaten)


def without_ceilings(rows: Sequence[Row], names: Collection[str]) -> Sequence[Row]:
    """Return rows without the ceilings of the reference scores that have these names."""
    return [
        replace(row, anchors=row.anchors.without_ceiling()) if row.anchors and row.anchors.name in names else row
        for row in rows
    ]
