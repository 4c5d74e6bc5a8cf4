"""The one table of the report: what its template and its Markdown make of columns, rows and cells."""

import re
from importlib.resources import files
from typing import Any, cast

import pytest
from jinja2 import Template

from tests.report.pages import Page
from waybench.core import Metric
from waybench.reporting._files import make_templates
from waybench.reporting.tables import Note, Table, TableCell, TableColumn, TableRow, single_group
from waybench.reporting.tables._markdown import table_to_markdown
from waybench.reporting.tables._table import BLANK, HeaderGroup, RowGroup, mean_cell
from waybench.results.stats import IntervalEstimate

# The tables of two models side by side, which a script fills.
OTHERS = {"compare.html"}


def html(table: Table, root: str = "../") -> str:
    module = cast(Any, cast(Template, make_templates("A site").get_template("table.html")).module)
    made = str(module.table(table, root))
    assert Page(made).problems == []
    return made


def small(*rows: TableRow, **values: Any) -> Table:
    columns = [TableColumn("Model"), TableColumn("Score")]
    return Table(**{"id": "t", "title": "A table", "columns": columns, "groups": single_group(rows), **values})


def test_header_groups_span_their_columns_and_others_span_both_rows() -> None:
    replies, means = HeaderGroup("% of replies"), HeaderGroup("Mean", link="tasks/x.html", kind="first")
    columns = [
        TableColumn("Model"),
        TableColumn("Unparsed", group=replies),
        TableColumn("Illegal", group=replies),
        TableColumn("Tokens", group=means),
        TableColumn("Errors"),
    ]
    head = re.sub(r"\s*\n\s*", "", html(small(columns=columns)).partition("</thead>")[0].partition("<thead>")[2])
    assert head == (
        '<tr><th scope="col" rowspan="2">Model</th><th scope="colgroup" colspan="2">% of replies</th>'
        '<th scope="colgroup" colspan="1" class="first"><a href="../tasks/x.html">Mean</a></th>'
        '<th scope="col" rowspan="2">Errors</th></tr>'
        '<tr><th scope="col">Unparsed</th><th scope="col">Illegal</th><th scope="col">Tokens</th></tr>'
    )


def test_a_cell_has_its_link_tooltip_class_shade_and_lines() -> None:
    cell = TableCell(
        text="66.7",
        bold=True,
        link="results/a.html",
        mark="*",
        notes=(Note("60.0 – 70.0", "interval"), Note("+1", "change", spoken="better by 1"), Note("a", link="#b")),
        part=0.667,
        title="3 mazes",
        kind="score",
    )
    made = html(small(TableRow(TableCell(text="vendor/model", notes=(Note("wording: ascii"),)), [cell])))
    assert (
        '<tr><th scope="row">vendor/<wbr>model<small>wording: ascii</small></th>'
        '<td class="score" title="3 mazes" style="--part:0.667"><b><a href="../results/a.html">66.7</a>'
        '<span class="flag">*</span></b><small class="interval">60.0 – 70.0</small>'
        '<small class="change"><span aria-hidden="true">+1</span><span class="unseen">better by 1</span></small>'
        '<small><a href="#b">a</a></small></td></tr>'
    ) in made
    assert "data-" not in made
    cause = Note("stopping short 40.0 %", "cause", title="It ended early", value="2")
    made = html(small(TableRow(TableCell(text="m"), [TableCell(text="a/b", notes=(cause,))])))
    assert '<td>a/b<small class="cause" title="It ended early"><b>2</b> stopping short 40.0 %</small></td>' in made


def test_what_a_cell_says_is_escaped() -> None:
    hostile = '"><script>x</script>'
    row = TableRow(
        TableCell(text=hostile), [TableCell(text=hostile, title=hostile, notes=(Note(hostile, title=hostile),))]
    )
    made = html(small(row, title=hostile, caption=(Note(hostile),), choose="Family"))
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 8  # title, its search, caption, header; and of the cell text, note, tooltips


