"""What a site has for programs and papers: frames of all episodes and scores, charts as files, a table for a README."""

from collections.abc import Iterator, Sequence
from importlib.resources import files as package_files
from itertools import chain

from jinja2 import Environment as Templates

from waybench.analysis import Estimate, Frame, Row, column_frame, episode_frame, score_frame
from waybench.report.charts import ChartFiles
from waybench.report.tables import Leaders, files, markdown

_SCHEMA = "summary.schema.json"


def exports(
    rows: Sequence[Row],
    estimates: Sequence[Sequence[Estimate]],
    more: Sequence[Frame],
    table: Leaders,
    charts: ChartFiles,
    templates: Templates,
) -> Iterator[tuple[str, str | bytes]]:
    """Yield names and contents of a site's files for programs, but for those of the charts.

    They are data/episodes.parquet and .csv (`episode_frame`), data/scores.parquet and .csv (`score_frame`), the same of
    other frames, data/columns.csv, which describes the columns of all, data/index.html, which does so for people, the
    JSON Schema of summary.json as data/summary.schema.json, charts/index.json, and table.md.

    Args:
        rows: The rows of all episodes.
        estimates: All estimates by level, and those over all levels.
        more: Other frames.
        table: The first page's table.
        charts: The charts that were drawn.
        templates: The site's templates.
    """
    frames = [episode_frame(rows), score_frame(list(chain.from_iterable(estimates))), *more]
    sizes: dict[str, int] = {}
    for frame in frames:
        made = files(frame)
        sizes |= {f"{frame.name}.parquet": len(made.parquet), f"{frame.name}.csv": len(made.csv)}
        yield f"data/{frame.name}.parquet", made.parquet
        yield f"data/{frame.name}.csv", made.csv
    described = column_frame(frames)
    yield f"data/{described.name}.csv", files(described).csv
    yield f"data/{_SCHEMA}", (package_files("waybench.report") / _SCHEMA).read_text(encoding="utf-8")
    yield "data/index.html", templates.get_template("data.html").render(frames=frames, sizes=sizes)
    yield charts.index()
    yield "table.md", markdown(table)
