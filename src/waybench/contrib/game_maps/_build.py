"""From a walk through a game to the map of its places."""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from waybench.contrib.game_maps._engine import Engine, PlaceId
from waybench.contrib.game_maps._names import called, name_places
from waybench.contrib.game_maps._titles import is_dark, tells
from waybench.contrib.game_maps._walk import Visit, walk
from waybench.core import UsageError
from waybench.envs.textmap import NEVER, Edge, Move, PlaceMap, Traversal, edges_of_traversals

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
