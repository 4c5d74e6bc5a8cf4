"""The measure of a group of episodes, and the table of scores for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from waybench.core import Aggregate, Environment, EpisodeRecord, Metric, Series
from waybench.envs import registry
from waybench.results.estimates._estimates import Estimate
from waybench.results.formatting import (
    LOST,
    NOTHING,
    align_columns,
    lost_text,
    mean_text,
    metric_with_direction,
    one_line,
    text_width,
    too_few_note,
)
from waybench.results.logs import is_human
from waybench.results.results import Row, RunKey, group_by, labels, setting_names, settings_sort_key
from waybench.results.stats import IntervalEstimate, LostAttempts

_STAR = f"* {LOST}"
UNDEFINED = f"{NOTHING} no attempt has a value, as when no answer could be read (not an infrastructure error)"


@dataclass(frozen=True, slots=True)
class HeadlineSpec:
    """The headline metric, or the mean of the first series where a teacher played in place of the player.

    Attributes:
        metric: Its title, bounds, unit and direction.
        series: The series' name; "" if it is none.
        aggregate: The aggregate's name, where a set is judged by one; "" otherwise. No episode has a value then.
    """

    metric: Metric
    series: str = ""
    aggregate: str = ""

    def mean(self, estimate: Estimate) -> IntervalEstimate | None:
        """Return the headline in an estimate: the mean of best attempts, or a series' mean over its steps."""
        if self.aggregate:
            return estimate.aggregates.get(self.aggregate)
        if not self.series:
            return estimate.best
        curve = estimate.curves.get(self.series)
        return curve.average if curve else None

    def lost_attempts(self, estimate: Estimate) -> LostAttempts | None:
        """Return the lost attempts of the headline in an estimate; None without any."""
        mean = self.mean(estimate)
        return estimate.lost if mean is None else mean.lost

    def value(self, row: Row) -> float | None:
        """Return the headline in one episode."""
        if self.aggregate:
            return None
        if not self.series:
            return row.metrics[self.metric.name]
        numbers = row.series.get(self.series)
        return fmean(numbers) if numbers else None


def headline_spec(env: Environment[Any, Any, Any], guided: bool) -> HeadlineSpec:
    """Return the number by which an environment's episodes are judged.

    Args:
        env: The environment.
        guided: Whether a teacher's actions were carried out, so that how the episode went is the teacher's merit.
    """
    if guided and env.scoring.series:
        first = env.scoring.series[0]
        return HeadlineSpec(replace(as_metric(first), title=first.guided_title or first.title), first.name)
    return HeadlineSpec(env.scoring.metrics[0])


def headline_specs(env: Environment[Any, Any, Any], guided: bool) -> list[HeadlineSpec]:
    """Return the headlines of sets of episodes: `headline_spec` and, without a teacher, headline aggregates."""
    specs = [headline_spec(env, guided)]
    if not guided:
        headline_aggregates = (aggregate for aggregate in env.scoring.aggregates if aggregate.is_headline)
        specs += [HeadlineSpec(as_metric(aggregate), aggregate=aggregate.name) for aggregate in headline_aggregates]
    return specs


def as_metric(summary: Series | Aggregate) -> Metric:
    """Return a series' mean over an episode, or an aggregate of one episode alone, as a metric."""

    def value_in_record(record: EpisodeRecord) -> float | None:
        """Return the series' mean over its steps, or the aggregate of the episode's own metrics; None if undefined."""
        if isinstance(summary, Series):
            numbers = summary.of(record)  # one for each step
            return fmean(numbers) if numbers else None
        values = [value for metric in summary.metrics if (value := metric.of(record)) is not None]
        return summary.of(values) if len(values) == len(summary.metrics) else None

    return Metric(
        name=summary.name,
        of=value_in_record,
        title=summary.title,
        unit=summary.unit if isinstance(summary, Aggregate) else "",
        low=summary.low,
        high=summary.high,
        range=summary.range if isinstance(summary, Series) else None,
        unbounded=summary.unbounded if isinstance(summary, Series) else "",
        better=summary.better,
        doc=summary.doc,
        sample_size=summary.sample_size if isinstance(summary, Aggregate) else None,
    )


