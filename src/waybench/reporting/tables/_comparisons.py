"""Tables of comparisons: models two by two, wordings, values of a setting, other effects, and published numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from waybench.core import Metric, plural
from waybench.envs import registry
from waybench.reporting._format import TaskView, count_text
from waybench.reporting.tables._table import (
    BLANK,
    FOLDED,
    Note,
    RowGroup,
    Table,
    TableCell,
    TableColumn,
    declared_cell,
    mean_cell,
    metric_column,
    model_cell,
    model_column,
    model_label,
    table_rows,
    value_notes,
)
from waybench.results import Estimate
from waybench.results.comparisons._comparison import Comparison, Effect
from waybench.results.comparisons._item_scores import match_groups
from waybench.results.comparisons._model_effects import EFFECT, NO_EFFECT, UNCLEAR, SettingEffect
from waybench.results.comparisons._prompts import WordingEffect
from waybench.results.comparisons._text import comparison_cells
from waybench.results.estimates._difficulty import Spread
from waybench.results.formatting import NOTHING, change_text, difference_text, known_ends, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.papers import STATISTICS, Paper
from waybench.results.published import PublishedMatch, match_published, published_number_text, result_text, row_label
from waybench.results.results import RunKey, labels, setting_text
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate
from waybench.results.stats._verdicts import Verdict

_VERDICTS = {EFFECT: "tokens differ", NO_EFFECT: "no effect seen", UNCLEAR: "cannot tell"}
_DIAGONAL = TableCell("*", kind="score diagonal", hidden=True)
_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"


def _is_significant(comparison: Comparison) -> bool:
    """Return whether a comparison shows one of its groups as better."""
    return comparison.verdict in (Verdict.FIRST, Verdict.SECOND)


def _difference_cell(comparison: Comparison, difference: IntervalEstimate | None = None) -> TableCell:
    """Return a comparison's difference, or another one of the same pair, bold if the comparison is significant."""
    kind = "certain" if _is_significant(comparison) else ""
    return TableCell(difference_text(difference or comparison.difference, comparison.metric), kind=kind)


def model_comparison_table(
    comparisons: Sequence[Comparison], names: Mapping[RunKey, str], view: TaskView, most: int | None
) -> Table | None:
    """Return the table of comparisons of two models each; None if there are none.

    `most` is the number of models above which not every two are compared; None if every two are.
    """
    if not comparisons:
        return None
    items = view.presentation.items
    caption = (
        f"{view.env.title}: mean score of a single attempt at the {items} that both were given. A − B with its paired "
        f"95 % interval; p is adjusted by Holm's procedure over all comparisons of models in this report that can show "
        f"a difference (those with reference players by themselves), and a difference is significant below 0.05. "
        f"Tied: the 90 % interval is within 5 % of the range, with at least 60 independent {items}. Not shown: neither "
        f"a difference nor a tie. Too few: with so few independent {items}, or so few on which the two differ, no "
        f"difference can be significant, and p is unadjusted. "
        f"Depends: another verdict if {items} lost to infrastructure errors had the worst or the best scores."
    )
    if most is not None:
        caption += f" With more than {most} models, each is compared with the best and with its neighbours in rank."
    columns: list[TableColumn[tuple[Comparison, Any]]] = [
        TableColumn("A", lambda row: names[row[0].groups[0]]),
        TableColumn("B", lambda row: TableCell(names[row[0].groups[1]], kind="name"), "name"),
        TableColumn(items.capitalize(), lambda row: row[1].items),
        TableColumn("A: mean", lambda row: row[1].first),
        TableColumn("B: mean", lambda row: row[1].second),
        TableColumn("A − B", lambda row: TableCell(row[1].difference, notes=(Note(row[1].interval),))),
        TableColumn("p", lambda row: row[1].p),
        TableColumn(
            "Verdict",
            lambda row: TableCell(row[1].verdict, kind="name certain" if _is_significant(row[0]) else "name"),
            "name",
        ),
    ]
    return Table.from_columns(
        columns,
        [(comparison, comparison_cells(comparison)) for comparison in comparisons],
        id="verdicts-title",
        title="Pairwise comparisons",
        caption=(Note(caption),),
        kind="judged",
        summary=f"All verdicts ({len(comparisons)})",
        folded=len(comparisons) > FOLDED,
    )


