"""The tables of a task's page: scores by level, and the conduct of episodes."""

from collections.abc import Mapping, Sequence

from waybench.core import plural
from waybench.envs import registry
from waybench.reporting._format import (
    amount,
    described_heading,
    interval_text,
    mean_part,
    percent,
    percent_interval,
)
from waybench.reporting.tables._cluster_tables import prompt
from waybench.reporting.tables._table import (
    BLANK,
    Cell,
    Column,
    HeaderGroup,
    Note,
    Table,
    TableRow,
    by_player,
    columns_of,
    count_cell,
    error_cell,
    group_cell,
    lost_caption,
    lost_mark,
    notes,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results import Estimate
from waybench.results.estimates import Measure, measure, ranked
from waybench.results.formatting import lost_text, mean_text
from waybench.results.results import Group
from waybench.results.stats import CONFIDENCE

_CONDUCTS = {
    "unparsed": "Unparsed",
    "illegal": "Illegal",
    "unproductive": "Unproductive",
    "truncated": "Truncated",
    "overflow": "Overflow",
    "refused": "Refused",
}


def score_table(name: str, view: TaskView, estimates: Sequence[Estimate]) -> Table:
    """Return the table of scores by level, of episodes with a teacher or of those without.

    Args:
        name: The table's id.
        view: The task.
        estimates: Its estimates by level.
    """
    groups = ranked(estimates)
    levels = sorted({level for cells in groups.values() for level in cells})
    measured = measure(view.env, estimates[0].guided)
    rows = [
        (
            group.embedded,
            TableRow(
                group_cell(group, groups, view.pages),
                [_score(cells.get(level), measured, view) for level in levels],
            ),
        )
        for group, cells in groups.items()
    ]
    guided = ", with a teacher" if estimates[0].guided else ""
    return Table(
        id=name,
        title=f"{described_heading(measured.metric)}, by {view.presentation.level}{guided}",
        caption=_caption(view, measured, estimates),
        columns=[Column(heading="Model"), *(Column(heading=str(level)) for level in levels)],
        groups=by_player(rows),
        kind="scores",
    )


def _caption(view: TaskView, measured: Measure, estimates: Sequence[Estimate]) -> list[Note]:
    most = max(estimate.most_attempts for estimate in estimates)
    interval = f"its {100 * CONFIDENCE:.0f} % interval"
    if measured.series:
        text = f"In bold, the mean of its curve over the steps. Below it, {interval}."
    elif view.env.scoring.best_of:
        of = f" of at most {most}" if most > 1 else ""
        text = (
            f"In bold, the mean over {view.presentation.items} of the best attempt{of}. Below it, the mean of single "
            f"attempts with {interval}."
        )
    else:
        over = f" over {view.presentation.clusters}" if view.presentation.clusters else ""
        attempts = " and attempts" if most > 1 else ""
        text = f"In bold, the mean over {view.presentation.items}{attempts}. Below it, {interval}{over}."
    caption = [Note(f"{text} Blank: not run.")]
    caption += lost_caption(estimates)
    undefined = any(measured.mean(estimate) is None and estimate.attempts for estimate in estimates)
    return [*caption, Note(view.presentation.undefined)] if undefined and view.presentation.undefined else caption


def _score(estimate: Estimate | None, measured: Measure, view: TaskView) -> Cell:
    if estimate is None:
        return BLANK
    metric, mean, presentation = measured.metric, measured.mean(estimate), view.presentation
    note = f"{plural(estimate.items, presentation.item, presentation.items)}, {plural(estimate.attempts, 'attempt')}"
    best_of = not measured.series and registry.load(estimate.group.env).scoring.best_of
    lost = measured.lost(estimate)
    if best_of and not lost and (ends := interval_text(mean, metric)):
        note += f"; best of attempts {ends}"
    single = mean if measured.series else estimate.single
    return Cell(
        text=mean_text(mean.value if mean else None, metric),
        bold=True,
        mark=lost_mark(lost),
        notes=(
            *notes([lost_text(lost, metric)], "flag"),
            *notes([mean_text(single.value if single else None, metric)] if best_of else []),
            *notes([interval_text(single, metric)] if best_of or not lost else [], "interval"),
        ),
        part=mean_part(mean, metric),
        title=note,
        kind="score",
    )


def conduct_table(
    view: TaskView, groups: Mapping[Group, Mapping[int, Estimate]], total_of: Mapping[Group, Estimate]
) -> Table:
    """Return the table of conduct: attempts, outcomes of replies, tokens and time.

    Args:
        view: The task.
        groups: Its groups, the best one first, with their estimates by level.
        total_of: The estimates over all levels.
    """
    rows = [
        (
            group.embedded,
            TableRow(group_cell(group, groups, view.pages), _conduct(total_of[group], view)),
        )
        for group in groups
    ]
    caption = ""
    if len({tuple(cells) for cells in groups.values()}) > 1:
        caption += f"Not all rows have the same {view.presentation.levels}: compare with care. "
    if any(estimate.guided for cells in groups.values() for estimate in cells.values()):
        caption += "With a teacher no attempt counts as solved by the player. "
    caption += "Attempts that an infrastructure error ended have no result; they are counted here."
    replies, means = HeaderGroup("% of replies"), HeaderGroup("Mean per attempt")
    headings = "Model", view.presentation.items.capitalize(), "Attempts", "Solved,\n% of attempts"
    return Table(
        id="task-conduct",
        title=f"Outcomes and cost, over all {view.presentation.levels} that a model was given",
        caption=(Note(caption),),
        columns=[
            *columns_of(*headings),
            *columns_of(*_CONDUCTS.values(), group=replies),
            *columns_of("Requests", "Tokens in", "Tokens out", "Seconds", group=means),
            *columns_of("Infrastructure\nerrors"),
        ],
        groups=by_player(rows),
        kind="conduct",
    )


def _conduct(total: Estimate, view: TaskView) -> list[Cell]:
    solved, prompts = total.solved, prompt(total, view.presentation)
    lines = [
        f"{prompts.shared} % shared" if prompts.shared else "",
        f"{prompts.cached} % cached" if prompts.cached else "",
    ]
    return [
        count_cell(total.items),
        count_cell(total.attempts),
        Cell(text=percent(solved.value if solved else None), notes=notes([percent_interval(solved)], "interval")),
        *(
            Cell(
                text=percent(total.outcomes.get(name, 0) if total.action_replies else None),
                kind="" if total.outcomes.get(name) else "zero",
            )
            for name in _CONDUCTS
        ),
        Cell(text=mean_text(total.requests)),
        Cell(text=amount(total.input_tokens), notes=notes(lines)),
        Cell(text=amount(total.output_tokens)),
        Cell(text=mean_text(total.seconds)),
        error_cell(total.errors),
    ]
