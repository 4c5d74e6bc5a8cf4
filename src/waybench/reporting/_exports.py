"""The site's files for programs and papers: summary.json, frames, and a table for a README."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, cast

from jinja2.filters import do_filesizeformat

from waybench._version import __version__
from waybench.reporting._reading import with_model_facts
from waybench.reporting._site import Analyses, Site
from waybench.reporting.tables import Note, Table, TableCell, TableColumn
from waybench.reporting.tables._markdown import readme_table, table_to_markdown
from waybench.reporting.tables._matrix import matrix_table
from waybench.reporting.tables._table import value_notes
from waybench.results import Estimate, episode_frame, horizon_frame, score_frame
from waybench.results.comparisons._agent_effects import AgentEffect
from waybench.results.comparisons._comparison import effect_frame
from waybench.results.comparisons._contrasts import ContrastEffect
from waybench.results.comparisons._isomorphs import IsomorphEffect, TwinEffect
from waybench.results.comparisons._model_effects import SettingEffect
from waybench.results.comparisons._presentations import LanguageEffect
from waybench.results.comparisons._prompts import WordingEffect, wording_frame
from waybench.results.comparisons._trends import TrendEffect
from waybench.results.estimates._difficulty import spreads_over_sets
from waybench.results.estimates._ledger import ledger_frame
from waybench.results.estimates._matrix import SCALE
from waybench.results.estimates._model_pairs import COLUMNS as PAIR_COLUMNS
from waybench.results.estimates._model_pairs import PAIRS_DOC
from waybench.results.formatting import one_line, visible
from waybench.results.frames import Frame, column_frame, column_schema
from waybench.results.horizons import SHARES
from waybench.results.horizons._budgets import budget_frame
from waybench.results.published import published_frame
from waybench.results.results import RunKey
from waybench.results.stats import CONFIDENCE

SUMMARY_SCHEMA = 2
SCHEMA_FILE = "summary.schema.json"


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of the summary: definitions of effects from their columns, the rest from a file."""
    schema = json.loads((files("waybench.reporting") / SCHEMA_FILE).read_text(encoding="utf-8"))
    kinds = {
        "twin": TwinEffect.kind,
        "isomorphs": IsomorphEffect.kind,
        "agent_effect": AgentEffect.kind,
        "effect": SettingEffect.kind,
        "wordings": WordingEffect.kind,
        "languages": LanguageEffect.kind,
        "contrasts": ContrastEffect.kind,
        "trends": TrendEffect.kind,
    }
    effects = {name: column_schema(kind.doc, kind.columns) for name, kind in kinds.items()}
    for side in ("first", "second"):
        page = {"type": "string", "description": f"The page of the results with the {side} value, as in overall."}
        effects["effect"]["properties"][side] = page
        effects["effect"]["required"].append(side)
    schema["$defs"] |= effects | {"model_pair": column_schema(PAIRS_DOC, PAIR_COLUMNS)}
    return schema


