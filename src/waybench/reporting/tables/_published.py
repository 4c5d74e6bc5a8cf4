"""The tables of published rows beside the results of a run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    RowGroup,
    Table,
    TableRow,
    mean_cell,
    metric_column,
    model_cell,
)
from waybench.results import Estimate
from waybench.results.formatting import mean_text
from waybench.results.papers import Paper, PublishedRow
from waybench.results.published import Beside, beside, label_of
from waybench.results.results import Group


def published_tables(
    env: str,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    papers: Iterable[Paper],
    pages: Mapping[Group, str],
) -> list[Table]:
    """Return a table for each published setting of an environment in which something was run.

    A published number is only shown: it is in no estimate, no comparison and no chart, and its cell has no shade.

    Args:
        env: The environment's id.
        estimates: Its estimates by level.
        totals: Those over all levels.
        papers: The papers whose rows are shown.
        pages: File names of the groups' pages.
    """
    tables = [(paper, table) for paper in papers for table in paper.tables]
    found = (each for each in beside(estimates, totals, tables) if each.block.env == env and each.results and each.rows)
    return [_table(f"task-published-{number}", each, pages) for number, each in enumerate(found, start=1)]


def _table(name: str, one: Beside, pages: Mapping[Group, str]) -> Table:
    source = f"{one.table.title} of {one.paper.title} ({one.paper.source})"
    return Table(
        id=name,
        title=f"{one.table.title}, {one.block.setting}",
        caption=(
            Note(f"Published rows: {source}. They were not run here, and the paper’s items are its own."),
            Note(one.table.agreement),
        ),
        columns=[Column(heading="Model"), *(metric_column(metric) for metric in one.metrics)],
        groups=[
            RowGroup(list(_results(one, pages)), "In this report"),
            RowGroup(
                [_row(one, row) for row in one.rows],
                f"Published in {one.table.title}, not run here",
                "references",
            ),
        ],
        kind="scores published",
    )


def _results(one: Beside, pages: Mapping[Group, str]) -> Iterator[TableRow]:
    for result in one.results:
        cells = [mean_cell(mean, metric) for mean, metric in zip(result.means, one.metrics, strict=True)]
        differs = result.label.removeprefix(result.group.model).strip(" ()")
        yield TableRow(model_cell(result.group.model, [differs] if differs else [], pages[result.group]), cells)


def _row(one: Beside, row: PublishedRow) -> TableRow:
    values = zip(row.values, one.metrics, strict=True)
    return TableRow(
        Cell(text=label_of(row)), [Cell(text=mean_text(value, metric), kind="score") for value, metric in values]
    )
