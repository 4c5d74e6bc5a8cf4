"""Whole maps as drawings: panels, boxes with names, and what stands beside lines."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import waybench
from tests.envs.textmap import edge, of_edges
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap, load_map
from waybench.envs.textmap.drawing._atlas import draw_map, make_sheet, split_into_panels

Box = tuple[float, float, float, float]

HOUSE = of_edges(
    "house",
    [
        edge("hall", "east", "parlour", forward=1),
        edge("parlour", "west", "hall", reverse=1),
        edge("parlour", "north", "library", forward=2),
        edge("hall", "down", "cellar", forward=3),
        edge("cellar", "up", "hall", reverse=3),
        edge("cellar", "south", "vault", forward=4),
        edge("vault", "west", "tunnel", forward=5),
        # A room of its own above is no panel: it joins the ground floor.
        edge("library", "climb up rope", "loft", forward=6),
        edge("loft", "say <b> & go", "hall", forward=7),
    ],
)


def question(place_map: PlaceMap) -> MapQuestion:
    return MapQuestion(place_map, 70, place_map.places[0], place_map.places[1])


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def boxes(place_map: PlaceMap) -> dict[str, Box]:
    """Return where each place is on the sheet."""
    return {
        place: (x + box.box[0], y + box.box[1], x + box.box[2], y + box.box[3])
        for panel in make_sheet(place_map).panels
        for x, y in [panel.origin]
        for place, box in panel.boxes.items()
    }


def actions(svg: str) -> list[tuple[str, Box]]:
    """Return the words beside lines with the room they take, within their panels' own measures."""
    found: list[tuple[str, Box]] = []
    for group in re.findall(r'<g class="textmap-name".*?</g>', svg):
        for text in ElementTree.fromstring(group):
            x, y, said = float(text.attrib["x"]), float(text.attrib["y"]), text.text or ""
            # Letters of a sans-serif font are narrower on average than half of its size.
            half = len(said) * 11 * 0.5 / 2
            found.append((said, (x - half, y - 9, x + half, y + 2)))
    return found


def test_levels_are_panels_and_small_parts_join_a_neighbour() -> None:
    parts = split_into_panels(HOUSE)
    assert [sorted(part) for part in parts] == [["hall", "library", "loft", "parlour"], ["cellar", "tunnel", "vault"]]
    first, second = make_sheet(HOUSE).panels
    assert (first.title, second.title) == ("1: 4 places", "2: 3 places")
    assert first.boxes["hall"].tags == ("down → 2: cellar",)
    assert second.boxes["cellar"].tags == ("up → 1: hall",)


def test_separate_parts_are_panels_too() -> None:
    apart = of_edges("apart", [edge("a", "east", "b", forward=2), edge("c", "east", "d", forward=1)])
    assert [sorted(part) for part in split_into_panels(apart)] == [["c", "d"], ["a", "b"]]


def test_directions_are_kept() -> None:
    (hall, parlour, library) = (boxes(HOUSE)[name] for name in ("hall", "parlour", "library"))
    assert hall[2] < parlour[0]
    assert library[3] < parlour[1]


def test_what_is_drawn() -> None:
    svg = draw_map(question(HOUSE))
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"] == "Map of 7 places and 9 moves."
    found = make_sheet(HOUSE)
    assert float(root.attrib["width"]) == pytest.approx(found.width, abs=1)
    titles = [title.text or "" for title in root.iter("title")]
    assert "hall\neast: parlour (walked at step 1)\ndown: cellar (walked at step 3)" in titles
    assert "cellar\nup: hall (inferred at step 3)\nsouth: vault (walked at step 4)" in titles
    # A direction that its line shows is not written again; what is typed otherwise is, and is text only.
    words = [said for said, _ in actions(svg)]
    assert "climb up rope" in words and "say <b> & go" in words and "east" not in words
    assert "<b>" not in svg


@pytest.mark.parametrize("game", ["905", "zork1", "detective", "murdac", "advent", "curses", "spirit"])
def test_no_names_of_published_maps_overlap(game: str, data_dir: Any) -> None:
    place_map = load_map(Path(data_dir("mango", game)), game)
    found = boxes(place_map)
    assert set(found) == set(place_map.places)
    assert not [pair for pair in combinations(found, 2) if overlap(found[pair[0]], found[pair[1]])]
    whole = make_sheet(place_map)
    assert all(
        left >= 0 and top >= 0 and right <= whole.width and low <= whole.height
        for left, top, right, low in found.values()
    )
    # Each panel's own shapes: words beside lines meet neither a box nor each other.
    for panel, part in zip(
        whole.panels, draw_map(question(place_map)).split('<g class="textmap-panel" transform="')[1:], strict=True
    ):
        words = [box for _, box in actions(part)]
        assert not [pair for pair in combinations(words, 2) if overlap(*pair)]
        assert not [1 for box in words for place in panel.boxes.values() if overlap(box, place.box)]


def test_names_fit_into_their_boxes() -> None:
    long = "a very long corridor (the east end of it, behind the chapel, in the rain)"
    place_map = of_edges("long", [edge(long, "north", "x", forward=1), edge("x", "east", "y" * 90, forward=2)])
    for panel in make_sheet(place_map).panels:
        for box in panel.boxes.values():
            left, top, right, bottom = box.box
            assert max(map(len, box.name)) * 6.5 <= right - left
            assert len(box.name) * 14 <= bottom - top
            assert len(box.name) <= 4


def test_a_large_world_is_drawn_whole() -> None:
    (item,) = waybench.load("textmap/route").source(level=5).head(1)
    place_map = item.instance.map
    found = boxes(place_map)
    assert len(found) == len(place_map.places) >= 64
    assert not [pair for pair in combinations(found.values(), 2) if overlap(*pair)]
