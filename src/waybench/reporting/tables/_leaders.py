"""The first table: a row for each model at each task."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import Metric, Outcome
from waybench.envs import registry
from waybench.reporting._format import (
    count_text,
    dollars_text,
    interval_text,
    mean_quality,
    metric_caption_heading,
    percent_interval_text,
    percent_text,
    presentation_of,
)
from waybench.reporting.tables._horizons import horizon_cell
from waybench.reporting.tables._table import (
    Note,
    Table,
    TableCell,
    TableColumn,
    error_cell,
    lost_mark,
    model_cell,
    number_cell,
    setting_notes,
    value_notes,
)
from waybench.results import Estimate
from waybench.results.estimates import headline_spec
from waybench.results.estimates._mean_scores import level_coverage, task_levels
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.formatting import LOST, NO_RANK, NOTHING, bounds_text, known_ends, lost_text, mean_text
from waybench.results.horizons import Horizon
from waybench.results.horizons._references import find_axis
from waybench.results.horizons._text import horizon_context
from waybench.results.results import RunKey, group_by, with_observed_bounds
from waybench.results.results._groups import distinguishing_settings
from waybench.results.results._normalized import BELOW_FLOOR
from waybench.results.stats import CONFIDENCE, IntervalEstimate, LostAttempts

OUTCOMES = Outcome.UNPARSED, Outcome.ILLEGAL, Outcome.TRUNCATED, Outcome.OVERFLOW, Outcome.REFUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """One row.

    Attributes:
        group: Model, task and settings.
        page: File name of the page of its results.
        differs: The settings that distinguish the group from others at this task, in words.
        apart: The settings for which the task has tables of its own, in words.
        metric: The name of the score's metric, with its unit.
        interval: The score's interval, or why there is none, as text.
        unbounded: The bound that the metric lacks, as "no lower bound"; "" if it has both.
        normalised: The score between floor (0) and ceiling (100) with its interval, as text; "" if these are the
            metric's bounds.
        part: The score between the metric's bounds, from 0 (worst) to 1; None if the metric lacks a bound.
        note: Which levels the score covers, if other models were given others; "" otherwise.
        lost: The attempts that the score lacks, and what it would be with them; None for none. Then there is no rank.
        horizon: The horizon on the environment's first axis, or on that of a search along an option.
        counts: The title of the horizon's axis; "" without a horizon.
        success: What counts as success for the horizon, and the horizons of players that know nothing; "" without one.
        solved: Share of attempts that are solved, in per cent.
        outcomes: The share of each of `OUTCOMES` in the replies that had to name an action, in per cent.
        cost: Dollars for each solved item; below, the dollars of all attempts.
    """

    group: RunKey
    model_page: str = ""
    page: str = ""
    differs: Sequence[str] = ()
    family: str
    title: str
    apart: tuple[str, ...]
    metric: str
    score: TableCell
    interval: str
    unbounded: str
    normalised: str
    part: float | None
    note: str
    lost: LostAttempts | None
    items: TableCell
    horizon: TableCell
    counts: str
    success: str
    solved: TableCell
    outcomes: list[TableCell]
    errors: int
    tokens: TableCell
    cost: TableCell


@dataclass(frozen=True, slots=True)
class Leaders:
    """The rows of the table of models at tasks, and of the table of reference players."""

    models: list[Leader]
    references: list[Leader]

    @property
    def lines(self) -> list[Leader]:
        """All rows."""
        return [*self.models, *self.references]

    @property
    def has_costs(self) -> bool:
        """Whether some row has a cost."""
        return any(line.cost.notes for line in self.lines)

    @property
    def has_notes(self) -> bool:
        """Whether some row was given other levels than other rows of its task."""
        return any(line.note for line in self.lines)

    @property
    def has_normalised(self) -> bool:
        """Whether some row has a normalised score."""
        return any(line.normalised for line in self.lines)

    @property
    def has_horizons(self) -> bool:
        """Whether some row has a horizon."""
        return any(line.horizon.order is not None for line in self.lines)


def leader_rows(
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    pages: Mapping[RunKey, str],
    model_pages: Mapping[str, str],
    horizons: Mapping[RunKey, Horizon],
    only: str | None = None,
    searched: Collection[RunKey] = (),
) -> Leaders:
    """Return the rows of the table of models, by family and environment, the best model of each first.

    `estimates` are by level, `totals` are over all levels, and `horizons` are on each group's main axis. With `only`,
    the rows are those of one model. Groups in `searched` have items that a search for a horizon chose by their own
    results; a mean over such items means nothing, so that their rows have a horizon and no score.
    """
    total_of = {total.group: total for total in totals}
    lines: list[Leader] = []
    by_task = group_by(estimates, lambda estimate: (estimate.group.env, estimate.group.separate_by))
    for env, separate_by in sorted(by_task, key=lambda task: (presentation_of(task[0]).title, task)):
        task_estimates = by_task[env, separate_by]
        groups = rank_by_merit(task_estimates)
        levels = task_levels(task_estimates)
        for group, by_level in groups.items():
            if only is None or group.model == only:
                line = _leader_row(total_of[group], by_level, levels, horizons.get(group))
                line = replace(
                    line,
                    differs=distinguishing_settings(group, groups),
                    page=pages[group],
                    model_page=model_pages[group.model],
                )
                lines.append(_without_scores(line) if group in searched else line)
    return Leaders([line for line in lines if not line.group.embedded], [line for line in lines if line.group.embedded])


def _leader_row(
    total: Estimate, by_level: Mapping[int, Estimate], task_levels: Sequence[int], horizon: Horizon | None
) -> Leader:
    """Return the row of a group, without its pages and what distinguishes it from other groups.

    `by_level` has its estimate at each level that it was given, and `task_levels` all levels of the task.
    """
    group, env = total.group, registry.load(total.group.env)
    headline = headline_spec(env, total.guided)
    mean_of_levels_played = headline.mean(total)
    mean, note = _overall_score(mean_of_levels_played, by_level, task_levels, headline.metric)
    metric = with_observed_bounds(headline.metric, [total])
    lost = headline.lost_attempts(total) if mean is None else mean.lost
    interval = lost_text(lost, metric)
    if not interval and not total.guided:  # with a teacher, the score is that of a series and not of items
        interval = total.few_items
    interval = interval or interval_text(mean, metric)
    missing_bounds = [side for side, bound in zip(("lower", "upper"), metric.bounds, strict=True) if bound is None]
    solved_notes = value_notes([percent_interval_text(total.solved)] if total.lost else [], "flag")
    cost = total.per_solved_item(total.cost)
    return Leader(
        group=group,
        family=presentation_of(group.env).title,
        title=env.title,
        apart=group.separate_by,
        metric=metric_caption_heading(headline.metric),
        score=TableCell(
            mean_text(mean.value if mean else None, headline.metric),
            order=None if lost or mean is None else mean.value,
            mark=lost_mark(lost),
        ),
        interval=interval,
        unbounded=f"no {' or '.join(missing_bounds)} bound" if missing_bounds and interval and not lost else "",
        # Floor and ceiling are those of the levels played.
        normalised=_normalised_text(total, metric) if mean is mean_of_levels_played else "",
        part=mean_quality(mean, metric),
        note=note,
        lost=lost,
        items=_plain_number_cell(total.items),
        horizon=horizon_cell(horizon),
        counts=find_axis(env.id, horizon.axis).title.lower() if horizon else "",
        success=horizon_context(horizon) if horizon else "",
        solved=replace(_percent_cell(total.solved.value if total.solved else None), notes=solved_notes),
        outcomes=[
            _percent_cell(total.outcomes.get(str(name), 0.0) if total.action_replies else None) for name in OUTCOMES
        ],
        errors=total.errors,
        tokens=_plain_number_cell(total.per_solved_item(total.tokens)),
        cost=number_cell(
            dollars_text(cost),
            cost,
            [] if total.cost is None else [f"{dollars_text(total.cost * total.attempts)} in all"],
        ),
    )


def _without_scores(line: Leader) -> Leader:
    """Return a row without what is a mean over items, for items that were chosen by their results."""
    texts = {"interval": "", "unbounded": "", "normalised": "", "note": ""}
    return replace(line, score=TableCell(NOTHING), solved=TableCell(NOTHING), part=None, lost=None, **texts)


def _overall_score(
    mean: IntervalEstimate | None, by_level: Mapping[int, Estimate], all_levels: Sequence[int], metric: Metric
) -> tuple[IntervalEstimate | None, str]:
    """Return the score over all levels, and a note on levels that only other models were given.

    A ladder that ended early counts as 0 at the levels after it, if 0 is the worst score.
    """
    levels, coverage = sorted(by_level), level_coverage(list(by_level.values()), all_levels)
    if mean is None or levels == list(all_levels):
        return mean, ""
    presentation = presentation_of(by_level[levels[0]].group.env)
    level_range = (
        f"{presentation.levels} {levels[0]} to {levels[-1]}" if len(levels) > 1 else f"{presentation.level} {levels[0]}"
    )
    share = coverage.share  # of the levels that count; below 1, the others count as 0
    if share == 1 or metric.better != "higher" or metric.low != 0:
        return mean, f"{level_range} only"
    if coverage.is_partial:
        level_range += f" of {coverage.levels[0]} to {coverage.levels[-1]}"
    low, high = (None if end is None else end * share for end in (mean.low, mean.high))
    lost = mean.lost and mean.lost.scaled(share)
    scaled = replace(mean, value=mean.value * share, low=low, high=high, lost=lost)
    return scaled, f"{level_range}; harder ones count as 0"


def _normalised_text(total: Estimate, metric: Metric) -> str:
    """Return the normalised score, from 0 (floor) to 100 (ceiling); "" if floor and ceiling are the metric's bounds."""

    def format_score(value: float) -> str:
        return f"{100 * value:.0f}".replace("-", "−")

    score = total.rescaled
    if score is None or {score.floor, score.ceiling} == set(metric.bounds):
        return ""
    mean = score.clipped_mean
    if mean.lost:
        return f"{format_score(mean.value)} ({bounds_text(mean.lost, format_score)})"
    if score.is_below_floor:
        return BELOW_FLOOR
    ends = known_ends(mean, bounds=(0, 1))
    if ends is None:
        return format_score(mean.value)
    low, high = map(format_score, ends)
    return f"{format_score(mean.value)} ({low}\u00a0–\u00a0{high})"  # no-break spaces


