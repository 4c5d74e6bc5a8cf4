"""Isomorphic maps: the same moves and steps, with other names for the places."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from waybench.core import Stream
from waybench.envs.textmap.map._place_map import Edge, PlaceMap, Step

_MARK = re.compile(r"(.*?)(\s*\([^()]*\))?", re.DOTALL)  # a name and what follows it in parentheses
_MOST_TRIES = 1000


class Renaming:
    """New names for the places of a map.

    Args:
        names: Place -> new name.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        # Prose has the names without what follows in parentheses, capitalised or not.
        plain = {_without_mark(old).lower(): _without_mark(new) for old, new in names.items()}
        self._plain = {old: new for old, new in plain.items() if old}
        longest_first = sorted(self._plain, key=lambda name: (-len(name), name))
        pattern = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._in_prose = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)

    def place(self, name: str) -> str:
        """Return the new name of a place."""
        return self._names[name]

    def edge(self, edge: Edge) -> Edge:
        """Return a move between the renamed places."""
        return edge._replace(source=self.place(edge.source), target=self.place(edge.target))

    def text(self, text: str) -> str:
        """Return a text with the new names of all places that it names; case and other words stay."""
        return self._in_prose.sub(lambda found: self._named(found[0]), text)

    def _named(self, old: str) -> str:
        new = self._plain[old.lower()]
        return new.title() if old.istitle() else new.capitalize() if old[0].isupper() else new

    def map(self, place_map: PlaceMap) -> PlaceMap:
        """Return the map with the new names in its places, moves and observations. Actions stay."""
        return replace(
            place_map,
            places=tuple(map(self.place, place_map.places)),
            edges=tuple(map(self.edge, place_map.edges)),
            steps=tuple(Step(step.number, step.action, self.text(step.observation)) for step in place_map.steps),
        )


def _without_mark(name: str) -> str:
    found = _MARK.fullmatch(name)
    return name if found is None or not found[1] else found[1]


@lru_cache(maxsize=64)
def renaming(places: Sequence[str], draw: Callable[[Stream], str], *purpose: str | int) -> Renaming:
    """Return new names for places, all different from each other and from the old ones.

    What follows a name in parentheses, such as a machine id, is exchanged among the places.

    Args:
        places: The places, as a tuple.
        draw: Random stream -> some name, in lower case.
        *purpose: Key of the random stream.
    """
    rng = Stream("isomorph", "places", *purpose)
    used = {_without_mark(place).lower() for place in places}
    marks = [place.removeprefix(_without_mark(place)) for place in places]
    marked = [number for number, mark in enumerate(marks) if mark]
    order = [marks[number] for number in marked]
    rng.shuffle(order)
    exchanged = dict(zip(marked, order, strict=True))
    capital = sum(place[:1].isupper() for place in places) * 2 > len(places)
    names: dict[str, str] = {}
    for number, place in enumerate(places):
        name = draw(rng)
        for attempt in range(2, _MOST_TRIES):
            if name not in used:
                break
            name = draw(rng) if attempt < 20 else f"{draw(rng)} {attempt}"
        used.add(name)
        names[place] = (name.title() if capital else name) + exchanged.get(number, "")
    return Renaming(names)
