"""Tables of comparisons: models two by two, wordings, and values of a setting."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from waybench.core import Environment, Metric, plural
from waybench.envs import registry
from waybench.reporting._format import amount
from waybench.reporting.tables._table import (
    BLANK,
    Cell,
    Column,
    Note,
    RowGroup,
    Table,
    TableRow,
    columns_of,
    group_cell,
    mean_cell,
    metric_column,
    model_cell,
    name_of,
    notes,
    rows_of,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results.comparisons import (
    EFFECT,
    NO_EFFECT,
    UNCLEAR,
    Comparison,
    Effect,
    SettingEffect,
    Verdict,
    WordingEffect,
    comparison_cells,
    difference_text,
    matched,
    p_text,
)
from waybench.results.formatting import NOTHING, change_text, mean_text, one_line
from waybench.results.frames import Column as DeclaredColumn
from waybench.results.results import LONGEST, Group, differing, labels, setting
from waybench.results.stats import CONFIDENCE, Mean

FOLDED = 12  # rows, above which a table is folded
_VERDICTS = {EFFECT: "tokens differ", NO_EFFECT: "no effect seen", UNCLEAR: "cannot tell"}
_DIAGONAL = Cell(text="*", kind="score diagonal", hidden=True)
_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"


def is_shown(one: Comparison) -> bool:
    """Return whether a comparison shows one of its sides as better."""
    return one.verdict in (Verdict.FIRST, Verdict.SECOND)


def difference_cells(one: Comparison) -> list[Cell]:
    """Return the cells of a comparison: the difference, in bold where it is shown, and the p value."""
    kind = "certain" if is_shown(one) else ""
    return [Cell(text=difference_text(one.difference, one.metric), kind=kind), Cell(text=p_text(one.adjusted))]


def model_table(
    found: Sequence[Comparison], names: Mapping[Group, str], view: TaskView, most: int | None
) -> Table | None:
    """Return the table of comparisons of models two by two; None if there are none.

    Args:
        found: The comparisons.
        names: The models' names.
        view: The task.
        most: Above how many models not every two are compared; None where every two are.
    """
    rows: list[TableRow] = []
    for one in found:
        first, second = one.groups
        count, mine, theirs, difference, interval, p, verdict = comparison_cells(one)
        kind = "name certain" if is_shown(one) else "name"
        cells = [Cell(text=names[second], kind="name"), *(Cell(text=text) for text in (count, mine, theirs))]
        cells += [Cell(text=difference, notes=(Note(interval),)), Cell(text=p), Cell(text=verdict, kind=kind)]
        rows.append(TableRow(Cell(text=names[first]), cells))
    if not rows:
        return None
    items = view.presentation.items
    caption = (
        f"{view.env.title}: mean score of a single attempt at the {items} that both were given. A − B with its paired "
        f"95 % interval; p is adjusted by Holm's procedure over all comparisons of models in this report (those with "
        f"reference players are adjusted by themselves), and a difference is significant below 0.05. "
        f"Tied: the 90 % interval is within 5 % of the range, with at least 60 independent {items}. Not shown: neither "
        f"a difference nor a tie. Too few: with so few independent {items} no difference can be significant. "
        f"Depends: another verdict if {items} lost to infrastructure errors had the worst or the best scores."
    )
    if most is not None:
        caption += f" With more than {most} models, each is compared with the best and with its neighbours in rank."
    return Table(
        id="verdicts-title",
        title="Pairwise comparisons",
        caption=(Note(caption),),
        columns=columns_of("A", "*B", items.capitalize(), "A: mean", "B: mean", "A − B", "p", "*Verdict"),
        groups=rows_of(rows),
        kind="judged",
        summary=f"All verdicts ({len(rows)})",
        folded=len(rows) > FOLDED,
    )


def setting_table(found: Iterable[SettingEffect], pages: Mapping[Group, str]) -> Table | None:
    """Return the table of the effects of settings; None if there are none.

    Args:
        found: The effects.
        pages: File names of the groups' pages.
    """
    rows = [
        TableRow(
            Cell(text=name_of(each.first.model), notes=(Note(registry.load(each.first.env).title),)),
            [
                *(
                    Cell(text=one_line(value, 60), kind="name", link=f"results/{pages[group]}")
                    for value, group in zip(each.values, (each.first, each.second), strict=True)
                ),
                Cell(text=amount(each.items)),
                Cell(text=amount(each.same)),
                Cell(text=each.change_text.replace(" tokens differ by", "") or NOTHING),
                Cell(text=p_text(each.adjusted)),
                Cell(text=_VERDICTS[each.verdict], kind="flag" if each.verdict == NO_EFFECT else ""),
            ],
        )
        for each in found
    ]
    if not rows:
        return None
    caption = (
        "Two values of a setting of the same model on the same items, all other settings being equal. Tokens: the "
        f"relative change from the first value to the second, with the {_INTERVAL}; p is from a t test on the "
        "items’ differences, adjusted by Holm’s procedure over all values of the setting. “No effect seen”: no "
        "significant difference, and all replies are identical or, for a setting that controls tokens, the interval "
        "is within 10 % at ten items or more. Different replies may be due to chance."
    )
    return Table(
        id="effects",
        title="Effects of settings",
        caption=(Note(caption),),
        columns=columns_of("Model", "*First", "*Second", "Items", "Same replies", "Change in tokens", "p", "Verdict"),
        groups=rows_of(rows),
        kind="effects",
    )


def wording_table(view: TaskView, found: Sequence[WordingEffect]) -> Table | None:
    """Return the table of the effects of wordings, models before embedded players; None if there are none.

    Args:
        view: The task.
        found: The effects.
    """
    if not found:
        return None
    metric, item, items = view.env.scoring.metrics[0], view.presentation.item, view.presentation.items
    all_groups = [each.group for each in found]
    groups: list[RowGroup] = []
    for each in sorted(found, key=lambda each: each.group.embedded):
        counts = plural(each.items, item, items)
        if each.left_out:
            counts += f"; {amount(each.left_out)} given in some wordings only, left out"
        lines = [*differing(each.group, all_groups), counts, f"range {mean_text(each.spread, metric)}"]
        rows: list[TableRow] = []
        for one in each.wordings:
            flags = (
                *notes(["reference" if one.name == each.reference else ""]),
                *notes([plural(one.errors, "infrastructure error") if one.errors else ""], "flag"),
            )
            name = Cell(text=one_line(one.name, 60), notes=flags, kind="name", link=f"results/{view.pages[one.group]}")
            difference = difference_cells(one.comparison) if one.comparison else [Cell(), Cell()]
            rows.append(TableRow(name, [mean_cell(one.mean, metric), *difference]))
        worst = Cell(text=f"the worst at each {item}", kind="name")
        rows.append(TableRow(worst, [mean_cell(each.worst_of_items, metric), Cell(), Cell()]))
        head = Cell(text=name_of(each.group.model), notes=tuple(Note(one_line(line, 120)) for line in lines))
        groups.append(RowGroup(rows, head=head))
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
        columns=[*columns_of("Model", "*Wording"), metric_column(metric), *columns_of("Difference", "p")],
        groups=groups,
        kind="scores wordings",
    )


def effect_table(view: TaskView, effects: Sequence[Effect]) -> Table | None:
    """Return the table of the effects of one kind, models before embedded players; None if there are none.

    Args:
        view: The task.
        effects: The effects.
    """
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
    by_name = {column.name: column for column in kind.columns}
    columns = [by_name[name.format(**words)] for name in kind.table]
    groups = [effect.label_group for effect in effects]
    rows = [
        TableRow(
            model_cell(effect.group.model, differing(effect.label_group, groups), view.pages[effect.group]),
            [_effect_cell(column, effect) for column in columns],
        )
        for effect in sorted(effects, key=lambda effect: effect.group.embedded)
    ]
    headings = [f"{'*' if column.type is str else ''}{column.heading.format(**words)}" for column in columns]
    return Table(
        id=kind.id,
        title=kind.title.format(**words),
        caption=(Note(kind.caption.format(**words)),),
        columns=columns_of("Model", *headings),
        groups=rows_of(rows),
        kind="scores wordings",
    )


def _effect_cell(column: DeclaredColumn[Any], effect: Effect) -> Cell:
    if column.name == "difference":
        return difference_cells(effect.comparison)[0]
    value: Any = None if column.only == "table" else column.value(effect)
    if column.type is Mean:
        return mean_cell(value, column.metric or effect.comparison.metric)
    if column.type is str:
        return Cell(text=one_line(value, LONGEST), kind="name")
    text, *lines = (column.text(effect) if column.text else amount(value)).split("\n")
    return Cell(text=text or NOTHING, notes=notes(lines))


def pair_tables(view: TaskView, ordered: Sequence[Group], pairs: Iterable[Comparison]) -> list[Table]:
    """Return the tables of an environment's models in pairs, as MANGO prints them (Tables 1, 9, 11 and 12).

    Args:
        view: The task.
        ordered: Its groups, the best one first.
        pairs: The pairs.
    """
    cells: dict[tuple[str, Group, Group], Cell] = {}
    items = view.presentation.items
    metrics = {metric.name: metric for metric in view.env.scoring.metrics}
    for one in pairs:
        first, second = one.groups
        metric = metrics[one.metric.name]
        cells[metric.name, first, second] = _pair_cell(one, metric, view)
        cells[metric.name, second, first] = _pair_cell(one.swapped, metric, view)
    together = [some for some in matched(ordered) if len(some) > 1]
    found: list[Table] = []
    for some in together:
        for title, (below, above) in view.presentation.pairs.items():
            if not any((name, one, other) in cells for name in (below, above) for one in some for other in some):
                continue
            rows: list[TableRow] = []
            for row, group in enumerate(some):
                lower = [cells.get((below, group, other), BLANK) for other in some[:row]]
                upper = [cells.get((above, group, other), BLANK) for other in some[row + 1 :]]
                hard = [cell if cell is BLANK else replace(cell, kind="score hard") for cell in upper]
                head = group_cell(group, some, view.pages)
                rows.append(TableRow(head, [*lower, _DIAGONAL, *hard]))
            settings = ", ".join(
                one_line(text, 60) for text in _telling(view.env, some[0], [other[0] for other in together])
            )
            caption = (
                f"Below the diagonal “{metrics[below].title}”, above it “{metrics[above].title}”: the row's model | "
                f"the column's. Small: the number of {items}, and the row's minus the column's with its {_INTERVAL} "
                f"over {view.presentation.clusters or items}, bold where the interval excludes 0. Blank: no {items} in "
                "common."
            )
            found.append(
                Table(
                    id=f"task-pairs-{len(found) + 1}",
                    title=f"{title} on the {items} that both answered",
                    caption=(Note(caption),),
                    columns=[Column(heading=name) for name in ("Model", *labels(some).values())],
                    groups=rows_of(rows),
                    kind="scores pairs",
                    summary=f"{title}, models in pairs" + (f" ({settings})" if settings else ""),
                    folded=len(some) > FOLDED,
                )
            )
    return found


def _pair_cell(one: Comparison, metric: Metric, view: TaskView) -> Cell:
    low, high = one.difference.low, one.difference.high
    certain = low is not None and high is not None and (low > 0 or high < 0)
    lines = [
        Note(plural(one.difference.n, view.presentation.item, view.presentation.items)),
        Note(change_text(one.difference.value, metric), "change certain" if certain else "change"),
    ]
    if low is not None and high is not None:
        lines.append(Note(f"{change_text(low, metric)} to {change_text(high, metric)}", "interval"))
    text = f"{mean_text(one.first_mean.value, metric)} | {mean_text(one.second_mean.value, metric)}"
    return Cell(text=text, bold=True, notes=tuple(lines), kind="score")


def _telling(env: Environment[Any, Any, Any], group: Group, among: Sequence[Group]) -> list[str]:
    """Return the settings of play and of the set that are not the same in all tables, in presentation."""
    names = {option.name for option in (*env.playing.options, *env.items.options)} | {"version", "key"}
    return [
        setting(name, value)
        for name, value in group.settings.items()
        if name in names and any(repr(other.settings.get(name)) != repr(value) for other in among)
    ]
