"""The matrix of models by families: normalised scores on one scale, with their mean and its interval of ranks."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from waybench.core import AGENT, Json
from waybench.results.estimates._estimates import Estimate, EstimateCache, by_level, overall
from waybench.results.estimates._mean_scores import (
    CEILING,
    LevelCoverage,
    Score,
    level_coverage,
    mean_score,
    percent_score,
    score_text,
    task_levels,
)
from waybench.results.estimates._model_pairs import ModelPair, order_notes, rank_ranges, ranked_pairs
from waybench.results.formatting import NO_RANK, NOTHING, align_columns, bounds_text, lost_text, one_line
from waybench.results.logs import is_human
from waybench.results.results import Family, Row, RunKey, family_of, group_by, group_by_item, without_searches
from waybench.results.results._normalized import BELOW_FLOOR, why_not_normalized
from waybench.results.results._rows import original_rows

TOO_FEW = "no rank: fewer than six items or clusters in all"
HARDER = "harder levels count as 0"
SCALE = (
    "Normalised scores: 0 is the floor (the best of empty replies, a random player and the best constant reply), 100 "
    "the ceiling (the oracle)."
)
NO_INTERVAL = "fewer than six items or clusters, or a family with one item or with equal scores alone"
_LONGEST_NAME = 30  # characters of a model's name in a table
_GAP = 2  # characters between columns
_FEW = "†"  # marks a score of too few items for an interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyScore:
    """A model's score in a family: the mean over the family's tasks, each with the same weight.

    Attributes:
        score: The mean; None where no task has a normalised score.
        groups: The groups of results that it comes from.
        tasks: Number of tasks in the mean.
        most: Number of the family's tasks that some model ran.
        notes: What limits the comparison with other models, in words.
        why_none: Why there is no score, in a few words; "" if there is one.
        lost: Number of attempts without a result.
    """

    score: Score | None
    groups: tuple[RunKey, ...]
    tasks: int
    most: int
    items: int
    notes: tuple[str, ...] = ()
    why_none: str = ""
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A model's row.

    Attributes:
        kind: "model", "person" or "reference" (an embedded player).
        cells: Family -> the model's score in it; a family that it was not run on is missing.
        mean: The mean over the families with a score; None without any.
        options: What makes some of its items easier or harder than by default: "max_steps: 500".
        rank: Best and worst rank among the models with a mean over the same families, with the same such options; None
            for other rows, for a model alone, and where attempts have no result.
    """

    model: str
    kind: str
    cells: dict[Family, FamilyScore]
    mean: Score | None
    families: int
    options: tuple[str, ...] = ()
    rank: tuple[int, int] | None = None

    @property
    def lost(self) -> int:
        """Number of attempts without a result; with any, the row has no rank."""
        return sum(cell.lost for cell in self.cells.values())

    @property
    def ranked_in(self) -> frozenset[Family]:
        """The families over which the row is ranked; empty if it has no rank."""
        has_rank = self.kind != "reference" and not self.lost and self.mean is not None and self.mean.interval
        return frozenset(family for family, cell in self.cells.items() if cell.score) if has_rank else frozenset()

    @property
    def why_no_rank(self) -> str:
        """Why the row has no rank, where more data would give it one; "" elsewhere."""
        if self.lost:
            return NO_RANK
        return TOO_FEW if self.kind != "reference" and self.mean and self.mean.few_items() else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Normalised scores of models by families.

    Attributes:
        families: The columns, in order of their titles.
        rows: Models and people, the best mean first, then the reference players. Rows of more families come first,
            for means over different families cannot be compared.
        pairs: All pairs of the models that are ranked among themselves, the one with the better mean first; ranks are
            read from them.
    """

    families: tuple[Family, ...]
    rows: tuple[MatrixRow, ...]
    pairs: tuple[ModelPair, ...] = ()

    @property
    def order_notes(self) -> list[str]:
        """Sentences on where pairs of models differ from the order of their means (`order_notes`)."""
        return order_notes(self.pairs, {row.model: row.mean.value for row in self.rows if row.mean})

    def to_json(self) -> list[dict[str, Json]]:
        """Return a row for each model, with its cells by family."""
        return [
            {
                "model": row.model,
                "kind": row.kind,
                "mean": row.mean.to_json() if row.mean else None,
                "families": row.families,
                "options": list(row.options),
                "rank": list(row.rank) if row.rank else None,
                "why_no_rank": row.why_no_rank,
                "cells": {
                    family.name: {
                        "title": family.title,
                        "score": cell.score.to_json() if cell.score else None,
                        "tasks": cell.tasks,
                        "of": cell.most,
                        "items": cell.items,
                        "lost": cell.lost,
                        "notes": list(cell.notes),
                    }
                    for family, cell in row.cells.items()
                },
            }
            for row in self.rows
        ]


def matrix(rows: Iterable[Row], cache: EstimateCache | None = None) -> Matrix:
    """Return the matrix of normalised scores, models by families.

    A cell is the mean of the normalised scores (`Estimate.rescaled`) of a family's tasks, and a row's mean is that of
    its cells. A task that a model ran with several settings has the mean over these. Where a model's ladder ended, the
    levels beyond count as 0, the floor, up to the last one that its run declares; where an older log declares none, up
    to the last one that another model ran or declares (`level_coverage`). A task whose whole interval is below the
    floor counts as 0, too; all others enter means as they are, also below 0, for the mean of a guesser's scores would
    else be above the floor. Episodes with a teacher, and those of adaptive searches, whose items are chosen by the
    model's own results, are not in it.

    Intervals of means are those of `waybench.results.stats` for cells that share clusters: two tasks on the same maps
    are no more maps than one. The errors of floors and ceilings are added to them; those of what is shared are shared.

    Ranks are read from the pairs of models with scores in the same families (`ranked_pairs`), and never of models of
    which one has easier items by an option (`Option.effect`); rows with such options come after the others. A row of
    which attempts have no result has no rank, comes after the others, and has no influence on their ranks.

    Isomorphic items are not in it where there are original ones of the same environment, and neither are a model's runs
    with an agent where it was run without one: they have a table beside the bare model's.

    Args:
        rows: The rows, with anchors where normalised scores are wanted.
        cache: Estimates that were made, as for `by_level`.
    """
    included = _without_agents_beside_bare_models(original_rows(without_searches(rows)))
    totals = {total.group: total for total in overall(included, cache) if not total.guided}
    estimates = by_level(included, cache)
    cells: dict[RunKey, list[Estimate]] = group_by(estimates, lambda estimate: estimate.group)
    by_task = group_by(estimates, lambda estimate: (estimate.group.env, estimate.group.separate_by))
    levels = {task: task_levels(of_task) for task, of_task in by_task.items()}
    by_group = group_by(included, lambda row: row.group)
    by_family = group_by(totals, lambda group: family_of(group.env))
    families = tuple(sorted(by_family, key=lambda family: (family.title, family.name)))
    scores_by_model: dict[str, dict[Family, FamilyScore]] = {}
    for family in families:
        tasks = {(group.env, group.separate_by) for group in by_family[family]}
        for model, groups in group_by(by_family[family], lambda group: group.model).items():
            scores_by_model.setdefault(model, {})[family] = _family_score(
                [(totals[group], cells.get(group, []), levels[group.env, group.separate_by]) for group in groups],
                len(tasks),
                lambda total: _why_no_score(total, by_group[total.group]),
            )
    embedded = {group.model for group in totals if group.embedded}
    matrix_rows: list[MatrixRow] = []
    for model, own_cells in scores_by_model.items():
        kind = "reference" if model in embedded else "person" if is_human(model) else "model"
        scores = [cell.score for cell in own_cells.values() if cell.score]
        of_model = (group for cell in own_cells.values() for group in cell.groups)
        options = tuple(sorted({option for group in of_model for option in group.difficulty_options}))
        matrix_rows.append(
            MatrixRow(
                model=model, kind=kind, cells=own_cells, mean=mean_score(scores), families=len(scores), options=options
            )
        )

    def row_sort_key(row: MatrixRow) -> tuple[bool, tuple[str, ...], bool, int, float, str]:
        mean = row.mean.value if row.mean else -math.inf
        return row.kind == "reference", row.options, row.lost > 0, -row.families, -mean, row.model

    in_order = sorted(matrix_rows, key=row_sort_key)
    by_families = group_by((row for row in in_order if row.ranked_in), lambda row: (row.ranked_in, row.options))
    groups = [[row.model for row in rows_of_group] for rows_of_group in by_families.values()]
    pairs = ranked_pairs(groups, group_by(totals.values(), lambda total: total.group.model))
    rank = rank_ranges(groups, pairs)
    ranked_rows = tuple(replace(row, rank=rank.get(row.model)) for row in in_order)
    return Matrix(families=families, rows=ranked_rows, pairs=tuple(pairs))


def _without_agents_beside_bare_models(rows: Sequence[Row]) -> list[Row]:
    """Return rows without agents of models that were also run without one in the same environment."""
    agents = {group for group in {row.group for row in rows} if dict(group.options).get(AGENT)}
    bare = {(row.group.model, row.group.env) for row in rows if row.group not in agents}
    return [row for row in rows if row.group not in agents or (row.group.model, row.group.env) not in bare]


def _family_score(
    results: Sequence[tuple[Estimate, Sequence[Estimate], Sequence[int]]],
    n_tasks: int,
    why_no_score: Callable[[Estimate], str],
) -> FamilyScore:
    """Return a model's score in a family, from each task's estimate, its estimates by level, and all levels."""
    notes: dict[str, None] = {}
    scores: dict[tuple[str, tuple[str, ...]], list[Score]] = {}
    for total, estimates, all_levels in results:
        score, task_notes = _task_score(total, level_coverage(estimates, all_levels))
        notes |= dict.fromkeys(task_notes)
        if score:
            scores.setdefault((total.group.env, total.group.separate_by), []).append(score)
    if scores and len(scores) < n_tasks:
        notes[f"{len(scores)} of {n_tasks} tasks"] = None
    return FamilyScore(
        score=mean_score([mean for task_scores in scores.values() if (mean := mean_score(task_scores))]),
        groups=tuple(total.group for total, _, _ in results),
        tasks=len(scores),
        most=n_tasks,
        items=sum(total.items for total, _, _ in results),
        notes=tuple(notes),
        why_none="" if scores else why_no_score(results[0][0]),
        lost=sum(total.lost.lost for total, _, _ in results if total.lost),
    )


def _why_no_score(total: Estimate, rows: Sequence[Row]) -> str:
    """Return in a few words why a task has no normalised score."""
    if not total.items and total.lost:
        return f"no attempt has a result: n = 0 of {total.n_planned:,}"
    if total.items and total.headline not in total.metrics:  # the metric is defined for no attempt
        return "no reply that counts"
    return why_not_normalized(group_by_item(rows))


def _task_score(total: Estimate, coverage: LevelCoverage) -> tuple[Score | None, list[str]]:
    """Return a task's normalised score, scaled by the share of levels that it ran, and notes on its limits."""
    if total.rescaled is None:
        return None, []
    first, last = coverage.levels[0], coverage.levels[-1]
    levels = f"level {first} only" if first == last else f"levels {first} to {last} only"
    score = percent_score(total.rescaled, total.counts, CEILING * coverage.share)
    notes = [
        HARDER if coverage.share < 1 else "",
        levels if coverage.is_partial else "",
        f"{BELOW_FLOOR}: counts as 0" if total.rescaled.is_below_floor else "",
        total.rescaled.origin_note,
    ]
    return score, [note for note in notes if note]


