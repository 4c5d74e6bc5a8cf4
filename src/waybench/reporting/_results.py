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

_TELLING = (Outcome.UNPARSED, Outcome.ILLEGAL, Outcome.TRUNCATED, Outcome.OVERFLOW, Outcome.REFUSED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at an item.

    Attributes:
        number: From 1.
        score: Its headline score as text (see `headline_spec`).
        facts: Other metrics worth showing, as (title, value).
        end: How it ended, in words.
        outcomes: The outcome of each reply that had to name an action.
        error: The message of an infrastructure error; None if there was none.
        exclusion_reason: Why it is excluded; "" if it counts.
        mismatch: Where record and simulation differ; "" if they agree.
        not_simulated: Why there was no simulation; "" if there was one.
        log: The log file's name.
        replay: Address of its page among replays, or of the page that says how to make it (`ChosenReplays.link`).
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
        item: Its id.
        anchor: Its id in the page.
        best: The best score, as text.
        part: The best score between the metric's bounds, from 0 (worst) to 1; None if there is none.
        missing: Whether all attempts were infrastructure errors.
        incomplete: Whether some were.
        shown: Number of the attempt that the board shows; None if it shows none.
        board: The drawing, "" where scripts draw it; None if there is none, or the page has enough of them.
        kinds: The filters that show it (`item_kinds`).
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
        """The `replay` of the attempt that the board shows; "" if it shows none."""
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
_FAILED = "failed-"


def item_kinds(env: str) -> dict[str, str]:
    """Return the kinds by which an environment's items can be filtered, as parts of ids and classes, with labels."""
    return {**_KINDS, **{_FAILED + to_anchor(kind.name): f"failed by {kind.title}" for kind in failure_kinds(env)}}


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """Items that are shown together: all of a level, or those that were drawn together, such as questions about a map.

    Attributes:
        cluster: What they were drawn from; None for all items of a level.
        anchor: Its id in the page.
        opening: The shared prefix of their prompts, where it is too long for the page of each.
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
        batch: The anchor of its `ItemBatch` there.
        attempts: Number of attempts at it.
        opening: The prefix that its prompts share with those of other items.
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
        self._view, self._store, self._replays, self._follow = view, store, replays, on_attempt
        self._room = BOARDS_OF_A_PAGE
        self._still = BOARDS_OF_A_PAGE if replays.is_complete else BOARDS_WITHOUT_SCRIPTS
        self.packed: list[str] = []

    def build_levels(self, positions: Sequence[int], estimates: Sequence[Estimate]) -> list[Level]:
        """Return the levels of one group, whose episodes are at these positions of the store."""
        rows = self._store.rows
        together = _has_shared_clusters(rows[position] for position in positions)
        by_level = group_by(positions, lambda position: rows[position].level)
        keys = {(rows[position].level, rows[position].cluster if together else None) for position in positions}
        longest = characters_per_text(OPENINGS_OF_A_PAGE, len(keys), LONGEST_OPENING)
        levels: list[Level] = []
        for estimate in estimates:
            level = estimate.level or 0
            clusters = group_by(by_level[level], lambda position: rows[position].cluster if together else None)
            batches: list[ItemBatch] = []
            for cluster in sorted(clusters, key=_cluster_sort_key):
                shared = self._store.shared_prefix(estimate.group, level, cluster)
                anchor, before = f"b{level}-{len(batches) + 1}", sum(len(batch.cards) for batch in batches)
                cards = self._batch_cards(clusters[cluster], shared, anchor, f"i{level}-", before + 1)
                opening = shared.page_messages(longest) if shared.characters > OPENING_OF_AN_EPISODE else []
                batches.append(ItemBatch(cluster, anchor, opening, cards))
            group = estimate.group
            whose = [group.model, group_id(group)]
            curves = curve_charts(self._view, level, group.examples, [estimate], whose)
            levels.append(Level(estimate, curves, batches))
        return levels

    def _batch_cards(
        self, positions: Sequence[int], shared: SharedPrefix, batch_anchor: str, anchor_prefix: str, first: int
    ) -> list[Card]:
        """Return the cards of a batch, numbered from `first`."""
        rows = self._store.rows
        items = group_by(positions, lambda at: (rows[at].index, rows[at].item, rows[at].instance))
        return [
            self._item_card(
                items[key], ItemView(key[1], f"{anchor_prefix}{number}", batch_anchor, len(items[key]), shared)
            )
            for number, key in enumerate(sorted(items), start=first)
        ]

    def _item_card(self, positions: Sequence[int], item: ItemView) -> Card:
        """Return an item's card: its attempts, excluded ones last, and the board of the best one."""
        rows = self._store.rows
        ordered = sorted(positions, key=lambda at: (bool(rows[at].exclusion_reason), rows[at].attempt))
        item_rows = [rows[at] for at in ordered]
        headline = headline_spec(self._view.env, any(row.guided for row in item_rows))
        metric = headline.metric
        counted = [(headline.value(row), row) for row in item_rows if row.is_included]
        scored = [(value, row) for value, row in counted if value is not None]
        best = (min if metric.better == "lower" else max)((value for value, _ in scored), default=None)
        best_row = next((row for value, row in scored if value == best), counted[0][1] if counted else None)
        board: Markup | None = None
        attempts: list[Attempt] = []
        for played in self._store.load(ordered):
            attempts.append(self._attempt_view(headline, played))
            if played.row is best_row:
                board = self._board_drawing(played)
            self._follow(played, attempts[-1], item)
        valid = [row for row in item_rows if not row.exclusion_reason]
        return Card(
            item=item.id,
            anchor=item.anchor,
            best=value_text(best, metric),
            part=quality_between_bounds(best, metric),
            missing=bool(valid) and not counted,
            incomplete=bool(counted) and any(row.error for row in valid),
            shown=best_row.attempt if best_row else None,
            board=board,
            kinds=_filter_kinds(item_rows),
            attempts=attempts,
        )

    def _board_drawing(self, played: StoredEpisode) -> Markup | None:
        """Return the drawing of an episode for the page, empty where a script adds it; None without one or room."""
        draw = self._view.presentation.draw
        if draw is None or played.instance is None or not played.again.confirmed or self._room <= 0:
            return None
        # Drawings are made of numbers and words of ours, so that nothing in them can come from a reply.
        drawing = draw(played.instance, played.episode.record.turns)
        self._room -= len(drawing)
        if self._still <= 0:
            self.packed.append(drawing)
            return Markup()
        self._still -= len(drawing)
        return Markup(drawing)

    def _attempt_view(self, headline: HeadlineSpec, played: StoredEpisode) -> Attempt:
        """Return what the page shows of an episode: outcome, score by the headline metric, other metrics and replay."""
        row, record = played.row, played.episode.record
        error = record.error or ("the episode has no end" if row.error else "")
        judged = turns_without_prefix(
            record.turns if played.again.mismatch else self._view.env.playing.action_turns(record)
        )
        return Attempt(
            number=row.attempt,
            score=value_text(headline.value(row), headline.metric),
            facts=_metric_facts(self._view.env.scoring.metrics, self._view.presentation, row, headline.metric),
            end=end_text(played),
            outcomes=[turn.outcome for turn in judged],
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
    counted = [row for row in rows if row.is_included]
    kinds: list[str] = []
    if counted:
        kinds.append("solved" if any(row.end == End.SOLVED and not row.guided for row in counted) else "unsolved")
    kinds += [str(outcome) for outcome in _TELLING if any(row.outcomes.get(str(outcome)) for row in counted)]
    failed = {kind.name for row in counted if (kind := main_failure(row))}
    kinds += [f"{_FAILED}{to_anchor(name)}" for name in sorted(failed)]
    kinds += ["error"] * any(row.error and not row.exclusion_reason for row in rows)
    kinds += ["aside"] * any(bool(row.exclusion_reason) for row in rows)
    return kinds


def _metric_facts(
    metrics: Iterable[Metric], presentation: Presentation, row: Row, headline: Metric
) -> list[tuple[str, str]]:
    """Return the title and value of the metrics that describe an attempt, without counts of problems that are 0.

    Those are left out that say for a set what a paper publishes of it (`Metric.left_out`).
    """
    facts: list[tuple[str, str]] = []
    all_metrics = list(metrics)
    left_out = {metric.left_out for metric in all_metrics}
    for number, metric in enumerate(all_metrics):
        if metric.left_out or metric.name in left_out:
            continue
        value = row.metrics[metric.name]
        telling = metric.better == "" or (metric.better == "lower" and value)
        if number and metric is not headline and value is not None and (telling or metric.name in presentation.metrics):
            # Of a share over the whole set (`Metric.per`), an attempt has a count and what it is a part of.
            size = row.sizes.get(metric.name, 0)
            of = f" of {count_text(size)}" if size > 1 else ""
            facts.append((metric.title, f"{value_text(value, metric)}{of}"))
    return facts
