"""Sets of instances about the project's own text worlds, some about each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from waybench.core import Item, Json, Source, Stream, UsageError
from waybench.envs.textmap.map import MapInstance, PlaceMap
from waybench.envs.textmap.worlds._data import World
from waybench.envs.textmap.worlds._source import HIGHEST_LEVEL, WORLD_OPTIONS, world_item

LOWEST_CLASS, HIGHEST_CLASS = 1, 7

_WORLDS = 1_000  # further worlds that are looked at, if one has not enough instances
_EMPTY = 30  # worlds one after the other that have none, after which nobody goes on looking

M = TypeVar("M", bound=MapInstance)


class WorldItems(Source[M]):
    """Instances about worlds that are drawn by key.

    Args:
        key: The set's key.
        level: Size class: worlds of level k have 2 ** (k + 1) places up to twice as many.
        items_per_world: How many about each world.
        make: (number of a world, number of the further world that stands in for it) -> instances about it.
        prove: What is known of an instance.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(
        self,
        key: str,
        level: int,
        items_per_world: int,
        make: Callable[[int, int], Sequence[M]],
        prove: Callable[[M], Mapping[str, Json]],
    ) -> None:
        if not LOWEST_CLASS <= level <= HIGHEST_CLASS:
            raise UsageError(f"level {level}: give a size class from {LOWEST_CLASS} to {HIGHEST_CLASS}")
        self._key, self._level, self._items_per_world = key, level, items_per_world
        self._make, self._prove = make, prove

    def item(self, index: int) -> Item[M]:
        """Return the instance of this number.

        Raises:
            UsageError: If no world of this kind has such an instance.
        """
        world, number = divmod(index, self._items_per_world)
        instances = self._make(world, 0)
        extra = empty = 0
        # A small world can have fewer questions than are wanted of each; another one stands in for the rest.
        while number >= len(instances):
            number -= len(instances)
            extra += 1
            empty = 0 if instances else empty + 1
            if extra > _WORLDS or empty > _EMPTY:
                raise UsageError(f"level {self._level}: these worlds have no such question; change their options")
            instances = self._make(world, extra)
        instance = instances[number]
        name = f"{self._level}-{index}"
        return Item(instance, name, instance.level, self._key, index, self._prove(instance))


def draw_world(
    key: str, level: int, options: Mapping[str, Json], index: int, extra: int, rng: Stream
) -> tuple[PlaceMap, World]:
    """Return a world of a set and its map.

    Args:
        key: The set's key.
        level: Size class.
        options: A value for each of `WORLD_OPTIONS`, and maybe others.
        index: Number of the world within the set.
        extra: Number of the further world that stands in for it; 0 for itself.
        rng: What its size is drawn with; see `size_stream`.
    """
    least = 2 << level
    places = least + rng.below(min(2 * least, HIGHEST_LEVEL + 1) - least)
    world_options = {option.name: options[option.name] for option in WORLD_OPTIONS}
    name = index if not extra else index + (extra << 32)  # a number that no world of the set has
    return world_item(key, places, world_options, name)


def size_stream(key: str, level: int, index: int, extra: int) -> Stream:
    """Return the stream with which the size of a world of a set is drawn."""
    return Stream("textmap/size", key, level, index, extra)


def last_shown_step(place_map: PlaceMap, steps: int | None) -> int:
    """Return the last step that is shown of a map's walkthrough: the given one, or the last one there is."""
    return place_map.last_step if steps is None else min(int(steps), place_map.last_step)
