"""The stream of a task's items that a comparison plays until it is decided: its units and their order."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from inspect_ai.dataset import Sample

from waybench.core import Episode, Stream, UsageError, plural
from waybench.core._designs import StreamPosition, stream_design
from waybench.core._items import item_set_hash
from waybench.evaluation._agents import inspect_model_name
from waybench.evaluation._comparison import ComparisonSource, StreamConfig
from waybench.evaluation._sample import to_sample
from waybench.evaluation.tasks._entry import TaskEntry
from waybench.evaluation.tasks._items import EndlessPart, TaskItem, endless_parts, task_items
from waybench.results.stats._sequential import MOST_UNITS, DecisionRule

ITEMS, CLUSTERS = "items", "clusters"
FEWEST_UNITS = 8  # the fewest after which one of two models can be shown to be better
_REVISION = 1  # raised whenever the same task has another order of items


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """What the user says of a comparison.

    Attributes:
        margin: The greatest difference in a tie.
        tasks: Number of tasks of the run, whose decisions belong together.
        over: What a unit is: "items" or "clusters".
        max_items: Most items for each model; None for all that are listed, or 2,000.
        window: How many samples a model may be ahead of the others, about.
    """

    models: tuple[str, ...]
    margin: float = 0.05
    tasks: int = 1
    over: str = ITEMS
    max_items: int | None = None
    window: int = 10

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the models in logs, each once."""
        return tuple(dict.fromkeys(map(inspect_model_name, self.models)))

    @property
    def rule(self) -> DecisionRule:
        """When the comparison ends."""
        return DecisionRule(
            models=len(self.players), margin=self.margin, tasks=self.tasks, clusters=self.over == CLUSTERS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStream:
    """The units of a task's items, in the order in which they are played.

    Attributes:
        id: What tells the stream from others.
        size: Number of units.
        unit: Number of a unit, from 0 -> its items.
        unit_name: What a unit is, in the singular.
        population: What a decision is about: "on these 500 items".
    """

    id: str
    size: int
    unit: Callable[[int], Sequence[TaskItem]]
    unit_name: str
    population: str

    def all_samples(self) -> Iterator[Sample]:
        """Yield the samples of all units, in order."""
        return (sample for number in range(self.size) for item in self.unit_samples(number) for sample in item)

    def unit_samples(self, number: int) -> list[list[Sample]]:
        """Return the samples of each item of a unit."""
        items = self.unit(number)
        return [
            [
                to_sample(
                    environment,
                    item,
                    options,
                    attempt,
                    stream_design(StreamPosition(self.id, number, len(items), attempts)),
                )
                for attempt in range(1, attempts + 1)
            ]
            for environment, options, item, attempts, _ in items
        ]


def task_stream(
    entry: TaskEntry, args: Mapping[str, Any], over: str = ITEMS, max_items: int | None = None
) -> TaskStream:
    """Return the stream of a task's items for its parameters.

    Generated items, each independent of the others, come in their own order; of several parts (levels) a unit is a
    round with an item of each part. Listed items, and all items that come in clusters, are shuffled by a stream that
    depends on the task's name and the items.

    `over` says what a unit is: "items" or "clusters". Without `max_items` there are all listed items, or 2,000.

    Raises:
        UsageError: If the task cannot be compared so.
    """
    if entry.climb is not None or entry.searches:  # of items within a budget, those that are played in any case
        reason = "searches for a horizon" if entry.searches else "climbs as long as a model solves an item"
        raise UsageError(f"--until decided: {entry.name} {reason}, which ends by itself; choose another task")
    endless = endless_parts(entry.parts, args) if over == ITEMS else []
    if endless:
        return _generated_stream(entry, args, endless, (max_items or MOST_UNITS) // len(endless))
    return _shuffled_stream(entry, args, over, max_items)


def _generated_stream(
    entry: TaskEntry, args: Mapping[str, Any], parts: Sequence[EndlessPart], n_units: int
) -> TaskStream:
    """Return the stream of generated items in their own order; of several parts, of rounds with an item of each."""
    if args.get("limit") is not None:
        raise UsageError("--until decided: give --max-items in place of --limit; the decision ends the run")
    first_items = [part.item(number) for part in parts for number in range(FEWEST_UNITS)]
    _require_bounded_item_score(first_items[0])
    unit_name, population = "round", "on its parts in equal shares"
    if len(parts) == 1:
        unit_name, population = "item", f"on items of {entry.name} as they are drawn"
    _require_enough_units(entry, n_units, unit_name)
    return TaskStream(
        id=_stream_id(entry, args, ITEMS, first_items),
        size=n_units,
        unit=lambda number: [part.item(number) for part in parts],
        unit_name=unit_name,
        population=population,
    )


def _shuffled_stream(entry: TaskEntry, args: Mapping[str, Any], over: str, max_items: int | None) -> TaskStream:
    """Return the stream of listed items or of clusters, as many units as have at most `max_items` items together."""
    # However many are played: a higher limit continues the same order.
    items = list(task_items(entry.parts, args, MOST_UNITS // len(entry.parts)))
    if items:
        _require_bounded_item_score(items[0])
    units = _group_by_cluster(entry, items) if over == CLUSTERS else [[item] for item in items]
    Stream("waybench-stream", entry.name, item_set_hash(item.item for item in items)).shuffle(units)
    population = f"on these {len(units):,} items"
    if over == CLUSTERS:
        population = f"on {units[0][0].environment.presentation.item}s like these"
    n_items = accumulate(len(unit) for unit in units)
    size = sum(total <= max_items for total in n_items) if max_items else len(units)
    unit_name = over.removesuffix("s")
    _require_enough_units(entry, size, unit_name)
    return TaskStream(
        id=_stream_id(entry, args, over, items),
        size=size,
        unit=units.__getitem__,
        unit_name=unit_name,
        population=population,
    )


def _require_enough_units(entry: TaskEntry, n_units: int, unit_name: str) -> None:
    """Refuse a task with too few units for a decision."""
    if n_units < FEWEST_UNITS:
        raise UsageError(
            f"--until decided: {entry.name} has {plural(n_units, unit_name)} with these parameters; a decision takes "
            f"at least {FEWEST_UNITS}: give more items"
        )


def _group_by_cluster(entry: TaskEntry, items: Sequence[TaskItem]) -> list[list[TaskItem]]:
    """Return items grouped by cluster; refuse items of which each is a cluster."""
    by_cluster: dict[str, list[TaskItem]] = {}
    for task_item in items:
        cluster_name = task_item.environment.items.cluster
        record = Episode(task_item.environment, task_item.item, task_item.options).record()
        name = record.instance_hash if cluster_name is None else f"{task_item.item.level} {cluster_name(record)}"
        by_cluster.setdefault(name, []).append(task_item)
    if all(task_item.environment.items.cluster is None for task_item in items) or len(by_cluster) == len(items):
        raise UsageError(f"--over clusters: each item of {entry.name} is a cluster of its own; leave the option out")
    return list(by_cluster.values())


def _stream_id(entry: TaskEntry, args: Mapping[str, Any], over: str, items: Sequence[TaskItem]) -> str:
    """Return an id that depends on items and options of a stream, and is the same on every machine."""
    item_option_names = {option.name for item in items[:1] for option in item.environment.items.options}
    item_parameters = {name: value for name, value in args.items() if name in item_option_names or name == "level"}
    options = sorted({json.dumps(dict(item.options), sort_keys=True, default=str) for item in items})
    keys = sorted({item.item.key_label for item in items})
    parts = [_REVISION, entry.name, over, item_parameters, options, keys, item_set_hash(item.item for item in items)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _require_bounded_item_score(task_item: TaskItem) -> None:
    """Refuse an item without a bounded score of its own: also the best of several attempts, or play with a teacher."""
    environment, options, item, attempts, _ = task_item
    metric = environment.scoring.metrics[0]
    record = Episode(environment, item, options).record()
    low, high = metric.range_of(record)
    is_ratio = (
        metric.per is not None and metric.per(record) > 1
    )  # a share of several things, which weigh by their number
    if low is None or high is None or metric.far_bounds or is_ratio or not metric.better:
        raise UsageError(
            f"--until decided: {metric.title} has no least and greatest value of single items; choose another task"
        )
    if environment.scoring.best_of and attempts > 1:
        raise UsageError("--until decided: the best of several attempts is no score of an item; give --attempts 1")
    if environment.play_with(options).guide is not None:
        raise UsageError("--until decided: with a teacher the episodes are not the model's own; leave the teacher out")


def comparison_source(entry: TaskEntry, args: Mapping[str, Any], settings: ComparisonSettings) -> ComparisonSource:
    """Return the sample source of a comparison of models at a task."""
    stream = task_stream(entry, args, settings.over, settings.max_items)
    n_samples_per_unit = sum(item.attempts for item in stream.unit(0))
    return ComparisonSource(
        StreamConfig(
            units=stream.unit_samples,
            size=stream.size,
            rule=settings.rule,
            models=settings.players,
            window=-(-settings.window // n_samples_per_unit),  # rounded up
        )
    )
