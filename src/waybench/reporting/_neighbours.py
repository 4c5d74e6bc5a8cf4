"""The episodes beside one: other attempts, other items, and other players at the same item."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waybench.envs import registry
from waybench.reporting._format import value_text
from waybench.reporting._replays import ChosenReplays
from waybench.results import Row
from waybench.results.estimates import measure
from waybench.results.results import Group

MOST_OTHERS = 12  # other players that a page names

_ItemId = tuple[int, int, str, str]  # level, index, id, instance


class Neighbour(NamedTuple):
    """A link to another episode: what it says, its result, and the address of its page among replays."""

    title: str
    result: str
    page: str


class Neighbours(NamedTuple):
    """The episodes beside one.

    Attributes:
        beside: The previous and the next attempt, the previous and the next item, as far as there are any.
        others: The same item by others, each with its first attempt.
        more: Number of others that are not listed.
    """

    beside: Sequence[Neighbour] = ()
    others: Sequence[Neighbour] = ()
    more: int = 0


class NeighbourIndex:
    """Finds the episodes beside each episode of a report."""

    def __init__(
        self, rows: Sequence[Row], numbers: Sequence[int], replays: ChosenReplays, names: Mapping[Group, str]
    ) -> None:
        """Index episodes.

        Args:
            rows: Their rows.
            numbers: Of each row, its number in its group.
            replays: The pages of the replays.
            names: The name of each group.
        """
        self._replays, self._names = replays, names
        self._items: dict[Group, dict[_ItemId, list[tuple[int, Row]]]] = defaultdict(lambda: defaultdict(list))
        self._groups: dict[tuple[str, str, int, str, str], dict[Group, _ItemId]] = defaultdict(dict)
        for row, number in zip(rows, numbers, strict=True):
            item = _item(row)
            self._items[row.group][item].append((number, row))
            self._groups[_shared(row)][row.group] = item
        self._order: dict[Group, list[_ItemId]] = {}
        self._places: dict[Group, dict[_ItemId, int]] = {}
        for group, items in self._items.items():
            self._order[group] = sorted(items)
            self._places[group] = {item: place for place, item in enumerate(self._order[group])}
            for attempts in items.values():
                attempts.sort(key=lambda each: (bool(each[1].exclusion_reason), each[1].attempt, each[0]))

    def find(self, row: Row, number: int) -> Neighbours:
        """Return the episodes beside one.

        Args:
            row: Its row.
            number: Its number in its group.
        """
        group, item = row.group, _item(row)
        attempts = self._items[group][item]
        place = next(at for at, (own, _) in enumerate(attempts) if own == number)
        order, at = self._order[group], self._places[group][item]
        beside = [
            *(("Previous attempt", attempts[place - 1]) for _ in range(place > 0)),
            *(("Next attempt", each) for each in attempts[place + 1 : place + 2]),
            *(("Previous item", self._items[group][order[at - 1]][0]) for _ in range(at > 0)),
            *(("Next item", self._items[group][each][0]) for each in order[at + 1 : at + 2]),
        ]
        others = [
            self._link(self._names[other], self._items[other][own][0])
            for other, own in self._groups[_shared(row)].items()
            if other != group
        ]
        others.sort(key=lambda each: each.title)
        return Neighbours(
            [self._link(title, each) for title, each in beside], others[:MOST_OTHERS], len(others[MOST_OTHERS:])
        )

    def _link(self, title: str, episode: tuple[int, Row]) -> Neighbour:
        number, row = episode
        measured = measure(registry.load(row.group.env), row.guided)
        value = measured.value(row)
        result = "infrastructure error" if row.error else value_text(value, measured.metric)
        if value is None and not row.error:
            result = "excluded" if row.exclusion_reason else "no score"
        return Neighbour(title, result, self._replays.link(row.group, number))


def _item(row: Row) -> _ItemId:
    return row.level, row.index, row.item, row.instance


def _shared(row: Row) -> tuple[str, str, int, str, str]:
    return row.group.env, row.group.key, row.level, row.item, row.instance
