"""The first page of a leaderboard, which leads to reports and verdicts in folders beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from waybench.reporting._files import Folder, slug
from waybench.reporting._site import page_name
from waybench.reporting._templates import assets, templates
from waybench.reporting.tables import Table, matrix_table
from waybench.results import Row
from waybench.results.estimates import Matrix, matrix


class BoardTable(NamedTuple):
    """A table of a leaderboard.

    Attributes:
        table: The table.
        root: The folder that its links are from, as "report/"; "" for the leaderboard's own.
    """

    table: Table
    root: str = ""


class BoardSection(NamedTuple):
    """A section of a leaderboard's first page.

    Attributes:
        title: Its heading.
        lead: What it begins with.
        tables: Its tables.
        links: Texts and addresses of pages that belong to it.
    """

    title: str
    lead: str
    tables: Sequence[BoardTable]
    links: Sequence[tuple[str, str]] = ()


def model_page(model: str) -> str:
    """Return the page of a model in a report, from the report's root."""
    return f"models/{slug(model, model)}.html"


def report_matrix(rows: Sequence[Row]) -> tuple[Matrix, Table]:
    """Return the matrix of models by families of a report, with links from the report's root.

    Args:
        rows: The report's rows (`Report.rows`).
    """
    found = matrix(rows)
    pages = {row.group: page_name(row.group) for row in rows}
    models = {group.model: model_page(group.model).removeprefix("models/") for group in pages}
    return found, matrix_table(found, {}, pages, models)


def write_board(
    out: Path, title: str, lead: str, sections: Sequence[BoardSection], files: Mapping[str, str | bytes]
) -> Path:
    """Write the first page of a leaderboard, and files that belong to it.

    Args:
        out: The folder.
        title: The leaderboard's title.
        lead: What it is about.
        sections: Its sections.
        files: Other files: "verdicts/..." or "data/..." -> content.

    Returns:
        The page.

    Raises:
        UsageError: If the folder cannot be written.
    """
    folder = Folder(out)
    for name, content in assets():
        if name.endswith(".css"):
            folder.write(name, content)
    for name, content in files.items():
        folder.write(name, content)
    page = templates(title).get_template("board.html").render(lead=lead, sections=sections)
    folder.write("index.html", page)
    folder.finish()
    return out / "index.html"


def remove_report(out: Path) -> None:
    """Remove an earlier report from a folder."""
    Folder(out).remove()