def setting_table(effects: Iterable[SettingEffect], pages: Mapping[RunKey, str]) -> Table | None:
    """Return the table of the effects of settings; None if there are none."""
    effects = list(effects)
    if not effects:
        return None
    caption = (
        "Two values of a setting of the same model on the same items, all other settings being equal. Tokens: the "
        f"relative change from the first value to the second, with the {_INTERVAL}; p is from a t test on the "
        "items’ differences, adjusted by Holm’s procedure over all values of the setting. “No effect seen”: no "
        "significant difference, and all replies are identical or, for a setting that controls tokens, the interval "
        "is within 10 % at ten items or more. Different replies may be due to chance."
    )

    def model_header(effect: SettingEffect) -> TableCell:
        return TableCell(model_label(effect.first.model), notes=(Note(registry.load(effect.first.env).title),))

    def value_cell(text: str, group: RunKey) -> TableCell:
        return TableCell(one_line(text, 60), kind="name", link=f"results/{pages[group]}")

    def verdict_cell(effect: SettingEffect) -> TableCell:
        return TableCell(_VERDICTS[effect.verdict], kind="flag" if effect.verdict == NO_EFFECT else "")

    columns: list[TableColumn[SettingEffect]] = [
        TableColumn("Model", model_header),
        TableColumn("First", lambda effect: value_cell(effect.values[0], effect.first), "name"),
        TableColumn("Second", lambda effect: value_cell(effect.values[1], effect.second), "name"),
        TableColumn("Items", lambda effect: count_text(effect.items)),
        TableColumn("Same replies", lambda effect: count_text(effect.same)),
        TableColumn("Change in tokens", lambda effect: effect.change_text.replace(" tokens differ by", "") or NOTHING),
        TableColumn("p", lambda effect: effect.comparison.p_text if effect.comparison else NOTHING),
        TableColumn("Verdict", verdict_cell),
    ]
    return Table.from_columns(
        columns, effects, id="effects", title="Effects of settings", caption=(Note(caption),), kind="effects"
    )


def wording_table(view: TaskView, effects: Sequence[WordingEffect]) -> Table | None:
    """Return the table of the effects of wordings, models before embedded players; None if there are none."""
    if not effects:
        return None
    metric, item, items = view.env.scoring.metrics[0], view.presentation.item, view.presentation.items
    all_groups = [effect.group for effect in effects]

    def wording_cell(wording: Any, effect: WordingEffect) -> TableCell:
        flags = (
            *value_notes(["reference" if wording.name == effect.reference else ""]),
            *value_notes([plural(wording.errors, "infrastructure error") if wording.errors else ""], "flag"),
        )
        link = f"results/{view.pages[wording.group]}"
        return TableCell(one_line(wording.name, 60), notes=flags, kind="name", link=link)

    columns: list[TableColumn[tuple[TableCell, IntervalEstimate | None, Comparison | None]]] = [
        TableColumn("Wording", lambda row: row[0], "name"),
        metric_column(metric, lambda row: mean_cell(row[1], metric)),
        TableColumn("Difference", lambda row: _difference_cell(row[2]) if row[2] else ""),
        TableColumn("p", lambda row: row[2].p_text if row[2] else ""),
    ]
    groups: list[RowGroup] = []
    for effect in sorted(effects, key=lambda effect: effect.group.embedded):
        counts = plural(effect.items, item, items)
        if effect.left_out:
            counts += f"; {count_text(effect.left_out)} given in some wordings only, left out"
        settings = distinguishing_settings(effect.group, all_groups)
        lines = [*settings, counts, f"range {mean_text(effect.spread, metric)}"]
        rows = [
            *((wording_cell(wording, effect), wording.mean, wording.comparison) for wording in effect.wordings),
            (TableCell(f"the worst at each {item}", kind="name"), effect.worst_of_items, None),
        ]
        header = TableCell(model_label(effect.group.model), notes=tuple(Note(one_line(line, 120)) for line in lines))
        groups.append(RowGroup(table_rows(columns, rows), head=header))
    caption = (
        f"Means over the {items} that were given in all wordings, with the {_INTERVAL}. Each wording is compared "
        f"with a reference wording chosen in advance, {item} by {item}; p is from the paired test on these "
        f"differences, adjusted by Holm’s procedure, and a difference is bold where p is below 0.05. The range from "
        f"the best to the worst mean is above 0 by chance alone too. “The worst at each {item}” is the mean over "
        f"{items} of the worst wording’s score; chance lowers it too."
    )
    return Table(
        id="task-wordings",
        title=f"Wordings: the same {items}, paraphrased",
        caption=(Note(caption),),
        columns=[TableColumn("Model"), *columns],
        groups=groups,
        kind="scores wordings",
    )