def _percent_cell(share: float | None) -> TableCell:
    return number_cell(percent_text(share), None if share is None else 100 * share)


def _plain_number_cell(value: float | None) -> TableCell:
    return number_cell(count_text(value), value)


def leader_tables(rows: Leaders, *, alone: bool = False) -> list[Table]:
    """Return the table of models, with a row for each at each task, and the table of reference players.

    A table without rows is left out. With `alone`, all rows are of one model, whose name is left out.
    """
    tables: list[Table] = []
    for id, title, lines in (
        ("leaders", "Models", rows.models),
        ("references", "Reference players, not models", rows.references),
    ):
        if lines:
            is_first = not tables  # the first table explains the columns of both
            table = Table.from_columns(
                _leader_columns(rows, alone),
                lines,
                choice=lambda line: line.family,
                id=id,
                title="Tasks" if alone else title,
                caption=(Note(_ABOUT if is_first else _FLOORS),),
                help=list(_column_notes(rows)) if is_first else (),
                kind="leaders scores",
                choose="Family",
            )
            tables.append(table)
    return tables


_ABOUT = (
    "A row for each task, over all its levels; the task's name links to all its numbers and items. Small: "
    f"the {100 * CONFIDENCE:.0f} % interval; below the task's name, the metric."
)
_FLOORS = "Floor and ceiling of each task."


