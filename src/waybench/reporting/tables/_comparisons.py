"""Tables of comparisons: models two by two, wordings, and values of a setting, all in one form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from waybench.analysis.comparisons import (
    EFFECT,
    NO_EFFECT,
    UNCLEAR,
    Comparison,
    Pair,
    SettingEffect,
    Verdict,
    WordingEffect,
    comparison_cells,
    difference_text,
    matched,
    p_text,
)
from waybench.analysis.formatting import NOTHING, change_text, mean_text, one_line
from waybench.analysis.results import Group, differing, labels, setting
from waybench.core import Environment, Metric, Presentation, plural
from waybench.envs import registry
from waybench.reporting._format import amount, interval_text, part
from waybench.stats import ALPHA, Mean

FOLDED = 12  # rows, above which a table is folded
_VERDICTS = {EFFECT: "tokens differ", NO_EFFECT: "no effect seen", UNCLEAR: "cannot tell"}
_BLANK = "blank"
_DIAGONAL = "score diagonal"


class Cell(NamedTuple):
    """A cell, or the head of a row.

    Attributes:
        text: Its text.
        notes: Smaller lines below it, each with its CSS class.
        kind: Its CSS classes.
        page: File name of the page of results that it links to; "" for none.
        part: How good it is between the metric's bounds, from 0 to 1; None if it has none.
    """

    text: str
    notes: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    page: str = ""
    part: float | None = None


class Line(NamedTuple):
    """A row.

    Attributes:
        head: Its head; None where an earlier row's head is for this one, too.
        cells: The cells.
        span: Number of rows that the head is for.
    """

    head: Cell | None
    cells: Sequence[Cell]
    span: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """A table of comparisons.

    Attributes:
        kind: Its CSS classes.
        heads: The heads of its columns.
        bodies: Its rows, those that belong together in one body.
        metric: The metric of the column `metric_column`, which says whether higher or lower is better.
        metric_column: That column's number; -1 if there is none.
        title: What is compared, where that depends on the results.
        settings: What distinguishes it from other tables of this title, in presentation.
        metrics: The metrics below and above the diagonal of a table of pairs.
        folded: Whether it is folded at first.
    """

    kind: str
    heads: Sequence[Cell]
    bodies: Sequence[Sequence[Line]]
    metric: Metric | None = None
    metric_column: int = -1
    title: str = ""
    settings: Sequence[str] = ()
    metrics: Sequence[Metric] = field(default_factory=list[Metric])
    folded: bool = False


def model_table(found: Iterable[Pair], names: Mapping[Group, str], items: str) -> ComparisonTable:
    """Return the table of comparisons of models two by two.

    Args:
        found: The comparisons.
        names: The models' names.
        items: What items are called.
    """
    lines: list[Line] = []
    for first, second, one in found:
        count, mine, theirs, difference, interval, p, verdict = comparison_cells(one)
        kind = "name certain" if one.verdict in (Verdict.FIRST, Verdict.SECOND) else "name"
        cells = [Cell(names[second], kind="name"), *map(Cell, (count, mine, theirs))]
        cells += [Cell(difference, (("", interval),)), Cell(p), Cell(verdict, kind=kind)]
        lines.append(Line(Cell(names[first]), cells))
    heads = _heads("A", "*B", items.capitalize(), "A: mean", "B: mean", "A − B", "p", "*Verdict")
    return ComparisonTable(kind="judged", heads=heads, bodies=[lines])


def setting_table(found: Iterable[SettingEffect], pages: Mapping[Group, str]) -> ComparisonTable | None:
    """Return the table of the effects of settings; None if there are none.

    Args:
        found: The effects.
        pages: File names of the groups' pages.
    """
    lines = [
        Line(
            Cell(_name(each.first.model), (("", registry.load(each.first.env).title),)),
            [
                *(
                    Cell(one_line(value, 60), kind="name", page=pages[group])
                    for value, group in zip(each.values, (each.first, each.second), strict=True)
                ),
                Cell(amount(each.items)),
                Cell(amount(each.same)),
                Cell(each.change_text.replace(" tokens differ by", "") or NOTHING),
                Cell(p_text(each.adjusted)),
                Cell(_VERDICTS[each.verdict], kind="flag" if each.verdict == NO_EFFECT else ""),
            ],
        )
        for each in found
    ]
    heads = _heads("Model", "*First", "*Second", "Items", "Same replies", "Tokens of the second", "p", "Verdict")
    return ComparisonTable(kind="effects", heads=heads, bodies=[lines]) if lines else None


def wording_table(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    found: Sequence[WordingEffect],
    pages: Mapping[Group, str],
) -> ComparisonTable | None:
    """Return the table of the effects of wordings, models before embedded players; None if there are none.

    Args:
        env: The environment.
        presentation: What is known of its family.
        found: The effects.
        pages: File names of the groups' pages.
    """
    metric, groups = env.metrics[0], [each.group for each in found]

    def score(mean: Mean) -> Cell:
        notes = [("interval", text)] if (text := interval_text(mean, metric)) else []
        return Cell(mean_text(mean.value, metric), tuple(notes), "score", part=part(mean.value, metric))

    bodies: list[list[Line]] = []
    for each in sorted(found, key=lambda each: each.group.embedded):
        counts = plural(each.items, presentation.item, presentation.items)
        if each.left_out:
            counts += f"; {amount(each.left_out)} asked in some wordings only, left out"
        notes = [*differing(each.group, groups), counts, f"range {mean_text(each.spread, metric)}"]
        head: Cell | None = Cell(_name(each.group.model), tuple(("", one_line(note, 120)) for note in notes))
        lines: list[Line] = []
        for one in each.wordings:
            flags = [("", "others are compared with it")] if one.name == each.reference else []
            flags += [("flag", plural(one.errors, "infrastructure error"))] if one.errors else []
            certain = one.adjusted is not None and one.adjusted < ALPHA
            cells = [
                Cell(one_line(one.name, 60), tuple(flags), "name", pages[one.group]),
                score(one.mean),
                Cell(
                    difference_text(one.difference, metric) if one.difference else "", kind="certain" if certain else ""
                ),
                Cell(p_text(one.adjusted) if one.difference else ""),
            ]
            lines.append(Line(head, cells, len(each.wordings) + 1))
            head = None
        worst = Cell(f"the worst at each {presentation.item}", kind="name")
        bodies.append([*lines, Line(None, [worst, score(each.worst_of_items), Cell(""), Cell("")])])
    heads = _heads("Model", "*Wording", "", "Difference", "p")
    kind = "scores wordings"
    return ComparisonTable(kind=kind, heads=heads, bodies=bodies, metric=metric, metric_column=2) if bodies else None


def pair_tables(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    ordered: Sequence[Group],
    pairs: Iterable[Pair],
    pages: Mapping[Group, str],
) -> list[ComparisonTable]:
    """Return the tables of an environment's models in pairs, as MANGO prints them (Tables 1, 9, 11 and 12).

    Args:
        env: The environment.
        presentation: What is known of its family.
        ordered: Its groups, the best one first.
        pairs: The pairs.
        pages: File names of the groups' pages.
    """
    cells: dict[tuple[str, Group, Group], Cell] = {}
    metrics = {metric.name: metric for metric in env.metrics}
    for first, second, one in pairs:
        metric = metrics[one.metric.name]
        cells[metric.name, first, second] = _pair_cell(one, metric, presentation)
        cells[metric.name, second, first] = _pair_cell(one.swapped, metric, presentation)
    together = [some for some in matched(ordered) if len(some) > 1]
    found: list[ComparisonTable] = []
    for some in together:
        for title, (below, above) in presentation.pairs.items():
            if not any((name, one, other) in cells for name in (below, above) for one in some for other in some):
                continue
            lines: list[Line] = []
            for row, group in enumerate(some):
                notes = tuple(("", one_line(text, 60)) for text in differing(group, some))
                own = [cells.get((below if column < row else above, group, other)) for column, other in enumerate(some)]
                shown = [
                    Cell("*", kind=_DIAGONAL)
                    if column == row
                    else Cell("", kind=_BLANK)
                    if cell is None
                    else cell._replace(kind="score hard" if column > row else "score")
                    for column, cell in enumerate(own)
                ]
                lines.append(Line(Cell(_name(group.model), notes, page=pages[group]), shown))
            found.append(
                ComparisonTable(
                    kind="scores pairs",
                    heads=_heads("Model", *labels(some).values()),
                    bodies=[lines],
                    title=title,
                    settings=_telling(env, some[0], [other[0] for other in together]),
                    metrics=[metrics[below], metrics[above]],
                    folded=len(some) > FOLDED,
                )
            )
    return found


def _pair_cell(one: Comparison, metric: Metric, presentation: Presentation) -> Cell:
    low, high = one.difference.low, one.difference.high
    certain = low is not None and high is not None and (low > 0 or high < 0)
    notes = [
        ("", plural(one.difference.n, presentation.item, presentation.items)),
        ("change certain" if certain else "change", change_text(one.difference.value, metric)),
    ]
    if low is not None and high is not None:
        notes.append(("interval", f"{change_text(low, metric)} to {change_text(high, metric)}"))
    return Cell(f"{mean_text(one.first_mean.value, metric)} | {mean_text(one.second_mean.value, metric)}", tuple(notes))


def _telling(env: Environment[Any, Any, Any], group: Group, among: Sequence[Group]) -> list[str]:
    """Return the settings of play and of the set that are not the same in all tables, in presentation."""
    names = {option.name for option in (*env.options, *env.source_options)} | {"version", "key"}
    return [
        setting(name, value)
        for name, value in group.settings.items()
        if name in names and any(repr(other.settings.get(name)) != repr(value) for other in among)
    ]


def _name(model: str) -> str:
    return one_line(model, 80) or "(no name)"


def _heads(*names: str) -> list[Cell]:
    """Return heads of columns; those that begin with a star are columns of names."""
    return [Cell(name.removeprefix("*"), kind="name" if name.startswith("*") else "") for name in names]
