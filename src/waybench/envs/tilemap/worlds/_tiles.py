"""Biomes, kinds of tiles and words of the generated worlds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from waybench._package_data import read_toml
from waybench.core import Stream

HERO, FOE = 0, 1  # numbers of kinds
SOLID_ROLES = frozenset(("solid", "wall", "water", "river", "cliff", "furniture", "deco", "fixture", "foe"))
INTERACTIVE_ROLES = frozenset(("thing", "fixture"))
_SYMBOLS = "$%&*+=~^!?"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Biome:
    """One kind of country, or of built-up space.

    Attributes:
        plan: How it is laid out: "wild", "town" or "halls".
        main: Role of a tile that the layout relies on -> its name.
        patches: Names of further ground.
        masses: Names of further solid tiles that fill areas, as trees fill a wood.
        walls: Names of further walls of buildings.
        floors: Names of further floors of buildings.
        deco: Names of solid things that stand about.
        sites: Kinds of places, the frequent kinds more than once.
        age: "old" or "new"; it decides furniture, objects, people and names of rooms.
        water: Least and greatest share of lakes and sea, per cent.
        woods: Least and greatest share of the main solid tile, per cent.
        ridges: Most lines of cliffs or the like; up to three times as many on the largest maps.
        rivers: Most rivers; up to three times as many on the largest maps.
        shore: "lakes", "sea" (on one side) or "isles".
        grain: Size of woods, lakes and the like, in tenths of the usual size.
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

# The roles that a plan needs, the most important first; a palette of few kinds has the first few of them.
_ROLES_BY_IMPORTANCE = {
    "wild": "ground solid wall road water floor bridge door cliff shore river",
    "town": "ground wall road solid floor door water bridge shore cliff",
    "halls": "ground wall door solid water bridge road floor shore cliff",
}
# The role whose kinds are used for a role that a palette of few kinds leaves out.
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
# How often each role is drawn for further kinds of a palette.
_SHARES = (
    *("thing",) * 3,
    *("fixture", "person", "furniture", "deco", "solid") * 2,
    *("patch",) * 3,
    *("wall", "floor"),
)


class Kind(NamedTuple):
    """One kind of tile: its name, and its role on the map."""

    name: str
    role: str

    @property
    def walkable(self) -> bool:
        """Whether it can be walked on."""
        return self.role not in SOLID_ROLES


_cached_kind = lru_cache(maxsize=1024)(Kind)  # the same kinds come again and again


@dataclass(slots=True)
class Palette:
    """The kinds of tiles of one world.

    Attributes:
        kinds: All kinds; a kind's number is its index. The first two are the player and the antagonist.
        roles: Role -> the numbers of its kinds; a role without kinds of its own has those of another role.
        spare: Kinds that replace others for which the map has no place.
        walkable: Number of a kind -> 1 if it can be walked on; 0 for unused numbers, too.
    """

    kinds: list[Kind]
    roles: dict[str, list[int]]
    spare: list[Kind]
    walkable: bytearray = field(init=False, default_factory=lambda: bytearray(256))

    def __post_init__(self) -> None:
        self.walkable[: len(self.kinds)] = bytes(kind.walkable for kind in self.kinds)

    def add_kind(self, kind: Kind) -> int:
        """Add a kind and return its number."""
        self.walkable[len(self.kinds)] = kind.walkable
        self.kinds.append(kind)
        self.roles.setdefault(kind.role, []).append(len(self.kinds) - 1)
        return len(self.kinds) - 1

    def first_kind(self, role: str) -> int:
        return self.roles[role][0]


