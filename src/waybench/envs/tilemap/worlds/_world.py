"""Worlds of our own: a map with its tiles, places, objectives and story, all of it from random numbers by key."""

from waybench.core import Stream
from waybench.envs.tilemap._instance import Objective, TileMap
from waybench.envs.tilemap.worlds._biomes import BIOMES, Biome
from waybench.envs.tilemap.worlds._board import Board
from waybench.envs.tilemap.worlds._built import halls, town
from waybench.envs.tilemap.worlds._dress import complete, furnish, hide, lay_patches
from waybench.envs.tilemap.worlds._finish import LEAST, MOST, fill_up, join, make_room
from waybench.envs.tilemap.worlds._frame import Location
from waybench.envs.tilemap.worlds._quest import Quest, landmarks
from waybench.envs.tilemap.worlds._tiles import INTERACTIVE_ROLES, Kind, draw_palette, write_signs
from waybench.envs.tilemap.worlds._wild import wild
from waybench.envs.tilemap.worlds._words import FOES, HEROES, Words


def _lay_out(board: Board, biome: Biome) -> list[Location]:
    if biome.plan == "wild":
        return wild(board, biome)
    return town(board) if biome.plan == "town" else halls(board)


def make_world(size: tuple[int, int], biome: str, tiles: int, objectives: int, name: str, rng: Stream) -> TileMap:
    """Make a world.

    Every cell of it that can be walked on can be reached from every other one, so that there is a way to each
    objective.

    Args:
        size: Number of rows, at least 7, and of columns, at least 10.
        biome: One of `BIOMES`.
        tiles: Number of kinds of tiles, the player and the antagonist included, at least 7.
        objectives: Number of objectives, from 1 to 11.
        name: The map's name.
        rng: Random numbers.

    Returns:
        The world, as yet without its path length.
    """
    about = BIOMES[biome]
    hero, foe = rng.choice(HEROES), rng.choice(FOES)
    board = Board(size[1], size[0], draw_palette(about, tiles, hero, foe, rng), rng)
    places = _lay_out(board, about)
    join(board)
    make_room(board, LEAST + 3)
    lay_patches(board, about.plan)
    furnish(board, places)
    hide(board, places)
    complete(board)
    make_room(board, LEAST)
    fill_up(board, MOST)
    places += landmarks(board, about.plan)
    quest = Quest(board, places, objectives)
    return _write(board, quest, [place.kind for place in places], Words(biome, about.age, rng), name)


def _write(board: Board, quest: Quest, places: list[str], words: Words, name: str) -> TileMap:
    """Write down a finished world; `places` are the kinds of its places."""
    palette, width = board.palette, board.width
    present = [number for number in range(len(palette.kinds)) if number in board.cells]
    kinds = [palette.kinds[number] for number in present]
    signs = write_signs(kinds, board.rng)
    text = board.cells.decode("latin-1").translate(dict(zip(present, signs, strict=True)))
    place_names: dict[int, str] = {}
    objectives: list[Objective] = []
    for cell, place, find in quest.goals:
        if place not in place_names:
            place_names[place] = words.place(places[place])
        about = Kind("", "") if find is None else palette.kinds[board.cells[find]]
        title = words.objective(about.role, about.name, place_names[place])
        objectives.append(Objective(title, text[cell], *divmod(cell, width)))
    hero, foe, *other_tiles = [(kind.name, sign) for kind, sign in zip(kinds, signs, strict=True)]
    pairs = list(zip(kinds, signs, strict=True))[2:]
    walkable = [sign for kind, sign in pairs if kind.walkable]
    return TileMap(
        rows=tuple(text[start : start + width] for start in range(0, len(text), width)),
        tiles=(*other_tiles, hero, foe),
        walkable=str(walkable),
        interactive=str([sign for kind, sign in pairs if kind.role in INTERACTIVE_ROLES]),
        objectives=tuple(objectives),
        path_length=0,
        id=name,
        story=words.story(hero[0], foe[0], [objective.name for objective in objectives]),
    )