def test_a_sortable_table_names_what_each_cell_is_sorted_by() -> None:
    row = TableRow(TableCell(text="m", order="m"), [TableCell(text="–")], choice="Mazes")
    made = html(
        small(row, TableRow(TableCell(text="n", order="n"), [TableCell(text="0", order=0)]), choose="Family", id="all")
    )
    assert '<table class="" id="all" data-sortable data-choose="Family" data-search="A table">' in made
    assert 'aria-labelledby="all-title"' in made
    assert '<b id="all-title">A table.</b>' in made
    assert '<tr data-family="Mazes"><th scope="row" data-order="m">m</th><td data-order="">–</td></tr>' in made
    assert '<td data-order="0">0</td>' in made


def test_a_column_has_an_arrow_a_tooltip_and_lines() -> None:
    column = TableColumn("Tokens\nin", better="lower", help="All of them", kind="name", notes=(Note("x"),))
    made = html(small(columns=[TableColumn("Model"), column]))
    assert '<th scope="col" class="name" title="All of them">Tokens<br>in\xa0<span role="img"' in made
    assert 'aria-label="lower is better"' in made
    assert ">↓</span><small>x</small></th>" in made


def test_captions_and_folds() -> None:
    made = html(small(caption=(Note("Means."), Note("*", "flag"), Note("Some.")), help=(Note("Why."),), title="Why?"))
    assert '<b id="t">Why?</b> Means. <span class="flag">*</span> Some. <details class="meaning">' in made
    assert '<details class="fold"' not in made
    assert '<details class="fold" open>\n<summary>More</summary>' in html(small(summary="More"))
    assert '<details class="fold">\n<summary>More</summary>' in html(small(summary="More", folded=True))


def test_reference_players_come_after_models_below_a_title_of_theirs() -> None:
    columns: list[TableColumn[str]] = [TableColumn("Model", str), TableColumn("Score", lambda name: BLANK)]

    def table_of(*names: str) -> Table:
        return Table.from_columns(columns, names, is_reference=lambda name: name == "oracle", id="t", title="A table")

    table = table_of("oracle", "model")
    assert [row.head.text for row in table.rows] == ["model", "oracle"]
    made = html(table)
    title = '<tr><th scope="rowgroup" colspan="2"><span>Reference players, not models</span></th></tr>'
    assert made.index("model</th>") < made.index('<tbody class="references">') < made.index(title)
    assert made.index(title) < made.index("oracle</th>")
    assert [group.title for group in table_of("model").groups] == [""]
    assert '<td colspan="3"' in html(small(TableRow(TableCell(text="m"), [TableCell(text="none", columns=3)])))


def test_a_table_has_the_columns_that_are_shown_and_cells_may_span_several() -> None:
    columns: list[TableColumn[int]] = [
        TableColumn("Number", str),
        TableColumn("Hidden", str, is_shown=False),
        TableColumn("Double", lambda number: TableCell("none", columns=2) if number < 0 else str(2 * number)),
        TableColumn("Square", lambda number: TableCell(str(number**2), kind="score")),
    ]
    table = Table.from_columns(columns, [3, -1], title="Numbers", row_kind=lambda number: "low" if number < 0 else "")
    assert [column.heading for column in table.columns] == ["Number", "Double", "Square"]
    rows = [(row.head.text, [cell.text for cell in row.cells], row.kind) for row in table.rows]
    assert rows == [("3", ["6", "9"], ""), ("-1", ["none"], "low")]


def test_rows_of_a_group_may_share_a_header() -> None:
    rows = [
        TableRow(TableCell(text="a/b", kind="name"), [TableCell(text="1")]),
        TableRow(TableCell(text="worst"), [TableCell(text="0")]),
    ]
    groups = [RowGroup(rows, head=TableCell(text="v/m")), RowGroup(rows[1:], head=TableCell(text="n"))]
    made = html(small(columns=[TableColumn(each) for each in ("Model", "Wording", "Score")], groups=groups))
    assert '<tr><th scope="rowgroup" rowspan="2">v/<wbr>m</th><td class="name">a/<wbr>b</td><td>1</td></tr>' in made
    assert "<tr><td>worst</td><td>0</td></tr>" in made
    assert '<tr><th scope="rowgroup">n</th><td>worst</td><td>0</td></tr>' in made


