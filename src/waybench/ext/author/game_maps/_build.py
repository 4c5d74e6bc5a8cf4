"""From a walk through a game to the map of its places, with their names."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from waybench.core import DataError, UsageError, is_object, read_json, read_text
from waybench.envs.textmap import NEVER, Edge, Move, PlaceMap, Traversal, edges_of_traversals
from waybench.ext.author.game_maps._walk import Visit, walk
from waybench.ext.author.game_maps._words import LONGEST, Engine, PlaceId, as_name, is_dark, split_line, tells

_LARGEST = 1 << 24  # bytes


def read_commands(path: Path) -> tuple[str, ...]:
    """Read a list of commands: one in a line, or several as one can type them ("n. take lamp. s").

    A line is split as the games split it (see `split_line`); empty lines are skipped.

    Raises:
        UsageError: If the file cannot be read, or has no command.
        DataError: If a line is no command; the message names it.
    """
    commands: list[str] = []
    for number, line in enumerate(read_text(path, _LARGEST, "a file of commands").split("\n"), 1):
        typed = line.strip()
        found = split_line(typed)
        if any(len(each) > LONGEST for each in found) or not typed.isascii() or not (typed.isprintable() or not typed):
            raise DataError(f"{path}: line {number}: a command is at most {LONGEST} printable ASCII characters")
        commands += found
    if not commands:
        raise UsageError(f"{path}: the file has no commands; write one per line")
    return tuple(commands)


def read_names(path: Path) -> dict[str, str]:
    """Read a map of names: a JSON object with the ids of places and their names, as in NAME.code2anno.json.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is not of this form.
    """
    data = read_json(path, _LARGEST, "a file of names")
    if not is_object(data):
        raise DataError(f'{path}: the file is not an object such as {{"27": "bedroom", "25": "bedroom"}}')
    for code, name in data.items():
        if not isinstance(name, str) or not name.isprintable() or not as_name(name):
            raise DataError(f"{path}: {code[:40]}: {str(name)[:60]!r} is not a name on one line")
    return data


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


MOST_STEPS = NEVER - 1  # the last number that does not stand for "never"


@dataclass(frozen=True, slots=True)
class GameMap:
    """The map of a game.

    Attributes:
        place_map: The map, with the whole walkthrough.
        codes: For each place of the map its ids in the game, as text.
        unused: The number of commands that were not given, because the game was over.
    """

    place_map: PlaceMap
    codes: Mapping[str, tuple[str, ...]]
    unused: int


def map_game(
    engine: Engine,
    commands: Sequence[str],
    name: str,
    *,
    steps: int | None = None,
    names: Mapping[str, str] | None = None,
) -> GameMap:
    """Play a game by a list of commands and return the map of the places that it reaches.

    A command after which the game has the player at another place is a move. After each, the opposite action is tried
    in the situation which the move has led to; only if it leads back is it a move of the map that can be inferred.

    Args:
        engine: The game.
        commands: What to type.
        name: What the map is to be called.
        steps: The last step whose moves are on the map; None for all.
        names: For some ids of places, as text, the name to use; ids of the same name are then one place.

    Raises:
        UsageError: If there are too many commands, or none of them leads from one place to another.
        DataError: If a name is given to an id that was not reached.
    """
    if len(commands) > MOST_STEPS:
        raise UsageError(f"{len(commands):,} commands are too many: give at most {MOST_STEPS:,}")
    visits, unused = walk(engine, commands)
    found = called(visits)
    by_id = name_places(found, names or {})
    known_as: dict[str, set[str]] = {}
    for place, chosen in by_id.items():
        known_as.setdefault(chosen, {chosen}).update(found[place])
    for visit in visits:
        if visit.place is not None and visit.title and not is_dark(visit.title):
            known_as[by_id[visit.place]].add(visit.title)
    edges = _learn(visits if steps is None else visits[: steps + 1], by_id, known_as)
    if not edges:
        raise UsageError("no command led from one place to another: give commands that walk through the game")
    places = {end for edge in edges for end in (edge.source, edge.target)}
    codes = {place: tuple(str(code) for code, chosen in by_id.items() if chosen == place) for place in sorted(places)}
    walk_steps = tuple(visit.step for visit in visits)
    actions = tuple(sorted({edge.action for edge in edges}))
    return GameMap(PlaceMap(name, tuple(sorted(places)), actions, edges, walk_steps), codes, unused)


def _learn(
    visits: Sequence[Visit], names: Mapping[PlaceId, str], known_as: Mapping[str, Collection[str]]
) -> tuple[Edge, ...]:
    """Return the moves of a walk.

    Args:
        visits: The walk, as far as it is to be on the map.
        names: For each id of a place its name.
        known_as: For each name of a place the lines which tell a reader that this is where the player is.
    """
    stays: list[str | None] = []
    arrivals: list[int] = []
    named_at: list[int] = []
    made: list[Traversal] = []
    inferred: dict[Move, int] = {}
    led_back: set[Move] = set()
    for visit in visits:
        here = None if visit.place is None else names[visit.place]
        if not stays or here != stays[-1]:
            before = stays[-1] if stays else None
            if before is not None and here is not None and visit.action:
                move = (before, visit.action, here)
                made.append(Traversal(visit.step.number, move, (len(stays) - 1, len(stays))))
                # Where it did not lead back, as through a door that fell shut, it may do so another time.
                backs = () if move in led_back else visit.backs
                for back in [back for back, there in backs if there is not None and names.get(there) == before][:1]:
                    inferred[here, back, before] = len(made) - 1
                    led_back.add(move)
            stays.append(here)
            arrivals.append(visit.step.number)
            named_at.append(NEVER)
        if here is not None and tells(visit.step.observation, known_as[here]):
            named_at[-1] = min(named_at[-1], visit.step.number)
    return edges_of_traversals(made, _named_later(stays, arrivals, named_at), inferred)


def _named_later(stays: Sequence[str | None], arrivals: Sequence[int], named_at: Sequence[int]) -> list[int]:
    """Fill in the step at which a place is named that was not named during a stay: that of the next stay where it is.

    A name that the game never prints after an arrival counts as known then, for a question has to have some step.
    """
    steps: dict[str | None, list[int]] = {}
    for place, step in zip(stays, named_at, strict=True):
        if step < NEVER:
            steps.setdefault(place, []).append(step)

    def after(place: str | None, arrival: int) -> int:
        later = steps.get(place, [])
        position = bisect_left(later, arrival)
        return later[position] if position < len(later) else arrival

    return [
        after(place, arrival) if step == NEVER else step
        for place, arrival, step in zip(stays, arrivals, named_at, strict=True)
    ]
