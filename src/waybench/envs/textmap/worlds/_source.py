"""Generated worlds by key, with their walkthroughs and maps."""

from collections.abc import Mapping
from typing import TypeVar

from waybench.core import Json, Option, Stream, UsageError
from waybench.envs.textmap.map import PlaceMap
from waybench.envs.textmap.worlds._data import EXITS, LEAST_PLACES, World, WorldStyle
from waybench.envs.textmap.worlds._map import learn_map
from waybench.envs.textmap.worlds._play import Play
from waybench.envs.textmap.worlds._walk import MOST_STEPS, walk
from waybench.envs.textmap.worlds._world import make_world

VERSION = 1  # of the generator; part of every item's key
LOWEST_LEVEL, HIGHEST_LEVEL = LEAST_PLACES, 400  # numbers of places

_T = TypeVar("_T")


def _share(name: str, doc: str) -> Option:
    return Option(name=name, default=None, kind=float, low=0, high=1, doc=f"{doc} By default drawn for each world.")


WORLD_OPTIONS = (
    _share("one_way", "Share of links between places whose opposite move does not lead back."),
    _share("doors", "Share of links with a door, which starts closed."),
    _share("dark", "Share of dark places, whose name needs a lamp to be seen."),
    _share("special", "Share of links without a direction, such as entering, climbing or crawling."),
    _share("confusable", "Share of places with a name similar to another place's."),
    Option(
        name="prose",
        default=None,
        kind=int,
        low=0,
        high=3,
        doc="Length of descriptions, from 0 (names alone) to 3 (long descriptions that distract); by default drawn.",
    ),
    Option(
        name="exits",
        default="any",
        choices=("any", *EXITS),
        doc="Description of exits; any draws one for each world.",
    ),
    Option(
        name="steps",
        default=None,
        kind=int,
        low=1,
        high=MOST_STEPS,
        doc="Length of the walkthrough in steps; by default about 2.5 times the number of places, at least 20, and "
        "enough to visit them all. A shorter one shows fewer places, and the item's level is that of the map shown.",
    ),
)
# Values that options are drawn from if they are not given; shares are in percent.
_DEFAULTS = {
    "one_way": (0, 5, 5, 10, 10, 15, 20, 30),
    "doors": (0, 5, 10, 10, 15, 20),
    "dark": (0, 0, 5, 10, 10, 15, 25),
    "special": (0, 5, 10, 10, 15, 20, 30),
    "confusable": (0, 0, 10, 20, 30, 50),
    "prose": (0, 1, 1, 1, 2, 2, 2, 2, 3, 3),
}


def world_item(key: str, level: int, options: Mapping[str, Json], index: int) -> tuple[PlaceMap, World]:
    """Generate a world of a set, with a walkthrough and its map.

    Args:
        key: The set's key.
        level: Number of places.
        options: A value for each of `WORLD_OPTIONS`.
        index: Number within the set, from 0.

    Raises:
        UsageError: If the level does not exist.
    """
    if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
        raise UsageError(f"level {level}: give a number of places from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
    option_texts = [f"{option.name}={options[option.name]!r}" for option in WORLD_OPTIONS]
    rng = Stream("textmap/world", VERSION, key, level, *option_texts, index)
    style = _style(level, options, rng)
    steps = options["steps"]
    about = max(20, level * (230 + rng.below(41)) // 100)
    world = make_world(rng, style, f"{level}-{index}")
    play = Play(world)
    turns = walk(play, rng, about, visit_all=True) if steps is None else walk(play, rng, _or_default(steps, about))
    return learn_map(play, turns), world


def _style(level: int, options: Mapping[str, Json], rng: Stream) -> WorldStyle:
    """Return the style of a world. Defaults are always drawn, so that options do not change the rest of the world."""
    defaults = {name: rng.choice(values) for name, values in _DEFAULTS.items()}
    exits, brief = rng.choice(("list", "none", "prose", "prose")), rng.below(2) == 1
    shares = {name: _or_default(options[name], defaults[name] / 100) for name in _DEFAULTS if name != "prose"}
    exits_option = str(options["exits"])
    return WorldStyle(
        places=level,
        **shares,
        prose=_or_default(options["prose"], defaults["prose"]),
        exits=exits if exits_option == "any" else exits_option,
        brief=brief,
    )


def _or_default(value: Json, default: _T) -> _T:
    return value if isinstance(value, type(default)) else default
