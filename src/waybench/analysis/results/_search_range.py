"""What a search for a horizon could try, as its log says."""

from collections.abc import Mapping
from typing import Any, NamedTuple

_MOST = 1e9  # greater than any difficulty


class SearchRange(NamedTuple):
    """The difficulties that a search for a horizon could try.

    Attributes:
        axis: Name of what makes items hard.
        lowest: The least difficulty, above 0.
        highest: The greatest one.
    """

    axis: str
    lowest: float
    highest: float


def search_range(search: Mapping[str, Any]) -> SearchRange | None:
    """Return the range of a search.

    Args:
        search: What the search is to find out, from a log (`LoggedEpisode.search`).

    Returns:
        The range; None if the values are none.
    """
    try:
        lowest, highest = float(search["lowest"]), float(search["highest"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return SearchRange(str(search.get("axis", "")), lowest, highest) if 0 < lowest < highest < _MOST else None