def test_a_hidden_value_is_not_for_screen_readers() -> None:
    assert '<td><span aria-hidden="true">*</span></td>' in html(
        small(TableRow(BLANK, [TableCell(text="*", hidden=True)]))
    )


def test_a_mean_that_is_not_defined_is_a_dash() -> None:
    metric = Metric(name="m", of=lambda record: None, title="M", low=0, high=10, doc="A metric.", better="higher")
    known = mean_cell(IntervalEstimate(5.0, 4.0, 6.0, 9, 9), metric)
    assert (known.part, known.kind, [note.kind for note in known.notes]) == (0.5, "score", ["interval"])
    few, alike = (mean_cell(IntervalEstimate(5.0, None, None, n, n), metric) for n in (5, 6))
    assert ([note.text for note in few.notes], alike.notes) == (["n = 5"], ())
    unknown = mean_cell(None, metric)
    assert (unknown.text, unknown.part, unknown.notes) == ("–", None, ())


def test_markdown_has_lines_in_brackets_and_marks_after_them() -> None:
    table = small(
        TableRow(
            TableCell(text="vendor|a", notes=(Note("x: 1"), Note("y: 2"))),
            [TableCell(text="0.5", notes=(Note("0.4 – 0.6"),), mark="*†")],
        ),
        TableRow(TableCell(text="oracle", kind="reference"), [BLANK]),
        TableRow(TableCell(text="last"), [TableCell(text="n/a")]),
        columns=[TableColumn("Model"), TableColumn("Mazes: [score]")],
    )
    assert table_to_markdown(table).splitlines() == [
        r"| Model | Mazes: \[score\] |",
        "| :-- | --: |",
        r"| vendor&#124;a (x: 1, y: 2) | 0.5 (0.4 – 0.6) \*† |",
        "| last | n/a |",
    ]


def test_markdown_of_a_wide_table_goes_on_in_another_one() -> None:
    columns = [TableColumn("Model"), *(TableColumn(str(number)) for number in range(8))]
    rows = [
        TableRow(TableCell(text="all"), [TableCell(text="a")] * 8),
        TableRow(TableCell(text="few"), [TableCell(text="b")] * 6 + [BLANK] * 2),
    ]
    first, second = table_to_markdown(small(columns=columns, groups=(RowGroup(rows[:1]), RowGroup(rows[1:])))).split(
        "\n\n"
    )
    assert first.splitlines()[0] == "| Model | 0 | 1 | 2 | 3 | 4 | 5 |"
    assert [line.split(" | ")[0] for line in first.splitlines()[2:]] == ["| all", "| few"]
    assert second.splitlines() == ["| Model | 6 | 7 |", "| :-- | --: | --: |", "| all | a | a |"]


def test_one_template_renders_the_tables() -> None:
    folder = files("waybench.reporting") / "templates"
    pages = [one for one in folder.iterdir() if one.name.endswith(".html")]
    assert {one.name for one in pages if "<table" in one.read_text(encoding="utf-8")} == {"table.html", *OTHERS}


@pytest.mark.parametrize(("columns", "expected"), [(2, ""), (3, "stacks"), (15, "stacks"), (16, "stacked")])
def test_rows_of_wide_tables_are_cards_with_labelled_values(columns: int, expected: str) -> None:
    group = HeaderGroup("Mazes")
    table = Table(
        title="Scores",
        columns=[
            TableColumn("Model"),
            *(TableColumn(f"level {number}", group=group) for number in range(1, columns)),
        ],
        groups=single_group(
            [TableRow(TableCell(text="m"), [TableCell(text=str(number)) for number in range(1, columns)])]
        ),
        kind="scores",
    )
    assert table.stacking == expected
    made = html(table)
    labels = re.findall(r'<td data-label="([^"]*)">(\d+)</td>', made)
    assert labels == [(f"Mazes, level {number}", str(number)) for number in range(1, columns) if expected]
    assert f'<table class="{f"scores {expected}".strip()}"' in made