def matrix_text(matrix: Matrix, max_width: int = 100) -> str:
    """Return the matrix as an aligned table: a line for each model, with its mean, ranks and families.

    A blank cell was not run. A star marks a score that is not comparable with that of other models as it is, and a
    dagger one of few items. Last lines say why, and why some cells have no score ("–") or no interval.

    Args:
        matrix: The matrix.
        max_width: Width of the terminal in characters; families that do not fit go on below.
    """
    sentences = _sentences_below(matrix)
    tables = _tables_of_width(matrix, max_width)
    tables += [textwrap.fill(f"{'. '.join(sentences)}.", max_width)] if sentences else []
    return "\n\n".join(tables)


def _tables_of_width(matrix: Matrix, max_width: int) -> list[str]:
    """Return the table of scores, split where the families do not fit side by side; the first part has the means."""
    has_ranks = any(row.rank or row.lost for row in matrix.rows)
    leading_lines = [
        ["", "mean", *(["rank"] if has_ranks else [])],
        *(_leading_cells(row, has_ranks) for row in matrix.rows),
    ]
    leading_width = sum(max(map(len, column)) + _GAP for column in zip(*leading_lines, strict=True))
    remaining = [_family_column(matrix, family) for family in matrix.families]
    tables: list[str] = []
    while True:
        block: list[list[str]] = []
        room = max_width - leading_width
        while remaining and (not block or room >= _column_width(remaining[0]) + _GAP):
            room -= _column_width(remaining[0]) + _GAP
            block.append(remaining.pop(0))
        tables.append(_aligned_table(leading_lines, block, [row.kind for row in matrix.rows]))
        if not remaining:
            return tables
        leading_lines = [line[:1] for line in leading_lines]
        leading_width = max(len(line[0]) for line in leading_lines)