def merit_key(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return a sort key of a group from its estimates by level, (levels, total); greater is better.

    The total is the sum of the headlines. Levels that were not run add nothing: a ladder ends where nothing was
    reached. Where lower is better, the distance from the worst possible value counts. Where there is no worst value,
    the number of levels comes first; elsewhere it is 0.
    """
    total, levels = 0.0, 0.0
    for estimate in estimates:
        headline = headline_spec(estimate.group.environment, estimate.guided)
        metric, mean = headline.metric, headline.mean(estimate)
        if mean is None:
            continue
        if metric.better != "lower":
            total += mean.value
        elif metric.high is not None:
            total += metric.high - mean.value
        else:
            levels, total = levels + 1, total - mean.value
    return levels, total


def rank_by_merit(estimates: Iterable[Estimate]) -> dict[RunKey, dict[int, Estimate]]:
    """Return the estimates by group and level, the best model first (`merit_key`), embedded players after all models.

    Groups of one model follow each other, in the order of their settings; the best of them stands for the model. Those
    with a teacher come after those without, for they are judged by another number (`headline_spec`). A group that
    lacks the results of some attempts has no rank (`Estimate.lost`): a model comes after the others where all its
    groups do.
    """
    by_group: dict[RunKey, dict[int, Estimate]] = {}
    for estimate in estimates:
        if estimate.level is not None:
            by_group.setdefault(estimate.group, {})[estimate.level] = estimate

    def player_key(group: RunKey) -> tuple[bool, bool, str]:
        """Return what the groups of one model have in common: whether it is embedded, has a teacher, and its name."""
        return group.embedded, any(cell.guided for cell in by_group[group].values()), group.model

    best_order: dict[tuple[bool, bool, str], tuple[bool, float, float]] = {}
    for group, cells in by_group.items():
        levels, total = merit_key(list(cells.values()))
        order = any(cell.lost for cell in cells.values()), -levels, -total
        best_order[player_key(group)] = min(best_order.get(player_key(group), order), order)

    names = setting_names(by_group)

    def group_sort_key(
        group: RunKey,
    ) -> tuple[bool, bool, tuple[bool, float, float], str, tuple[tuple[int, float, str], ...]]:
        embedded, guided, model = player_key(group)
        return embedded, guided, best_order[player_key(group)], model, settings_sort_key(group, names)

    return {group: dict(sorted(by_group[group].items())) for group in sorted(by_group, key=group_sort_key)}


def score_tables_text(estimates: Iterable[Estimate], max_width: int = 100, *, totals: Iterable[Estimate] = ()) -> str:
    """Return the scores as tables of plain text, one for each environment, and one more with a teacher.

    Each value of an option whose scores are not comparable (`Option.separate_tables`) has a table of its own, and so
    has each aggregate, after its environment's table. A table's first cell names the number where that is no score of
    which more is better. Rows are models, the embedded players after a line; columns are levels; a cell is the mean
    over items of the best attempt, with a teacher the mean of the first series over its steps, or the aggregate. A
    blank cell was not run; "n/a" has only infrastructure errors; "–" is not defined for any attempt, as a last line
    says; "*" marks a cell that lacks the results of some attempts; last lines say how many, and what the cell would be
    if they had all failed or succeeded. Lines above those give the scores of players without a model on the same items,
    where they are known, and say where an interval takes more items.

    Args:
        estimates: The estimates by level.
        max_width: Characters in a line of a table; a wider one goes on below, with the models' names again.
        totals: The estimates over all levels, for the last column of environments whose sets hold several levels.
    """
    tables: list[str] = []
    reference_notes: list[str] = []
    few_notes: list[str] = []
    lost_notes: list[str] = []
    has_undefined = False
    total_of_group = {total.group: total for total in totals}
    by_table = group_by(estimates, lambda estimate: (estimate.group.env, estimate.group.separate_by, estimate.guided))
    for (env_id, separate_by, guided), of_table in sorted(by_table.items(), key=lambda table: table[0]):
        env, groups = registry.load(env_id), rank_by_merit(of_table)
        levels, names = sorted({estimate.level for estimate in of_table if estimate.level is not None}), labels(groups)
        has_totals = env.items.pooled and len(levels) > 1 and total_of_group.keys() >= groups.keys()
        for headline in headline_specs(env, guided):
            title, kinds = _table_title(env, headline, separate_by), [""]
            lines = [[title, *map(str, levels), *(["all"] if has_totals else [])]]
            for group, cells in groups.items():
                total = [total_of_group[group]] if has_totals else []
                texts = [_level_cell_text(cell, headline) for cell in (*map(cells.get, levels), *total)]
                lines.append([names[group], *texts])
                kinds.append("embedded" if group.embedded else "person" if is_human(group.model) else "model")
                reference_notes += [_reference_note(title, cell, headline) for cell in cells.values()]
                few_notes += [too_few_note(headline.mean(cell), headline.metric) for cell in cells.values()]
                for cell in (*cells.values(), *total):
                    if lost := lost_text(headline.lost_attempts(cell), headline.metric):
                        lost_notes.append(f"  {names[group]}, {'all' if cell.level is None else cell.level}: {lost}")
                has_undefined |= any(text.startswith(NOTHING) for text in texts)
            tables += [align_columns(block, kinds) for block in _column_blocks(lines, max_width)]
    notes = ["\n".join(dict.fromkeys(filter(None, lines))) for lines in (reference_notes, few_notes)]
    if lost_notes:
        notes.append("\n".join(dict.fromkeys([_STAR, *lost_notes])))
    if has_undefined:
        notes.append(UNDEFINED)
    return "\n\n".join([*tables, *filter(None, notes)])


def _table_title(env: Environment[Any, Any, Any], headline: HeadlineSpec, separate_by: Sequence[str]) -> str:
    """Return the first cell of a table: environment, separate options and, unless more is better, the headline."""
    name = ", ".join((env.title, *separate_by))
    description = metric_with_direction(headline.metric)
    if headline.series:
        return f"{name}, with a teacher: {description}"
    needs_no_name = headline.metric.better == "higher" and not headline.aggregate
    return name if needs_no_name else f"{name}: {description}"


def _level_cell_text(estimate: Estimate | None, headline: HeadlineSpec) -> str:
    """Return the cell of a level: its score, "n/a" without a result, or "" if it was not run."""
    if estimate is None:
        return ""
    star = "*" if estimate.lost else ""
    if not estimate.attempts:
        return f"n/a{star}"
    mean = headline.mean(estimate)
    return f"{NOTHING if mean is None else mean_text(mean.value, headline.metric)}{star}"


def _reference_note(title: str, estimate: Estimate, headline: HeadlineSpec) -> str:
    """Return a line with floor and ceiling of a level and who scores the floor; "" if they are not known."""
    rescaled = estimate.rescaled
    if rescaled is None or headline.aggregate or headline.series:
        return ""
    floor, ceiling = (mean_text(end, headline.metric) for end in (rescaled.floor, rescaled.ceiling))
    player = one_line(rescaled.floor_player, 80)
    origin = f" ({rescaled.origin_note})" if rescaled.origin_note else ""
    return f"{title}, {estimate.level}: {player} scores {floor}, the oracle {ceiling}{origin}"


def _column_blocks(lines: Sequence[Sequence[str]], max_width: int) -> Iterator[list[list[str]]]:
    """Yield the lines of a table in blocks of columns that fit a width, each with the first column and others."""
    if any("*" in cell for line in lines for cell in line[1:]):  # room for a star in every cell aligns the numbers
        lines = [[line[0], *(cell if cell.endswith("*") else f"{cell} " for cell in line[1:])] for line in lines]
    first, *others = zip(*lines, strict=True)
    block, width = [first], max(map(text_width, first))
    for column in others:
        column_width = 2 + max(map(text_width, column))  # `align_columns` has two blanks between columns
        if len(block) > 1 and width + column_width > max_width:
            yield [list(line) for line in zip(*block, strict=True)]
            block, width = [first], max(map(text_width, first))
        block.append(column)
        width += column_width
    yield [list(line) for line in zip(*block, strict=True)]
