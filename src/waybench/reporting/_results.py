"""The page of a model's results at a task: every item with its attempts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from waybench.core import End, Metric, Outcome, Presentation, turns_without_prefix
from waybench.reporting._episode import end_text
from waybench.reporting._episode_store import EpisodeStore, Said, SharedPrefix, StoredEpisode
from waybench.reporting._format import (
    BOARDS_OF_A_PAGE,
    BOARDS_WITHOUT_SCRIPTS,
    LONGEST_OPENING,
    LONGEST_UNSENT,
    OPENING_OF_AN_EPISODE,
    OPENINGS_OF_A_PAGE,
    Excerpt,
    TaskView,
    characters_per_text,
    count_text,
    excerpt,
    quality_between_bounds,
    to_anchor,
    value_text,
)
from waybench.reporting._replays import ChosenReplays
from waybench.reporting.charts import Chart
from waybench.reporting.charts._charts import curve_charts
from waybench.results import Estimate, Row
from waybench.results.comparisons import main_failure
from waybench.results.comparisons._item_scores import failure_kinds
from waybench.results.estimates import headline_spec
from waybench.results.estimates._measures import HeadlineSpec
from waybench.results.frames import group_id
from waybench.results.results import Cluster, group_by

_FILTER_OUTCOMES = (Outcome.UNPARSED, Outcome.ILLEGAL, Outcome.TRUNCATED, Outcome.OVERFLOW, Outcome.REFUSED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an item.

    Attributes:
        number: Its number among the attempts at the item, from 1.
        score: Its headline score as text (see `headline_spec`).
        facts: Title and value of other metrics that describe it (`_metric_facts`).
        end: How it ended, in words.
        outcomes: The outcome of each reply that had to name an action.
        error: The message of an infrastructure error; None if there was none.
        exclusion_reason: Why it is excluded; "" if it is included.
        mismatch: Where record and simulation differ; "" if they agree.
        not_simulated: Why there was no simulation; "" if there was one.
        replay: Address of its replay, or of the page that says how to make one (`ChosenReplays.link`).
    """

    number: int
    score: str
    facts: list[tuple[str, str]]
    end: str
    outcomes: list[Outcome]
    error: Excerpt | None
    exclusion_reason: str
    mismatch: str
    not_simulated: str
    log: str
    replay: str

    @property
    def counts(self) -> list[tuple[Outcome, int]]:
        """The number of replies by outcome, the most frequent first."""
        return Counter(self.outcomes).most_common()


@dataclass(frozen=True, slots=True)
class Card:
    """One item.

    Attributes:
        anchor: Its id in the page.
        best: The best score, as text.
        part: The best score between the metric's bounds, from 0 (worst) to 1; None if there is none.
        missing: Whether infrastructure errors ended all attempts.
        incomplete: Whether infrastructure errors ended some attempts, but not all.
        shown: Number of the attempt that the board shows; None without a board or an included attempt.
        board: The drawing, "" where scripts draw it; None if there is none, or the page has enough of them.
    """

    item: str
    anchor: str
    best: str
    part: float | None
    missing: bool
    incomplete: bool
    shown: int | None
    board: Markup | None
    kinds: list[str]
    attempts: list[Attempt]

    @property
    def replay(self) -> str:
        """The `replay` of the attempt with the number `shown`; "" if there is none."""
        return next((attempt.replay for attempt in self.attempts if attempt.number == self.shown), "")


_KINDS = {
    "solved": "solved",
    "unsolved": "not solved",
    "unparsed": "with an unparsed reply",
    "illegal": "with an illegal reply",
    "truncated": "with a truncated reply",
    "overflow": "with a context overflow",
    "refused": "with a refusal",
    "error": "with an infrastructure error",
    "aside": "with an excluded attempt",
}
_FAILED = "failed-"  # begins the kind of an item with a certain failure


def item_kinds(env: str) -> dict[str, str]:
    """Return the kinds by which an environment's items can be filtered, as parts of ids and classes, with labels."""
    return {**_KINDS, **{_FAILED + to_anchor(kind.name): f"failed by {kind.title}" for kind in failure_kinds(env)}}


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """Items that are shown together: all of a level, or those that were drawn together, such as questions about a map.

    Attributes:
        cluster: The cluster that they were drawn from; None for all items of a level.
        anchor: Its id in the page.
        opening: The shared prefix of their prompts if it is too long for the pages of episodes; otherwise empty.
    """

    cluster: Cluster | None
    anchor: str
    opening: list[Said]
    cards: list[Card]

    @property
    def name(self) -> str:
        """The cluster's name; "" for an instance that was drawn by itself."""
        return self.cluster.name if self.cluster and self.cluster.key else ""


