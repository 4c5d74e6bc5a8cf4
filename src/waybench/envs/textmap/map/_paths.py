"""All simple paths of a map: counted, passed one block at a time, or drawn at random, and never held all at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from waybench._compile import compiled
from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import _kernel
from waybench.envs.textmap.map._kernel import Ints
from waybench.envs.textmap.map._labels import Difficulty, Rule, edge_labels, reached
from waybench.envs.textmap.map._place_map import NEVER, PlaceMap

BUDGET = 100_000_000  # paths: a few seconds, and forty times as many as the largest published map has
BLOCK = 1 << 12  # most paths in one block
BLOCK_MOVES = 1 << 16  # and most moves, unless one path could have more

_KINDS: dict[Difficulty | None, int] = {None: -1, "easy": 0, "hard": 1}


@dataclass(frozen=True, slots=True)
class Choice:
    """Which paths are meant; by default all.

    Attributes:
        source: The place where they begin.
        target: The place where they end.
        difficulty: What they are at the cutoff of `Paths`.
        shortest: Their least number of moves.
        longest: Their greatest number of moves.
    """

    source: str | None = None
    target: str | None = None
    difficulty: Difficulty | None = None
    shortest: int = 1
    longest: int | None = None


ALL = Choice()


class Tally(NamedTuple):
    """Counts of paths.

    Attributes:
        pairs: By source and target, in the order of the map's places; shape (places, places).
        lengths: By difficulty (easy, hard) and number of moves; shape (2, places + 1).
    """

    pairs: Ints
    lengths: Ints

    @property
    def total(self) -> int:
        """How many paths there are."""
        return int(self.lengths.sum())

    @property
    def average_length(self) -> float:
        """Mean number of moves; 0 if there is no path."""
        moves = sum(length * count for length, count in enumerate(self.lengths.sum(axis=0).tolist()))
        return moves / self.total if self.total else 0.0


class Block(NamedTuple):
    """Some paths, as arrays.

    Attributes:
        sources: Numbers of the places where they begin; shape (paths,).
        targets: Numbers of the places where they end; shape (paths,).
        starts: Where in `moves` each begins, and then where the last one ends; shape (paths + 1,).
        moves: The paths' moves one after the other, as numbers of edges of the map.
    """

    sources: Ints
    targets: Ints
    starts: Ints
    moves: Ints

    @property
    def lengths(self) -> Ints:
        """Number of moves of each path."""
        return np.diff(self.starts)

    def greatest(self, values: Ints) -> Ints:
        """Return for each path the greatest value of its moves.

        Args:
            values: One row of values for each edge of the map; shape (edges, ...).
        """
        return np.maximum.reduceat(values[self.moves], self.starts[:-1])

    def path(self, number: int) -> Ints:
        """Return the moves of one path, as numbers of edges of the map."""
        return self.moves[self.starts[number] : self.starts[number + 1]]


class Paths:
    """The simple paths of a map that can be known at a cutoff: those that come to no place twice.

    Two moves between the same places make two paths; a move from a place to itself is in none.

    Paths come in a fixed order: by the place where they begin, and then depth first, the moves in the map's order.

    Args:
        place_map: The map.
        cutoff: Last step that was read; only moves that can be asked about from then on are taken. None for all moves;
            easy are then the paths whose moves are all made at some time.
        rule: How steps become labels.
        budget: Most paths to walk in one call. To find few paths it can be necessary to walk many.
    """

    def __init__(
        self, place_map: PlaceMap, cutoff: int | None = None, rule: Rule = "released", *, budget: int = BUDGET
    ) -> None:
        self._map, self._budget = place_map, budget
        self._number = {place: number for number, place in enumerate(place_map.places)}
        labels = [edge_labels(edge) for edge in place_map.edges]
        bound = NEVER if cutoff is None else cutoff
        self._hard = np.array([not reached(label.easy_from(rule), bound) for label in labels], dtype=np.uint8)
        self._answerable = [
            number
            for number, label in enumerate(labels)
            if cutoff is None or reached(label.answerable_from(rule), cutoff)
        ]
        self._all = self._graph(self._answerable)

    def tally(self, choice: Choice = ALL) -> Tally:
        """Count paths.

        Raises:
            UsageError: If a place is unknown, or the budget does not suffice.
        """
        search = self._search(choice)
        search.pairs = np.zeros((len(self._map.places),) * 2, dtype=np.int64)
        search.go()
        return Tally(search.pairs, search.lengths)

    def blocks(self, choice: Choice = ALL) -> Iterator[Block]:
        """Pass through paths; the memory it takes does not grow with their number.

        Raises:
            UsageError: If a place is unknown, or the budget does not suffice; the latter not before it is spent.
        """
        yield from self._search(choice, writes=True).blocks()

    def sample(self, count: int, stream: Stream, choice: Choice = ALL) -> list[tuple[int, ...]]:
        """Draw paths, each equally probable and none twice; all of them, shuffled, if there are no more than that.

        The first ones are the same whatever the count. No list of all paths is made: they are counted first, then the
        ranks are drawn, and a second walk writes down the paths of these ranks.

        Returns:
            The paths, as numbers of edges of the map.

        Raises:
            UsageError: If a place is unknown, or the budget does not suffice.
        """
        counting = self._search(choice)
        counting.go()
        ranks = _draw(int(counting.lengths.sum()), count, stream)
        ordered = np.sort(np.array(ranks, dtype=np.int64))
        if not ranks:
            return []
        search = self._search(choice, writes=True)
        search.ranks = ordered
        paths = [
            tuple(block.path(number).tolist()) for block in search.blocks() for number in range(len(block.targets))
        ]
        return [paths[position] for position in np.searchsorted(ordered, ranks)]

    def _place(self, name: str) -> int:
        self._map.check_place(name)
        return self._number[name]

    def _search(self, choice: Choice, *, writes: bool = False) -> "_Search":
        first, last = 0, len(self._map.places) - 1
        if choice.source is not None:
            first = last = self._place(choice.source)
        target, graph = -1, self._all
        if choice.target is not None:
            target, graph = self._place(choice.target), self._graph(self._leading_to(choice.target))
        return _Search(self._map.name, graph, (first, last, target), choice, self._budget, writes)

    def _leading_to(self, target: str) -> list[int]:
        """Return the moves from whose end the target can be reached: no other one is in a path to it."""
        edges = self._map.edges
        into: dict[str, list[int]] = {}
        for number in self._answerable:
            into.setdefault(edges[number].target, []).append(number)
        near, new = {target}, [target]
        while new:
            before = {edges[number].source for number in into.get(new.pop(), ())} - near
            near |= before
            new += before
        return [number for number in self._answerable if edges[number].target in near]

    def _graph(self, numbers: list[int]) -> "_Graph":
        edges, places = self._map.edges, self._number
        ordered = sorted(numbers, key=lambda number: places[edges[number].source])
        degrees = np.bincount([places[edges[number].source] for number in ordered], minlength=len(places))
        moves = np.array(ordered, dtype=np.int64)
        heads = np.array([places[edges[number].target] for number in ordered], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        return _Graph(first, heads, moves, self._hard[moves])


class _Graph(NamedTuple):
    first: Ints
    heads: Ints
    moves: Ints
    hard: _kernel.Bits


class _Search:
    """A walk through paths that can be interrupted.

    Attributes:
        lengths: See `Tally`.
        pairs: See `Tally`; empty for not counting them.
        ranks: Ranks of the only paths to write, in ascending order; empty for all.
    """

    def __init__(
        self, name: str, graph: _Graph, ends: tuple[int, int, int], choice: Choice, budget: int, writes: bool
    ) -> None:
        self._name, self._graph, self._budget = name, graph, budget
        first, self._last, target = ends  # the first and the last source, and the only target or -1
        size = len(graph.first) - 1
        longest = size if choice.longest is None else choice.longest
        self._query = self._last, target, _KINDS[choice.difficulty], choice.shortest, longest
        self._state = np.array([first - 1, -1, 0, 0, 0], dtype=np.int64)
        self._nodes, self._cursors = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        self._hard_prefix, self._on_path = np.zeros(size + 1, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
        room = BLOCK if writes else 0
        self._sources, self._targets = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        self._starts = np.zeros(room + 1, dtype=np.int64)
        self._path_moves = np.empty(max(BLOCK_MOVES, size) if writes else 0, dtype=np.int64)
        self.lengths: Ints = np.zeros((2, size + 1), dtype=np.int64)
        self.pairs: Ints = np.zeros((0, 0), dtype=np.int64)
        self.ranks: Ints = np.zeros(0, dtype=np.int64)

    def go(self) -> int:
        """Walk until all is walked or a block is full; return the number of paths in the block."""
        path_count: int = _compiled()(
            *(*self._graph, *self._query, self._budget, self.ranks, self._state, self._nodes, self._cursors),
            *(self._hard_prefix, self._on_path, self.pairs, self.lengths),
            *(self._sources, self._targets, self._starts, self._path_moves),
        )
        if path_count == _kernel.OVER:
            raise UsageError(
                f"map {self._name}: more than {self._budget:,} simple paths would have to be walked: lower the cutoff "
                "or the greatest length, name the places, or raise the budget"
            )
        return path_count

    def blocks(self) -> Iterator[Block]:
        """Walk all that is left, and yield it in blocks, which are the caller's to keep."""
        while self._state[_kernel.SOURCE] <= self._last:
            path_count = self.go()
            if path_count:
                starts = self._starts[: path_count + 1].copy()
                sources, targets = self._sources[:path_count].copy(), self._targets[:path_count].copy()
                yield Block(sources, targets, starts, self._path_moves[: starts[-1]].copy())


def _draw(total: int, count: int, stream: Stream) -> list[int]:
    """Draw numbers below `total`, none twice, as if these were shuffled and the first ones taken."""
    swapped: dict[int, int] = {}  # the shuffled numbers that are no longer at their own place
    numbers: list[int] = []
    for position in range(min(total, count)):
        other = position + stream.below(total - position)
        numbers.append(swapped.get(other, other))
        swapped[other] = swapped.pop(position, position)
    return numbers


@cache
def _compiled() -> Callable[..., int]:
    """Compile the loop when it is first needed."""
    return compiled(_kernel.walk)
