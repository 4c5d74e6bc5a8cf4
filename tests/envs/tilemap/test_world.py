"""The project's own tile worlds: what is promised of every one of them, and the public set."""

import ast
import functools
from collections import Counter, deque
from itertools import pairwise, product, starmap
from typing import Any

import pytest

from waybench.core import Item, Json, UsageError, resolve
from waybench.core._items import item_set_hash
from waybench.envs.tilemap._instance import TileMap, decode
from waybench.envs.tilemap._items import WORLD_OPTIONS, WorldSource
from waybench.envs.tilemap.worlds._tiles import BIOMES

LEVELS = range(1, 10)
MOST_TILES = {1: 30, 2: 45}  # and 60 at higher levels

# Level -> hash of the first 10 maps. A change here is a change of a public set: it raises the generator's version, and
# with it the environments'.
PINNED = {
    1: "7fb6177f39a4264f24403d112d5d616a5427769058836fdf3dca674466e4ce13",
    3: "bd05b748644cd5afc96a6cd5f281728fa8175cc60112a84d8385f0bbf85d0a92",
    5: "b1ff0669074c39b22299ed2a30dc8987f0a422a9addccf2d10c19fd06e7c22b3",
    9: "69ccbbd7a3538428daa7f33cac89c00c63458150c38028055e7e8094417e56f7",
}


def source(level: int, key: str = "test", **options: Json) -> WorldSource:
    return WorldSource(key, level, resolve(WORLD_OPTIONS, options))


@functools.cache
def some(level: int) -> list[TileMap]:
    """Return some maps of a level, fewer of the large ones."""
    return [item.instance for item in source(level).head(max(4, 160 >> level))]


@functools.cache
def varied() -> list[tuple[int, dict[str, Any], TileMap]]:
    """Return (level, options, map) of small maps of all biomes with the least and most tiles and objectives."""
    found: list[tuple[int, dict[str, Any], TileMap]] = []
    for number, (level, biome) in enumerate(product((1, 2, 3), sorted(BIOMES))):
        for tiles, objectives in (
            (7, 11),
            (8, 1),
            (MOST_TILES.get(level, 60), 11),
            (10 + number % 20, 1 + number % 11),
        ):
            options = {"biome": biome, "tiles": tiles, "objectives": objectives}
            found.append((level, options, source(level, **options).item(number).instance))
    return found


def every() -> list[TileMap]:
    return [case for level in LEVELS for case in some(level)] + [case for _, _, case in varied()]


def listed(text: str) -> list[str]:
    return ast.literal_eval(text)


def distances(case: TileMap, start: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Return the number of steps to every cell that can be reached: breadth-first search, cell by cell."""
    walkable, found, queue = {*listed(case.walkable), "@"}, {start: 0}, deque([start])
    while queue:
        row, column = queue.popleft()
        for cell in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = 0 <= cell[0] < case.height and 0 <= cell[1] < case.width
            if inside and cell not in found and case.rows[cell[0]][cell[1]] in walkable:
                found[cell] = found[row, column] + 1
                queue.append(cell)
    return found


def way(case: TileMap) -> list[tuple[int, int]]:
    """Return the start and the objectives' cells."""
    return [divmod(case.start, case.width), *((goal.row, goal.column) for goal in case.objectives)]


def walkable_share(case: TileMap) -> float:
    signs = {*listed(case.walkable), "@"}
    return sum(sign in signs for row in case.rows for sign in row) / (case.width * case.height)


# ---- what is promised of every map


@pytest.mark.parametrize("level", LEVELS)
def test_sizes_are_in_their_class(level: int) -> None:
    for case in some(level):
        assert 70 * 2 ** (level - 1) <= case.width * case.height < 70 * 2**level
        assert 7 <= case.height <= 100
        assert 10 <= case.width <= 200
        assert case.level == level
        assert {len(row) for row in case.rows} == {case.width}


def test_the_highest_level_reaches_100_rows_of_200_columns() -> None:
    assert max(case.height for case in some(9)) > 90
    assert max(case.width for case in some(9)) == 200


def test_one_player_and_one_antagonist_who_stands_in_the_way() -> None:
    for case in every():
        text = "".join(case.rows)
        assert text.count("@") == text.count("#") == 1
        assert "#" not in listed(case.walkable)


def test_every_character_has_one_name_and_every_name_is_on_the_map() -> None:
    for case in every():
        signs = [sign for _, sign in case.tiles]
        assert sorted(signs) == sorted(set("".join(case.rows)))
        assert len({name for name, _ in case.tiles}) == len(signs)
        assert {len(sign) for sign in signs} == {1}
        assert not set(signs) & set("[]',\"\\{} ")


def test_lists_of_tiles_are_python_lists_without_comments() -> None:
    for case in every():
        signs = {sign for _, sign in case.tiles}
        for text in (case.walkable, case.interactive):
            assert text == str(listed(text))
            assert set(listed(text)) < signs
            assert "@" not in listed(text)


def test_objectives_are_on_tiles_of_their_own() -> None:
    for case in every():
        assert 1 <= len(case.objectives) <= 11
        assert len(set(way(case))) == 1 + len(case.objectives)
        assert len({goal.name for goal in case.objectives}) == len(case.objectives)
        for goal in case.objectives:
            assert case.rows[goal.row][goal.column] == goal.tile
            assert goal.tile in listed(case.walkable)


@pytest.mark.parametrize("level", LEVELS)
def test_the_shortest_tour_is_stored(level: int) -> None:
    for case in some(level)[:40]:
        assert case.path_length == sum(distances(case, one)[other] for one, other in pairwise(way(case)))


def test_every_walkable_cell_can_be_reached() -> None:
    for case in [case for level in (1, 2, 3, 5) for case in some(level)] + [case for _, _, case in varied()]:
        assert len(distances(case, way(case)[0])) == round(walkable_share(case) * case.width * case.height)


def test_there_is_room_to_walk_and_something_to_walk_around() -> None:
    for case in every():
        assert 0.55 <= walkable_share(case) <= 0.9


def test_a_story_tells_the_objectives_in_their_order() -> None:
    for case in every():
        told, at = case.story.lower(), 0
        for goal in case.objectives:
            at = told.index(goal.name.lower(), at) + len(goal.name)
        assert 5 <= case.story.count(".") <= 12
        assert dict((sign, name) for name, sign in case.tiles)["@"] in case.story
        assert dict((sign, name) for name, sign in case.tiles)["#"] in case.story


def test_a_map_is_read_back_as_it_was_written() -> None:
    for case in every():
        again = decode(case.to_json())
        assert again == case
        assert (again.id, again.story) == (case.id, case.story)


@pytest.mark.parametrize("levels", [(3,), (4,), (5,), (6, 7, 8, 9)])
def test_ways_have_detours(levels: tuple[int, ...]) -> None:
    ratios: list[float] = []
    for case in (case for level in levels for case in some(level)):
        straight = sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(way(case)))
        ratios.append(case.path_length / straight)
    assert sum(ratios) / len(ratios) >= 1.15


