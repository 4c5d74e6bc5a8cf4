"""Generated sets of questions about text worlds, and the worlds by key."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from waybench.core import Item, Json, Option, Source, Stream, UsageError
from waybench.envs.textmap.map import MapInstance, PlaceMap, with_ids
from waybench.envs.textmap.worlds._data import EXITS, LEAST_PLACES, World, WorldStyle
from waybench.envs.textmap.worlds._play import Play
from waybench.envs.textmap.worlds._walk import MOST_STEPS, learn_map, walk
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


LOWEST_CLASS, HIGHEST_CLASS = 1, 7

_WORLDS = 1_000  # most additional worlds to try if a world has too few instances
_EMPTY = 30  # consecutive worlds without instances before giving up

M = TypeVar("M", bound=MapInstance)
Made = TypeVar("Made", bound=MapInstance, covariant=True)
CutoffFunction = Callable[[PlaceMap], int]  # map -> last step that is shown


class Ask(Protocol[Made]):
    """Makes the instances about one map."""

    def __call__(
        self,
        place_map: PlaceMap,
        cutoff: int,
        count: int,
        stream: Stream,
        options: Mapping[str, Any],
        world: World | None,
        /,
    ) -> Sequence[Made]:
        """Return instances.

        Args:
            place_map: The map.
            cutoff: The last step that is shown.
            count: Number of questions.
            stream: Random stream.
            options: Source options by name, perhaps with others.
            world: The generated world of the map, if any.
        """
        ...


class WorldItems(Source[M]):
    """Instances about worlds generated by key.

    Args:
        key: The set's key.
        level: Size class: worlds of level k have at least 2 ** (k + 1) and fewer than 2 ** (k + 2) places.
        options: A value for each of `WORLD_OPTIONS`, "prefix_steps", "questions", and the options that `ask` needs.
        cutoff: Map -> last step that is shown; None for "prefix_steps".
        ask: Makes the instances about a world.
        purpose: Beginning of the keys of their random streams.
        prove: Instance -> facts about it.
        is_one_item: Whether a world is one item with all questions, and not one for each question.

    Raises:
        UsageError: If the level does not exist.
    """

    def __init__(
        self,
        key: str,
        level: int,
        options: Mapping[str, Json],
        cutoff: CutoffFunction | None,
        *,
        ask: Ask[M],
        purpose: tuple[str, ...],
        prove: Callable[[M], Mapping[str, Json]],
        is_one_item: bool = False,
    ) -> None:
        if not LOWEST_CLASS <= level <= HIGHEST_CLASS:
            raise UsageError(f"level {level}: give a size class from {LOWEST_CLASS} to {HIGHEST_CLASS}")
        self._key, self._level, self._prove = key, level, prove
        self._items_per_world = 1 if is_one_item else int(options["questions"])
        shown = cutoff or _by_steps(options["prefix_steps"])
        self._world: tuple[Any, ...] = (ask, purpose, shown, key, level, tuple(options.items()))

    def item(self, index: int) -> Item[M]:
        """Return the item with this number.

        Raises:
            UsageError: If no world of this kind has such an instance.
        """
        world, number = divmod(index, self._items_per_world)
        instances = self._made(world, 0)
        extra = empty = 0
        # A small world can have fewer questions than required; additional worlds supply the rest.
        while number >= len(instances):
            number -= len(instances)
            extra += 1
            empty = 0 if instances else empty + 1
            if extra > _WORLDS or empty > _EMPTY:
                raise UsageError(f"level {self._level}: these worlds have no such question; change their options")
            instances = self._made(world, extra)
        instance = instances[number]
        name = f"{self._level}-{index}"
        return Item(instance, name, instance.level, self._key, index, self._prove(instance))

    def _made(self, world: int, extra: int) -> Sequence[M]:
        return _instances(*self._world, world, extra)


@lru_cache(maxsize=96)  # in training, an item is played by a group of episodes, each with a source of its own
def _instances(
    ask: Ask[Any],
    purpose: tuple[str, ...],
    cutoff: CutoffFunction,
    key: str,
    level: int,
    options: tuple[tuple[str, Json], ...],
    index: int,
    extra: int,
) -> Sequence[Any]:
    """Return the instances about a world of a set, or about an additional world in place of it (`extra` above 0)."""
    settings = dict(options)
    place_map, world = draw_world(key, level, settings, index, extra)
    stream = Stream(*purpose, key, level, index, extra)
    return ask(place_map, cutoff(place_map), int(settings["questions"]), stream, settings, world)


def draw_world(key: str, level: int, options: Mapping[str, Json], index: int, extra: int) -> tuple[PlaceMap, World]:
    """Generate a world of a set and its map.

    Args:
        key: The set's key.
        level: Size class.
        options: A value for each of `WORLD_OPTIONS`, and perhaps "names".
        index: Number of the world within the set.
        extra: Number of the additional world in place of it; 0 for the world itself.
    """
    rng = Stream("textmap/size", key, level, index, extra)
    least = 2 << level
    places = least + rng.below(min(2 * least, HIGHEST_LEVEL + 1) - least)
    world_options = {option.name: options[option.name] for option in WORLD_OPTIONS}
    name = index if not extra else index + (extra << 32)  # a number that no world of the set has
    place_map, world = world_item(key, places, world_options, name)
    if options.get("names", "plain") == "plain":
        return place_map, world
    numbers = list(range(1, 4 * len(world.places)))
    rng.shuffle(numbers)
    ids = {place: f"obj{number}" for place, number in zip(place_map.places, numbers, strict=False)}
    return with_ids(place_map, ids), world


@lru_cache(maxsize=64)
def _by_steps(steps: int | None) -> CutoffFunction:
    return lambda place_map: place_map.last_step if steps is None else min(int(steps), place_map.last_step)