def _sentences_below(matrix: Matrix) -> list[str]:
    """Return the sentences below the table, without full stops: what marks mean, and why numbers are missing."""
    notes = {note for row in matrix.rows for cell in row.cells.values() for note in cell.notes}
    sentences = [f"* {'; '.join(sorted(notes))}"] if notes else []
    if unscored := _families_without_score(matrix):
        sentences.append(f"{NOTHING} no normalised score: {', '.join(unscored)}")
    titles_by_few_items: dict[str, dict[str, None]] = {}
    for family in matrix.families:
        for row in matrix.rows:
            cell = row.cells.get(family)
            if cell and cell.score and (text := cell.score.few_items(solved=False)):
                titles_by_few_items.setdefault(text, {})[short_title(family)] = None
    if titles_by_few_items:
        parts = [f"{text}: {', '.join(titles)}" for text, titles in titles_by_few_items.items()]
        sentences.append(f"{_FEW} {'; '.join(parts)}")
    if any(row.mean and row.mean.interval is None for row in matrix.rows):
        sentences.append(f"No interval and no rank: {NO_INTERVAL}")
    lost = [
        f"{one_line(row.model, _LONGEST_NAME)} in {short_title(family)} {lost_text(cell.score.lost, show=score_text)}"
        for row in matrix.rows
        for family, cell in row.cells.items()
        if cell.score and cell.score.lost
    ]
    sentences += matrix.order_notes
    if lost:
        sentences.append(f"{NO_RANK[0].upper()}{NO_RANK[1:]}: {'; '.join(lost)}")
    return sentences


