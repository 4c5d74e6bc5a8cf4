"""What places are called: one name for each id, and no name for two ids unless that is wanted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count

from waybench.contrib.game_maps._engine import PlaceId
from waybench.contrib.game_maps._titles import as_name, is_dark
from waybench.contrib.game_maps._walk import Visit
from waybench.core import DataError


def called(visits: Iterable[Visit]) -> dict[PlaceId, Counter[str]]:
    """Return for each id, in the order of arrival, what the game calls the place and how often.

    That is its name in the game's own table or, without one, the title that the game printed; a title that says that it
    is dark counts only where
    the game printed no other.
    """
    found: dict[PlaceId, Counter[str]] = {}
    dark: dict[PlaceId, Counter[str]] = {}
    for visit in visits:
        if visit.place is None:
            continue
        names, shadows = found.setdefault(visit.place, Counter()), dark.setdefault(visit.place, Counter())
        title = as_name(visit.name or "") or visit.title
        if title:
            (shadows if visit.name is None and is_dark(title) else names).update([title])
    return {place: names or dark[place] for place, names in found.items()}


def name_places(found: Mapping[PlaceId, Counter[str]], given: Mapping[str, str]) -> dict[PlaceId, str]:
    """Return one name for each id.

    It is the one that was given or else the most frequent one, of equally frequent ones the first. Ids which are given
    the same name are one place. Without that, a second place of the same name has a number added: "hall (2)".

    Args:
        found: For each id the names in the game.
        given: For some ids, as text, the name to use.

    Raises:
        DataError: If an id in `given` is not among those found.
    """
    ids = {str(place): place for place in found}
    for code in given:
        if code not in ids:
            raise DataError(f"names: the walk reaches no place with the id {code[:40]!r}; ids are {_some(ids)}")
    names = {place: as_name(given[code]) for code, place in ids.items() if code in given}
    used = set(names.values())
    for place, counted in found.items():
        if place not in names:
            base = counted.most_common(1)[0][0] if counted else "nameless place"
            tries = (base if number == 1 else f"{base} ({number})" for number in count(1))
            names[place] = next(name for name in tries if name not in used)
            used.add(names[place])
    return {place: names[place] for place in found}


def _some(ids: Iterable[str]) -> str:
    listed = sorted(ids)
    return ", ".join(listed[:12]) + (", ..." if len(listed) > 12 else "")