def _column_notes(rows: Leaders) -> Iterator[Note]:
    """Yield notes on what the columns and marks of the tables mean, as far as rows have them."""
    if rows.has_horizons:
        yield Note(
            "Horizon: the difficulty at which a single attempt succeeds at half of the items, with its 90 % interval. "
            "What counts as success, and the horizons of players that know nothing, are on each task’s page. “Above” "
            "and “below”: outside the difficulties that were tried. “–”: all items have one difficulty. A search for a "
            "horizon chooses its items by their results, so that it has no score."
        )
    yield Note(
        "Unparsed, illegal, truncated, overflow and refused are shares of the replies that had to name an action; "
        "thoughts are not counted. Columns with nothing but zeros are left out."
    )
    yield Note("Errors are infrastructure errors, which have no result.")
    yield Note(
        f"Tokens{' and cost' if rows.has_costs else ''} per solved item: the total of all attempts divided by "
        f"the number of solved items{', and in small the total cost' if rows.has_costs else ''}."
    )
    if rows.has_normalised:
        yield Note(
            "Normalised: 0 is the best of empty replies, a random player and the best constant reply, 100 is the "
            "oracle, both measured on other items of the same levels and options, with its interval; omitted where the "
            "two do not differ significantly."
        )
    if any(line.lost for line in rows.lines):
        yield Note("*", "flag")
        yield Note(LOST)
    if rows.has_notes:
        yield Note("“harder ones count as 0”:", "flag")
        yield Note("the model failed the last level it was given, and harder levels count as 0;")
        yield Note("“only”:", "flag")
        yield Note("the task has further levels, or other models were given others.")


