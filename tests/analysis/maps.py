"""Real episodes of text maps for the tests of clusters, pairs, regressions and pages: small maps made by hand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import waybench
from waybench.core import Item, Usage, play_to_end, policy
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, WalkthroughStep
from waybench.results import LoggedEpisode

Who = Callable[[MapQuestion], str]  # question -> the player that answers it; "" says nothing


def corridor(name: str, places: int, *, words: int = 3) -> PlaceMap:
    """Return places in a row, walked from the first to the last; all ways back have to be inferred.

    Args:
        name: The map's name.
        places: How many; the first is "room 0".
        words: Number of words of each observation.
    """
    rooms = [f"room {number}" for number in range(places)]
    edges: list[Edge] = []
    for step in range(1, places):
        edges.append(Edge(rooms[step - 1], rooms[step], "east", step, NEVER, step, NEVER))
        edges.append(Edge(rooms[step], rooms[step - 1], "west", NEVER, step, NEVER, step))
    told = " ".join(["word"] * (words - 2))
    steps = [WalkthroughStep(step, "east" if step else "Init", f"{room} {told}") for step, room in enumerate(rooms)]
    return PlaceMap(name, tuple(rooms), ("east", "west"), tuple(edges), tuple(steps))


def questions(place_map: PlaceMap, kind: str = "route") -> Iterator[MapQuestion]:
    """Yield the questions of all pairs of places of a corridor, easy ones first."""
    last = len(place_map.places) - 1
    for way in ("east", "west"):
        for begin in range(last + 1):
            for end in range(begin + 1, last + 1) if way == "east" else range(begin - 1, -1, -1):
                moves = [
                    next(e for e in place_map.edges if (e.source, e.action) == (f"room {here}", way))
                    for here in range(begin, end, 1 if way == "east" else -1)
                ]
                path = tuple(moves) if kind == "destination" else ()
                yield MapQuestion(place_map, last, f"room {begin}", f"room {end}", path)


def answered(
    who: str | Who,
    maps: Iterable[PlaceMap],
    kind: str = "route",
    *,
    model: str = "vendor/model",
    key: str = "mine",
    most: int = 1000,
    usage: Usage | None = None,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[LoggedEpisode]:
    """Return what a player says to all questions about some maps, or to the first ones about each.

    Args:
        who: The player, or which one it is for each question.
        maps: The maps.
        kind: "route" or "destination".
        model: The model's name.
        key: The set's key.
        most: Most questions about each map.
        usage: What each reply took.
        settings: How the model was asked.
        **options: Options of play.
    """
    env = waybench.load(f"textmap/{kind}")
    found: list[LoggedEpisode] = []
    for place_map in maps:
        for number, question in enumerate(list(questions(place_map, kind))[:most]):
            item = Item(
                question, f"{place_map.name[:20]}-{number}", question.level, key, len(found), env.items.prove(question)
            )
            player = who if isinstance(who, str) else who(question)
            record = play_to_end(env, item, policy(player or "null"), dict(options)).record()
            if usage:
                record = replace(record, turns=tuple(turn._replace(usage=usage) for turn in record.turns))
            found.append(LoggedEpisode(model, f"mango_{kind}", record, dict(settings or {})))
    return found


def easy(question: MapQuestion) -> bool:
    """Return whether a question about a corridor is easy: it leads along the walkthrough."""
    return int(question.source[5:]) < int(question.target[5:])
