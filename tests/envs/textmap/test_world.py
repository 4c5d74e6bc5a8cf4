"""The project's own text worlds: what is promised of every one of them, their game, and pinned walkthroughs."""

import functools
import hashlib
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import pytest

from waybench.core import Stream, UsageError, resolve
from waybench.envs.textmap._place_map import NEVER, PlaceMap, read_walkthrough, walkthrough_text
from waybench.envs.textmap.worlds._data import DIRECTIONS, Exit, TextWorld, WorldStyle, opposite_action
from waybench.envs.textmap.worlds._items import WORLD_OPTIONS, draw_walkthrough, learn_map, world_item
from waybench.envs.textmap.worlds._play import Situation, WorldEngine
from waybench.envs.textmap.worlds._world import make_world

# (level, index) -> SHA-256 of the walkthrough's text and of the map. A change here is a change of a public set: it
# raises the generator's version, and with it the environment's.
PINNED = {
    (4, 0): "ce605126446b37c5043a59ef3d3f95a0a3a84e624bbfc6de9e7434ba527ce6c1",
    (12, 1): "961f0791881303fb69f7e18ef8c16d06580d83572300403ce1fb77dfa1343036",
    (30, 2): "9da027e276816ae11daf6220c763d1efe8e59017ba425ca9fad5cbecb18f1053",
    (100, 0): "42c245fa39f7bfa7c04b75784ecb3a91bf533feb9ad5dbe1a8f24b8aed4ea46d",
}
STYLES = (
    {},
    {"one_way": 1, "special": 1},
    {"doors": 1, "dark": 1},
    {"one_way": 0, "special": 0, "doors": 0, "dark": 0, "confusable": 0, "prose": 0},
    {"one_way": 0.3, "special": 0.5, "doors": 0.5, "dark": 0.5, "confusable": 1, "prose": 3},
    {"dark": 0.5, "steps": 200},
    {"steps": 7},
)


def item(level: int, index: int = 0, key: str = "test", **options: float | str) -> tuple[PlaceMap, TextWorld]:
    return world_item(key, level, resolve(WORLD_OPTIONS, options), index)


@functools.cache
def some() -> list[tuple[PlaceMap, TextWorld]]:
    """Return worlds of many levels and styles."""
    return [item(level, index, **style) for style in STYLES for level in (4, 5, 9, 20, 40) for index in range(4)]


def moved(world: TextWorld, command: str, before: Situation) -> Situation:
    return WorldEngine(world).act(before, command).after


def learned(world: TextWorld, actions: Iterable[str]) -> PlaceMap:
    """Return the map that is learned from a walkthrough."""
    play = WorldEngine(world)
    turns = [("Init", play.begin())]
    for action in actions:
        turns.append((action, play.act(turns[-1][1].after, action)))
    return learn_map(play, turns)


def reached(world: TextWorld, place: int) -> Situation:
    """Return a situation at a place with all doors open and, if there is a lamp, a light."""
    return Situation(place, opened=(1 << len(world.doors)) - 1, lit=world.lamp >= 0)


