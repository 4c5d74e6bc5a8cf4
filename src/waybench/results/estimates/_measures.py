"""The measure of a group of episodes, and the table of scores for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from waybench.core import Aggregate, Environment, EpisodeRecord, Metric, Series
from waybench.envs import registry
from waybench.results.estimates._estimates import Estimate
from waybench.results.formatting import (
    LOST,
    NOTHING,
    aligned,
    better_text,
    lost_text,
    mean_text,
    one_line,
    too_few_note,
    width,
)
from waybench.results.logs import is_human
from waybench.results.results import Group, Row, grouped, labels, setting_names, settings_order
from waybench.results.stats import LostAttempts, Mean


@dataclass(frozen=True, slots=True)
class Measure:
    """The headline metric, or the mean of the first series where a teacher played in place of the player.

    Attributes:
        metric: Its title, bounds, unit and direction.
        series: The series' name; "" if it is none.
        aggregate: The aggregate's name, where a set is judged by one; "" otherwise. No episode has a value then.
    """

    metric: Metric
    series: str = ""
    aggregate: str = ""

    def mean(self, estimate: Estimate) -> Mean | None:
        """Return its mean: of the best attempts for a metric, over the steps for a series."""
        if self.aggregate:
            return estimate.aggregates.get(self.aggregate)
        if not self.series:
            return estimate.best
        curve = estimate.curves.get(self.series)
        return curve.average if curve else None

    def lost(self, estimate: Estimate) -> LostAttempts | None:
        """Return the attempts that its mean lacks, also where that has no value; None if it lacks none."""
        mean = self.mean(estimate)
        return estimate.lost if mean is None else mean.lost

    def value(self, row: Row) -> float | None:
        """Return its value in one episode."""
        if self.aggregate:
            return None
        if not self.series:
            return row.metrics[self.metric.name]
        numbers = row.series.get(self.series)
        return fmean(numbers) if numbers else None


def measure(env: Environment[Any, Any, Any], guided: bool) -> Measure:
    """Return the measure of an environment's episodes.

    Args:
        env: The environment.
        guided: Whether a teacher's actions were carried out, so that how the episode went is the teacher's merit.
    """
    if guided and env.scoring.series:
        return Measure(as_metric(env.scoring.series[0]), env.scoring.series[0].name)
    return Measure(env.scoring.metrics[0])


def measures(env: Environment[Any, Any, Any], guided: bool) -> list[Measure]:
    """Return the measures of an environment's sets of episodes: `measure`, and without a teacher the aggregates."""
    of_sets = [] if guided else [Measure(as_metric(one), aggregate=one.name) for one in env.scoring.aggregates]
    return [measure(env, guided), *of_sets]


def as_metric(one: Series | Aggregate) -> Metric:
    """Return a series' mean over an episode, or an aggregate of one episode alone, as a metric."""

    def mean(record: EpisodeRecord) -> float | None:
        if isinstance(one, Series):
            numbers = one.of(record)
            return fmean(numbers) if numbers else None
        values = [value for metric in one.metrics if (value := metric.of(record)) is not None]
        return one.of(values) if len(values) == len(one.metrics) else None

    return Metric(
        name=one.name,
        of=mean,
        title=one.title,
        unit=one.unit if isinstance(one, Aggregate) else "",
        low=one.low,
        high=one.high,
        range=one.range if isinstance(one, Series) else None,
        unbounded=one.unbounded if isinstance(one, Series) else "",
        better=one.better,
        doc=one.doc,
        sample_size=one.sample_size if isinstance(one, Aggregate) else None,
    )