def draw_palette(biome: Biome, size: int, hero: str, foe: str, rng: Stream) -> Palette:
    """Draw a palette of `size` kinds of tiles, at least 7, the player and the antagonist included."""
    palette = Palette([Kind(hero, "hero"), Kind(foe, "foe")], {}, [])
    plan_roles = _ROLES_BY_IMPORTANCE[biome.plan].split()
    for role in plan_roles[: 5 + max(0, size - 7) * 2 // 3]:  # a third of the kinds beyond seven is for variety
        palette.add_kind(Kind(biome.main[role], role))
    extras = _draw_extra_kinds(biome, rng)
    extra_count = size - len(palette.kinds)
    for kind in extras[:extra_count]:
        palette.add_kind(kind)
    palette.spare = extras[extra_count:]
    for role in [*plan_roles, "river"]:
        chosen_role = role
        while chosen_role not in palette.roles:
            chosen_role = _STAND_INS[chosen_role]
        palette.roles[role] = palette.roles[chosen_role]
    return palette


def _draw_extra_kinds(biome: Biome, rng: Stream) -> list[Kind]:
    """Return further kinds of a biome in random order, in about the shares of their roles."""
    tables = {"thing": "things", "fixture": "fixtures", "person": "people", "furniture": "furniture"}
    pools = {role: list(_DATA[table][biome.age]) for role, table in tables.items()}
    areas = {
        "patch": biome.patches,
        "deco": biome.deco,
        "solid": biome.masses,
        "wall": biome.walls,
        "floor": biome.floors,
    }
    pools |= {role: list(names) for role, names in areas.items()}
    for pool in pools.values():
        rng.shuffle(pool)
    extras: list[Kind] = []
    while any(pools.values()):
        roles = list(_SHARES)
        rng.shuffle(roles)
        extras += [_cached_kind(pools[role].pop(), role) for role in roles if pools[role]]
    return extras


def draw_signs(kinds: list[Kind], rng: Stream) -> list[str]:
    """Return a character for each kind of tile.

    The first two, the player and the antagonist, are "@" and "#". People are symbols as long as there are any; all
    other kinds are letters and digits, in half of the worlds by their names, otherwise in alphabetical order.
    """
    upper_case_first = _LETTERS[26:52] + _LETTERS[:26] + _LETTERS[52:]
    order = rng.choice(("", "", _LETTERS, upper_case_first))  # "" for letters by name
    unused, symbols, signs = dict.fromkeys(order or _LETTERS), list(_SYMBOLS), ["@", "#"]
    for kind in kinds[2:]:
        if (kind.role == "person" and symbols) or not unused:
            signs.append(symbols.pop(0))
            continue
        candidates = "" if order else _letters_of_name(kind.name)
        sign = next((letter for letter in candidates if letter in unused), next(iter(unused)))
        del unused[sign]
        signs.append(sign)
    return signs


@lru_cache(maxsize=1024)
def _letters_of_name(name: str) -> str:
    """Return the letters for a tile of this name, the best first: initials, then all other letters."""
    initials = [word[0].lower() + word[0].upper() for word in name.split()]
    return "".join(initials) + name.lower()


_WORDS = read_toml(__file__, "words.toml")
HEROES: tuple[str, ...] = _WORDS["heroes"]
FOES: tuple[str, ...] = _WORDS["foes"]
_SLOTS: Mapping[str, tuple[str, ...]] = {
    "town": tuple(first + last for first in _WORDS["towns"]["first"] for last in _WORDS["towns"]["last"]),
    "number": tuple(str(number) for number in range(1, 100)),
    **_WORDS["slots"],
}
_STORY: Mapping[str, tuple[str, ...]] = _WORDS["story"]


class Words:
    """Names and texts of one world; no name is used twice."""

    def __init__(self, biome: str, age: str, rng: Stream) -> None:
        self._biome, self._age, self._rng = biome, age, rng
        self._used_names: set[str] = set()

    def _fill_slots(self, template: str) -> str:
        """Return a template with random words for its {slots}."""
        for slot, words in _SLOTS.items():
            if f"{{{slot}}}" in template:
                template = template.replace(f"{{{slot}}}", self._rng.choice(words))
        return template

    def name_place(self, kind: str) -> str:
        """Return a new name for a place of a kind, such as "in the Lonely Tower"; "region DIRECTION" has one name."""
        if kind.startswith("region "):
            region_template, _ = _WORDS["countries"][self._biome]
            return region_template.format(kind.removeprefix("region "))
        templates = _WORDS["places"][f"{self._age} room" if kind == "room" else kind]
        while (name := self._fill_slots(self._rng.choice(templates))) in self._used_names:
            pass
        self._used_names.add(name)
        return name

    def name_objective(self, role: str, tile: str, place: str) -> str:
        """Return a new name for an objective in a named place; with a role, about a tile of this role and name."""
        # There are more tasks about a place alone than objectives, so that a name is always found.
        for tasks in (_WORDS["tasks"][role or "place"], _WORDS["tasks"]["place"]):
            templates = list(tasks)
            self._rng.shuffle(templates)
            for task in sorted(templates, key=lambda task: task in self._used_names):  # unused tasks first
                name = f"{task.format(tile)} {place}"
                if name not in self._used_names:
                    self._used_names |= {task, name}
                    return name
        raise AssertionError(f"more objectives than names for them {place}")

    def tell_story(self, hero: str, foe: str, objectives: list[str]) -> str:
        """Return a story of 6 to 11 sentences that names the objectives in their order."""
        rng, age = self._rng, self._age
        role = rng.choice(_WORDS["roles"][age])
        slots = {
            "hero": hero,
            "foe": foe,
            "place": self._fill_slots(_WORDS["countries"][self._biome][1]),
            "role": f"{'an' if role[0] in 'aeiou' else 'a'} {role}",
        }
        sentences = [
            rng.choice(_STORY["beginnings"]).format(**slots),
            f"Then {foe}, {rng.choice(_WORDS['foe_roles'][age])}, {rng.choice(_WORDS['deeds'][age])}.",
            rng.choice(_STORY["troubles"]),
        ]
        tasks = [name[0].lower() + name[1:] for name in objectives]
        links, per_sentence = _STORY["links"], 1 if len(tasks) <= 5 else 2
        for number, first in enumerate(range(0, len(tasks), per_sentence)):
            is_last = first + per_sentence >= len(tasks)
            link = "First" if not number else "Last of all" if is_last else links[(number - 1) % len(links)]
            sentences.append(f"{link}, {hero} has to {', and then to '.join(tasks[first : first + per_sentence])}.")
        sentences += [rng.choice(_STORY["warnings"]).format(**slots), rng.choice(_STORY["endings"]).format(**slots)]
        return " ".join(sentences)
