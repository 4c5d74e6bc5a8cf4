"""Which rows count: the reasons for which rows are excluded, and what follows from all rows of a report together."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from waybench.core._items import split_isomorphic_label
from waybench.envs import registry
from waybench.results.results._groups import REASONING_HISTORY, Cluster, RunKey
from waybench.results.results._rows import Row, group_by, is_perfect

REPEATED = "repeated"
AFTER_PERFECT = "after a perfect attempt"
NONE = "none"  # of the reasoning of earlier turns


def exclude(episode_rows: Iterable[Row]) -> list[Row]:
    """Return rows with their reasons for exclusion, and isomorphic items in the clusters of their originals.

    Runs that differ in what happened to reasoning become different groups before that (`with_reasoning_history`).
    There are four reasons:

    * "does not replay": the caller says that re-simulation does not confirm the record (see `measured_row`);
    * "unfinished": the episode has no end, because a person quit or the stored replies ran out;
    * "repeated": several runs of one model have the same settings. All attempts at an item come from the last run that
      has one without an infrastructure error there, or else from the last run, since attempts of different runs are
      not one series. Within a run, the same holds for episodes of the same item and attempt;
    * "after a perfect attempt": the attempt has a higher number than the first perfect one at the item. A run that
      skips such attempts must have the same scores, so their results are ignored. This applies only where the best
      attempt at an item is its score; with a teacher, no attempt is perfect.

    Args:
        episode_rows: The rows, ordered by run.
    """
    all_rows = with_reasoning_history(with_original_clusters(episode_rows))
    runs = {run: number for number, run in enumerate(dict.fromkeys(row.run for row in all_rows))}

    def row_numbers_by(key: Callable[[Row], Hashable]) -> Iterable[list[int]]:
        """Return the numbers of the rows that are not excluded so far, grouped by a key."""
        valid = [number for number, row in enumerate(all_rows) if not row.exclusion_reason]
        return group_by(valid, lambda number: key(all_rows[number])).values()

    def item_identity(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    def exclude_rows(numbers: Iterable[int], reason: str) -> None:
        for number in numbers:
            all_rows[number] = replace(all_rows[number], exclusion_reason=reason)

    for numbers in row_numbers_by(item_identity):
        last = max((all_rows[number] for number in numbers), key=lambda row: (not row.error, runs[row.run]))
        exclude_rows((number for number in numbers if all_rows[number].run != last.run), REPEATED)
    for numbers in row_numbers_by(lambda row: (item_identity(row), row.attempt)):
        latest = max(numbers, key=lambda number: (not all_rows[number].error, number))
        exclude_rows((number for number in numbers if number != latest), REPEATED)
    for numbers in row_numbers_by(item_identity):
        scoring = registry.load(all_rows[numbers[0]].group.env).scoring
        unguided = [all_rows[number] for number in numbers if scoring.best_of and not all_rows[number].guided]
        headline = scoring.metrics[0]
        perfect = [row.attempt for row in unguided if is_perfect(row.metrics[headline.name], headline)]
        if perfect:
            exclude_rows((number for number in numbers if all_rows[number].attempt > min(perfect)), AFTER_PERFECT)
    return all_rows


def with_original_clusters(rows: Iterable[Row]) -> list[Row]:
    """Return rows with isomorphic items in the clusters of their originals, since they are not independent.

    That is for clusters that are instances. The original of an item is that of the same name in the set of the same key
    and source options, in the same environment or its twin. Where the rows have no original, forms of an item have the
    cluster of the one with the lowest number.
    """
    all_rows = list(rows)
    numbered = [(split_isomorphic_label(row.group.key), row) for row in all_rows]
    if not any(number for (_, number), _ in numbered):
        return all_rows
    originals: dict[Hashable, tuple[int, Cluster]] = {}
    places = [_original_item_identity(row, key) for (key, _), row in numbered]
    for place, ((_, number), row) in zip(places, numbered, strict=True):
        if not row.cluster.key:
            originals[place] = min(originals.get(place, (number, row.cluster)), (number, row.cluster))
    return [
        replace(row, cluster=originals[place][1]) if number and not row.cluster.key else row
        for place, ((_, number), row) in zip(places, numbered, strict=True)
    ]


def _original_item_identity(row: Row, original_key: str) -> Hashable:
    """Return a key that an isomorphic item and its original share; `original_key` is that of the set."""
    items, options = row.group.environment.items, dict(row.group.options)
    drawn = tuple(repr(options.get(option.name)) for option in items.options)
    return items.twin or row.group.env, drawn, original_key, row.level, row.item


def with_reasoning_history(rows: Iterable[Row]) -> list[Row]:
    """Return rows with the setting `reasoning_history` changed to what happened, where that is known.

    A run without any reasoning of earlier turns is apart from runs that sent some back: a server that refuses it, or an
    agent that leaves it out, makes another test of the same settings. Where a provider sent reasoning back in spite of
    the setting "none", the setting was none.
    """
    all_rows = list(rows)
    by_run = group_by((row for row in all_rows if row.reasoning_sent_back), lambda row: (row.group, row.run))
    without = {run for run, rows_of_run in by_run.items() if {row.reasoning_sent_back for row in rows_of_run} == {NONE}}
    groups_with = {group for group, _ in by_run.keys() - without}

    def corrected_group(row: Row) -> RunKey:
        if row.group not in groups_with:
            return row.group
        if (row.group, row.run) in without:
            return row.group.with_setting(REASONING_HISTORY, NONE)
        asked_for = dict(row.group.options).get(REASONING_HISTORY)
        is_known = asked_for == NONE and (row.group, row.run) in by_run
        return row.group.without_option(REASONING_HISTORY) if is_known else row.group

    return [replace(row, group=corrected_group(row)) for row in all_rows] if groups_with else all_rows