def summary_json(title: str, site: Site, analyses: Analyses) -> str:
    """Return the summary as JSON, each of its keys and each record of a list on a line of its own."""

    def page_path(group: RunKey) -> str:
        return f"results/{site.pages[group]}"

    def page_paths(first: RunKey, second: RunKey) -> dict[str, Any]:
        return {"first": page_path(first), "second": page_path(second)}

    def estimate_records(results: Sequence[Estimate]) -> list[dict[str, Any]]:
        return [
            {**result.to_json(), "adaptive": result.group in site.searched_groups, "page": page_path(result.group)}
            for result in results
        ]

    def json_records(results: Iterable[Any]) -> list[dict[str, Any]]:
        return [result.to_json() for result in results]

    def horizon_records() -> Iterator[dict[str, Any]]:
        """Yield the horizons; the first one of a curve has its ratio to the leader's horizon."""
        for curve in analyses.curves:
            for horizon in curve.horizons:
                ratio = None
                if horizon.share == SHARES[0] and curve.ratio is not None and curve.leader is not None:
                    estimate = {"value": curve.ratio.value, "low": curve.ratio.low, "high": curve.ratio.high}
                    ratio = {"leader": page_path(curve.leader), **estimate, "p_adjusted": curve.p_adjusted}
                yield {**horizon.to_json(), "page": page_path(horizon.group), "ratio_to_leader": ratio}

    mean_names = "first_mean", "second_mean", "difference"
    summary = {
        "schema": SUMMARY_SCHEMA,
        "waybench": __version__,
        "title": title,
        "confidence": CONFIDENCE,
        "levels": estimate_records(site.estimates),
        "overall": estimate_records(site.totals),
        "skipped": [
            {"log": Path(skipped.log).name, "sample": skipped.sample or None, "error": skipped.error}
            for skipped in site.store.passed_over
        ],
        "changes": json_records(analyses.changes),
        "spreads": json_records(spreads_over_sets(site.estimates)),
        "attempt_spreads": json_records(analyses.attempts),
        "repeats": json_records(analyses.repeats),
        # There are many pairs, so models are named by their pages, as in "overall".
        "pairs": [
            {
                **page_paths(*pair.groups),
                "metric": pair.metric.name,
                **{name: asdict(getattr(pair, name)) for name in mean_names},
                "items": pair.difference.n,
            }
            for pair in analyses.pairs
        ],
        "regressions": json_records(analyses.regressions),
        "item_difficulty": json_records(analyses.difficulties),
        "horizons": list(horizon_records()),
        "wordings": json_records(analyses.wordings),
        "languages": json_records(analyses.languages),
        "contrasts": json_records(analyses.contrasts),
        "trends": json_records(analyses.trends),
        "decisions": [decision.summary for decision in site.decisions],
        "twins": json_records(analyses.twins),
        "isomorphs": json_records(analyses.isomorphs),
        "agent_effects": json_records(analyses.agent_effects),
        "agents": json_records(site.agents),
        "ledger": json_records(site.ledger),
        "effects": [{**page_paths(effect.first, effect.second), **effect.to_json()} for effect in site.effects],
        "comparisons": site.verdicts.to_json(site.pages),
        "failures": site.failed.to_json(site.pages),
        "matrix": site.matrix.to_json(),
        "model_pairs": json_records(site.matrix.pairs),
    }

    def compact_json(value: Any) -> str:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))

    def json_by_line(value: Any) -> str:
        """Return a list as JSON with one element a line, and any other value on one line."""
        lines = ",\n".join(map(compact_json, cast(list[Any], value))) if isinstance(value, list) else ""
        return f"[\n{lines}\n]" if lines else compact_json(value)

    return "{\n" + ",\n".join(f"{compact_json(key)}:{json_by_line(value)}" for key, value in summary.items()) + "\n}\n"


