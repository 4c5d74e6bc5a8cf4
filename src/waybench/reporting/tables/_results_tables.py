"""The tables of a model's results at a task: levels, failures, first errors, belief probes, infrastructure errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import FailureKind, Metric
from waybench.envs import registry
from waybench.reporting._format import (
    TaskView,
    count_text,
    metric_heading,
    metric_in_sentence,
    percent_interval_text,
    percent_text,
)
from waybench.reporting.tables._table import (
    Note,
    RowGroup,
    Table,
    TableCell,
    TableColumn,
    count_cell,
    error_cell,
    lost_caption,
    mean_cell,
    metric_column,
    setting_notes,
    table_rows,
    value_notes,
)
from waybench.results import Estimate, Row
from waybench.results.comparisons._beliefs import (
    BeliefCounts,
    FirstErrorCounts,
    belief_counts,
    first_error_kinds,
    first_errors,
)
from waybench.results.comparisons._item_scores import Failures, count_failures, failure_kinds, has_fixed_length
from waybench.results.estimates import as_metric
from waybench.results.estimates._measures import HeadlineSpec
from waybench.results.formatting import NOTHING, lost_text, mean_text, one_line
from waybench.results.results import RunKey, group_by, labels
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate


class LoggedError(NamedTuple):
    """An attempt that an infrastructure error ended: its item with the anchor in the page, message, and log's name."""

    item: str
    anchor: str
    attempt: int
    text: str
    log: str


def level_table(
    view: TaskView, headline: HeadlineSpec, estimates: Sequence[Estimate], total: Estimate, sampling_units: str
) -> Table:
    """Return the table of a group's metrics by level and, where levels are pooled, over all levels.

    `total` is the group's estimate over all levels, and `sampling_units` names the units that intervals are over.
    """
    metric, scoring, presentation = headline.metric, view.env.scoring, view.presentation
    # Metrics of aggregates have a table of their own, but not with a teacher.
    in_aggregates = [part for aggregate in scoring.aggregates for part in aggregate.metrics]
    other_series = [as_metric(series) for series in scoring.series if series.name != headline.series]
    score_title = metric.title if headline.series else f"Best {metric_in_sentence(metric)}"
    if headline.series:
        caption = (
            f"{metric.title}: the mean of its curve over the steps. At every step the teacher's action was "
            "carried out in place of the reply, so success is the teacher's."
        )
    elif scoring.best_of:
        caption = f"Best: the mean over {presentation.items} of the best attempt."
    else:
        caption = ""
    sentences = [
        caption,
        "The other metrics are means of single attempts." if caption else f"Means over {presentation.items}.",
        f"Small: {100 * CONFIDENCE:.0f} % intervals over {sampling_units}.",
        presentation.undefined,
    ]

    def level_header(estimate: Estimate) -> TableCell:
        if estimate is total:
            return TableCell("all")
        return TableCell(str(estimate.level), link=f"#level-{estimate.level}")

    def attempts_cell(estimate: Estimate) -> TableCell:
        lost = ""
        if estimate.lost is not None:  # without any attempt there is no score, whose bounds are then here
            lost = f"of {estimate.n_planned:,}" if estimate.attempts else lost_text(estimate.lost, metric)
        return TableCell(count_text(estimate.attempts), notes=value_notes([lost], "flag"))

    def unshaded_mean_cell(mean: IntervalEstimate | None, metric: Metric, *, bold: bool = False) -> TableCell:
        return replace(mean_cell(mean, metric, bold=bold), part=None, kind="")

    columns: list[TableColumn[Estimate]] = [
        TableColumn(presentation.level.capitalize(), level_header),
        TableColumn(presentation.items.capitalize(), lambda estimate: count_text(estimate.items)),
        TableColumn("Attempts", attempts_cell),
        TableColumn(
            f"{score_title}, {metric.unit}" if metric.unit else score_title,
            lambda estimate: unshaded_mean_cell(headline.mean(estimate), metric, bold=True),
            better=metric.better,
            is_shown=bool(headline.series) or scoring.best_of,
        ),
        *(
            metric_column(
                other, lambda estimate, other=other: unshaded_mean_cell(estimate.metrics.get(other.name), other)
            )
            for other in scoring.metrics
            if total.guided or other not in in_aggregates
        ),
        *(
            TableColumn(
                metric_heading(series),
                lambda estimate, series=series: unshaded_mean_cell(
                    estimate.curves[series.name].average if series.name in estimate.curves else None, series
                ),
            )
            for series in other_series
        ),
        TableColumn("Tokens in", lambda estimate: count_cell(estimate.input_tokens), is_optional=True),
        TableColumn("Tokens out", lambda estimate: count_cell(estimate.output_tokens), is_optional=True),
        TableColumn("Seconds", lambda estimate: mean_text(estimate.seconds), is_optional=True),
        TableColumn("Infrastructure\nerrors", lambda estimate: error_cell(estimate.errors), is_optional=True),
    ]
    return Table.from_columns(
        columns,
        [*estimates, total] if view.env.items.pooled and len(estimates) > 1 else estimates,
        id="by-level",
        title=f"By {presentation.level}",
        caption=[*value_notes(sentences), *lost_caption([total])],
        kind="by-level",
    )


