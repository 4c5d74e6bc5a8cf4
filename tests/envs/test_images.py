"""What the pictures of each environment show: the facts of the text, and nothing else."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

import waybench
from tests.png import decoded
from waybench.core import Episode, Picture, policy
from waybench.envs.hanoi._game import Towers
from waybench.envs.search._walk import WalkGraph
from waybench.envs.spaces._graph import Graph
from waybench.evaluation._agents import picture_png


def episode(env_id: str, level: int | None = None, turns: int = 0, player: str = "oracle", **options: Any) -> Any:
    environment = waybench.load(env_id)
    played: Any = Episode(environment, environment.source(level=level).item(0), {"wording": "image", **options})
    for _ in range(turns):
        played.step(policy(player).reply(played))
    return played


def picture(played: Any) -> Picture:
    found = played.messages[-1].picture
    assert isinstance(found, Picture)
    return found


def texts(svg: str) -> list[tuple[float, float, str]]:
    found = re.findall(r'<text[^>]*? x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>([^<]*)</text>', svg)
    return [(float(x), float(y), unescape(text)) for x, y, text in found]


@pytest.mark.parametrize("env_id", ["tilemap/gtb", "tilemap/stepwise", "tilemap/state"])
@pytest.mark.parametrize("grid", [False, True])
def test_tiles_have_their_characters(env_id: str, grid: bool) -> None:
    walkers = {} if env_id == "tilemap/state" else {"walkers": 1}
    played = episode(env_id, 2, turns=1, image_grid=grid, **walkers)
    svg = picture(played).svg
    case = played.item.instance
    written = {(int(y), int(x)): text for x, y, text in texts(svg) if x >= 0 and y >= 0 and len(text) == 1}
    rows = played.state.rows()
    drawn = ["".join(written[row, column] for column in range(case.width)) for row in range(case.height)]
    assert drawn == rows
    assert "\n".join(rows) not in played.messages[-1].text
    numbers = [text for x, y, text in texts(svg) if x < 0 or y < 0]
    assert numbers == ([str(n) for n in (*range(case.width), *range(case.height))] if grid else [])


def test_characters_are_drawn_with_a_font_that_is_there() -> None:
    bare = picture(episode("tilemap/gtb"))
    pixels = decoded(picture_png(bare))
    rows = bare.state.rows()
    for row, line in enumerate(rows):
        for column in range(len(line)):
            around = {
                pixels.at((column + x / 20) / len(line), (row + y / 20) / len(rows))
                for x in range(5, 16)
                for y in range(4, 17)
            }
            assert len(around) > 1, (row, column)  # a tile without its character has one colour there


@pytest.mark.parametrize("turns", [0, 3])
def test_rods_and_goal(turns: int) -> None:
    played = episode("hanoi/rods", 4, turns=turns)
    towers: Towers = played.item.instance
    words = texts(picture(played).svg)
    middles = sorted({x for x, _, text in words if text in "ABC"})
    assert [text for x in middles for _, _, text in [next(word for word in words if word[0] == x and word[2] in "ABC")]]
    size = towers.level
    stacks = [[int(text) for x, _, text in words if x == middle and text.isdigit()] for middle in middles]
    now = [list(stack) for stack in played.state.world.rods]
    goal: list[list[int]] = [[], [], []]
    for disk in reversed(range(size)):
        goal["ABC".index(towers.goal[disk])].append(disk)
    assert stacks == [[*one, *other] for one, other in zip(now, goal, strict=True)]
    message = played.messages[-1].text
    assert "|bottom" not in message
    assert played.messages[0].text.count("|bottom") == 3  # the example of the manual alone


def test_an_example_with_the_same_rods_stays() -> None:
    environment = waybench.load("hanoi/rods")
    item = environment.item({"start": "ABC", "goal": "CCC"})
    played: Any = Episode(environment, item, {"wording": "image"})
    text = played.messages[0].text
    assert "- A: |bottom, [0], top|\n- B: |bottom, [1], top|\n- C: |bottom, [2], top|\nYou are only" in text
    assert "the starting configuration is:\n(see the picture)" in text


@pytest.mark.parametrize("env_id", ["search/dfs", "search/cavedfs", "search/bfs", "search/cavebfs"])
def test_a_search_shows_what_was_seen_and_not_the_rest(env_id: str) -> None:
    environment = waybench.load(env_id)
    near = [(0, 1), (0, 2), (1, 3)]
    graphs = [Graph(8, (*near, *far)) for far in (((2, 4), (3, 5), (5, 6), (5, 7)), ((3, 4), (2, 5), (2, 6), (6, 7)))]
    shown: list[list[str]] = []
    for graph in graphs:
        item = environment.item(WalkGraph(graph).to_json())
        played: Any = Episode(environment, item, {"wording": "image"})
        before = picture(played).svg
        played.step("1")
        shown.append([before, picture(played).svg])
        assert "3" not in played.messages[-1].text
    assert shown[0] == shown[1]
    assert sorted(text for _, _, text in texts(shown[0][0])) == ["0", "1", "2"]
    assert sorted(text for _, _, text in texts(shown[0][1])) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("protocol", ["paper", "sound"])
@pytest.mark.parametrize(
    ("env_id", "options"), [("messenger/roles", {}), ("crafter/survival", {"steps": 12}), ("voxel/find", {"steps": 4})]
)
def test_a_compass_has_the_lines_of_the_text(env_id: str, options: dict[str, Any], protocol: str) -> None:
    steps = 4 if env_id == "crafter/survival" else 1
    seen = episode(env_id, turns=steps, protocol=protocol, **options)
    read = episode(env_id, turns=steps, protocol=protocol, **{**options, "wording": "chat"})
    found = picture(seen)
    said = read.messages[-1].text
    lines = [line for line in said.splitlines() if re.match(r" ?- .+ (steps|blocks) ", line)]
    assert lines
    assert not [line for line in lines if line in seen.messages[-1].text]
    words = texts(found.svg)
    across = sorted({x for x, _, text in words if text in ("N", "NE", "NW")})
    down = {text: y for _, y, text in words if text in ("N", "W", "S")}
    labels = [(x, y, text) for x, y, text in words if text not in ("N", "NE", "E", "SE", "S", "SW", "W", "NW")]
    assert len(labels) == len(lines)
    for line in lines:
        match = re.fullmatch(r" ?- (.+?),? ([0-9.]+) (?:steps|blocks away,)(.*)", line)
        assert match is not None
        way = match[3]
        row = "N" if "north" in way else "S" if "south" in way else "W"
        column = 0 if "west" in way else 2 if "east" in way else 1
        share = re.search(r"[0-9]+%", way)
        level = next((word for word in ("above", "below", "level") if word in way), "")
        wanted = ", ".join(part for part in (match[1], match[2], level, share[0] if share else "") if part)
        places = [(x, y) for x, y, text in labels if text == wanted]
        assert any(x == across[column] and _row(down, y) == row for x, y in places), line


def _row(down: dict[str, float], y: float) -> str:
    return max((top, name) for name, top in down.items() if top < y)[1]


@pytest.mark.parametrize("env_id", ["textmap/route", "textmap/destination"])
def test_a_text_map_shows_the_moves_of_the_walkthrough(env_id: str) -> None:
    environment = waybench.load(env_id)
    item = environment.source(level=3).item(0)
    question = item.instance
    moves = [edge for edge in question.map.edges if edge.forward_named <= question.cutoff]
    later = [edge for edge in question.map.edges if edge not in moves]
    assert moves and later
    played: Any = Episode(environment, item, {"wording": "image"})
    svg = picture(played).svg
    assert "STEP NUM" not in played.messages[0].text
    written = " ".join(re.findall(r">([^<]+)<", svg))
    words = unescape(written)
    for edge in moves:
        assert edge.action in words
        assert edge.source.split()[0] in words and edge.target.split()[0] in words
    # The rest of the map does not matter: a map without it has the same picture.
    known = {place for edge in moves for place in (edge.source, edge.target)}
    less = replace(
        question.map, places=tuple(place for place in question.map.places if place in known), edges=tuple(moves)
    )
    state = replace(played.state, instance=replace(question, map=less))
    assert replace(picture(played), state=state).svg == svg
