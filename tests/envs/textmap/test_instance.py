"""Questions as instances: what they are read from, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.envs.textmap import HOUSE, edge, of_edges
from waybench.core import DataError, UsageError
from waybench.envs.textmap._instances import insert_published_map, published_map, size_class, truncate_map
from waybench.envs.textmap._items import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap._place_map import PlaceMap, walkthrough_text

ROUTE = MapQuestion(truncate_map(HOUSE, 5), 5, "attic", "garden")
DESTINATION = MapQuestion(truncate_map(HOUSE, 9), 9, "attic", "garden", (HOUSE.edges[2], HOUSE.edges[3]))
# From the fork, "north" leads to two places, and from both of them "east" to the end.
FORKED = of_edges(
    "forked",
    [
        edge("fork", "north", "left", forward=3),
        edge("fork", "north", "right", forward=1),
        edge("left", "east", "end", forward=4),
        edge("right", "east", "end", forward=2),
    ],
)


def data(question: MapQuestion) -> Any:
    return json.loads(json.dumps(question.to_json()))


def test_a_question_has_one_step_more_than_it_shows() -> None:
    assert [step.number for step in ROUTE.map.steps] == list(range(7))
    assert truncate_map(HOUSE, 8).steps == truncate_map(HOUSE, 400).steps == HOUSE.steps
    assert decode_route(data(MapQuestion(HOUSE, 2, "attic", "hall"))).map.steps == HOUSE.steps[:4]


def test_questions_are_read_back() -> None:
    assert decode_route(data(ROUTE)) == ROUTE
    assert decode_destination(data(DESTINATION)) == DESTINATION
    assert DESTINATION.actions == ("jump", "out")
    assert (ROUTE.shortest, DESTINATION.shortest) == (2, 2)
    # Down, walked at 2, and out, walked at 3; jump, walked at 6.
    assert (ROUTE.labels.easy_from(), DESTINATION.labels.easy_from()) == (3, 6)


def test_a_route_keeps_the_rule_of_its_labels() -> None:
    # The direct move back was never made, but there is a walked way around.
    around = of_edges(
        "around",
        [
            edge("home", "east", "shop", forward=1),
            edge("shop", "west", "home", reverse=1),
            edge("shop", "north", "park", forward=2),
            edge("park", "south", "home", forward=3),
        ],
    )
    released = MapQuestion(truncate_map(around, 3), 3, "shop", "home")
    paper = replace(released, rule="tables")
    assert "labels" not in released.to_json() and paper.to_json()["labels"] == "paper"
    assert decode_route(data(released)) == released and decode_route(data(paper)) == paper
    assert (released.difficulty, released.easy_from, paper.difficulty, paper.easy_from) == ("easy", 3, "hard", 9999)
    assert (released.answerable_from, paper.answerable_from) == (1, 1)
    there = replace(paper, source="home", target="park")
    assert (there.difficulty, there.easy_from, there.answerable_from) == ("easy", 2, 2)
    with pytest.raises(DataError, match='labels: give "released" or "paper"'):
        decode_route(data(paper) | {"labels": "tables"})


@pytest.mark.parametrize(("places", "level"), [(1, 1), (5, 1), (7, 1), (8, 2), (15, 2), (16, 3), (255, 6), (256, 7)])
def test_levels_are_size_classes(places: int, level: int) -> None:
    assert size_class(places) == level


def test_a_destination_that_follows_can_be_left_out() -> None:
    question_data = data(DESTINATION)
    del question_data["dst"], question_data["path"]
    assert decode_destination(question_data) == DESTINATION


def test_moves_that_can_lead_to_several_places() -> None:
    question_data = {**data(MapQuestion(FORKED, 9, "fork", "end")), "actions": ["north"]}
    with pytest.raises(DataError, match="these moves can lead to several places"):
        decode_destination({key: value for key, value in question_data.items() if key != "dst"})
    assert decode_destination({**question_data, "dst": "left"}).path == (FORKED.edges[0],)
    both = {**question_data, "dst": "end", "actions": ["north", "east"]}
    # Of two paths to one place the one that can be asked about first.
    assert [move.target for move in decode_destination(both).path] == ["right", "end"]
    assert [move.target for move in decode_destination({**both, "path": ["left", "end"]}).path] == ["left", "end"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"src": "atic"}, "src: unknown place 'atic': did you mean 'attic'"),
        ({"dst": None}, "dst: give a place's name"),
        ({"dst": "attic"}, "dst: the same place as src"),
        ({"cutoff": True}, "cutoff: give the last step shown"),
        ({"cutoff": -1}, "cutoff: give the last step shown"),
        ({"map": None}, "map: give "),
        ({"map": {**data(ROUTE)["map"], "name": ""}}, "map: name: give the game's name"),
        ({"map": {**data(ROUTE)["map"], "places": []}}, "map: places: give a list of 1 to"),
        ({"map": {**data(ROUTE)["map"], "edges": [["hall", "attic", "up", 1, 2, 1]]}}, "map: edges: record 0: give a"),
        ({"map": {**data(ROUTE)["map"], "edges": [["hall", "loft", "up", 1, 2, 1, 2]]}}, "'loft' is not among"),
        ({"map": {**data(ROUTE)["map"], "steps": [["Init"]]}}, "map: steps: record 0: give an action and"),
        ({"map": {**data(ROUTE)["map"], "steps": [["Init", "\ud800"]]}}, "an unpaired surrogate"),
    ],
)
def test_what_is_no_question(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        decode_route({**data(ROUTE), **change})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": []}, "actions: 0 moves"),
        ({"actions": ["up", "up"]}, "no simple path of the map makes these moves"),
        ({"actions": ["jump", "up"]}, "no simple path of the map makes these moves"),  # back to where it began
        ({"actions": "jump"}, "actions: give a list of names"),
        ({"actions": ["jump"] * 1000}, "actions: 1,000 moves"),
        ({"path": ["hall"]}, "no simple path"),
    ],
)
def test_what_is_no_question_for_a_destination(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode_destination({**data(DESTINATION), **change})


def write(place_map: PlaceMap, folder: Path) -> None:
    """Write a map in the published form, by hand."""
    folder.mkdir(parents=True)
    keys = ("seen_in_forward", "seen_in_reversed", "seen_in_forward_answerable", "seen_in_reversed_answerable")
    records = [
        {
            "src_node": move.source,
            "dst_node": move.target,
            "action": move.action,
            **dict(zip(keys, move[3:], strict=True)),
            "edge_min_step": min(move[3:5]),
            "edge_min_step_answerable": min(move[5:]),
        }
        for move in place_map.edges
    ]
    for part, content in (("edges", records), ("locations", place_map.places), ("actions", place_map.actions)):
        (folder / f"{place_map.name}.{part}.json").write_text(json.dumps(content))
    (folder / f"{place_map.name}.walkthrough").write_text(walkthrough_text(place_map.steps))


def test_a_published_game_can_be_named(tmp_path: Path) -> None:
    write(HOUSE, tmp_path / "house")

    def locate(name: str, file: str) -> Path:
        assert name == "mango"
        return tmp_path / file

    assert published_map("house", locate) == HOUSE
    short = {"game": "house", "src": "attic", "dst": "garden", "cutoff": 5}
    assert decode_route(insert_published_map(short, locate)) == ROUTE
    question_data = insert_published_map({**short, "actions": ["jump", "out"], "cutoff": 9}, locate)
    assert decode_destination(question_data) == DESTINATION
    assert insert_published_map(data(ROUTE), locate) == data(ROUTE)
    for wrong in ("../house", "", 7, "house/house", "maison\n"):
        with pytest.raises(DataError, match="game: give the name of a published game"):
            insert_published_map({**short, "game": wrong}, locate)


def test_a_game_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    from waybench.data import locate_file

    with pytest.raises(UsageError, match="waybench data fetch mango"):
        insert_published_map(
            {"game": "zork1", "src": "attic", "dst": "kitchen", "cutoff": 70}, lambda *of: locate_file(*of, tmp_path)
        )