def error_table(view: TaskView, errors: Sequence[LoggedError]) -> Table | None:
    """Return the list of infrastructure errors; None if there are none."""
    columns: list[TableColumn[LoggedError]] = [
        TableColumn(
            view.presentation.item.capitalize(),
            lambda error: TableCell(one_line(error.item, 40), link=f"#{error.anchor}"),
        ),
        TableColumn("Attempt", lambda error: str(error.attempt)),
        TableColumn("What happened", lambda error: TableCell(one_line(error.text, 600), kind="words")),
        TableColumn("Log", lambda error: TableCell(one_line(error.log, 80), kind="words")),
    ]
    title = "List of infrastructure errors"
    return Table.from_columns(columns, errors, id="error-list", title=title, kind="errors") if errors else None


class FailureTables:
    """Tables of how attempts failed; games that always last a fixed number of steps have no failures."""

    def __init__(self, rows: Iterable[Row]) -> None:
        included = [row for row in rows if row.is_included and not row.guided]
        by_env = group_by(included, lambda row: row.group.env)
        fixed_length_envs = {env for env, rows_of_env in by_env.items() if has_fixed_length(rows_of_env)}
        rows_that_can_fail = (row for row in included if row.group.env not in fixed_length_envs)
        self._rows = group_by(rows_that_can_fail, lambda row: row.group)
        self._by_group = {group: count_failures(rows_of_group) for group, rows_of_group in self._rows.items()}

    def to_json(self, pages: Mapping[RunKey, str]) -> list[dict[str, Any]]:
        """Return the failures of each group as JSON values, with the file names of the groups' pages."""
        return [
            {
                "page": f"results/{pages[group]}",
                "attempts": counts.attempts,
                "failed": counts.failed,
                "kinds": {kind.name: count for kind, count in counts.kinds.items()},
            }
            for group, counts in self._by_group.items()
        ]

    def of_model(self, name: str, pages: Mapping[RunKey, str]) -> Table | None:
        """Return a model's table of failures by task; None if nothing failed."""
        groups = [group for group in self._by_group if group.model == name]
        by_env = group_by(groups, lambda group: group.env)

        def task_header(group: RunKey) -> TableCell:
            settings = setting_notes(distinguishing_settings(group, by_env[group.env]))
            return TableCell(registry.load(group.env).title, link=f"results/{pages[group]}", notes=settings)

        # Each environment has its own kinds of failures: only rows of one environment have columns in common.
        kinds = failure_kinds(next(iter(by_env))) if len(by_env) == 1 else ()
        return _failure_table("Task", [(task_header(group), self._by_group[group]) for group in groups], kinds)

    def of_group(self, group: RunKey, level_heading: str) -> Table | None:
        """Return a group's table of failures by level; None if nothing failed."""
        counts = [(TableCell(str(level)), count_failures(rows)) for level, rows in self._rows_by_level(group)]
        return _failure_table(level_heading, counts, failure_kinds(group.env))

    def first_errors_of(self, group: RunKey, level_heading: str) -> Table | None:
        """Return a group's table of first errors by level; None without errors, or where they are not defined."""
        counts = [
            (TableCell(str(level)), errors)
            for level, rows in self._rows_by_level(group)
            if (errors := first_errors(rows)) is not None
        ]
        return _first_error_table(level_heading, counts, first_error_kinds(group.env))

    def _rows_by_level(self, group: RunKey) -> list[tuple[int, list[Row]]]:
        """Return the levels of a group with their rows, in rising order."""
        return sorted(group_by(self._rows.get(group, ()), lambda row: row.level).items())


