"""The drawings of questions about maps, read back."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import waybench
from tests.analysis.maps import corridor
from tests.analysis.maps import questions as corridor_questions
from tests.drawings import box, drawer, parts
from tests.envs.textmap import HOUSE, edge, of_edges
from tests.envs.textmap import test_extract as extract
from tests.envs.textmap import test_minigame as minigame
from tests.envs.textmap.test_route_and_destination import FROM_ATTIC, RIGHT, TO_GARDEN, item, reply
from waybench.core import Episode, Item, TurnRecord, play_to_end, policy
from waybench.envs.textmap._extraction_items import Extraction
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._minigame_game import Minigame
from waybench.envs.textmap._place_map import Edge, PlaceMap, load_map
from waybench.envs.textmap.drawing._layout import direction_and_certainty, lay_out_places
from waybench.envs.textmap.drawing._overlay import map_layout

PRESENTATION = waybench.load("textmap/route").presentation
draw, draw_frames = drawer("textmap/route"), PRESENTATION.draw_frames
assert draw_frames is not None

HOSTILE = "</title><script>alert(1)</script>&\"'\0\u202e"
SHAPES = {"svg", "g", "path", "rect", "circle", "text", "tspan", "title", "use"}
NORTH, SOUTH = edge("b", "north", "c", forward=1, reverse=2), edge("c", "south", "b", forward=2, reverse=1)
# d is north of c, a east of b, and e above d.
TOWN = of_edges("town", [NORTH, SOUTH, edge("c", "north", "d", 3), edge("b", "east", "a", 4), edge("d", "up", "e", 5)])


def turns_of(question: Any, *replies: str, **options: Any) -> tuple[TurnRecord, ...]:
    kind = {Minigame: "minigame", Extraction: "extract"}.get(type(question), "")
    env = waybench.load(f"textmap/{kind or ('destination' if question.path else 'route')}")
    episode = Episode(env, Item(question, "it", 1, "k", 0, env.items.prove(question)), options)
    for text in replies:
        episode.step(text)
    return episode.turns


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+", text)]


def ends(place_map: PlaceMap, svg: str, name: str) -> list[tuple[str, str]]:
    """Return the places between which the lines of a class are drawn, as far as they reach a place; "" if not."""
    where = {(round(x), round(y)): place for place, (x, y) in map_layout(place_map).at.items()}
    found: list[tuple[str, str]] = []
    for part in parts(svg, name):
        for path in part.iter("path"):
            for line in re.findall(r"M[^M]*", path.get("d", "")):
                points = numbers(line)
                begin, end = points[:2], points[-2:]
                found.append(
                    (where.get((round(begin[0]), round(begin[1])), ""), where.get((round(end[0]), round(end[1])), ""))
                )
    return found


def at(place_map: PlaceMap, part: ElementTree.Element) -> str:
    """Return the place that a circle, or the cross at the end of a path, is at."""
    x, y = (
        numbers(part.get("d", "")[1:])[:2] if part.tag == "path" else (float(part.get(key, "")) for key in ("cx", "cy"))
    )
    return min(
        map_layout(place_map).at,
        key=lambda place: abs(map_layout(place_map).at[place][0] - x) + abs(map_layout(place_map).at[place][1] - y),
    )


def written(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


def caption(svg: str) -> str:
    (part,) = parts(svg, "textmap-told")
    return part.text or ""


def cells(place_map: PlaceMap) -> dict[str, tuple[int, int]]:
    return dict(zip(place_map.places, lay_out_places(place_map.places, place_map.edges), strict=True))


def test_directions_are_those_of_the_compass() -> None:
    found = cells(TOWN)
    (x, y), places = found["b"], {place: found[place] for place in "acd"}
    assert places == {"c": (x, y - 1), "d": (x, y - 2), "a": (x + 1, y)}
    assert found["e"][1] < found["d"][1]  # up is aslant, and that is upwards


@pytest.mark.parametrize(
    ("action", "cell"),
    [("north", (0, -1)), ("Southwest", (-1, 1)), ("push pram east", (1, 0)), ("climb down rope", (-1, 1))],
)
def test_what_words_say_of_directions(action: str, cell: tuple[int, int]) -> None:
    assert direction_and_certainty(action)[0] == cell
    assert direction_and_certainty(action)[1] > direction_and_certainty("pray")[1]


def test_room_is_made_where_places_are_in_each_others_way() -> None:
    # Two ways round, of different lengths, to places that should be on the same cell.
    rows = [("a", "east", "b"), ("b", "north", "c"), ("a", "north", "d"), ("d", "east", "e"), ("e", "east", "f")]
    place_map = of_edges("round", [edge(*row, forward=number) for number, row in enumerate(rows, 1)])
    found = cells(place_map)
    assert len(set(found.values())) == 6
    for source, action, target in rows:
        (x, y), (column, row) = found[source], found[target]
        turned = (column - x, row - y)
        assert turned[action == "east"] == 0  # straight, though perhaps longer
        assert turned[action == "north"] * (1 if action == "east" else -1) > 0


def published(data_dir: Callable[..., Path]) -> Iterable[PlaceMap]:
    return (load_map(folder, folder.name) for folder in sorted(data_dir("mango").iterdir()))


@pytest.mark.slow
def test_places_of_published_maps(data_dir: Callable[..., Path]) -> None:
    firm, kept = 0, 0
    for place_map in published(data_dir):
        found = cells(place_map)
        assert len(set(found.values())) == len(place_map.places) == len(found)
        where = map_layout(place_map)
        points = list(where.at.values())
        apart = [abs(x - u) + abs(y - v) for i, (x, y) in enumerate(points) for u, v in points[:i]]
        assert min(apart) > 4 * where.radius
        assert all(0 < x < where.width and 0 < y < where.height for x, y in points)
        for each in place_map.edges:
            (east, south), weight = direction_and_certainty(each.action)
            (x, y), (column, row) = found[each.source], found[each.target]
            if weight == 1 and each.source != each.target:
                firm += 1
                kept += (column - x) * east + (row - y) * south > 0
    assert kept / firm > 0.97  # of a thousand moves; mazes and lifts contradict themselves


@pytest.mark.slow
def test_names_cover_neither_places_nor_names(data_dir: Callable[..., Path]) -> None:
    for place_map in published(data_dir):
        where = map_layout(place_map)
        names = where.names.place_names(place_map.places)
        fitting = [names[place].box for place in place_map.places if names[place] in where.names.fitting.values()]
        assert len(fitting) >= 0.7 * len(place_map.places)
        for number, (left, top, right, bottom) in enumerate(fitting):
            assert not any(left < x < right and top < y < bottom for x, y in where.at.values())
            for a, b, c, d in fitting[:number]:
                assert left >= c or a >= right or top >= d or b >= bottom


def test_the_same_in_every_process() -> None:
    code = (
        "import waybench, hashlib; draw = waybench.load('textmap/route').presentation.draw; "
        "found = waybench.load('textmap/route').source('draw', 3).item(0).instance; "
        "print(hashlib.sha256(draw(found).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_a_map_is_laid_out_once_for_all_its_questions() -> None:
    place_map = corridor("once", 9)
    lay_out_places.cache_clear()
    map_layout.cache_clear()
    for number, question in enumerate(corridor_questions(place_map)):
        draw(replace(question, cutoff=number % 8))
    assert number > 60
    assert lay_out_places.cache_info().misses == 1


def test_moves_are_drawn_as_they_were_told() -> None:
    place_map = corridor("told", 6)
    question = next(corridor_questions(place_map))
    svg = draw(replace(question, cutoff=3))
    names = [f"room {number}" for number in range(6)]
    # Every line goes half the way, for there is a way back from everywhere.
    assert ends(place_map, svg, "textmap-walked") == [(name, "") for name in names[:3]]
    assert ends(place_map, svg, "textmap-imputed") == [(name, "") for name in names[1:4]]
    assert sorted(ends(place_map, svg, "textmap-later")) == [
        (name, "") for name in ("room 3", "room 4", "room 4", "room 5")
    ]
    (untold,) = parts(svg, "textmap-untold")
    assert [at(place_map, dot) for dot in untold.iter("circle")] == names[4:]


def test_a_way_of_one_direction_is_a_whole_line_with_a_head() -> None:
    svg = draw(MapQuestion(TOWN, 9, "b", "d"))
    assert set(ends(TOWN, svg, "textmap-walked")) == {("b", ""), ("c", ""), ("c", "d"), ("b", "a"), ("d", "e")}
    assert sum(part.get("d", "").count("M") for part in parts(svg, "textmap-head")) == 3


def test_the_route_that_is_answered() -> None:
    detour = [("attic", "down", "hall"), ("hall", "up", "attic"), ("attic", "jump", "hall"), ("hall", "out", "garden")]
    for said in (RIGHT, detour):
        svg = draw(TO_GARDEN, turns_of(TO_GARDEN, reply(*said)))
        assert set(ends(HOUSE, svg, "tiles-trail")) == {(before, after) for before, _, after in said}
        assert not parts(svg, "maze-hit")
        assert [at(HOUSE, dot) for dot in parts(svg, "tiles-stop")] == ["garden"]
        assert [at(HOUSE, ring) for ring in parts(svg, "tiles-start")] == ["attic"]
        (band,) = (ends(HOUSE, svg, "textmap-band"),)
        assert band == [("attic", "hall"), ("hall", "garden")]
    assert caption(svg) == "From attic to garden: right, 4 moves where 2 would do"


def test_a_route_that_leaves_the_map_or_ends_elsewhere_gets_a_cross() -> None:
    leaves = draw(TO_GARDEN, turns_of(TO_GARDEN, reply(RIGHT[0], ("hall", "dig", "garden"), RIGHT[1])))
    assert ends(HOUSE, leaves, "tiles-trail") == [("attic", "hall")]
    assert [at(HOUSE, cross) for cross in parts(leaves, "maze-hit")] == ["hall"]
    assert caption(leaves) == "From attic to garden: move 2 of 3 leads nowhere"
    elsewhere = draw(TO_GARDEN, turns_of(TO_GARDEN, reply(*RIGHT, ("garden", "dig", "cellar"))))
    assert [at(HOUSE, cross) for cross in parts(elsewhere, "maze-hit")] == ["cellar"]
    assert caption(elsewhere) == "From attic to garden: wrong, 3 moves that lead elsewhere"
    for unread in ("", "I do not know."):
        svg = draw(TO_GARDEN, turns_of(TO_GARDEN, unread))
        assert caption(svg) == "From attic to garden: nothing could be read"
        assert not parts(svg, "tiles-trail") + parts(svg, "maze-hit")


def test_a_route_is_followed_by_the_rules_by_which_it_was_scored() -> None:
    nearly = reply(RIGHT[0], ("hall", "go out", "garden"))
    paper = draw(TO_GARDEN, turns_of(TO_GARDEN, nearly, protocol="paper"))
    sound = draw(TO_GARDEN, turns_of(TO_GARDEN, nearly, protocol="sound"))
    assert ends(HOUSE, paper, "tiles-trail") == [("attic", "hall"), ("hall", "garden")]
    assert ends(HOUSE, sound, "tiles-trail") == [("attic", "hall")]
    assert [len(parts(svg, "maze-hit")) for svg in (paper, sound)] == [0, 1]


def test_what_was_put_in_place_of_an_answer_is_drawn() -> None:
    (turn,) = turns_of(TO_GARDEN, reply(("attic", "jump", "hall")))
    svg = draw(TO_GARDEN, [turn._replace(executed=[list(hop) for hop in RIGHT])])
    assert ends(HOUSE, svg, "tiles-trail") == [("attic", "hall"), ("hall", "garden")]


def test_the_destination_that_is_answered() -> None:
    right = draw(FROM_ATTIC, turns_of(FROM_ATTIC, reply(*RIGHT)))
    assert caption(right) == "From attic by 2 moves: garden, right"
    assert ends(HOUSE, right, "tiles-trail") == [("attic", "hall"), ("hall", "garden")]
    assert not parts(right, "maze-hit")
    wrong = draw(FROM_ATTIC, turns_of(FROM_ATTIC, reply(RIGHT[0], ("hall", "out", "cellar"))))
    assert caption(wrong) == "From attic by 2 moves: cellar, wrong"
    assert ends(HOUSE, wrong, "tiles-trail") == [("attic", "hall")]
    made_up, cross = parts(wrong, "maze-hit")
    assert ends(HOUSE, f"<svg>{ElementTree.tostring(made_up, encoding='unicode')}</svg>", "maze-hit") == [
        ("hall", "cellar")
    ]
    assert at(HOUSE, cross) == "cellar"
    assert [at(HOUSE, dot) for dot in parts(wrong, "tiles-stop")] == ["cellar"]
    (reference,) = (part for part in parts(wrong, "reference") if part.find("path") is not None)
    assert ends(HOUSE, f"<svg>{ElementTree.tostring(reference, encoding='unicode')}</svg>", "textmap-band") == [
        ("attic", "hall"),
        ("hall", "garden"),
    ]


def test_a_destination_that_any_of_several_places_is_right_for() -> None:
    either = of_edges("either", [edge("a", "north", "b", 1), edge("a", "north", "c", 2), edge("b", "up", "c", 3)])
    question = MapQuestion(either, 9, "a", "b", (either.edges[0],))
    answer = reply(("a", "north", "c"))
    assert caption(draw(question, turns_of(question, answer, protocol="sound"))).endswith("c, right")
    assert caption(draw(question, turns_of(question, answer, protocol="paper"))).endswith("c, wrong")


def test_the_question_is_drawn_before_its_answer() -> None:
    for question, question_caption in ((TO_GARDEN, "From attic to garden"), (FROM_ATTIC, "From attic by 2 moves")):
        turns = turns_of(question, reply(RIGHT[0], ("hall", "dig", "cellar")))
        start, end = draw_frames(question, turns, [0, 1])
        assert (start, end) == (draw(question), draw(question, turns))
        assert caption(start) == question_caption
        assert caption(end).startswith(f"{question_caption}: ")
        assert not parts(start, "tiles-trail") + parts(start, "tiles-stop") + parts(start, "maze-hit")
        assert box(start) == box(end)


def test_the_same_map_is_drawn_once() -> None:
    first, again = draw(TO_GARDEN, board_id="b"), draw(FROM_ATTIC, board_id="b", reuse=True)
    assert '<g id="b">' in first
    assert '<use href="#b"/>' in again
    assert not parts(again, "textmap-place")


def test_a_minigame() -> None:
    game = minigame.GAME
    here, goal = game.move.source, game.move.target
    start = draw(game)
    assert caption(start) == f"Step 7, at {here}: what is next?"
    assert set(ends(game.map, start, "textmap-came")) <= {edge[:2] for edge in game.map.edges}
    assert ends(game.map, start, "textmap-came")[-1][1] == here
    right = draw(game, turns_of(game, game.move.action))
    assert ends(game.map, right, "tiles-trail") == ends(game.map, right, "textmap-band") == [(here, goal)]
    assert caption(right).endswith(f": {game.move.action}, right")
    assert not parts(right, "maze-hit")
    wrong = draw(game, turns_of(game, "up"))
    assert ends(game.map, wrong, "tiles-trail") == [("Forest Path", "Up a Tree")]
    assert [at(game.map, cross) for cross in parts(wrong, "maze-hit")] == ["Up a Tree"]
    idle = draw(game, turns_of(game, "open egg with all"))
    assert not parts(idle, "tiles-trail")
    assert [at(game.map, cross) for cross in parts(idle, "maze-hit")] == [here]
    (turn,) = turns_of(game, "up")
    other = draw(game, [turn._replace(action=HOSTILE)])
    assert caption(other).endswith(": an action that is not listed, wrong")


TASK = Extraction(extract.HOUSE, 9, (MapQuestion(extract.HOUSE, 9, "hall", "garden"),))


def said(*hops: Sequence[str]) -> list[str]:
    return [json.dumps(dict(zip(("location_before", "action", "location_after"), hop, strict=True))) for hop in hops]


def test_an_extraction_step_by_step() -> None:
    wrong = ("garden", "in", "attic")
    answers = [*said(extract.TRUTH[5], wrong), "nothing", *said(extract.TRUTH[8])]
    turns = turns_of(TASK, *answers)
    frames = list(draw_frames(TASK, turns, range(5)))
    assert [caption(frame) for frame in frames] == [
        "Step 5 of 9",
        "Step 6 of 9: 1 of 1 triplet right",
        "Step 7 of 9: 1 of 2 triplets right",
        "Step 8 of 9: 1 of 3 triplets right, 1 could not be read",
        "Step 9 of 9: 2 of 4 triplets right, 1 could not be read",
    ]
    # Between hall and garden there is a way back, and so a move has half a line.
    assert [ends(extract.HOUSE, frame, "textmap-missed") for frame in frames] == [
        [],
        [],
        [("garden", "")],
        [("garden", ""), ("hall", "cellar")],
        [("garden", ""), ("hall", "cellar")],
    ]
    assert [ends(extract.HOUSE, frame, "tiles-trail") for frame in frames] == [[]] * 4 + [[("cellar", "garden")]]
    assert [at(extract.HOUSE, dot) for frame in frames for dot in parts(frame, "tiles-stop")] == [
        *("garden", "hall", "cellar", "garden")
    ]
    assert set(ends(extract.HOUSE, frames[0], "textmap-came")) == {
        ("hall", "attic"),
        ("attic", "hall"),
        ("hall", "garden"),
    }


def test_an_extraction_that_was_broken_off() -> None:
    svg = draw(TASK, turns_of(TASK, *said(extract.TRUTH[5])))
    assert caption(svg) == "Step 6 of 9: 1 of 1 triplet right"


@pytest.mark.parametrize(("protocol", "right"), [("paper", 2), ("sound", 7)])
def test_an_extraction_at_once(protocol: str, right: int) -> None:
    # The third triplet is left out: compared one by one with the steps, all that follow are wrong.
    left = [*extract.TRUTH[:2], *extract.TRUTH[3:8]]
    turns = turns_of(TASK, f"[{', '.join(said(*left))}]", mode="whole", protocol=protocol)
    svg = draw(TASK, turns)
    assert caption(svg) == f"9 steps at once: {right} of 9 triplets right"
    assert len(ends(extract.HOUSE, svg, "tiles-trail")) == (1 if protocol == "paper" else 4)
    unread = draw(TASK, turns_of(TASK, "nothing", mode="whole", protocol=protocol))
    assert caption(unread) == "9 steps at once: 0 of 9 triplets right, nothing could be read"


def hostile_map() -> PlaceMap:
    names = [f"{HOSTILE} {number} {'<b>' * 30}" for number in range(4)]
    return of_edges("hostile", [edge(names[i], f"<i>{HOSTILE}", names[i + 1], forward=i + 1) for i in range(3)], names)


def check(svg: str) -> None:
    """Check that nothing but shapes and text is in a drawing, and that no name is longer than it may be."""
    root = ElementTree.fromstring(svg)
    assert {each.tag for each in root.iter()} <= SHAPES
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or name == "style"]
    assert max(map(len, root.itertext())) <= 120
    assert "\u202e" not in svg


def test_hostile_names_of_places_are_text() -> None:
    place_map = hostile_map()
    first, last = place_map.places[0], place_map.places[-1]
    route = MapQuestion(place_map, 9, first, last)
    hops = [(each.source, each.action, each.target) for each in place_map.edges]
    destination = replace(route, path=place_map.edges)
    check(draw(route, turns_of(route, reply(*hops))))
    check(draw(destination, turns_of(destination, reply(*hops))))
    svg = draw(route)
    assert "alert(1)" in written(svg)  # told, and nothing else


def test_nothing_of_a_reply_is_drawn() -> None:
    secret = "XYZZY" + HOSTILE
    answers = [
        [("attic", secret, secret)],
        [("attic", "down", secret)],
        [(secret, "down", "hall"), (secret, secret, "garden")],
        [*RIGHT, ("garden", "dig", secret)],
    ]
    for question in (TO_GARDEN, FROM_ATTIC):
        for answer in answers:
            svg = draw(question, turns_of(question, reply(*answer)))
            check(svg)
            assert "XYZZY" not in svg
    svg = draw(TASK, turns_of(TASK, *said(("garden", secret, secret), (secret, "in", "hall"))))
    assert "XYZZY" not in svg
    # What a record claims without a simulation is none of the map's either.
    (turn,) = turns_of(FROM_ATTIC, reply(*RIGHT))
    forged = turn._replace(action=[["attic", "down", secret]], events={"success": secret}, reply=secret)
    assert "XYZZY" not in draw(FROM_ATTIC, [forged])
    assert caption(draw(FROM_ATTIC, [forged])).endswith(": a place that is not on the map")


@pytest.mark.slow
def test_a_map_of_hundreds_of_tangled_places_is_drawn(watchdog: None) -> None:
    names = [f"place {number}" for number in range(600)]
    words = ("north", "southeast", "up", "in", "pray")
    edges = [
        Edge(names[i], names[(i * step + 7) % 600], words[step % 5], i * 9 + step, 9999, i * 9 + step, 9999)
        for i in range(600)
        for step in range(2, 11)
        if names[i] != names[(i * step + 7) % 600]
    ]
    place_map = of_edges("tangle", edges, names)
    assert len(set(cells(place_map).values())) == 600
    check(draw(MapQuestion(place_map, 9, names[0], names[599])))


def test_published_questions(data_dir: Callable[..., Path]) -> None:
    for game in ("zork1", "detective", "advent", "905"):
        place_map = load_map(data_dir("mango", game), game)
        question = MapQuestion(place_map, 70, place_map.edges[0].source, place_map.edges[-1].target)
        env = waybench.load("textmap/route")
        for player in ("oracle", "random", "noisy-0.3", "null"):
            done = play_to_end(env, item(question), policy(player))
            svg = draw(question, done.turns)
            check(svg)
            moves = {(each.source, each.target) for each in place_map.edges}
            trail = ends(place_map, svg, "tiles-trail")
            assert set(trail) <= moves
            solved = bool(done.turns[0].reward)
            assert bool(parts(svg, "maze-hit")) == (not solved and done.turns[0].action is not None)
            if solved:
                assert [at(place_map, dot) for dot in parts(svg, "tiles-stop")] == [question.target]