# ---- options


def test_options_are_honoured() -> None:
    for _, options, case in varied():
        assert len(case.tiles) == options["tiles"]
        assert len(case.objectives) == options["objectives"]
        names = {name for name, _ in case.tiles}
        about = BIOMES[options["biome"]]
        assert names & set(about.main.values())


def test_what_is_not_given_is_drawn() -> None:
    maps = [item.instance for item in source(3, key="drawn").head(150)]
    counts = Counter(len(case.objectives) for case in maps)
    assert counts.most_common(1)[0][0] == 8
    assert {3, 4, 5, 8} <= set(counts)
    assert 7 <= min(len(case.tiles) for case in maps) < 15
    assert 30 < max(len(case.tiles) for case in maps) <= 46
    assert max(len(case.objectives) for case in some(1)) < 8


def test_any_biome_is_each_of_them_in_turn() -> None:
    maps = [item.instance for item in source(2, key="any", tiles=20).head(120)]
    met = {
        biome
        for biome, about in BIOMES.items()
        for case in maps
        if next(iter(about.main.values())) in {name for name, _ in case.tiles}
    }
    assert met == set(BIOMES)
    assert len(BIOMES) >= 7


@pytest.mark.parametrize("level", [-1, 0, 10, 99])
def test_a_level_that_does_not_exist(level: int) -> None:
    with pytest.raises(UsageError, match=rf"^level {level}: give a size class from 1 to 9$"):
        source(level)


def test_more_tiles_than_a_small_map_has_room_for() -> None:
    with pytest.raises(UsageError, match=r"^tiles=31: .* level 1 .* 30; give fewer.*$") as error:
        source(1, tiles=31)
    assert "\n" not in str(error.value)
    assert len(source(2, tiles=45).item(0).instance.tiles) == 45


@pytest.mark.parametrize(
    ("option", "value"), [("tiles", 6), ("tiles", 61), ("objectives", 0), ("objectives", 12), ("biome", "moon")]
)
def test_options_out_of_range_are_refused_in_one_line(option: str, value: Json) -> None:
    with pytest.raises(UsageError, match=option) as error:
        source(3, **{option: value})
    assert "\n" not in str(error.value)


# ---- sets


def test_an_item_depends_on_nothing_but_its_number() -> None:
    forwards, backwards = source(2).head(5), [source(2).item(number) for number in reversed(range(5))]
    assert forwards == backwards[::-1]
    assert [item.instance.story for item in forwards] == [item.instance.story for item in backwards[::-1]]


def test_an_item_knows_its_place_and_its_proof() -> None:
    item: Item[TileMap] = source(2, key="here").item(7)
    assert (item.id, item.instance.id, item.level, item.key, item.index) == ("2-7", "2-7", 2, "here", 7)
    assert item.proof["minimum"] == item.instance.path_length


def test_other_keys_levels_and_options_have_other_maps() -> None:
    given: list[tuple[int, dict[str, Any]]] = [
        (2, {}),
        (3, {}),
        (2, {"key": "other"}),
        (2, {"tiles": 20}),
        (2, {"objectives": 4}),
        (2, {"biome": "forest"}),
        (2, {"tiles": 20, "biome": "forest"}),
    ]
    maps = list(starmap(lambda level, options: source(level, **options).item(0).instance, given))
    assert len({case.rows for case in maps}) == len(maps)


def test_the_maps_of_a_level_differ() -> None:
    cases = [item.instance for item in source(1, key="many").head(200)]
    assert len({case.hash for case in cases}) == 200
    # Their shapes differ too: which cells can be walked on, whatever they are called.
    shapes = {(case.width, case.floor("".join(listed(case.walkable))).open) for case in cases}
    assert len(shapes) == 200


@pytest.mark.parametrize("level", PINNED)
def test_the_public_set(level: int) -> None:
    assert item_set_hash(source(level, key="tilemap-v1").head(10)) == PINNED[level]