# Spreadsheets take a cell that begins with one of these for a formula, also in the wide forms of the signs. Texts that
# begin with an apostrophe get another one, so that removing the first one always restores the text.
_FORMULA = re.compile("['=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


class Files(NamedTuple):
    """A frame as files: the contents of a Parquet file and of a CSV file."""

    parquet: bytes
    csv: bytes


def frame_files(frame: Frame) -> Files:
    """Return a frame as Parquet and as CSV, both written in batches of rows.

    Parquet has the frame's table as it is, with its metadata (`Frame.table`).

    CSV is UTF-8 with one line of names, texts in quotation marks, and nothing at all for null. A text that begins with
    = + - @, a tab, a line break or an apostrophe has an apostrophe before it, so that no spreadsheet takes it for a
    formula, and invisible characters are written out. Numbers and truth values are unchanged.
    """
    pyarrow: Any = import_module("pyarrow")  # it has no types
    schema = frame.table.schema
    csv_schema = pyarrow.schema([(safe_csv_text(field.name), field.type) for field in schema])
    parquet, csv = BytesIO(), BytesIO()
    with (
        import_module("pyarrow.parquet").ParquetWriter(parquet, schema) as parquet_writer,
        import_module("pyarrow.csv").CSVWriter(csv, csv_schema) as csv_writer,
    ):
        for batch in frame.table.to_batches():
            parquet_writer.write_batch(batch)
            csv_arrays = [_csv_array(pyarrow, array) for array in batch.columns]
            csv_writer.write(pyarrow.record_batch(csv_arrays, schema=csv_schema))
    return Files(parquet.getvalue(), csv.getvalue())


def _csv_array(pyarrow: Any, array: Any) -> Any:
    """Return an Arrow array whose texts are safe in a spreadsheet (see `safe_csv_text`)."""
    if array.type != pyarrow.string():
        return array
    encoded = array.dictionary_encode()  # each different text is checked once
    safe_texts = [safe_csv_text(text) for text in encoded.dictionary.to_pylist()]
    return pyarrow.array(safe_texts, pyarrow.string()).take(encoded.indices)


def safe_csv_text(text: str) -> str:
    """Return a text with invisible characters shown, and "'" before what a spreadsheet would take for a formula."""
    safe = visible(text)
    return f"'{safe}" if _FORMULA.match(safe) else safe


def data_files(site: Site, analyses: Analyses) -> Iterator[tuple[str, str | bytes]]:
    """Yield the names and contents of a site's files for programs, without charts and summary.

    They are data/episodes.parquet and .csv (`episode_frame`), data/scores.parquet and .csv (`score_frame`), the same of
    other frames, data/columns.csv and data/index.html, which describe all columns for programs and for people, the JSON
    Schema of summary.json as data/summary.schema.json, and table.md.
    """
    frames = [
        episode_frame(site.store.rows),
        score_frame([*site.estimates, *site.totals]),
        horizon_frame([horizon for curve in analyses.curves for horizon in curve.horizons]),
        budget_frame(analyses.budgets),
        ledger_frame(site.ledger),
        effect_frame(SettingEffect.kind, site.effects),
        wording_frame(analyses.wordings),
        effect_frame(LanguageEffect.kind, analyses.languages),
        effect_frame(ContrastEffect.kind, analyses.contrasts),
        effect_frame(TwinEffect.kind, analyses.twins),
        effect_frame(IsomorphEffect.kind, analyses.isomorphs),
        *([effect_frame(TrendEffect.kind, analyses.trends)] if site.facts else []),
        *([published_frame(site.published)] if site.published else []),
    ]
    frames = [with_model_facts(frame, site.facts) for frame in frames]
    sizes: dict[str, int] = {}
    for frame in frames:
        for name, content in zip(_frame_file_names(frame), frame_files(frame), strict=True):
            sizes[name] = len(content)
            yield f"data/{name}", content
    columns = column_frame(frames)
    yield f"data/{columns.name}.csv", frame_files(columns).csv
    yield f"data/{SCHEMA_FILE}", json.dumps(summary_schema(), indent=2)
    tables = [_file_table(frames, sizes), *map(_column_table, frames)]
    yield "data/index.html", site.templates.get_template("data.html").render(tables=tables)
    normalized = matrix_table(site.matrix, {}, site.pages, site.model_pages)
    normalized_text = f"\n{SCALE}\n\n{table_to_markdown(normalized)}\n" if normalized.groups else ""
    yield "table.md", readme_table(site.leaders(analyses)) + normalized_text


def _frame_file_names(frame: Frame) -> tuple[str, str]:
    """Return the names of a frame's files: Parquet and CSV."""
    return f"{frame.name}.parquet", f"{frame.name}.csv"


def _file_table(frames: Sequence[Frame], sizes: Mapping[str, int]) -> Table:
    """Return the table of files for programs; `sizes` has the bytes of the frames' files."""
    rows = [
        (
            [f"data/{name}" for name in _frame_file_names(frame)],
            frame.doc if frame.table.num_rows else f"{frame.doc} No rows here.",
        )
        for frame in frames
    ]
    rows += [
        (["data/columns.csv"], "The descriptions of all columns below, as a table."),
        (["summary.json", f"data/{SCHEMA_FILE}"], "All estimates and comparisons as JSON, and its JSON Schema."),
        (["table.md"], "Models by task and normalised scores by family in Markdown, for a README."),
        (
            ["charts/index.json"],
            "The list of all charts with their captions. Each chart is in the same folder as NAME.svg and "
            "NAME.json, its Vega-Lite specification with the data, and as NAME.png after waybench report --png.",
        ),
    ]

    def file_links_cell(paths: Sequence[str]) -> TableCell:
        lines: list[Note] = []
        for path in paths:
            name = path.removeprefix("data/")
            lines += (Note(name, link=path), *value_notes([do_filesizeformat(sizes[name])] if name in sizes else []))
        return TableCell(lines[0].text, link=lines[0].link, notes=tuple(lines[1:]))

    columns: list[TableColumn[tuple[list[str], str]]] = [
        TableColumn("File", lambda row: file_links_cell(row[0])),
        TableColumn("Contents", lambda row: TableCell(row[1], kind="words")),
    ]
    return Table.from_columns(columns, rows, id="files", title="Files", kind="prose files")


def _column_table(frame: Frame) -> Table:
    """Return the descriptions of a frame's columns."""

    def description_cell(column: Any) -> TableCell:
        # A column that means something else in each environment has a line for each meaning.
        lines = (
            Note(f"{', '.join(meaning.env for meaning in meanings)}: {text}") for text, meanings in column.descriptions
        )
        return TableCell(column.doc, notes=tuple(lines), kind="words")

    columns: list[TableColumn[Any]] = [
        TableColumn("Column", lambda column: TableCell(one_line(column.name, 60), kind="code")),
        TableColumn("Type", lambda column: column.kind),
        TableColumn("Unit", lambda column: column.unit),
        TableColumn("Description", description_cell),
    ]
    return Table.from_columns(
        columns,
        frame.schema,
        id=frame.name,
        title=f"Columns of {frame.name}",
        caption=(Note(frame.doc),),
        kind="prose",
        summary=f"Columns of {frame.name} ({len(frame.schema)})",
        folded=True,
    )
