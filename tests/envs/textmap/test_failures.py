"""How answers about maps fail, with answers whose kind is evident from the map."""

import json
from dataclasses import replace
from typing import Any

import pytest

import waybench
from tests.analysis.maps import corridor, questions
from tests.envs.textmap.test_extract import TASK, TRUTH, item, triplet
from tests.envs.textmap.test_minigame import GAME
from waybench.core import Episode, Item
from waybench.envs.textmap._answers import Hop
from waybench.envs.textmap._items import MapQuestion

ROOMS = corridor("rooms", 6)  # room 0 to room 5, from west to east


def kind(env_id: str, case: Any, reply: str, **options: Any) -> str | None:
    env = waybench.load(f"textmap/{env_id}")
    episode: Episode[Any, Any, Any] = Episode(env, Item(case, "one", 1, proof=env.items.prove(case)), options)
    episode.step(reply)
    assert episode.done
    found = env.scoring.failure_of(episode.record())
    return found and found.name


def make_question(kind: str, source: int, target: int) -> MapQuestion:
    expected = f"room {source}", f"room {target}"
    return next(each for each in questions(ROOMS, kind) if (each.source, each.target) == expected)


def answer(*hops: tuple[str, str, str]) -> str:
    return f"[{', '.join(triplet(Hop(*hop)) for hop in hops)}]"


def walk(source: int, *ways: str) -> str:
    """Return a route from a room, one after the other."""
    hops: list[tuple[str, str, str]] = []
    for way in ways:
        after = source + (1 if way == "east" else -1)
        hops.append((f"room {source}", way, f"room {after}"))
        source = after
    return answer(*hops)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (walk(1, "east", "east"), None),
        ("I do not know", "unparsed"),
        (answer(("room 1", "fly", "room 3")), "no_move"),
        (walk(1, "west", "west", "east"), "no_move"),  # there is nothing to the west of room 0
        (walk(1, "east"), "stops_short"),
        (walk(1, "east", "east", "east"), "passed"),
        (walk(1, "west"), "elsewhere"),
        (walk(1, "east", "west"), "elsewhere"),  # back where it began, after as many moves as were needed
    ],
)
def test_routes(reply: str, expected: str | None) -> None:
    assert kind("route", make_question("route", 1, 3), reply, protocol="sound") == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("room 4", None),
        ("the moon", "no_place"),
        ("room 3", "stops_short"),
        ("room 1", "stops_short"),
        ("room 5", "elsewhere"),
        ("room 0", "elsewhere"),
    ],
)
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_destinations(place: str, expected: str | None, protocol: str) -> None:
    reply = answer(("room 1", "east", "room 2"), ("room 2", "east", "room 3"), ("room 3", "east", place))
    assert kind("destination", make_question("destination", 1, 4), reply, protocol=protocol) == expected


def test_a_question_that_cannot_be_answered_is_no_wrong_answer() -> None:
    # Two steps are shown, so that nobody can know of rooms 3 to 5.
    question = replace(make_question("route", 0, 5), cutoff=2)
    assert kind("route", question, walk(0, "east"), protocol="sound") == "unanswerable"
    assert kind("route", question, "I do not know", protocol="sound") == "unparsed"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("south", None),
        ("what?", "unparsed"),
        ("take on egg", "not_moving"),
        ("north", "not_moving"),
        ("up", "back"),  # the tree was climbed before
        ("west", "back"),  # the altar is where it all began
    ],
)
def test_minigames(reply: str, expected: str | None) -> None:
    assert kind("minigame", GAME, reply) == expected


def test_minigames_that_lead_elsewhere() -> None:
    edges = [edge._replace(target="Cave") if edge.action == "west" else edge for edge in GAME.map.edges]
    twin = GAME.move._replace(action="go around forest")
    new = replace(GAME.map, places=(*GAME.map.places, "Cave"), edges=(*edges, twin))
    game = replace(GAME, map=new)
    assert kind("minigame", game, "west") == "ahead"
    assert kind("minigame", game, "go around forest") == "same_place"


def extracted(*changes: tuple[int, Hop | None]) -> str | None:
    """Return how the true triplets of all steps at once fail, some being replaced or left out."""
    env = waybench.load("textmap/extract")
    changed: list[Hop | None] = list(TRUTH)
    for number, hop in changes:
        changed[number] = hop
    episode: Episode[Any, Any, Any] = Episode(env, item(TASK), {"mode": "whole", "protocol": "sound"})
    episode.step(f"[{', '.join(triplet(hop) for hop in changed if hop)}]")
    found = env.scoring.failure_of(episode.record())
    return found and found.name


def test_extractions_all_at_once() -> None:
    assert extracted() is None
    slide = 7  # the only way into the cellar, which one question is about
    assert TRUTH[slide] == Hop("hall", "slide", "cellar")
    assert extracted((slide, Hop("hall", "slide", "hall"))) == "staying"
    assert extracted((slide, Hop("hall", "slide", "moon"))) == "no_place"
    assert extracted((slide, Hop("hall", "slide", "attic"))) == "wrong_triplet"
    # What follows is not wrong because one is left out.
    assert extracted((slide, None)) == "missing"
    assert extracted((0, None), (slide, None), (8, Hop("cellar", "climb", "attic"))) == "missing"


def test_extractions_step_by_step() -> None:
    env = waybench.load("textmap/extract")

    def played(*replies: str) -> str | None:
        episode: Episode[Any, Any, Any] = Episode(env, item(TASK))
        for reply in replies:
            episode.step(reply)
        assert episode.done
        found = env.scoring.failure_of(episode.record())
        return found and found.name

    right = [triplet(hop) for hop in TRUTH[5:]]
    assert played(*right) is None
    assert played(right[0], right[1], triplet(Hop("hall", "slide", "hall")), right[3]) == "staying"
    assert played(right[0], right[1], "?", right[3]) == "missing"
    assert played("?", "?", "?", right[3]) == "unparsed"
    assert json.loads(right[2])["action"] == "slide"
