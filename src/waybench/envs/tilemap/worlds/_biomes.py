"""Biomes of the generated tile worlds, and the names of the things in them."""

from collections.abc import Mapping
from dataclasses import dataclass

from waybench._package_data import read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Biome:
    """One kind of country, or of built-up space.

    Attributes:
        plan: How it is laid out: "wild", "town" or "halls".
        main: Role of a tile that the layout relies on -> its name.
        patches: Further ground.
        masses: Further solid tiles that fill areas, as trees fill a wood.
        walls: Further walls of buildings.
        floors: Further floors of buildings.
        deco: Solid things that stand about.
        sites: Kinds of places that it has, the frequent ones more than once.
        age: "old" or "new"; it decides furniture, objects, people and names of rooms.
        water: Least and greatest share of lakes and sea, per cent.
        woods: Least and greatest share of the main solid tile, per cent.
        ridges: Number of lines of cliffs or the like, at most; on the largest maps there are up to three times as many.
        rivers: Number of rivers, at most; likewise.
        shore: "lakes", "sea" (on one side) or "isles".
        grain: Size of its areas, in tenths of the usual.
    """

    plan: str
    main: Mapping[str, str]
    patches: tuple[str, ...]
    masses: tuple[str, ...]
    walls: tuple[str, ...]
    floors: tuple[str, ...]
    deco: tuple[str, ...]
    sites: tuple[str, ...] = ()
    age: str = "old"
    water: tuple[int, int] = (0, 0)
    woods: tuple[int, int] = (0, 0)
    ridges: int = 0
    rivers: int = 0
    shore: str = "lakes"
    grain: int = 10


_DATA = read_toml(__file__, "biomes.toml")
BIOMES = {name: Biome(**biome) for name, biome in _DATA["biomes"].items()}

# Age -> what can be taken or stood upon, what must be stood next to, who can be met, and what rooms are furnished with.
THINGS: Mapping[str, tuple[str, ...]] = _DATA["things"]
FIXTURES: Mapping[str, tuple[str, ...]] = _DATA["fixtures"]
PEOPLE: Mapping[str, tuple[str, ...]] = _DATA["people"]
FURNITURE: Mapping[str, tuple[str, ...]] = _DATA["furniture"]