def merit(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return a sort key of a group over all its levels; greater is better.

    Levels that were not run add nothing: a ladder ends where nothing was reached. Where lower is better, the distance
    from the worst possible value counts. Where there is no worst value, the number of levels comes first.
    """
    total, levels = 0.0, 0.0
    for estimate in estimates:
        measured = measure(registry.load(estimate.group.env), estimate.guided)
        metric, mean = measured.metric, measured.mean(estimate)
        if mean is None:
            continue
        if metric.better != "lower":
            total += mean.value
        elif metric.high is not None:
            total += metric.high - mean.value
        else:
            levels, total = levels + 1, total - mean.value
    return levels, total


_STAR = f"* {LOST}"
UNDEFINED = f"{NOTHING} no attempt has a value, as when no answer could be read (not an infrastructure error)"


def ranked(found: Iterable[Estimate]) -> dict[Group, dict[int, Estimate]]:
    """Return the estimates by group and level: the best model first (`merit`), and embedded players after all models.

    Groups of one model follow each other, in the order of their settings; the best of them stands for the model. Those
    with a teacher come after those without, for they are judged by another number (`measure`). A group that lacks the
    results of some attempts has no rank (`Estimate.lost`): a model comes after the others where all its groups do.
    """
    by_group: dict[Group, dict[int, Estimate]] = {}
    for estimate in found:
        if estimate.level is not None:
            by_group.setdefault(estimate.group, {})[estimate.level] = estimate

    def kind(group: Group) -> tuple[bool, bool, str]:
        return group.embedded, any(cell.guided for cell in by_group[group].values()), group.model

    best: dict[tuple[bool, bool, str], tuple[bool, float, float]] = {}
    for group, cells in by_group.items():
        levels, total = merit(list(cells.values()))
        order = any(cell.lost for cell in cells.values()), -levels, -total
        best[kind(group)] = min(best.get(kind(group), order), order)

    names = setting_names(by_group)

    def rank(group: Group) -> tuple[bool, bool, tuple[bool, float, float], str, tuple[tuple[int, float, str], ...]]:
        embedded, guided, model = kind(group)
        return embedded, guided, best[kind(group)], model, settings_order(group, names)

    return {group: dict(sorted(by_group[group].items())) for group in sorted(by_group, key=rank)}


def text_table(estimates: Iterable[Estimate], columns: int = 100, *, totals: Iterable[Estimate] = ()) -> str:
    """Return the scores as an aligned table of plain text, one for each environment, and one more with a teacher.

    Each value of an option whose scores are not comparable (`Option.separate_tables`) has a table of its own, and so
    has each aggregate, after its environment's table. A table's first cell says what is in it where that is no score
    of which more is better. Rows are models, the embedded players after a line; columns are levels; a cell is the mean
    over items of the best attempt, with a teacher the mean of the first series over its steps, or the aggregate. A
    blank cell was not run; "n/a" could not be had for infrastructure errors; "–" is not defined for any attempt, as a
    last line says; "*" marks a cell that lacks the results of some attempts; last lines say how many, and what it would
    be if they had all failed or succeeded. Where it is known what players
    without a model come to on the same items, lines above those say it; likewise where an interval takes more items.

    Args:
        estimates: The estimates by level.
        columns: How wide a table may be; a wider one goes on below, with the models' names again.
        totals: Those over all levels, for the last column of environments whose sets hold several levels at once.
    """
    tables: list[str] = []
    starred: list[str] = []
    between: list[str] = []
    few: list[str] = []
    undefined = False
    over_all = {total.group: total for total in totals}
    tabled = grouped(estimates, lambda estimate: (estimate.group.env, estimate.group.apart, estimate.guided))
    for (env, apart, guided), some in sorted(tabled.items(), key=lambda table: table[0]):
        levels = sorted({estimate.level for estimate in some if estimate.level is not None})
        groups = ranked(some)
        names = labels(groups)
        pooled = registry.load(env).items.pooled and len(levels) > 1 and over_all.keys() >= groups.keys()
        for measured in measures(registry.load(env), guided):
            lines = [[_title(registry.load(env), measured, apart), *map(str, levels), *(["all"] if pooled else [])]]
            marks = [""]
            for group, cells in groups.items():
                shown = [cells.get(level) for level in levels] + ([over_all[group]] if pooled else [])
                lines.append([names[group], *(_cell(cell, measured) for cell in shown)])
                marks.append("embedded" if group.embedded else "person" if is_human(group.model) else "model")
            tables += [aligned(block, marks) for block in _blocks(lines, columns)]
            between += [
                line
                for cells in groups.values()
                for cell in cells.values()
                if (line := _between(_title(registry.load(env), measured, apart), cell, measured))
            ]
            few += [
                note
                for cells in groups.values()
                for cell in cells.values()
                if (note := too_few_note(measured.mean(cell), measured.metric))
            ]
            starred += [
                line
                for group, cells in groups.items()
                for cell in [*cells.values(), *([over_all[group]] if pooled else [])]
                if (line := _missed(names[group], cell, measured))
            ]
            undefined |= any(cell.startswith(NOTHING) for line in lines[1:] for cell in line[1:])
    tables += ["\n".join(dict.fromkeys(between))] * bool(between)
    tables += ["\n".join(dict.fromkeys(few))] * bool(few)
    tables += ["\n".join(dict.fromkeys([_STAR, *starred]))] * bool(starred) + [UNDEFINED] * undefined
    return "\n\n".join(tables)


def _title(env: Environment[Any, Any, Any], measured: Measure, apart: Sequence[str]) -> str:
    name = ", ".join((env.title, *apart))
    description = ", ".join(part for part in (measured.metric.title, better_text(measured.metric)) if part)
    if measured.series:
        return f"{name}, with a teacher: {description}"
    plain = measured.metric.better == "higher" and not measured.aggregate
    return name if plain else f"{name}: {description}"


def _cell(estimate: Estimate | None, measured: Measure) -> str:
    if estimate is None:
        return ""
    star = "*" if estimate.lost else ""
    if not estimate.attempts:
        return f"n/a{star}"
    mean = measured.mean(estimate)
    return f"{NOTHING if mean is None else mean_text(mean.value, measured.metric)}{star}"


def _missed(name: str, estimate: Estimate, measured: Measure) -> str:
    """Return a note on a cell's lost attempts and on the bounds of its score; "" if there are none."""
    lost = lost_text(measured.lost(estimate), measured.metric)
    return lost and f"  {name}, {'all' if estimate.level is None else estimate.level}: {lost}"


def _between(title: str, estimate: Estimate, measured: Measure) -> str:
    """Return a note on a cell's floor and ceiling; "" if they are not known."""
    found = estimate.rescaled
    if found is None or measured.aggregate or measured.series:
        return ""
    floor, ceiling = (mean_text(end, measured.metric) for end in (found.floor, found.ceiling))
    player = one_line(found.floor_player, 80)
    return f"{title}, {estimate.level}: on the same items {player} scores {floor}, the oracle {ceiling}"


def _blocks(lines: Sequence[Sequence[str]], columns: int) -> Iterator[list[list[str]]]:
    """Yield a table's columns as tables that are narrow enough, each of the first column and at least another one."""
    first, *rest = zip(*_starred(lines), strict=True)
    block, size = [first], max(map(width, first))
    for column in rest:
        more = 2 + max(map(width, column))
        if len(block) > 1 and size + more > columns:
            yield [list(line) for line in zip(*block, strict=True)]
            block, size = [first], max(map(width, first))
        block.append(column)
        size += more
    yield [list(line) for line in zip(*block, strict=True)]


def _starred(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a table with room for a star in every cell, if one has any, so that the numbers are aligned."""
    starred = any("*" in cell for line in lines for cell in line[1:])
    return [
        [line[0], *(cell if not starred or cell.endswith("*") else f"{cell} " for cell in line[1:])] for line in lines
    ]