def effect_table(view: TaskView, effects: Sequence[Effect]) -> Table | None:
    """Return the table of the effects of one kind, models before embedded players; None if there are none."""
    if not effects:
        return None
    kind, presentation = effects[0].kind, view.presentation
    words = {
        "items": presentation.items,
        "Items": presentation.items.capitalize(),
        "Level": presentation.level.capitalize(),
        "metric": effects[0].comparison.metric.title,
        "interval": _INTERVAL,
        **kind.words(effects),
    }
    declared_columns = {column.name: column for column in kind.columns}
    groups = [effect.group_without_option for effect in effects]

    def model_header(effect: Effect) -> TableCell:
        return model_cell(
            effect.group.model, distinguishing_settings(effect.group_without_option, groups), view.pages[effect.group]
        )

    def effect_column(column: Column[Any]) -> TableColumn[Effect]:
        """Return the HTML column of a declared column, with its heading in this table's words."""
        alignment = "name" if column.type is str else ""
        return TableColumn(column.heading.format(**words), lambda effect: _effect_cell(column, effect), alignment)

    return Table.from_columns(
        [
            TableColumn("Model", model_header),
            *(effect_column(declared_columns[name.format(**words)]) for name in kind.table),
        ],
        sorted(effects, key=lambda effect: effect.group.embedded),
        id=kind.id,
        title=kind.title.format(**words),
        caption=(Note(kind.caption.format(**words)),),
        kind="scores wordings",
    )


def _effect_cell(column: Column[Any], effect: Effect) -> TableCell:
    """Return the cell of a declared column: a difference, a mean with its interval, or as declared."""
    if column.name == "difference":
        return _difference_cell(effect.comparison, column.value(effect))
    if column.type is IntervalEstimate:
        return mean_cell(column.value(effect), column.metric or effect.comparison.metric)
    return declared_cell(column, effect)


def pair_tables(view: TaskView, ordered: Sequence[RunKey], pairs: Iterable[Comparison]) -> list[Table]:
    """Return tables of an environment's models in pairs, as MANGO prints them (Tables 1, 9, 11 and 12).

    `ordered` has the groups, the best first, and `pairs` the comparisons of any two of them.
    """
    metrics = {metric.name: metric for metric in view.env.scoring.metrics}
    cells: dict[tuple[str, RunKey, RunKey], TableCell] = {}
    for pair in pairs:
        first, second = pair.groups
        metric = metrics[pair.metric.name]
        cells[metric.name, first, second] = _pair_cell(pair, metric, view)
        cells[metric.name, second, first] = _pair_cell(pair.swapped, metric, view)
    matched_sets = [groups for groups in match_groups(ordered) if len(groups) > 1]
    option_names = {option.name for option in (*view.env.playing.options, *view.env.items.options)} | {"version", "key"}
    tables: list[Table] = []
    for groups in matched_sets:
        # The settings of play and of the items that are not the same in all tables.
        settings = ", ".join(
            one_line(setting_text(name, value), 60)
            for name, value in groups[0].settings.items()
            if name in option_names
            and any(repr(other_groups[0].settings.get(name)) != repr(value) for other_groups in matched_sets)
        )
        for title, (below, above) in view.presentation.pairs.items():
            if any((name, *pair) in cells for name in (below, above) for pair in permutations(groups, 2)):
                table = _pair_table(view, title, metrics[below], metrics[above], groups, cells)
                summary = table.summary + (f" ({settings})" if settings else "")
                tables.append(replace(table, id=f"task-pairs-{len(tables) + 1}", summary=summary))
    return tables