@dataclass(frozen=True, slots=True)
class Level:
    """The items of one level.

    Attributes:
        charts: The charts of its curves by step.
    """

    estimate: Estimate
    charts: list[Chart]
    batches: list[ItemBatch]

    @property
    def cards(self) -> list[Card]:
        """All items."""
        return [card for batch in self.batches for card in batch.cards]


@dataclass(frozen=True, slots=True)
class ItemView:
    """The item of an attempt.

    Attributes:
        id: The item's id.
        anchor: Its id in the page of results.
        batch: The anchor of its `ItemBatch` in the page of results.
        attempts: Number of attempts at the item.
        opening: The prefix that its prompts share with the prompts of other items.
    """

    id: str
    anchor: str
    batch: str
    attempts: int
    opening: SharedPrefix


class ResultsPage:
    """Builds the contents of a results page, and passes each episode to a callback.

    Attributes:
        packed: The drawings that scripts put into the page, in the order of its cards.
    """

    def __init__(
        self,
        view: TaskView,
        store: EpisodeStore,
        replays: ChosenReplays,
        on_attempt: Callable[[StoredEpisode, Attempt, ItemView], None],
    ) -> None:
        """Prepare a page; `on_attempt` receives each attempt."""
        self._view, self._store, self._replays, self._on_attempt = view, store, replays, on_attempt
        # Characters of drawings that the page can still have, and can still have without scripts.
        self._characters_left = BOARDS_OF_A_PAGE
        self._characters_left_unpacked = BOARDS_OF_A_PAGE if replays.is_complete else BOARDS_WITHOUT_SCRIPTS
        self.packed: list[str] = []

    def build_levels(self, positions: Sequence[int], estimates: Sequence[Estimate]) -> list[Level]:
        """Return the levels of one group, whose episodes are at these positions of the store."""
        rows = self._store.rows
        by_cluster = _has_shared_clusters(rows[position] for position in positions)

        def batch_cluster(position: int) -> Cluster | None:
            return rows[position].cluster if by_cluster else None

        by_level = group_by(positions, lambda position: rows[position].level)
        n_batches = len({(rows[position].level, batch_cluster(position)) for position in positions})
        longest_opening = characters_per_text(OPENINGS_OF_A_PAGE, n_batches, LONGEST_OPENING)
        levels: list[Level] = []
        for estimate in estimates:
            level, group = estimate.level or 0, estimate.group
            clusters = group_by(by_level[level], batch_cluster)
            batches: list[ItemBatch] = []
            for cluster in sorted(clusters, key=_cluster_sort_key):
                shared = self._store.shared_prefix(group, level, cluster)
                anchor, n_cards = f"b{level}-{len(batches) + 1}", sum(len(batch.cards) for batch in batches)
                cards = self._batch_cards(clusters[cluster], shared, anchor, f"i{level}-", n_cards + 1)
                opening = shared.page_messages(longest_opening) if shared.characters > OPENING_OF_AN_EPISODE else []
                batches.append(ItemBatch(cluster, anchor, opening, cards))
            curves = curve_charts(
                self._view, level, group.examples, [estimate], name_parts=[group.model, group_id(group)]
            )
            levels.append(Level(estimate, curves, batches))
        return levels

    def _batch_cards(
        self, positions: Sequence[int], shared: SharedPrefix, batch_anchor: str, anchor_prefix: str, first: int
    ) -> list[Card]:
        """Return the cards of a batch, numbered from `first`."""
        rows = self._store.rows
        items = group_by(positions, lambda at: (rows[at].index, rows[at].item, rows[at].instance))
        cards: list[Card] = []
        for number, ((_, item, _), attempts) in enumerate(sorted(items.items(), key=lambda pair: pair[0]), start=first):
            view = ItemView(item, f"{anchor_prefix}{number}", batch_anchor, len(attempts), shared)
            cards.append(self._item_card(attempts, view))
        return cards

    def _item_card(self, positions: Sequence[int], item: ItemView) -> Card:
        """Return an item's card: its attempts, excluded ones last, and the board of the best one."""
        rows = self._store.rows
        ordered = sorted(positions, key=lambda at: (bool(rows[at].exclusion_reason), rows[at].attempt))
        item_rows = [rows[at] for at in ordered]
        headline = headline_spec(self._view.env, any(row.guided for row in item_rows))
        metric = headline.metric
        included = [row for row in item_rows if row.is_included]
        values = [(value, row) for row in included if (value := headline.value(row)) is not None]
        best = (min if metric.better == "lower" else max)((value for value, _ in values), default=None)
        # Without any value, the board is that of the first attempt.
        best_row = next((row for value, row in values if value == best), included[0] if included else None)
        board: Markup | None = None
        attempts: list[Attempt] = []
        for played in self._store.load(ordered):
            attempts.append(self._attempt_view(headline, played))
            if played.row is best_row:
                board = self._board_drawing(played)
            self._on_attempt(played, attempts[-1], item)
        valid = [row for row in item_rows if not row.exclusion_reason]
        return Card(
            item=item.id,
            anchor=item.anchor,
            best=value_text(best, metric),
            part=quality_between_bounds(best, metric),
            missing=bool(valid) and not included,
            incomplete=bool(included) and any(row.error for row in valid),
            shown=best_row.attempt if best_row else None,
            board=board,
            kinds=_filter_kinds(item_rows),
            attempts=attempts,
        )

    def _board_drawing(self, played: StoredEpisode) -> Markup | None:
        """Return the drawing of an episode for the page, empty where a script adds it; None without one or room."""
        draw = self._view.presentation.draw
        if draw is None or played.instance is None or not played.again.confirmed or self._characters_left <= 0:
            return None
        # Drawings consist of numbers and words of waybench, so that nothing in them can come from a reply.
        drawing = draw(played.instance, played.episode.record.turns)
        self._characters_left -= len(drawing)
        if self._characters_left_unpacked <= 0:
            self.packed.append(drawing)
            return Markup()
        self._characters_left_unpacked -= len(drawing)
        return Markup(drawing)

    def _attempt_view(self, headline: HeadlineSpec, played: StoredEpisode) -> Attempt:
        """Return an episode as the page shows it: outcomes, score by the headline metric, other metrics and replay."""
        row, record = played.row, played.episode.record
        error = record.error or ("the episode has no end" if row.error else "")
        # What a record that does not replay says of its actions cannot be trusted: all its turns are shown.
        action_turns = record.turns if played.again.mismatch else self._view.env.playing.action_turns(record)
        return Attempt(
            number=row.attempt,
            score=value_text(headline.value(row), headline.metric),
            facts=_metric_facts(self._view.env.scoring.metrics, self._view.presentation, row, headline.metric),
            end=end_text(played),
            outcomes=[turn.outcome for turn in turns_without_prefix(action_turns)],
            error=excerpt(error, LONGEST_UNSENT) if row.error else None,
            exclusion_reason=row.exclusion_reason,
            mismatch=played.again.mismatch,
            not_simulated=played.again.skipped,
            log=row.log.replace("\\", "/").rpartition("/")[2],
            replay=self._replays.link(row.group, played.number),
        )


