"""The first page's tables: normalised scores of models by families, and their horizons."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from waybench.envs import registry
from waybench.reporting.tables._horizon_tables import horizon_cell
from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    RowGroup,
    Table,
    TableRow,
    lost_mark,
    name_of,
    notes,
)
from waybench.results.estimates import NO_INTERVAL, SCALE, FamilyScore, Matrix, MatrixRow, Score, number, short_title
from waybench.results.formatting import LOST, NO_RANK, NOTHING, lost_text
from waybench.results.horizons import Horizon, axis_named, horizon_context
from waybench.results.results import Family, Group, grouped
from waybench.results.stats import CONFIDENCE

_NOT_RUN = Cell(text="not run", kind="score absent")
_KINDS = {
    "model": ("", ""),
    "person": ("People", "people"),
    "reference": ("Reference players, not models", "references"),
}


def matrix_table(
    found: Matrix,
    family_pages: Mapping[Family, str],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
) -> Table:
    """Return the matrix: a row for each model, its mean and ranks, and a column for each family.

    Args:
        found: The matrix.
        family_pages: Family -> its page, from the site's root.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
    """
    ranked = any(row.rank or row.lost for row in found.rows)
    lacking = any(row.lost for row in found.rows)
    numbers = {row.families for row in found.rows if row.mean}
    partial = any(number < len(found.families) for number in numbers)
    gaps = any(cell.score and cell.score.interval is None for row in found.rows for cell in row.cells.values())
    alike = partial and len(numbers) == 1  # then the caption says once what each row would say
    caption = f"{SCALE} Small: the {100 * CONFIDENCE:.0f} % interval. A family’s score is the mean of its tasks."
    if alike:
        caption += f" Means are over the {numbers.copy().pop()} of {len(found.families)} families with scores."
    meaning = [
        "Mean: over the families with a score, each with the same weight; its interval takes scores of different "
        "families as independent.",
        *(["Rows with more families come first; means over different families are not comparable."] * partial),
        *(
            [
                "Rank: the best and the worst rank that the intervals allow among models with scores in the same "
                "families. All rank intervals hold together with 95 % confidence (Bonferroni over all pairs)."
            ]
            * ranked
        ),
        *(
            [
                f"{LOST} The mean of a row has the bounds that follow from them, and the ranks of the other rows are "
                "among themselves."
            ]
            * lacking
        ),
        "“–”: there is no normalised score, and the cell says why; the family’s page has the score itself. With too "
        "few items it is not certain that floor and ceiling differ.",
        *([f"No interval: {NO_INTERVAL}; a mean has an interval only where each family has one."] * gaps),
        "Items that a search for a horizon chose are not in this table.",
    ]
    columns = [
        Column(heading="Model"),
        Column(heading="Mean", kind="score"),
        *([Column(heading="Rank", kind="score")] if ranked else []),
        *(
            Column(heading=short_title(family), kind="score", link=family_pages.get(family, ""), help=family.title)
            for family in found.families
        ),
    ]
    by_kind = grouped(found.rows, lambda row: row.kind)
    groups = [
        RowGroup([_row(row, found, ranked, not alike, pages, model_pages) for row in rows], *_KINDS[kind])
        for kind, rows in by_kind.items()
    ]
    return Table(
        id="matrix",
        title="Models by families",
        caption=(Note(caption),),
        help=[Note(text) for text in meaning],
        columns=columns,
        groups=groups,
        kind="scores matrix",
    )


def _row(
    row: MatrixRow,
    found: Matrix,
    ranked: bool,
    says_families: bool,
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
) -> TableRow:
    several = says_families and row.families < len(found.families)
    mean = _cell(row.mean, [f"{row.families} of {len(found.families)} families"] if several and row.mean else [])
    rank = Cell(text="" if row.rank is None else " to ".join(dict.fromkeys(map(str, row.rank))), kind="score")
    if row.lost:
        rank = Cell(text=NOTHING, kind="score", notes=notes([NO_RANK], "flag"))
    return TableRow(
        _model_cell(row.model, model_pages),
        [
            _labelled(mean, "Mean"),
            *([_labelled(rank, "Rank")] if ranked else []),
            *(_labelled(_family(row.cells.get(each), pages), short_title(each)) for each in found.families),
        ],
    )


def _labelled(cell: Cell, heading: str) -> Cell:
    """Return a cell with its column's heading, which is shown where a narrow page makes each row a card."""
    return replace(cell, notes=(*cell.notes, Note(heading, "label")))


def _family(cell: FamilyScore | None, pages: Mapping[Group, str]) -> Cell:
    if cell is None:
        return _NOT_RUN
    link = f"results/{pages[cell.groups[0]]}" if len(cell.groups) == 1 else ""
    return _cell(cell.score, cell.notes, link, cell.why_none)


