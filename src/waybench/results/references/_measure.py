"""Reference scores: what silence, random choices, constant replies and the oracle score, measured by playing."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf, isfinite
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from waybench.core import (
    Environment,
    Episode,
    EpisodeRecord,
    Item,
    Metric,
    Policy,
    Source,
    evenly_spaced_values,
    play_to_end,
    policy,
    turns_without_prefix,
)
from waybench.results.stats._cells import Cell

KEY = "waybench reference scores"  # of the items that are played; no preset and no public set has it
LADDER_ATTEMPTS = (1, 3)  # that are measured where the best one counts (`Scoring.best_of`): one, and as published
MOST_ITEMS = 2_000
MOST_CONSTANTS = 16  # replies that are tried
_LOOKED_AT = 16  # items whose states are looked at for replies to try
_STATES = 6  # on the oracle's way at such an item
_LONGEST = 200  # characters of such a reply
_STAGES = (MOST_CONSTANTS, 4, 2)  # replies that are tried on the first items, on some more, and on the others
_FIRST, _SECOND = 100, 400  # where the first items end, and the others begin
_FEWEST = 2  # clusters
_ROUNDING = 1e-12
_PILOT = 8  # items that are played to tell how long the others take

AnyEnvironment = Environment[Any, Any, Any]
Options = Mapping[str, Any]


class ConstantPolicy(Policy):
    """Gives the same reply in every turn."""

    name = "constant"

    def __init__(self, text: str) -> None:
        self.text = text

    def reply(self, episode: Episode[Any, Any, Any]) -> str:
        """Return the reply."""
        return self.text


class Reference(NamedTuple):
    """The mean score of a reference player.

    Attributes:
        mean: The mean of the headline metric.
        error: Its clustered standard error; 0 where it is known exactly.
        clusters: Number of independent clusters; 0 where it is known exactly.
    """

    mean: float
    error: float = 0.0
    clusters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceScores:
    """The scores of players that know nothing of an item, and of the oracle.

    Attributes:
        silence: Empty replies; None if it is not known, like the others.
        random: A player that chooses among the legal actions at random.
        constant: The best of the replies that are the same in every turn, chosen on one half of the clusters and
            measured on the other.
        reply: That reply.
        ceiling: The oracle; None where it is not known to be the best possible.
        items: Number of items.
        origin: "stored" where they are part of the package, "measured" where independent items were played for this
            report, "items" where the very items of the run were, "known" where the environment knows them.
        name: A name of what was measured: scores with the same name have the same errors.
        best_random: The best of several attempts of a random player by their number, where an item's score is that of
            the best one (`Scoring.best_of`); otherwise empty.
    """

    silence: Reference | None
    random: Reference | None
    constant: Reference | None
    reply: str
    ceiling: Reference | None
    items: int = 0
    origin: str = "stored"
    name: str = ""
    best_random: Mapping[int, Reference] = field(default_factory=dict[int, Reference])

    def without_ceiling(self) -> "ReferenceScores":
        """Return the scores without that of the oracle, where a player is better."""
        return replace(self, ceiling=None)


class Budget(NamedTuple):
    """How many items are played.

    Attributes:
        items: At most so many.
        turns: No more items once so many turns have been played in a pilot's proportion; infinite without a limit.
        seconds: As many items as are expected to take so many seconds; infinite without a limit.
            Scores depend on the number of items alone, so that they come out again with this number as `items`.
    """

    items: int = MOST_ITEMS
    turns: float = inf
    seconds: float = inf


def measure_reference_scores(
    environment: AnyEnvironment, source: Source[Any], options: Options, budget: Budget, attempts: int = 1
) -> ReferenceScores:
    """Play items of a source to find their reference scores.

    Where the oracle is not known to be the best possible at some item, there are no scores.

    Where the source has fewer different items than the budget allows, all of them are played, in as many rounds as
    chance makes useful; the standard error is then that of the rounds alone, for the items are the whole set.

    Args:
        environment: The environment.
        source: The items, in an order that nobody has chosen.
        options: Options of play.
        budget: How many items are played.
        attempts: Attempts at an item, where its score is that of the best one (`Scoring.best_of`).
    """
    return _Measurement(environment, source, options, attempts).reference_scores(budget)


class _Costs(NamedTuple):
    """What playing an item takes, in seconds or in turns: by oracle, silence and chance, and with a constant reply."""

    players: float
    constant: float

    def total_cost(self, items: int, replies: int) -> float:
        """Return the cost of playing so many items, with so many constant replies tried on half of them."""
        half, n_tries = items // 2, 0
        for begin, end, most_replies in zip((0, _FIRST, _SECOND), (_FIRST, _SECOND, half), _STAGES, strict=True):
            n_tries += min(replies, most_replies) * max(0, min(half, end) - begin)
        return items * self.players + (n_tries + items - half) * self.constant


class _Measurement:
    """The players' scores at the items of a source; each item is played once by each player."""

    def __init__(self, environment: AnyEnvironment, source: Source[Any], options: Options, attempts: int) -> None:
        self._environment, self._source, self._options = environment, source, dict(options)
        self._attempts = attempts if environment.scoring.best_of else 1
        self._head = environment.scoring.metrics[0]
        self._better = min if self._head.better == "lower" else max
        play = environment.play_with(environment.resolve_options(self._options))
        self._is_deterministic = play.game.properties.deterministic
        self._items: dict[int, Item[Any]] = {}
        self._values: dict[tuple[str, int], float | None] = {}
        self._turns = 0
        # The number of all items, if the source has at most `MOST_ITEMS` and no two are the same; otherwise None.
        self._space = source.space
        if self._space is not None and self._space > MOST_ITEMS:
            self._space = None
        if self._space is not None:
            hashes = {source.item(number).instance.hash for number in range(self._space)}
            self._space = self._space if len(hashes) == self._space else None

    def reference_scores(self, budget: Budget) -> ReferenceScores:
        """Return the reference scores from as many items as the budget allows."""
        count = self._affordable_item_count(budget)
        space = self._space if self._space is not None and self._space <= count else None
        if space is not None:
            count = space * max(2 if self._is_deterministic else 4, count // space)
        numbers = range(count)
        oracle, is_ceiling = policy("oracle"), self._environment.players.oracle_is_ceiling
        best: list[float | None] = []
        clusters: list[Hashable] = []
        for number in numbers:
            if space and self._is_deterministic and number >= space:
                best.append(best[number - space])
                clusters.append(number // space)
                continue
            record = self._attempt_records(number, oracle)[0]
            best.append(self._head.of(record))
            clusters.append(number // space if space else self._cluster_of_item(number, record))
            if is_ceiling is not None and not is_ceiling(record):  # then nothing can be normalised by these scores
                return ReferenceScores(
                    silence=None, random=None, constant=None, reply="", ceiling=None, items=space or count
                )
        worst = worse_bound(self._head, *self._head.range_of(self._attempt_records(0, oracle)[0]))
        choosing, measuring = split_by_cluster(clusters)
        reply = self._best_constant_reply(choosing) if measuring else None
        player = None if reply is None else ConstantPolicy(reply)
        constant = [player and self._cached_score(number, player) for number in measuring]
        silence = [self._cached_score(number, policy("null")) for number in numbers]

        def mean_score(values: Sequence[float | None], item_numbers: Sequence[int] = numbers) -> Reference | None:
            """Return the mean of a player's scores at some items, with the error of rounds or of clusters."""
            if space:
                return _reference_of_rounds(values, space)
            return mean_reference(values, [clusters[number] for number in item_numbers])

        return ReferenceScores(
            silence=mean_score([worst if value is None else value for value in silence]),
            random=mean_score([self._cached_score(number, policy("random")) for number in numbers]),
            constant=mean_score(constant, measuring),
            reply=reply or "",
            ceiling=mean_score(best),
            items=space or count,
        )

    def _affordable_item_count(self, budget: Budget) -> int:
        """Return how many items keep within the budget, as predicted from playing a few of them."""
        if not (isfinite(budget.seconds) or isfinite(budget.turns)):
            return budget.items
        pilot = range(min(_PILOT, budget.items))
        for player in ("oracle", "null", "random"):  # what is imported and compiled once is no part of the costs
            self._best_attempt_score(0, policy(player))
        spent = [(perf_counter(), self._turns)]
        for number in pilot:
            for player in ("oracle", "null", "random"):
                self._best_attempt_score(number, policy(player))
        spent.append((perf_counter(), self._turns))
        replies = self._candidate_replies(pilot)
        spent.append((perf_counter(), self._turns))
        for number in pilot:
            self._best_attempt_score(number, ConstantPolicy(replies[number % len(replies)] if replies else ""))
        spent.append((perf_counter(), self._turns))
        affordable = budget.items
        begin, after_players, before_constants, end = spent
        for unit, most in enumerate((budget.seconds, budget.turns)):
            costs = _Costs(
                (after_players[unit] - begin[unit]) / len(pilot), (end[unit] - before_constants[unit]) / len(pilot)
            )
            counts = range(len(pilot), budget.items + 1)
            n_fitting = bisect_right(counts, most, key=lambda items, costs=costs: costs.total_cost(items, len(replies)))
            affordable = min(affordable, max(len(pilot), len(pilot) + n_fitting - 1))
        return affordable

    def _attempt_records(self, item_number: int, player: Policy) -> list[EpisodeRecord]:
        """Return the records of a player's attempts at an item; of a deterministic player, of one attempt."""
        repeats = 1 if self._is_deterministic and player.name != "random" else self._attempts
        item, first = self._cached_item(item_number), item_number * self._attempts + 1
        records = [
            play_to_end(self._environment, item, player, self._options, attempt=first + repeat).record()
            for repeat in range(repeats)
        ]
        self._turns += sum(len(record.turns) for record in records)
        return records

    def _best_attempt_score(self, item_number: int, player: Policy) -> float | None:
        """Play an item and return the best score of the player's attempts; None if undefined."""
        values = [
            value
            for record in self._attempt_records(item_number, player)
            if (value := self._head.of(record)) is not None
        ]
        return float(self._better(values)) if values else None

    def _cached_score(self, item_number: int, player: Policy) -> float | None:
        """Return a player's score at an item; without chance, an item is played once in all rounds."""
        is_fixed = self._is_deterministic and player.name != "random"
        index = item_number % self._space if self._space and is_fixed else item_number
        name = player.text if isinstance(player, ConstantPolicy) else f"\0{player.name}"
        if (name, index) not in self._values:
            self._values[name, index] = self._best_attempt_score(item_number, player)
        return self._values[name, index]

    def _cached_item(self, item_number: int) -> Item[Any]:
        """Return an item of the source; a small set begins again after its last item."""
        index = item_number % self._space if self._space else item_number
        if index not in self._items:
            self._items[index] = self._source.item(index)
        return self._items[index]

    def _cluster_of_item(self, item_number: int, record: EpisodeRecord) -> Hashable:
        """Return the cluster of an item; its number where each item is a cluster of its own."""
        cluster = self._environment.items.cluster
        return item_number if cluster is None else cluster(record)

    def _candidate_replies(self, item_numbers: Sequence[int]) -> list[str]:
        """Return the most frequent legal replies in the first states that the oracle visits."""
        counts: Counter[str] = Counter()
        for number in item_numbers[:_LOOKED_AT]:
            replies = replies_on_oracle_path(self._environment, self._cached_item(number), self._options)
            counts.update(list(dict.fromkeys(replies)))
        return [text for text, _ in counts.most_common(MOST_CONSTANTS)]

    def _best_constant_reply(self, item_numbers: Sequence[int]) -> str | None:
        """Return the constant reply with the best mean score at some items; None without candidates.

        All are tried on the first items, the best of them on more, and the best two on all.
        """
        remaining, sign = self._candidate_replies(item_numbers), -1 if self._head.better == "lower" else 1
        totals: dict[str, list[float]] = {text: [] for text in remaining}
        begin = 0
        for count, end in zip((*_STAGES[1:], 1), (_FIRST, _SECOND, len(item_numbers)), strict=True):
            for number in item_numbers[begin:end]:
                for text in remaining:
                    value = self._cached_score(number, ConstantPolicy(text))
                    totals[text] += [] if value is None else [value]
            begin = max(begin, min(end, len(item_numbers)))
            remaining = sorted(
                (text for text in remaining if totals[text]),
                key=lambda text: (-round(sign * fsum(totals[text]) / len(totals[text]), 9), text),
            )[:count]
        return remaining[0] if remaining else None


def replies_on_oracle_path(environment: AnyEnvironment, item: Item[Any], options: Options) -> list[str]:
    """Return all legal replies in the first states that the oracle visits at an item."""
    episode: Episode[Any, Any, Any] = Episode(environment, item, dict(options))
    player = policy("oracle")
    replies: list[str] = []
    while not episode.done and len(turns_without_prefix(episode.turns)) < _STATES:
        replies += _legal_replies(episode)
        episode.step(player.reply(episode))
    return replies


def _legal_replies(episode: Episode[Any, Any, Any]) -> list[str]:
    """Return the replies that name legal actions of the current state: at most 16, and none of over 200 characters."""
    play = episode.play
    actions = evenly_spaced_values(play.game.legal(episode.state), MOST_CONSTANTS)
    replies = [play.wording.render(action, episode.state) for action in actions]
    return [text for text in replies if len(text) <= _LONGEST]


def mean_reference(values: Sequence[float | None], clusters: Sequence[Hashable]) -> Reference | None:
    """Return the mean of the values that are defined, with its clustered standard error.

    None with fewer than two clusters, which do not say how others would differ.
    """
    pairs = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if len({cluster for _, cluster in pairs}) < _FEWEST:
        return None
    cell = Cell.from_values([value for value, _ in pairs], [cluster for _, cluster in pairs])
    error = float(np.square(cell.residuals).sum()) ** 0.5
    return Reference(cell.value, error if error > _ROUNDING * max(1.0, abs(cell.value)) else 0.0, len(cell.clusters))


def _reference_of_rounds(values: Sequence[float | None], items: int) -> Reference | None:
    """Return the mean of several rounds over the same set of items; None where a value is not defined.

    As no other items exist, its error is that of chance within items alone; 0 for a single round.
    """
    if not values or None in values:
        return None
    table = np.array(values, dtype=np.float64).reshape(-1, items)
    n_rounds = len(table)
    variance = float(table.var(axis=0, ddof=1).sum()) / (n_rounds * items**2) if n_rounds > 1 else 0.0
    error = variance**0.5
    mean = float(table.mean())
    # Degrees of freedom, and one more, in place of a number of clusters.
    n_clusters = items * max(1, n_rounds - 1) + 1
    return Reference(mean, error if error > _ROUNDING * max(1.0, abs(mean)) else 0.0, n_clusters)


def split_by_cluster(clusters: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """Return the numbers of the items of every second cluster, and those of the others."""
    half_of_cluster: dict[Hashable, int] = {}
    halves: tuple[list[int], list[int]] = [], []
    for number, cluster in enumerate(clusters):
        halves[half_of_cluster.setdefault(cluster, len(half_of_cluster) % 2)].append(number)
    return halves


def worse_bound(metric: Metric, low: float | None, high: float | None) -> float | None:
    """Return the worse of two bounds of a metric."""
    return high if metric.better == "lower" else low