def _pair_table(
    view: TaskView,
    title: str,
    below: Metric,
    above: Metric,
    groups: Sequence[RunKey],
    cells: Mapping[tuple[str, RunKey, RunKey], TableCell],
) -> Table:
    """Return the table of groups in pairs, with one metric below the diagonal and another one above it."""
    items = view.presentation.items

    def matrix_cell(row: RunKey, column: RunKey) -> TableCell:
        if row == column:
            return _DIAGONAL
        if groups.index(column) < groups.index(row):
            return cells.get((below.name, row, column), BLANK)
        cell = cells.get((above.name, row, column), BLANK)
        return cell if cell is BLANK else replace(cell, kind="score hard")  # in another colour

    columns: list[TableColumn[RunKey]] = [
        model_column(lambda group: group, groups, view.pages),
        *(
            TableColumn(name, lambda row, column=column: matrix_cell(row, column))
            for column, name in labels(groups).items()
        ),
    ]
    caption = (
        f"Below the diagonal “{below.title}”, above it “{above.title}”: the row's model | the column's. Small: the "
        f"number of {items}, and the row's minus the column's with its {_INTERVAL} over "
        f"{view.presentation.clusters or items}, bold where the interval excludes 0. Blank: no {items} in common."
    )
    return Table.from_columns(
        columns,
        groups,
        title=f"{title} on the {items} that both answered",
        caption=(Note(caption),),
        kind="scores pairs",
        summary=f"{title}, models in pairs",
        folded=len(groups) > FOLDED,
    )


def _pair_cell(pair: Comparison, metric: Metric, view: TaskView) -> TableCell:
    """Return the two means of a pair, with the number of items, the difference and its interval below."""
    interval, is_significant = "", False
    if ends := known_ends(pair.difference, metric, is_change=True):
        low, high = ends
        interval, is_significant = f"{change_text(low, metric)} to {change_text(high, metric)}", low > 0 or high < 0
    lines = (
        Note(plural(pair.difference.n, view.presentation.item, view.presentation.items)),
        Note(change_text(pair.difference.value, metric), "change certain" if is_significant else "change"),
        *value_notes([interval], "interval"),
    )
    text = f"{mean_text(pair.first_mean.value, metric)} | {mean_text(pair.second_mean.value, metric)}"
    return TableCell(text, bold=True, notes=lines, kind="score")


def published_tables(
    env: str,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    papers: Iterable[Paper],
    pages: Mapping[RunKey, str],
    spreads: Mapping[str, Sequence[Spread]],
) -> list[Table]:
    """Return a table for each published setting of an environment in which something was run.

    Published numbers are only shown: they are in no estimate, comparison or chart, and their cells have no shade.

    Args:
        env: The environment's id.
        estimates: The estimates of single levels.
        totals: The estimates over all levels.
        papers: The papers with their tables.
        pages: The page of each group's results.
        spreads: SETS -> the spreads over several sets of items; ATTEMPTS -> those over several attempts.
    """
    tables = [(paper, table) for paper in papers for table in paper.tables]
    matches = (
        match
        for match in match_published(estimates, totals, tables, spreads)
        if match.block.env == env and match.results and match.rows
    )
    return [_published_table(f"task-published-{number}", match, pages) for number, match in enumerate(matches, start=1)]


def _published_table(id: str, match: PublishedMatch, pages: Mapping[RunKey, str]) -> Table:
    """Return the table of the results of this report, and below them the published rows."""
    source = f"{match.table.title} of {match.paper.title} ({match.paper.source})"

    def model_header(result: Any) -> TableCell:
        settings = result.label.removeprefix(result.group.model).strip(" ()")
        texts = [settings, STATISTICS[result.statistic] if result.statistic else ""]
        return model_cell(result.group.model, filter(None, texts), pages.get(result.group, ""))

    def result_cell(mean: IntervalEstimate | float | None, metric: Metric) -> TableCell:
        if mean is None or isinstance(mean, IntervalEstimate):
            return mean_cell(mean, metric)
        return TableCell(result_text(mean, metric), kind="score")

    columns: list[TableColumn[tuple[TableCell, Sequence[TableCell]]]] = [
        TableColumn("Model", lambda row: row[0]),
        *(
            metric_column(metric, lambda row, number=number: row[1][number])
            for number, metric in enumerate(match.metrics)
        ),
    ]
    results = [(model_header(result), list(map(result_cell, result.means, match.metrics))) for result in match.results]
    published = [
        (
            TableCell(row_label(row)),
            [TableCell(published_number_text(value), kind="score") for value in row.values],
        )
        for row in match.rows
    ]
    return Table(
        id=id,
        title=f"{match.table.title}, {match.block.setting}",
        caption=(
            Note(f"Published rows: {source}. They were not run here, and the paper’s items are its own."),
            Note(match.table.agreement),
        ),
        columns=columns,
        groups=[
            RowGroup(table_rows(columns, results), "In this report"),
            RowGroup(table_rows(columns, published), f"Published in {match.table.title}, not run here", "references"),
        ],
        kind="scores published",
    )