def _cell(score: Score | None, said: Iterable[str], link: str = "", why_none: str = "") -> Cell:
    if score is None:
        return Cell(text=NOTHING, kind="score", link=link, notes=notes([why_none], "why") if why_none else ())
    ends = "" if score.low is None or score.high is None else f"{number(score.low)} – {number(score.high)}"
    lost = lost_text(score.lost, show=number)
    return Cell(
        text=number(score.value),
        bold=True,
        link=link,
        mark=lost_mark(score.lost),
        notes=(*(notes([lost], "flag") if lost else notes([ends], "interval")), *notes(said, "flag")),
        part=None if lost else min(1.0, max(0.0, score.value / 100)),
        kind="score",
    )


def horizon_matrix(
    found: Matrix,
    leading: Mapping[Group, Horizon],
    env_pages: Mapping[str, str],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
) -> Table | None:
    """Return the 50 % horizons of the models, a column for each environment and axis that has any; None without any.

    Args:
        found: The matrix, for the order of its rows.
        leading: The horizon that stands for each group.
        env_pages: Environment -> its page, from the site's root.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
    """
    listed = grouped(leading.values(), lambda each: (each.group.model, each.group.env, each.axis))
    columns = sorted({key[1:] for key in listed}, key=lambda column: (registry.load(column[0]).title, column))
    if not columns:
        return None
    ran = grouped(
        (group for row in found.rows for cell in row.cells.values() for group in cell.groups),
        lambda group: (
            group.model,
            group.env,
            next((axis.name for axis in registry.load(group.env).difficulty.axes), ""),
        ),
    )
    kinds = {row.model: row.kind for row in found.rows}
    by_kind: dict[str, list[TableRow]] = {}
    for model in [*kinds, *sorted({model for model, *_ in listed} - kinds.keys())]:
        known = [listed.get((model, *column), []) for column in columns]
        played = [ran.get((model, *column), []) for column in columns]
        own = [*(each.group for some in known for each in some), *(group for some in played for group in some)]
        if own:
            cells = [
                _labelled(_horizon(some, groups, pages), _env_title(env))
                for (env, _), some, groups in zip(columns, known, played, strict=True)
            ]
            kind = kinds.get(model) or ("reference" if own[0].embedded else "model")
            by_kind.setdefault(kind, []).append(TableRow(_model_cell(model, model_pages), cells))
    groups = [RowGroup(rows, *_KINDS[kind]) for kind, rows in by_kind.items()]
    said = grouped(leading.values(), lambda each: (each.group.env, each.axis))
    help_ = [
        Note(f"{registry.load(column[0]).title}: {context}")
        for column in columns
        for context in dict.fromkeys(map(horizon_context, said[column]))
        if context
    ]
    return Table(
        id="horizons",
        title="50 % horizons",
        caption=(
            Note(
                "The difficulty at which a single attempt succeeds at half of the items, in the unit below each title; "
                "this is not a score. Small: the 90 % interval. “Above” and “below”: outside the difficulties that "
                "were tried."
            ),
        ),
        help=help_,
        columns=[
            Column(heading="Model"),
            *(
                Column(
                    heading=_env_title(env),
                    link=env_pages.get(env, ""),
                    notes=notes([axis_named(env, axis).title.lower()]),
                    kind="score",
                    help=registry.load(env).title,
                )
                for env, axis in columns
            ),
        ],
        groups=groups,
        kind="horizon scores matrix",
    )


def _env_title(env: str) -> str:
    return registry.load(env).title.partition(" (")[0]


def _model_cell(model: str, model_pages: Mapping[str, str]) -> Cell:
    return Cell(text=name_of(model), link=f"models/{model_pages[model]}")


def _horizon(own: list[Horizon], ran: list[Group], pages: Mapping[Group, str]) -> Cell:
    """Return the horizon of one model at one environment.

    Of several, it is one that lies within the levels tested, and of these that from the most attempts: a ladder that
    ended below the horizon only bounds it.

    Args:
        own: The horizons.
        ran: What was run, for a model without a horizon.
        pages: File names of the groups' pages.
    """
    if not own and not ran:
        return _NOT_RUN
    if not own:
        link = f"results/{pages[ran[0]]}"
        return Cell(text=NOTHING, kind="score", link=link, notes=notes(["one difficulty only"], "why"))
    best = max(own, key=lambda each: (each.known, each.value is not None, each.trials, each.group.task))
    cell = horizon_cell(best)
    return Cell(
        text=cell.text, bold=True, link=f"results/{pages[best.group]}", notes=cell.notes, order=cell.order, kind="score"
    )
