"""The first page's tables: normalised scores of models by families, and their horizons."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from waybench.envs import registry
from waybench.reporting.tables._horizons import horizon_cell
from waybench.reporting.tables._table import (
    Note,
    RowGroup,
    Table,
    TableCell,
    TableColumn,
    declared_column,
    lost_mark,
    model_label,
    table_rows,
    value_notes,
)
from waybench.results.estimates import Matrix
from waybench.results.estimates._matrix import NO_INTERVAL, SCALE, MatrixRow, short_title
from waybench.results.estimates._mean_scores import Score, score_text
from waybench.results.estimates._model_pairs import COLUMNS, RARE_EXTREMES_CAPTION, ModelPair
from waybench.results.formatting import LOST, NOTHING, lost_text
from waybench.results.horizons import Horizon
from waybench.results.horizons._references import find_axis
from waybench.results.horizons._text import horizon_context
from waybench.results.results import Family, RunKey, group_by
from waybench.results.stats import CONFIDENCE

T = TypeVar("T")
_NOT_RUN = TableCell("not run", kind="score absent")
# Kind of row -> the title of its rows, and their class in the style sheet.
_KINDS = {
    "model": ("", ""),
    "person": ("People", "people"),
    "reference": ("Reference players, not models", "references"),
}


def matrix_table(
    matrix: Matrix,
    family_pages: Mapping[Family, str],
    pages: Mapping[RunKey, str],
    model_pages: Mapping[str, str],
) -> Table:
    """Return the matrix with a row for each model, its mean and ranks, and a column for each family."""
    has_ranks = any(row.rank or row.lost for row in matrix.rows)
    has_lost_attempts = any(row.lost for row in matrix.rows)
    n_families = len(matrix.families)
    numbers_of_families = {row.families for row in matrix.rows if row.mean}
    is_partial = any(number < n_families for number in numbers_of_families)
    lacks_intervals = any(
        cell.score and cell.score.interval is None for row in matrix.rows for cell in row.cells.values()
    )
    same_number = is_partial and len(numbers_of_families) == 1  # the caption says it once, and no row does
    caption = f"{SCALE} Small: the {100 * CONFIDENCE:.0f} % interval. A family’s score is the mean of its tasks."
    if same_number:
        caption += f" Means are over the {min(numbers_of_families)} of {n_families} families with scores."
    caption += "".join(f" {note}." for note in matrix.order_notes)
    meaning = [
        "Mean: over the families with a score, each with the same weight. Its interval allows for maps that tasks "
        "share. Families are fixed, not a sample of families: the mean says nothing of other kinds of tasks.",
    ]
    if is_partial:
        meaning.append("Rows with more families come first; means over different families are not comparable.")
    if has_ranks:
        meaning.append(
            "Rank: the best and the worst rank among models with scores in the same families and items that no option "
            "makes easier or harder, or the same options. Two models differ if the paired test on the items that both "
            "ran has p below 5 %, by Holm’s procedure over all pairs, which have a table of their own."
        )
    if has_lost_attempts:
        meaning.append(
            f"{LOST} The mean of a row has the bounds that follow from them, and the ranks of the other rows are among "
            "themselves."
        )
    meaning += [
        "“Below the floor”: the whole interval of a task is; it counts as 0.",
        "“–”: there is no normalised score, and the cell says why; the column’s title leads to the score itself. With "
        "too few items it is not certain that floor and ceiling differ.",
    ]
    if lacks_intervals:
        meaning.append(f"No interval and no rank: {NO_INTERVAL}. A family of few items says how many they are.")
    meaning.append("Items that a search for a horizon chose are not in this table.")

    def mean_score_cell(row: MatrixRow) -> TableCell:
        says_number = not same_number and row.mean and row.families < n_families
        return _score_cell(row.mean, [f"{row.families} of {n_families} families"] if says_number else [])

    def rank_cell(row: MatrixRow) -> TableCell:
        if row.why_no_rank:
            return TableCell(NOTHING, kind="score", notes=value_notes([row.why_no_rank], "flag"))
        best_and_worst = dict.fromkeys(map(str, row.rank or ()))  # one number if they are the same
        return TableCell(" to ".join(best_and_worst), kind="score")

    def family_cell(row: MatrixRow, family: Family) -> TableCell:
        cell = row.cells.get(family)
        if cell is None:
            return _NOT_RUN
        link = f"results/{pages[cell.groups[0]]}" if len(cell.groups) == 1 else ""  # several tasks have no common page
        return _score_cell(cell.score, cell.notes, link, cell.why_none)

    columns: list[TableColumn[MatrixRow]] = [
        TableColumn("Model", lambda row: _model_cell(row.model, model_pages)),
        _labelled_column("Mean", mean_score_cell),
        _labelled_column("Rank", rank_cell, is_shown=has_ranks),
        *(
            _labelled_column(
                short_title(family),
                lambda row, family=family: family_cell(row, family),
                link=family_pages.get(family, ""),
                help=family.title,
            )
            for family in matrix.families
        ),
    ]
    columns = [column for column in columns if column.is_shown]
    groups: list[RowGroup] = []
    for (kind, options), rows in group_by(matrix.rows, lambda row: (row.kind, row.options)).items():
        title, group_kind = _KINDS[kind]
        options_text = f"With easier or harder items: {'; '.join(options)}" if options else ""
        groups.append(RowGroup(table_rows(columns, rows), " – ".join(filter(None, (title, options_text))), group_kind))
    return Table(
        columns=columns,
        groups=groups,
        id="matrix",
        title="Models by families",
        caption=(Note(caption),),
        help=list(map(Note, meaning)),
        kind="scores matrix",
    )


def pairs_table(matrix: Matrix, model_pages: Mapping[str, str]) -> Table | None:
    """Return the table of model pairs that the ranks follow from; None if there are none."""
    pairs = matrix.pairs
    if not pairs:
        return None
    caption = (
        f"The ranks above are read from this table. A − B: the difference of mean normalised scores at the items that "
        f"both ran, with its paired {100 * CONFIDENCE:.0f} % interval; levels that count as 0 beyond a ladder’s end "
        f"are in no pair. p is adjusted by Holm’s procedure over all pairs that can show a difference."
    )
    captions = [caption]
    if any(pair.paired and pair.paired.omits_rare_extremes for pair in pairs):
        captions.append(RARE_EXTREMES_CAPTION)
    models: list[TableColumn[ModelPair]] = [
        TableColumn("A", lambda pair: _model_cell(pair.first, model_pages)),
        TableColumn("B", lambda pair: replace(_model_cell(pair.second, model_pages), kind="name"), "name"),
    ]
    return Table.from_columns(
        # The first two declared columns are the models, which have links here.
        [*models, *(declared_column(column) for column in COLUMNS[2:] if column.heading)],
        pairs,
        id="model-pairs",
        title="Pairs of models",
        caption=tuple(map(Note, captions)),
        kind="judged",
        summary=f"Pairs of models ({len(pairs)})",
        folded=True,
    )


def _labelled_column(heading: str, cell: Callable[[T], TableCell], **attributes: Any) -> TableColumn[T]:
    """Return a column whose cells repeat its heading, for pages where each row is a card."""

    def labelled_cell(subject: T) -> TableCell:
        plain = cell(subject)
        return replace(plain, notes=(*plain.notes, Note(heading, "label")))

    return TableColumn(heading, labelled_cell, "score", **attributes)


def _score_cell(score: Score | None, flags: Iterable[str], link: str = "", why_none: str = "") -> TableCell:
    """Return a normalised score with its interval and flags below; a dash for None, with the reason `why_none`."""
    if score is None:
        return TableCell(NOTHING, kind="score", link=link, notes=value_notes([why_none], "why"))
    lost = lost_text(score.lost, show=score_text)
    return TableCell(
        score_text(score.value),
        bold=True,
        link=link,
        mark=lost_mark(score.lost),
        notes=(
            *(value_notes([lost], "flag") if lost else value_notes([score.interval_text(" – ")], "interval")),
            *value_notes(flags, "flag"),
        ),
        part=None if lost else min(1.0, max(0.0, score.value / 100)),
        kind="score",
    )


def horizon_matrix(
    matrix: Matrix,
    headline_horizon_of: Mapping[RunKey, Horizon],
    env_pages: Mapping[str, str],
    pages: Mapping[RunKey, str],
    model_pages: Mapping[str, str],
) -> Table | None:
    """Return the 50 % horizons of the models, a column for each environment and axis; None if there are none.

    The rows are in the order of the matrix. `headline_horizon_of` has each group's horizon on its main axis
    (`headline_horizons`), and `env_pages` the path of each environment's page from the site's root.
    """
    headline_horizons = headline_horizon_of.values()
    horizons = group_by(headline_horizons, lambda horizon: (horizon.group.model, horizon.group.env, horizon.axis))
    tasks = sorted({(env, axis) for _, env, axis in horizons}, key=lambda task: (registry.load(task[0]).title, task))
    if not tasks:
        return None
    groups_of_matrix = [group for row in matrix.rows for cell in row.cells.values() for group in cell.groups]

    def model_and_task(group: RunKey) -> tuple[str, str, str]:
        """Return a group's model, environment, and that environment's first axis, "" without one."""
        axes = registry.load(group.env).difficulty.axes
        return group.model, group.env, axes[0].name if axes else ""

    played = group_by(groups_of_matrix, model_and_task)
    kinds = {row.model: row.kind for row in matrix.rows}
    models_by_kind: dict[str, list[str]] = {}
    for model in [*kinds, *sorted({model for model, *_ in horizons} - kinds.keys())]:
        groups = [horizon.group for task in tasks for horizon in horizons.get((model, *task), [])]
        groups += [group for task in tasks for group in played.get((model, *task), [])]
        if groups:
            # A model whose items were all chosen by searches is not in the matrix.
            kind = kinds.get(model) or ("reference" if groups[0].embedded else "model")
            models_by_kind.setdefault(kind, []).append(model)

    def horizon_of_task(model: str, task: tuple[str, str]) -> TableCell:
        return _horizon_cell(horizons.get((model, *task), []), played.get((model, *task), []), pages)

    columns: list[TableColumn[str]] = [
        TableColumn("Model", lambda model: _model_cell(model, model_pages)),
        *(
            _labelled_column(
                registry.load(env).title.partition(" (")[0],
                lambda model, task=(env, axis): horizon_of_task(model, task),
                link=env_pages.get(env, ""),
                notes=value_notes([find_axis(env, axis).title.lower()]),
                help=registry.load(env).title,
            )
            for env, axis in tasks
        ),
    ]
    by_task = group_by(headline_horizons, lambda horizon: (horizon.group.env, horizon.axis))
    caption = (
        "The difficulty at which a single attempt succeeds at half of the items, in the unit below each title; "
        "this is not a score. Small: the 90 % interval. “Above” and “below”: outside the difficulties that "
        "were tried."
    )
    return Table(
        columns=columns,
        groups=[RowGroup(table_rows(columns, models), *_KINDS[kind]) for kind, models in models_by_kind.items()],
        id="horizons",
        title="50 % horizons",
        caption=(Note(caption),),
        help=[
            Note(f"{registry.load(task[0]).title}: {context}")
            for task in tasks
            for context in dict.fromkeys(map(horizon_context, by_task[task]))
            if context
        ],
        kind="horizon scores matrix",
    )


def _model_cell(model: str, model_pages: Mapping[str, str]) -> TableCell:
    return TableCell(model_label(model), link=f"models/{model_pages[model]}")


def _horizon_cell(horizons: Sequence[Horizon], played: Sequence[RunKey], pages: Mapping[RunKey, str]) -> TableCell:
    """Return the horizon of one model at one environment, or why there is none.

    `played` has the groups of the model at the environment. Of several horizons, one within the levels tested is
    preferred, then one with a value, then the one from the most attempts: a ladder that ended early only bounds it.
    """
    if not horizons and not played:
        return _NOT_RUN
    if not horizons:
        link = f"results/{pages[played[0]]}"
        return TableCell(NOTHING, kind="score", link=link, notes=value_notes(["one difficulty only"], "why"))
    best = max(
        horizons, key=lambda horizon: (horizon.known, horizon.value is not None, horizon.trials, horizon.group.task)
    )
    return replace(horizon_cell(best), link=f"results/{pages[best.group]}", mark="", kind="score")
