"""Which replays of a report have a page of their own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from waybench.analysis import Row
from waybench.analysis.results import Group, grouped
from waybench.reporting._replay import file_name

MOST_OF_ALL = 2_000  # episodes, up to which each has a page by default
MOST_OF_GROUP = 20  # pages of a group's replays in a larger report
LATER = "index.html"  # the page in `replays` that says how the others are made


class Replays(NamedTuple):
    """Which replays are wanted.

    Attributes:
        most: Of each model at a task with the same settings, so many at most; None for `MOST_OF_GROUP`, unless there
            are at most `MOST_OF_ALL` episodes.
        everything: Whether all are wanted.
        also: File names of pages that are wanted besides.
    """

    most: int | None = None
    everything: bool = False
    also: frozenset[str] = frozenset()


BY_DEFAULT = Replays()


class ChosenReplays:
    """The pages of a report's replays: their names, and which of them are written.

    Args:
        rows: The rows of the report's episodes.
        numbers: Of each row, its number in its group.
        pages: The file name of the results page of each group.
        wanted: Which are wanted.
    """

    def __init__(
        self, rows: Sequence[Row], numbers: Sequence[int], pages: Mapping[Group, str], wanted: Replays
    ) -> None:
        self._pages = pages
        few = wanted.most is None and len(rows) <= MOST_OF_ALL
        most = MOST_OF_GROUP if wanted.most is None else wanted.most
        self._left_out: set[str] = set()
        by_group = grouped(zip(rows, numbers, strict=True), lambda one: one[0].group)
        for group, own in by_group.items() if not wanted.everything and not few else ():
            # Over all levels and items, first attempts before others.
            names = [file_name(pages[group], number) for _, number in sorted(own, key=_place)]
            self._left_out.update(set(names) - set(_spread(names, most)) - wanted.also)

    @property
    def is_complete(self) -> bool:
        """Whether each replay has a page."""
        return not self._left_out

    def is_written(self, group: Group, number: int) -> bool:
        """Return whether the replay of an episode, by its number in its group, has a page."""
        return file_name(self._pages[group], number) not in self._left_out

    def link(self, group: Group, number: int) -> str:
        """Return the address of a replay in its folder: of its page, or of the one that says how that is made."""
        name = file_name(self._pages[group], number)
        return f"{LATER}?{name}" if name in self._left_out else name


def _place(one: tuple[Row, int]) -> tuple[int, int, int, str, int]:
    row, number = one
    return row.attempt, row.level, row.index, row.item, number


def _spread(names: Sequence[str], most: int) -> Iterable[str]:
    """Return some of a list at equal distances, with the first and the last."""
    if len(names) <= most or most < 1:
        return names[:most]
    return [names[number * (len(names) - 1) // max(most - 1, 1)] for number in range(most)]