def _leader_columns(rows: Leaders, alone: bool) -> list[TableColumn[Leader]]:
    """Return the columns of the tables; with `alone`, without that of models, whose settings are below the task."""

    def model_header(line: Leader) -> TableCell:
        cell = model_cell(line.group.model, line.differs, is_sortable=True)
        return replace(cell, link=f"models/{line.model_page}")

    def task_cell(line: Leader) -> TableCell:
        settings = (*line.apart, *line.differs) if alone else line.apart
        kind = "" if alone else "name"  # alone, it is the row's header
        lines = (*setting_notes(settings), *value_notes([line.metric]))
        return TableCell(line.title, link=f"results/{line.page}", order=line.title, notes=lines, kind=kind)

    return [
        TableColumn("Model", model_header, is_shown=not alone),
        TableColumn("Task", task_cell, "" if alone else "name"),
        TableColumn("Score", _score_cell),
        TableColumn("Normalised", lambda line: line.normalised or NOTHING, is_shown=rows.has_normalised),
        TableColumn("Horizon", _horizon_cell, is_shown=rows.has_horizons),
        TableColumn("Items", lambda line: line.items),
        TableColumn("Solved, %", lambda line: line.solved),
        *(
            TableColumn(f"{outcome.capitalize()}, %", lambda line, i=index: line.outcomes[i], is_optional=True)
            for index, outcome in enumerate(OUTCOMES)
        ),
        TableColumn("Errors", lambda line: error_cell(line.errors), is_optional=True),
        TableColumn("Tokens per solved", lambda line: line.tokens, is_optional=True),
        TableColumn("Cost per solved", lambda line: line.cost, is_shown=rows.has_costs),
    ]


def _score_cell(line: Leader) -> TableCell:
    """Return a row's score with its interval and remarks below."""
    lines = (
        *value_notes([line.interval], "flag" if line.lost else "interval"),
        *value_notes([NO_RANK.partition(":")[0]] if line.lost else [], "flag"),
        *value_notes([line.unbounded]),
        *value_notes([line.note], "flag"),
    )
    return replace(line.score, bold=True, part=line.part, kind="score", notes=lines)


def _horizon_cell(line: Leader) -> TableCell:
    lines = (*line.horizon.notes, *value_notes([line.counts]))
    return replace(line.horizon, kind="zero" if line.horizon.order is None else "horizon", notes=lines)