def _families_without_score(matrix: Matrix) -> list[str]:
    """Return the titles of families in which some model has no normalised score, each with the reasons."""
    families: list[str] = []
    for family in matrix.families:
        reasons = {cell.why_none for row in matrix.rows if (cell := row.cells.get(family)) and cell.score is None}
        if reasons:
            families.append(f"{short_title(family)} ({', '.join(sorted(reasons))})")
    return families


def short_title(family: Family) -> str:
    """Return a family's title without its part in brackets: "Mazes (AliciaBench)" is "Mazes"."""
    return family.title.partition(" (")[0]


def _leading_cells(row: MatrixRow, has_ranks: bool) -> list[str]:
    """Return the first cells of a model's line: its name, its mean and, where there are ranks, its rank."""
    cells = [short_model_name(row.model, row.kind), _score_cell_text(row.mean, with_interval=True)]
    if has_ranks:
        no_rank = NOTHING if row.why_no_rank else ""
        cells.append("–".join(dict.fromkeys(map(str, row.rank))) if row.rank else no_rank)
    return cells


def short_model_name(model: str, kind: str) -> str:
    """Return a model's name for a table, a reference player's without "waybench/"."""
    return one_line(model.removeprefix("waybench/") if kind == "reference" else model, _LONGEST_NAME)


def _score_cell_text(score: Score | None, *, with_interval: bool = False) -> str:
    """Return a score as text, such as "63" or "63 (51 to 74)"; a dash without a score."""
    if score is None:
        return NOTHING
    value = score_text(score.value)
    if score.lost:
        return f"{value} ({bounds_text(score.lost, score_text)})" if with_interval else value
    ends = score.interval_text(" to ")
    return f"{value} ({ends})" if with_interval and ends else value


def _family_column(matrix: Matrix, family: Family) -> list[str]:
    """Return a column of texts: the family's title, and each model's score with its mark."""
    cells = [row.cells.get(family) for row in matrix.rows]
    texts = ["" if cell is None else f"{_score_cell_text(cell.score)}{_cell_mark(cell)}" for cell in cells]
    if any(text.endswith(("*", _FEW)) for text in texts):
        texts = [text if text.endswith(("*", _FEW)) else f"{text} " for text in texts]
    return [short_title(family), *texts]


def _cell_mark(cell: FamilyScore) -> str:
    """Return a star if the comparison of a score is limited, a dagger if it is of few items, or ""."""
    if cell.notes or cell.lost:
        return "*"
    return _FEW if cell.score and cell.score.few_items() else ""


def _heading_lines(column: Sequence[str]) -> list[str]:
    """Return the lines of a column's heading, no wider than its cells or its longest word."""
    heading, *texts = column
    return textwrap.wrap(heading, max(*map(len, heading.split()), *map(len, texts)))


def _column_width(column: Sequence[str]) -> int:
    """Return the width of a column in characters, its heading wrapped."""
    return max(map(len, (*_heading_lines(column), *column[1:])))


def _aligned_table(
    leading_lines: Sequence[Sequence[str]], family_columns: Sequence[Sequence[str]], kinds: Sequence[str]
) -> str:
    """Return a table of names, means and family columns, whose headings may take several lines."""
    headings = [_heading_lines(column) for column in family_columns]
    height = max((len(heading) for heading in headings), default=1)
    # Headings end at the last line of the table's head.
    leading_columns = [[""] * (height - 1) + list(column) for column in zip(*leading_lines, strict=True)]
    columns = [
        [*([""] * (height - len(heading))), *heading, *column[1:]]
        for heading, column in zip(headings, family_columns, strict=True)
    ]
    lines = list(zip(*leading_columns, *columns, strict=True))
    return align_columns(lines, [*([""] * height), *kinds])
