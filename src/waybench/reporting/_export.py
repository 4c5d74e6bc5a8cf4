"""The site's files for programs and papers: frames of episodes and scores, chart files, a table for a README."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from jinja2 import Environment as Templates
from jinja2.filters import do_filesizeformat

from waybench.reporting._model_facts import ModelFacts, with_models
from waybench.reporting._summary import SCHEMA_FILE, summary_schema
from waybench.reporting.tables import (
    Cell,
    Leaders,
    Note,
    Table,
    TableRow,
    columns_of,
    files,
    notes,
    readme_table,
    rows_of,
)
from waybench.results import Estimate, Row, episode_frame, score_frame
from waybench.results.formatting import one_line
from waybench.results.frames import Frame, column_frame


def exports(
    rows: Sequence[Row],
    estimates: Sequence[Sequence[Estimate]],
    more: Sequence[Frame],
    table: Leaders,
    templates: Templates,
    models: Mapping[str, ModelFacts],
) -> Iterator[tuple[str, str | bytes]]:
    """Yield names and contents of a site's files for programs, but for those of the charts.

    They are data/episodes.parquet and .csv (`episode_frame`), data/scores.parquet and .csv (`score_frame`), the same of
    other frames, data/columns.csv, which describes the columns of all, data/index.html, which does so for people, the
    JSON Schema of summary.json as data/summary.schema.json, and table.md.

    Args:
        rows: The rows of all episodes.
        estimates: All estimates by level, and those over all levels.
        more: Other frames.
        table: The first page's table.
        templates: The site's templates.
        models: What is known of models, which becomes columns.
    """
    listed = [episode_frame(rows), score_frame(list(chain.from_iterable(estimates))), *more]
    frames = [with_models(frame, models) for frame in listed]
    sizes: dict[str, int] = {}
    for frame in frames:
        for name, content in zip(_names(frame), files(frame), strict=True):
            sizes[name] = len(content)
            yield f"data/{name}", content
    described = column_frame(frames)
    yield f"data/{described.name}.csv", files(described).csv
    yield f"data/{SCHEMA_FILE}", json.dumps(summary_schema(), indent=2)
    tables = [_file_table(frames, sizes), *map(_column_table, frames)]
    yield "data/index.html", templates.get_template("data.html").render(tables=tables)
    yield "table.md", readme_table(table)


def _names(frame: Frame) -> tuple[str, str]:
    """Return the names of a frame's files: Parquet and CSV."""
    return f"{frame.name}.parquet", f"{frame.name}.csv"


def _file_table(frames: Sequence[Frame], sizes: Mapping[str, int]) -> Table:
    """Return the list of files.

    Args:
        frames: The frames, each of which is two files.
        sizes: The size of each of these, in bytes.
    """
    listed = [([f"data/{name}" for name in _names(frame)], frame.doc) for frame in frames]
    listed += [
        (["data/columns.csv"], "The descriptions of all columns below, as a table."),
        (["summary.json", f"data/{SCHEMA_FILE}"], "All estimates and comparisons as JSON, and its JSON Schema."),
        (["table.md"], "The first page’s table in Markdown, models by task, for a README."),
        (
            ["charts/index.json"],
            "The list of all charts with their captions. Each chart is in the same folder as NAME.svg and "
            "NAME.json, its Vega-Lite specification with the data, and with `waybench report --png` as NAME.png.",
        ),
    ]
    rows = [TableRow(_files_cell(paths, sizes), [Cell(text=doc, kind="words")]) for paths, doc in listed]
    return Table(
        id="files", title="Files", columns=columns_of("File", "Contents"), groups=rows_of(rows), kind="prose files"
    )


def _files_cell(paths: Sequence[str], sizes: Mapping[str, int]) -> Cell:
    links = [Note(path.removeprefix("data/"), link=path) for path in paths]
    lines = [
        note
        for link in links
        for note in (link, *notes([do_filesizeformat(sizes[link.text]) if link.text in sizes else ""]))
    ]
    return Cell(text=lines[0].text, link=lines[0].link, notes=tuple(lines[1:]))


def _column_table(frame: Frame) -> Table:
    """Return the descriptions of a frame's columns."""
    rows = [
        TableRow(
            Cell(text=one_line(fact.name, 60), kind="code"),
            [
                Cell(text=fact.kind),
                Cell(text=fact.unit),
                Cell(
                    text=fact.doc,
                    notes=tuple(
                        Note(f"{', '.join(each.env for each in meanings)}: {text}")
                        for text, meanings in fact.descriptions
                    ),
                    kind="words",
                ),
            ],
        )
        for fact in frame.schema
    ]
    return Table(
        id=frame.name,
        title=f"Columns of {frame.name}",
        caption=(Note(frame.doc),),
        columns=columns_of("Column", "Type", "Unit", "Description"),
        groups=rows_of(rows),
        kind="prose",
    )