def _has_shared_clusters(all_rows: Iterable[Row]) -> bool:
    """Return whether some cluster has several items."""
    items = {(row.cluster, row.level, row.item, row.instance) for row in all_rows if row.cluster.key}
    return len(items) > len({cluster for cluster, *_ in items})


def _cluster_sort_key(cluster: Cluster | None) -> tuple[bool, str]:
    """Return the sort key of a cluster: its name, and last clusters without a key, as of records that do not replay."""
    return (cluster is not None and not cluster.key, cluster.name if cluster else "")


def _filter_kinds(rows: Sequence[Row]) -> list[str]:
    """Return the kinds by which an item with these attempts can be filtered (see `item_kinds`)."""
    included = [row for row in rows if row.is_included]
    kinds: list[str] = []
    if included:
        kinds.append("solved" if any(row.end == End.SOLVED and not row.guided for row in included) else "unsolved")
    kinds += [str(outcome) for outcome in _FILTER_OUTCOMES if any(row.outcomes.get(str(outcome)) for row in included)]
    failures = {kind.name for row in included if (kind := main_failure(row))}
    kinds += [f"{_FAILED}{to_anchor(name)}" for name in sorted(failures)]
    if any(row.error and not row.exclusion_reason for row in rows):
        kinds.append("error")
    if any(row.exclusion_reason for row in rows):
        kinds.append("aside")
    return kinds


def _metric_facts(
    metrics: Iterable[Metric], presentation: Presentation, row: Row, headline: Metric
) -> list[tuple[str, str]]:
    """Return the title and value of the metrics that describe an attempt, without counts of problems that are 0.

    The first metric and the headline are the attempt's score, and are left out. So are metrics that describe a whole
    set as a paper does (`Metric.left_out`), with the metrics that they name.
    """
    facts: list[tuple[str, str]] = []
    first_metric, *other_metrics = metrics
    names_left_out = {metric.left_out for metric in (first_metric, *other_metrics)}
    for metric in other_metrics:
        value = row.metrics[metric.name]
        if metric is headline or metric.left_out or metric.name in names_left_out or value is None:
            continue
        is_description = metric.better == "" or (metric.better == "lower" and value)
        if is_description or metric.name in presentation.metrics:
            # Of a share over the whole set (`Metric.per`), an attempt has a count, and the size that it is a share of.
            size = row.sizes.get(metric.name, 0)
            of_size = f" of {count_text(size)}" if size > 1 else ""
            facts.append((metric.title, f"{value_text(value, metric)}{of_size}"))
    return facts
