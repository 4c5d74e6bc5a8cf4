"""The papers by name."""

from collections.abc import Callable, Mapping
from typing import Any

from waybench._package_data import read_toml
from waybench.core import UsageError, unknown
from waybench.papers._load import read_paper
from waybench.papers._paper import Paper, PaperTable

PAPERS: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "aliciabench": lambda: read_toml(__file__, "aliciabench.toml"),
    "aqa": lambda: read_toml(__file__, "aqa.toml"),
    "mango": lambda: read_toml(__file__, "mango.toml"),
    "gtb": lambda: read_toml(__file__, "gtb.toml"),
    "smartplay": lambda: read_toml(__file__, "smartplay.toml"),
}


def find_paper(name: str) -> Paper:
    """Return a paper.

    Raises:
        UsageError: If there is none of this name.
    """
    if name not in PAPERS:
        raise UsageError(unknown("paper", name, PAPERS))
    return read_paper(name, PAPERS[name]())


def find_table(paper: Paper, name: str) -> PaperTable:
    """Return a table or figure of a paper; "Table 3" is the same as "table-3".

    Raises:
        UsageError: If it has none of this name.
    """
    known = {table.id: table for table in paper.tables}
    wanted = "-".join(name.lower().split())
    if wanted not in known:
        raise UsageError(unknown(f"table of {paper.name}", name, known))
    return known[wanted]


def papers() -> tuple[Paper, ...]:
    """Return all papers."""
    return tuple(map(find_paper, PAPERS))
