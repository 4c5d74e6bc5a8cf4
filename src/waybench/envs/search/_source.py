"""Sources of cases: drawn by key, or read from a file of the published form."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from waybench.core import (
    DataError,
    Instance,
    Item,
    Json,
    KeyedSource,
    Option,
    Source,
    Stream,
    UsageError,
    check_hash,
    check_ids,
    is_object,
    read_records,
)
from waybench.envs.search import _game_number, _game_walk
from waybench.spaces import SHAPES, connected_graph

I = TypeVar("I", bound=Instance)  # noqa: E741

VERSION = 1  # of the generators; part of every item's key
LOWEST = 32
LOWEST_LEVEL, HIGHEST_LEVEL = 3, 60
FEWEST_NODES = 5  # with fewer, a random walk does about as well as a search
LARGEST_FILE = 1 << 28  # bytes

NUMBER_OPTIONS = (
    Option(name="lowest", default=LOWEST, low=0, high=2**53, doc="Smallest number of the range."),
    Option(
        name="span",
        default=None,
        kind=int,
        low=1,
        high=2**53,
        doc="Largest minus smallest number of the range; by default 2 to the power of the level.",
    ),
)
WALK_OPTIONS = (
    Option(name="shape", default="random", choices=tuple(SHAPES), doc="Shape of the tree; random ones are uniform."),
    Option(name="cycles", default=0, low=0, high=10_000, doc="Edges added to the tree; each makes a cycle."),
)


class NumberSource(KeyedSource[_game_number.Number]):
    """Uniformly drawn targets.

    Args:
        key: The set's key.
        level: The binary logarithm of the range's size: 15 is EASY mode, 25 HARD mode.
        options: `lowest` and `span`.

    Raises:
        UsageError: For a level that does not exist or does not fit the span.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise UsageError(f"level {level}: give a number of bits from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        self._span = int(options["span"] or 2**level)
        if self._span.bit_length() - 1 != level:
            raise UsageError(
                f"span={self._span} is of level {self._span.bit_length() - 1}, not {level}: use that level"
            )
        super().__init__(key, level, _game_number.prove)
        self._low = int(options["lowest"])

    @property
    def space(self) -> int:
        """The number of targets."""
        return self._span + 1

    def instance(self, index: int) -> _game_number.Number:
        """Return the case of this number."""
        rng = Stream("search/number", VERSION, self.key, self.level, self._low, self._span, index)
        return _game_number.Number(self._low + rng.below(self._span + 1), self._low, self._low + self._span)


class WalkSource(KeyedSource[_game_walk.Terrain]):
    """Randomly drawn graphs.

    Args:
        key: The set's key.
        level: Number of nodes.
        options: `shape` and `cycles`.
        prove: What is known of a graph.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(
        self,
        key: str,
        level: int,
        options: Mapping[str, Json],
        prove: Callable[[_game_walk.Terrain], Mapping[str, Json]],
    ) -> None:
        if not FEWEST_NODES <= level <= _game_walk.LARGEST:
            raise UsageError(f"level {level}: give a number of nodes from {FEWEST_NODES} to {_game_walk.LARGEST}")
        super().__init__(key, level, prove)
        self._shape, self._cycles = str(options["shape"]), int(options["cycles"])

    def instance(self, index: int) -> _game_walk.Terrain:
        """Return the case of this number."""
        rng = Stream("search/walk", VERSION, self.key, self.level, self._shape, self._cycles, index)
        return _game_walk.Terrain(connected_graph(self._shape, self.level, self._cycles, rng))


class CaseFile(Source[I], Generic[I]):
    """Cases of a file: {"target": ...} or {"nodes": ..., "edges": ...}, in a list as published or in lines.

    Args:
        path: The file.
        key: The set's name.
        env_ids: The environments whose cases these can be.
        decode: JSON -> instance.
        level_of: Instance -> its level.
        prove: Instance -> what is known of its solution.
        common: What is added to each case, as the range of the numbers, which the published files leave out.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is no such file.
    """

    def __init__(
        self,
        path: Path,
        key: str,
        env_ids: Collection[str],
        decode: Callable[[Json], I],
        level_of: Callable[[I], int],
        prove: Callable[[I], Mapping[str, Json]],
        common: Mapping[str, Json],
    ) -> None:
        records = read_records(path, env_ids, "cases", LARGEST_FILE)
        self._cases: list[I] = []
        for record in records:
            instance = record.instance
            try:
                case = decode({**common, **instance} if is_object(instance) else instance)
            except DataError as error:
                raise DataError(f"{record.where}: {error}") from None
            check_hash(record, case)
            self._cases.append(case)
        # As published, where a list has no ids.
        self._ids = [record.id or f"{key}-{n}" * record.is_listed or str(n) for n, record in enumerate(records)]
        check_ids(records, self._ids)
        self._key, self._level_of, self._prove = key, level_of, prove

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self._cases)

    @property
    def space(self) -> int:
        """The number of cases."""
        return len(self._cases)

    def item(self, index: int) -> Item[I]:
        """Return the case of this number; negative ones count from the end.

        Raises:
            UsageError: If there is none.
        """
        if not -len(self._cases) <= index < len(self._cases):
            raise UsageError(f"case {index} of {self._key}: it has only {len(self._cases)}; lower the limit")
        index %= len(self._cases)
        case = self._cases[index]
        return Item(case, self._ids[index], self._level_of(case), self._key, index, self._prove(case))
