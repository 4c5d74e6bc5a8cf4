"""Kinds of tiles of a world: which it has, what they are for, and by which character they are written."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.tilemap.worlds._biomes import FIXTURES, FURNITURE, PEOPLE, THINGS, Biome

HERO, FOE = 0, 1  # numbers of kinds
SOLID_ROLES = frozenset(("solid", "wall", "water", "river", "cliff", "furniture", "deco", "fixture", "foe"))
INTERACTIVE_ROLES = frozenset(("thing", "fixture"))

# What a plan cannot do without, first things first; a small alphabet has the first few of them.
_LADDERS = {
    "wild": "ground solid wall road water floor bridge door cliff shore river",
    "town": "ground wall road solid floor door water bridge shore cliff",
    "halls": "ground wall door solid water bridge road floor shore cliff",
}
# What stands for a role that a small alphabet leaves out.
_STAND_INS = {
    "bridge": "road",
    "cliff": "solid",
    "door": "floor",
    "floor": "ground",
    "river": "water",
    "road": "ground",
    "shore": "ground",
    "solid": "wall",
    "water": "solid",
}
# How often each role is drawn for the rest of an alphabet.
_SHARES = (
    *("thing",) * 3,
    *("fixture", "person", "furniture", "deco", "solid") * 2,
    *("patch",) * 3,
    *("wall", "floor"),
)
_SYMBOLS = "$%&*+=~^!?"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Kind(NamedTuple):
    """One kind of tile.

    Attributes:
        name: What it is called.
        role: What it is for.
    """

    name: str
    role: str

    @property
    def walkable(self) -> bool:
        """Whether it can be walked on."""
        return self.role not in SOLID_ROLES


_kind = lru_cache(maxsize=1024)(Kind)  # the same kinds come again and again


@dataclass(slots=True)
class Palette:
    """The kinds of tiles of one world.

    Attributes:
        kinds: All of them; a kind's number is its place here. The first two are the player and the antagonist.
        roles: The numbers of the kinds that serve each role; a role that the alphabet has no room for borrows them.
        spare: Kinds that replace others which the map turned out to have no place for.
        walkable: By kind, 1 if it can be walked on; 0 for numbers of no kind, too.
    """

    kinds: list[Kind]
    roles: dict[str, list[int]]
    spare: list[Kind]
    walkable: bytearray = field(init=False, default_factory=lambda: bytearray(256))

    def __post_init__(self) -> None:
        """Note which kinds can be walked on."""
        self.walkable[: len(self.kinds)] = bytes(kind.walkable for kind in self.kinds)

    def add(self, kind: Kind) -> int:
        """Take one more kind, and return its number."""
        self.walkable[len(self.kinds)] = kind.walkable
        self.kinds.append(kind)
        self.roles.setdefault(kind.role, []).append(len(self.kinds) - 1)
        return len(self.kinds) - 1

    def one(self, role: str) -> int:
        """Return the number of the first kind of a role."""
        return self.roles[role][0]


def draw_palette(biome: Biome, size: int, hero: str, foe: str, rng: Stream) -> Palette:
    """Choose the kinds of tiles.

    Args:
        biome: Where they come from.
        size: How many kinds there are, the player and the antagonist included; at least 7.
        hero: The player's name.
        foe: The antagonist's name.
        rng: Random numbers.
    """
    palette = Palette([Kind(hero, "hero"), Kind(foe, "foe")], {}, [])
    ladder = _LADDERS[biome.plan].split()
    roles = ladder[: 5 + max(0, size - 7) * 2 // 3]  # the rest of a small alphabet is not all for the plan
    for role in roles:
        palette.add(Kind(biome.main[role], role))
    extras = _extras(biome, rng)
    room = size - len(palette.kinds)
    for kind in extras[:room]:
        palette.add(kind)
    palette.spare = extras[room:]
    for role in [*ladder, "river"]:
        chosen_role = role
        while chosen_role not in palette.roles:
            chosen_role = _STAND_INS[chosen_role]
        palette.roles[role] = palette.roles[chosen_role]
    return palette


def _extras(biome: Biome, rng: Stream) -> list[Kind]:
    pools = {
        "thing": list(THINGS[biome.age]),
        "fixture": list(FIXTURES[biome.age]),
        "person": list(PEOPLE[biome.age]),
        "furniture": list(FURNITURE[biome.age]),
        "patch": list(biome.patches),
        "deco": list(biome.deco),
        "solid": list(biome.masses),
        "wall": list(biome.walls),
        "floor": list(biome.floors),
    }
    for pool in pools.values():
        rng.shuffle(pool)
    extras: list[Kind] = []
    while any(pools.values()):
        turn = list(_SHARES)
        rng.shuffle(turn)
        extras += [_kind(pools[role].pop(), role) for role in turn if pools[role]]
    return extras


def write_signs(kinds: list[Kind], rng: Stream) -> list[str]:
    """Return the character of each kind of tile.

    The first two, the player and the antagonist, are "@" and "#". People are symbols as long as there are any; the
    other characters are letters and digits, either after the names or in their order.

    Args:
        kinds: The kinds.
        rng: Random numbers.
    """
    order = rng.choice(("", "", _LETTERS, _LETTERS[26:52] + _LETTERS[:26] + _LETTERS[52:]))
    free, symbols, signs = dict.fromkeys(order or _LETTERS), list(_SYMBOLS), ["@", "#"]
    for kind in kinds[2:]:
        if (kind.role == "person" and symbols) or not free:
            signs.append(symbols.pop(0))
            continue
        candidates = "" if order else _candidates(kind.name)
        sign = next((letter for letter in candidates if letter in free), next(iter(free)))
        del free[sign]
        signs.append(sign)
    return signs


@lru_cache(maxsize=1024)
def _candidates(name: str) -> str:
    """Return the letters that a tile of this name may be written by, the best first."""
    initials = [word[0].lower() + word[0].upper() for word in name.split()]
    return "".join(initials) + name.lower()
