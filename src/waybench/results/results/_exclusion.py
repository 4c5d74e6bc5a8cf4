"""Which rows count: the reasons for which rows are excluded, and what follows from all rows of a report together."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from waybench.core._items import split_isomorphic_label
from waybench.envs import registry
from waybench.results.results._groups import REASONING_HISTORY, Cluster, RunKey
from waybench.results.results._rows import Row, group_by, is_perfect

REPEATED = "repeated"
AFTER_PERFECT = "after a perfect attempt"
NONE = "none"  # of the reasoning of earlier turns was sent back


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
        """Return the group and the item of a row, whatever its attempt and run."""
        return row.group, row.level, row.item, row.instance

    def exclude_rows(numbers: Iterable[int], reason: str) -> None:
        for number in numbers:
            all_rows[number] = replace(all_rows[number], exclusion_reason=reason)

    for numbers in row_numbers_by(item_identity):  # of several runs, one counts
        last = max((all_rows[number] for number in numbers), key=lambda row: (not row.error, runs[row.run]))
        exclude_rows((number for number in numbers if all_rows[number].run != last.run), REPEATED)
    for numbers in row_numbers_by(lambda row: (item_identity(row), row.attempt)):  # of one attempt's episodes, too
        latest = max(numbers, key=lambda number: (not all_rows[number].error, number))
        exclude_rows((number for number in numbers if number != latest), REPEATED)
    for numbers in row_numbers_by(item_identity):
        scoring = registry.load(all_rows[numbers[0]].group.env).scoring
        if not scoring.best_of:
            continue
        unguided, headline = [all_rows[number] for number in numbers if not all_rows[number].guided], scoring.metrics[0]
        perfect_attempts = [row.attempt for row in unguided if is_perfect(row.metrics[headline.name], headline)]
        if perfect_attempts:
            first = min(perfect_attempts)
            exclude_rows((number for number in numbers if all_rows[number].attempt > first), AFTER_PERFECT)
    return all_rows


def with_original_clusters(rows: Iterable[Row]) -> list[Row]:
    """Return rows with isomorphic items in the clusters of their originals, since they are not independent.

    Only clusters that are instances change. The original of an item has the same name, in the set of the same key and
    source options, in the same environment or its twin. Where the rows have no original, forms of an item have the
    cluster of the form with the lowest number.
    """
    all_rows = list(rows)
    keys_and_numbers = [split_isomorphic_label(row.group.key) for row in all_rows]  # the number of originals is 0
    if not any(number for _, number in keys_and_numbers):
        return all_rows
    originals: dict[Hashable, tuple[int, Cluster]] = {}
    identities = [_original_item_identity(row, key) for row, (key, _) in zip(all_rows, keys_and_numbers, strict=True)]
    for row, identity, (_, number) in zip(all_rows, identities, keys_and_numbers, strict=True):
        if not row.cluster.key:
            originals[identity] = min(originals.get(identity, (number, row.cluster)), (number, row.cluster))
    return [
        replace(row, cluster=originals[identity][1]) if number and not row.cluster.key else row
        for row, identity, (_, number) in zip(all_rows, identities, keys_and_numbers, strict=True)
    ]


def _original_item_identity(row: Row, original_key: str) -> Hashable:
    """Return a key that an isomorphic item and its original share; `original_key` is the key of the original set."""
    items, options = row.group.environment.items, dict(row.group.options)
    item_options = tuple(repr(options.get(option.name)) for option in items.options)
    return items.twin or row.group.env, item_options, original_key, row.level, row.item


def with_reasoning_history(rows: Iterable[Row]) -> list[Row]:
    """Return rows with the setting `reasoning_history` changed to what was sent back, where that is known.

    A run without any reasoning of earlier turns is another group than runs that sent some back: a server that refuses
    it, or an agent that leaves it out, makes another test of the same settings. Where a provider sent reasoning back in
    spite of the setting "none", the setting is removed.
    """
    all_rows = list(rows)
    by_run = group_by((row for row in all_rows if row.reasoning_sent_back), lambda row: (row.group, row.run))
    runs_without = {run for run, run_rows in by_run.items() if {row.reasoning_sent_back for row in run_rows} == {NONE}}
    groups_with_reasoning = {group for group, _ in by_run.keys() - runs_without}

    def corrected_group(row: Row) -> RunKey:
        """Return the group of a row by what its run sent back."""
        if row.group not in groups_with_reasoning:
            return row.group
        if (row.group, row.run) in runs_without:
            return row.group.with_setting(REASONING_HISTORY, NONE)
        is_overridden = dict(row.group.options).get(REASONING_HISTORY) == NONE and (row.group, row.run) in by_run
        return row.group.without_option(REASONING_HISTORY) if is_overridden else row.group

    return [replace(row, group=corrected_group(row)) for row in all_rows] if groups_with_reasoning else all_rows
