"""The parts of a leaderboard's site, and the names of its pages."""

from typing import NamedTuple

from waybench.analysis.estimates import Matrix
from waybench.leaderboard._entries import Entry
from waybench.reporting import slug
from waybench.reporting.tables import Table

CONFIRMED, COMMUNITY = "report", "community"


class Part(NamedTuple):
    """A report of a leaderboard: that of the confirmed submissions, or that of the others.

    Attributes:
        folder: Its folder.
        matrix: Its matrix of models by families.
        table: The same as a table.
    """

    folder: str
    matrix: Matrix
    table: Table


def page_stem(entry: Entry) -> str:
    """Return the name of the files of a submission's verdict, without suffix."""
    return slug(entry.id, entry.id)