def _failure_table(
    heading: str, counts: Sequence[tuple[TableCell, Failures]], kinds: Sequence[FailureKind]
) -> Table | None:
    """Return the table of failures; None if nothing failed.

    It has a column for each kind of failure that occurred, or without `kinds` one column of all causes.
    """
    if not any(failures.failed for _, failures in counts):
        return None
    observed_kinds = [kind for kind in kinds if any(failures.kinds.get(kind) for _, failures in counts)]
    columns: list[TableColumn[tuple[TableCell, Failures]]] = [
        TableColumn(heading, lambda row: row[0]),
        TableColumn("Attempts", lambda row: count_cell(row[1].attempts)),
        TableColumn("Failed", lambda row: count_cell(row[1].failed, "" if row[1].failed else "zero")),
        *(_kind_column(kind, f"By {kind.title}") for kind in observed_kinds),
        TableColumn("Failed by", lambda row: _causes_cell(row[1]), "name", is_shown=not observed_kinds),
    ]
    share = " Small: the share of the failed attempts." if observed_kinds else ""
    return Table.from_columns(
        columns,
        counts,
        id="failed",
        title="How attempts failed",
        caption=(Note(f"Each failed attempt is counted once, under its main cause.{share}"),),
        kind="failed",
    )


def _first_error_table(
    heading: str, counts: Sequence[tuple[TableCell, FirstErrorCounts]], kinds: Sequence[FailureKind]
) -> Table | None:
    """Return the table of first errors by kind; None without any."""
    observed_kinds = [kind for kind in kinds if any(errors.kinds.get(kind) for _, errors in counts)]
    if not observed_kinds:
        return None
    columns: list[TableColumn[tuple[TableCell, FirstErrorCounts]]] = [
        TableColumn(heading, lambda row: row[0]),
        TableColumn("Failed", lambda row: count_cell(row[1].failed, "" if row[1].failed else "zero")),
        TableColumn(
            "Median step",
            lambda row: NOTHING if row[1].median_step is None else f"{row[1].median_step:g}",
            help="The number of the step that is the first error, from 1.",
        ),
        *(_kind_column(kind, kind.title.capitalize()) for kind in observed_kinds),
    ]
    return Table.from_columns(
        columns,
        counts,
        id="first-errors",
        title="Where failed attempts went wrong",
        caption=(Note("The first error is the first step that no best play makes."),),
        kind="failed",
    )


def _kind_column(kind: FailureKind, heading: str) -> TableColumn[tuple[TableCell, Failures | FirstErrorCounts]]:
    """Return the column of the failures of a kind, each with its share of all failures in the row."""

    def failures_cell(row: tuple[TableCell, Failures | FirstErrorCounts]) -> TableCell:
        count = row[1].kinds.get(kind, 0)
        if not count:
            return TableCell(NOTHING, kind="score")
        share = count / row[1].failed
        notes = value_notes([f"{percent_text(share)} %"])
        return TableCell(count_text(count), bold=True, notes=notes, part=round(share, 3), kind="score")

    return TableColumn(heading, failures_cell, "score", help=kind.doc)