def routes(names: Iterable[str], links: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the number of ordered pairs with a route, and of all."""
    names, ways = list(names), dict[str, list[str]]()
    for source, target in links:
        ways.setdefault(source, []).append(target)
    found = 0
    for name in names:
        seen, queue = {name}, deque([name])
        while queue:
            new = [target for target in ways.get(queue.popleft(), []) if target not in seen]
            seen.update(new)
            queue.extend(new)
        found += len(seen) - 1
    return found, len(names) * (len(names) - 1)


def test_every_move_of_the_map_is_true() -> None:
    for place_map, world in some():
        number = {place.name.lower(): index for index, place in enumerate(world.places)}
        for edge in place_map.edges:
            after = moved(world, edge.action, reached(world, number[edge.source]))
            assert after.place == number[edge.target] != number[edge.source]
        keys = [(edge.source, edge.action) for edge in place_map.edges]
        assert len(set(keys)) == len(keys)


def test_every_place_that_is_visited_is_on_the_map() -> None:
    for place_map, world in some():
        play = WorldEngine(world)
        now = play.begin().after
        visited = {now.place}
        for step in place_map.steps[1:]:
            now = play.act(now, step.action).after
            visited.add(now.place)
        assert sorted(place_map.places) == sorted(world.places[place].name.lower() for place in visited)
        assert {edge.action for edge in place_map.edges} == set(place_map.actions)
        assert {place for edge in place_map.edges for place in edge[:2]} <= set(place_map.places)
        if len(place_map.steps) != 8:
            assert len(visited) == len(world.places)


def test_steps_of_moves_are_those_of_the_walkthrough() -> None:
    for place_map, _ in some():
        edges = {edge[:3]: edge for edge in place_map.edges}
        for edge in place_map.edges:
            if edge.forward < NEVER:
                assert place_map.steps[edge.forward].action == edge.action
            back = edges.get((edge.target, edge.source, opposite_action(edge.action) or ""))
            assert edge.reverse == (back.forward if back else NEVER)
            assert edge.known_step < NEVER and edge.named_step < NEVER
            assert edge.forward <= edge.forward_named and edge.reverse <= edge.reverse_named
            assert (edge.forward == NEVER) == (edge.forward_named == NEVER)
        made = [edge.forward for edge in place_map.edges if edge.forward < NEVER]
        assert len(set(made)) == len(made)


def test_an_opposite_that_does_not_lead_back_is_not_inferred() -> None:
    count = 0
    for place_map, world in some():
        ways = {(way.source, way.action): way.target for way in world.exits}
        number = {place.name.lower(): index for index, place in enumerate(world.places)}
        known = {edge[:3] for edge in place_map.edges}
        for source, target, action, forward, *_ in place_map.edges:
            back = opposite_action(action)
            if forward < NEVER and ways.get((number[target], back or "")) != number[source]:
                assert (target, source, back) not in known
                count += 1
    assert count > 100


def test_all_moves_are_one_way_or_none() -> None:
    place_map, _ = item(30, one_way=1)
    assert all(edge.reverse == NEVER for edge in place_map.edges)
    world = item(30, one_way=0)[1]
    ways = {(way.source, way.action): way.target for way in world.exits}
    assert all(ways[way.target, opposite_action(way.action) or ""] == way.source for way in world.exits)


def test_dark_places_are_named_late() -> None:
    late = 0
    for place_map, world in some():
        dark = {place.name.lower() for place in world.places if place.dark}
        first: dict[str, int] = {}
        for step in place_map.steps:
            for line in step.observation.splitlines():
                first.setdefault(line.lower(), step.number)
        for edge in place_map.edges:
            if edge.forward_named != edge.forward:
                late += 1
                assert dark & {edge.source, edge.target}
            if edge.forward < NEVER:  # both names are lines of their own by then
                assert max(first[edge.source], first[edge.target]) <= edge.forward_named
    assert late > 100


def test_a_name_that_is_not_told_again_is_known_from_the_move() -> None:
    place = functools.partial(make_world(Stream("any"), WorldStyle(places=4)).places[0].__class__)
    base = make_world(Stream("base"), WorldStyle(places=4, dark=0.25, doors=0, prose=0))
    lamp = replace(base.things[base.lamp], name="lamp", place=-1)
    places = tuple(place(name, name == "B", "", "", "", "", ("",)) for name in "AB")
    world = replace(
        base,
        places=places,
        exits=(Exit(0, "east", 1), Exit(1, "south", 0)),
        doors=(),
        things=(lamp,),
        lamp=0,
    )
    for actions, named in (
        (("east", "light lamp", "south"), (2, 3)),
        (("east", "south"), (NEVER, NEVER)),
        (("east", "south", "light lamp", "east", "extinguish lamp", "south", "east", "south"), (4, 6)),
    ):
        place_map = learned(world, actions)
        found = [place_map.find_edge(*move).forward_named for move in (("a", "east", "b"), ("b", "south", "a"))]
        assert tuple(found) == named
        assert all(edge.reverse == NEVER for edge in place_map.edges)


def test_shares_are_kept() -> None:
    for index in range(5):
        style = WorldStyle(places=60, one_way=0.25, doors=0.5, dark=0.2, special=0.4, confusable=0)
        world = make_world(Stream("shares", index), style)
        links = {frozenset((way.source, way.target)) for way in world.exits}
        assert sum(place.dark for place in world.places) == 12 and not world.places[world.start].dark
        assert len(links) * 0.45 < len(world.doors) < len(links) * 0.6
        special = {
            frozenset((way.source, way.target)) for way in world.exits if way.action not in {*DIRECTIONS, "in", "out"}
        }
        assert len(links) * 0.25 < len(special) < len(links) * 0.5
        ways = {(way.source, way.action): way.target for way in world.exits}
        once = {
            frozenset((way.source, way.target))
            for way in world.exits
            if ways.get((way.target, opposite_action(way.action) or "")) != way.source
        }
        assert len(links) * 0.15 < len(once) < len(links) * 0.35


def test_one_gets_from_everywhere_to_everywhere() -> None:
    for place_map, world in some():
        links = ((world.places[way.source].name, world.places[way.target].name) for way in world.exits)
        found, pairs = routes((place.name for place in world.places), links)
        assert found == pairs
        if len(place_map.places) == len(world.places):
            assert any(edge.forward == NEVER for edge in place_map.edges) or len(place_map.edges) < len(world.exits)
    found = pairs = 0
    for place_map, _ in (item(level, index) for level in (8, 30) for index in range(20)):
        some_found, some_pairs = routes(place_map.places, (edge[:2] for edge in place_map.edges))
        found, pairs = found + some_found, pairs + some_pairs
    assert found > 0.9 * pairs


def test_names_differ_and_some_hardly() -> None:
    def stems(world: TextWorld) -> set[str]:
        return {place.name.lower()[:4] + place.name.split()[-1][:4] for place in world.places}

    for _, world in some():
        names = [place.name.lower() for place in world.places]
        assert len(set(names)) == len(names) and "darkness" not in names
    alike, unlike = (
        sum(len(stems(item(60, index, confusable=share, special=0)[1])) for index in range(4)) for share in (1, 0)
    )
    assert alike < 0.7 * unlike


def test_doors_must_be_opened() -> None:
    world = item(30, doors=1)[1]
    play = WorldEngine(world)
    for way in world.exits:
        assert way.door is not None
        door, before = world.doors[way.door], Situation(way.source)
        closed = play.act(before, way.action)
        assert closed.after.place == way.source and door in closed.text
        assert play.act(play.act(before, f"open {door}").after, way.action).after.place == way.target
        assert not any(other.door != way.door and world.doors[other.door or 0] == door for other in world.exits
                       if other.source == way.source)  # fmt: skip


def test_the_walkthrough_is_the_published_form() -> None:
    for place_map, world in some():
        text = walkthrough_text(place_map.steps)
        assert read_walkthrough(text, "test") == place_map.steps
        assert text.startswith("===========\n==>STEP NUM: 0\n==>ACT: Init\n==>OBSERVATION: ")
        assert text.endswith("\n\n===========\n")
        assert text.isascii() and "{" not in text and "  " not in text
        assert learned(world, [step.action for step in place_map.steps[1:]]) == place_map


def test_what_changes_nothing_is_there_too() -> None:
    place_map, _ = item(30, steps=150)
    moves = {edge.action for edge in place_map.edges}
    assert len(place_map.steps) == 151
    assert len({step.action for step in place_map.steps} - moves) > 10


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "north\x00",
        "x" * 10_000_000,
        "\x1b[2J",
        "north\nsouth",
        "\ud800",
        "open",
        "frobnicate lamp",
        "take\tit",
    ],
    ids=lambda command: ascii(command[:12]),
)
def test_a_strange_command_is_not_understood(command: str) -> None:
    world = item(9)[1]
    before = WorldEngine(world).begin().after
    turn = WorldEngine(world).act(before, command)
    assert turn.after == before and not turn.understood and "understood" in turn.text and len(turn.text) < 80


def test_every_command_is_answered() -> None:
    for _, world in some()[::5]:
        play = WorldEngine(world)
        nouns = [*(thing.name for thing in world.things), *world.doors, "moon"]
        commands = ["look", "l", "i", "z", "listen", "smell", "jump", "go north", "climb moon", "n", "up", "out"]
        commands += [
            f"{verb} {noun}" for verb in ("x", "get", "open the", "search", "light", "douse") for noun in nouns
        ]
        now = play.begin().after
        for command in commands:
            turn = play.act(now, command)
            now = turn.after
            assert turn.understood and turn.text.endswith("\n") and "{" not in turn.text


def test_bounds() -> None:
    for wrong in ({"places": 3}, {"dark": 1.1}, {"doors": -0.1}, {"prose": 4}, {"exits": "some"}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            WorldStyle(**{"places": 9, **wrong})  # pyright: ignore[reportArgumentType]
    for level in (3, 401):
        with pytest.raises(UsageError, match="from 4 to 400"):
            item(level)
    for steps in (0, 5001):
        with pytest.raises(UsageError, match="from 1 to 5000"):
            draw_walkthrough(WorldEngine(item(4)[1]), Stream("x"), steps)
    assert len(item(4, steps=5000)[0].steps) == 5001
    assert len(item(400)[0].places) == 400
    assert len(item(400, one_way=1, special=1, doors=1, dark=1, confusable=1, prose=3)[0].places) == 400


def test_items_differ_by_key_index_and_options() -> None:
    texts = {
        walkthrough_text(place_map.steps)
        for place_map, _ in (item(9), item(9, 1), item(9, key="other"), item(9, prose=1), item(9, prose=2))
    }
    assert len(texts) == 5
    assert item(9) == item(9) and hash(item(9)[1]) == hash(item(9)[1])


@pytest.mark.parametrize("place", PINNED, ids=str)
def test_pinned(place: tuple[int, int]) -> None:
    place_map, _ = item(*place, key="public")
    map_texts = [walkthrough_text(place_map.steps), *map(repr, (place_map.places, place_map.actions, place_map.edges))]
    assert hashlib.sha256("\n".join(map_texts).encode()).hexdigest() == PINNED[place]