def _causes_cell(failures: Failures) -> TableCell:
    """Return the kinds of failures that occurred with their numbers and shares, the most frequent first."""
    causes = tuple(
        Note(
            f"{kind.title} {percent_text(count / failures.failed)} %", "cause", title=kind.doc, value=count_text(count)
        )
        for kind, count in sorted(failures.kinds.items(), key=lambda item: -item[1])
    )
    return TableCell("" if causes else NOTHING, notes=causes, kind="name")


def belief_table(rows: Iterable[Row]) -> Table | None:
    """Return the table of the belief probes of a group's episodes; None if there were none."""
    counts = belief_counts(rows)
    columns = _belief_columns(counts)
    return _belief_table("beliefs", columns, [RowGroup(table_rows(columns, counts))]) if counts else None


def models_belief_table(
    counts_of: Mapping[RunKey, Sequence[BeliefCounts]], pages: Mapping[RunKey, str]
) -> Table | None:
    """Return the table of the belief probes of several groups, models before embedded players; None without any."""
    if not counts_of:
        return None
    columns = _belief_columns([counts for group_counts in counts_of.values() for counts in group_counts])
    names = labels(counts_of)
    groups = [
        RowGroup(table_rows(columns, counts), head=TableCell(names[group], kind="name", link=f"results/{pages[group]}"))
        for group, counts in sorted(counts_of.items(), key=lambda item: item[0].embedded)
    ]
    return _belief_table("task-beliefs", [TableColumn("Model"), *columns], groups)


def _belief_table(id: str, columns: Sequence[TableColumn[Any]], groups: Sequence[RowGroup]) -> Table:
    caption = "Belief probes ask for the state in a fork of the conversation, which the player never sees again."
    return Table(id=id, title="Did it know?", caption=(Note(caption),), columns=columns, groups=groups, kind="failed")


def _belief_columns(all_counts: Sequence[BeliefCounts]) -> list[TableColumn[BeliefCounts]]:
    """Return the columns of the table of belief probes that at least one row needs."""

    def known_cell(counts: BeliefCounts) -> TableCell:
        interval = value_notes([percent_interval_text(counts.known)], "interval")
        share = counts.known.value
        return TableCell(percent_text(share), bold=True, notes=interval, part=round(share, 3), kind="score")

    def before_error_cell(counts: BeliefCounts, count: int) -> TableCell:
        if not counts.knew + counts.did_not_know:  # no probe was before a first error
            return TableCell(NOTHING)
        return count_cell(count, "" if count else "zero")

    has_errors = any(counts.knew + counts.did_not_know for counts in all_counts)
    columns: list[TableColumn[BeliefCounts]] = [
        TableColumn(
            "State",
            lambda counts: TableCell(counts.belief.title.capitalize(), title=counts.belief.doc, kind="name"),
            "name",
        ),
        TableColumn("Asked", lambda counts: count_cell(counts.asked), help="Number of probes."),
        TableColumn("Known, %", known_cell, "score", help="Share of exactly right answers, with its 95 % interval."),
        TableColumn(
            "No answer",
            lambda counts: count_cell(counts.unread, "" if counts.unread else "zero"),
            help="Replies in which no answer could be read; they count as not known.",
        ),
        TableColumn(
            "Right part, %",
            lambda counts: TableCell(percent_text(counts.share), kind="score"),
            "score",
            help="Mean share of an answer that is right.",
            is_shown=any(counts.share is not None for counts in all_counts),
        ),
        TableColumn(
            "Knew and erred",
            lambda counts: before_error_cell(counts, counts.knew),
            help="Failed attempts whose first error is in a turn before which the question was answered right.",
            is_shown=has_errors,
        ),
        TableColumn(
            "Did not know",
            lambda counts: before_error_cell(counts, counts.did_not_know),
            help="Failed attempts whose first error is in a turn before which it was not.",
            is_shown=has_errors,
        ),
    ]
    return [column for column in columns if column.is_shown]
