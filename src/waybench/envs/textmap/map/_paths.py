"""Paths of a map: simple paths in constant memory, and shortest lengths of all pairs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from waybench._compile import compiled
from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import _kernel
from waybench.envs.textmap.map._kernel import Ints
from waybench.envs.textmap.map._place_map import NEVER, PlaceMap
from waybench.envs.textmap.map._prefix import Difficulty, Labels, Rule, edge_labels, reached, route_difficulty

BUDGET = 100_000_000  # paths; a few seconds, and forty times the number of the largest published map
BLOCK = 1 << 12  # most paths in one block
BLOCK_MOVES = 1 << 16  # most moves in one block, unless one path can have more

_KINDS: dict[Difficulty | None, int] = {None: -1, "easy": 0, "hard": 1}


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection of paths; by default all.

    Attributes:
        difficulty: Difficulty at the cutoff of `Paths`.
        longest: Greatest number of moves.
    """

    difficulty: Difficulty | None = None
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
        """Number of paths."""
        return int(self.lengths.sum())

    @property
    def average_length(self) -> float:
        """Mean number of moves; 0 if there is no path."""
        moves = sum(length * count for length, count in enumerate(self.lengths.sum(axis=0).tolist()))
        return moves / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Block:
    """A block of paths, as arrays.

    Attributes:
        starts: Start of each path in `moves`, and the end of the last one; shape (paths + 1,).
        moves: Moves of all paths, concatenated, as numbers of edges of the map.
    """

    starts: Ints
    moves: Ints

    def __iter__(self) -> Iterator[Ints]:
        """Yield the moves of each path, as numbers of edges of the map."""
        return (self.moves[start:end] for start, end in pairwise(self.starts.tolist()))

    def greatest(self, values: Ints) -> Ints:
        """Return the maximum over the moves of each path.

        Args:
            values: A row of values for each edge of the map; shape (edges, ...).
        """
        return np.maximum.reduceat(values[self.moves], self.starts[:-1])


class Paths:
    """The simple paths of a map that are answerable at a cutoff. A simple path visits no place twice.

    Two moves between the same places make two paths; a move from a place to itself is in none.

    The order is fixed: by start, then depth first with the moves in the order of the map.

    Args:
        place_map: The map.
        cutoff: Last step that is shown; only moves that are answerable by then are used. None for all moves; a path is
            then easy if all its moves are made at some step.
        rule: How labels are derived from steps.
        budget: Most paths to enumerate in one call, whether they match the choice or not.
    """

    def __init__(
        self, place_map: PlaceMap, cutoff: int | None = None, rule: Rule = "released", *, budget: int = BUDGET
    ) -> None:
        self._map, self._budget = place_map, budget
        labels = [edge_labels(edge) for edge in place_map.edges]
        bound = NEVER if cutoff is None else cutoff
        self._hard = np.array([not reached(label.easy_from(rule), bound) for label in labels], dtype=np.uint8)
        self._graph = self._graph_of(
            number
            for number, label in enumerate(labels)
            if cutoff is None or reached(label.answerable_from(rule), cutoff)
        )

    def tally(self, choice: Choice = ALL) -> Tally:
        """Count paths.

        Raises:
            UsageError: If there are more paths than the budget.
        """
        search = self._search(choice)
        search.pairs = np.zeros((len(self._map.places),) * 2, dtype=np.int64)
        search.go()
        return Tally(search.pairs, search.lengths)

    def blocks(self, choice: Choice = ALL) -> Iterator[Block]:
        """Yield blocks of paths; memory does not grow with their number.

        Raises:
            UsageError: When the budget is spent.
        """
        yield from self._search(choice, writes=True).blocks()

    def sample(self, count: int, stream: Stream, choice: Choice = ALL) -> list[tuple[int, ...]]:
        """Sample paths uniformly without replacement; all paths, shuffled, if there are at most `count`.

        A sample of fewer paths is a prefix of a sample of more. The paths are not listed: they are counted first, then
        ranks are drawn, and a second enumeration returns the paths of these ranks.

        Returns:
            The paths, as numbers of edges of the map.

        Raises:
            UsageError: If there are more paths than the budget.
        """
        counting = self._search(choice)
        counting.go()
        ranks = _draw(int(counting.lengths.sum()), count, stream)
        ordered = np.sort(np.array(ranks, dtype=np.int64))
        if not ranks:
            return []
        search = self._search(choice, writes=True)
        search.ranks = ordered
        paths = [tuple(path.tolist()) for block in search.blocks() for path in block]
        return [paths[position] for position in np.searchsorted(ordered, ranks)]

    def _search(self, choice: Choice, *, writes: bool = False) -> "_Search":
        return _Search(self._map.name, self._graph, choice, self._budget, writes)

    def _graph_of(self, numbers: Iterable[int]) -> "_Graph":
        edges, places = self._map.edges, {place: number for number, place in enumerate(self._map.places)}
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
    """An enumeration of paths that can be continued.

    Attributes:
        lengths: See `Tally`.
        pairs: See `Tally`; empty to skip the count.
        ranks: Ranks of the paths to write, in ascending order; empty for all.
    """

    def __init__(self, name: str, graph: _Graph, choice: Choice, budget: int, writes: bool) -> None:
        self._name, self._graph, self._budget = name, graph, budget
        size = len(graph.first) - 1
        self._last = size - 1
        self._query = self._last, _KINDS[choice.difficulty], size if choice.longest is None else choice.longest
        self._state = np.array([-1, -1, 0, 0, 0], dtype=np.int64)
        self._nodes, self._cursors = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        self._hard_prefix, self._on_path = np.zeros(size + 1, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
        self._starts = np.zeros((BLOCK if writes else 0) + 1, dtype=np.int64)
        self._path_moves = np.empty(max(BLOCK_MOVES, size) if writes else 0, dtype=np.int64)
        self.lengths: Ints = np.zeros((2, size + 1), dtype=np.int64)
        self.pairs: Ints = np.zeros((0, 0), dtype=np.int64)
        self.ranks: Ints = np.zeros(0, dtype=np.int64)

    def go(self) -> int:
        """Continue until the end or until a block is full; return the number of paths in the block."""
        path_count: int = _compiled()(
            *(*self._graph, *self._query, self._budget, self.ranks, self._state, self._nodes, self._cursors),
            *(self._hard_prefix, self._on_path, self.pairs, self.lengths),
            *(self._starts, self._path_moves),
        )
        if path_count == _kernel.OVER:
            raise UsageError(
                f"map {self._name}: more than {self._budget:,} simple paths would have to be walked: lower the cutoff "
                "or the greatest length, or raise the budget"
            )
        return path_count

    def blocks(self) -> Iterator[Block]:
        """Yield all remaining paths in blocks; the arrays are copies."""
        while self._state[_kernel.SOURCE] <= self._last:
            path_count = self.go()
            if path_count:
                starts = self._starts[: path_count + 1].copy()
                yield Block(starts, self._path_moves[: starts[-1]].copy())


def _draw(total: int, count: int, stream: Stream) -> list[int]:
    """Draw distinct numbers below `total`: the start of a random permutation."""
    swapped: dict[int, int] = {}  # position -> number, where the permutation has moved it
    numbers: list[int] = []
    for position in range(min(total, count)):
        choice = position + stream.below(total - position)
        numbers.append(swapped.get(choice, choice))
        swapped[choice] = swapped.pop(position, position)
    return numbers


@cache
def _compiled() -> Callable[..., int]:
    """Compile the loop when it is first needed."""
    return compiled(_kernel.walk)


Masks = npt.NDArray[np.bool_]
_Table = npt.NDArray[np.uint16]  # the smallest type for all steps, which is the fastest

_FAR = 1 << 14  # more moves than any path has; the sum of two is below 2**16


class Routes:
    """The labels and shortest path lengths of all pairs of places.

    The label of a pair is the minimum over its paths of the maximum step on the path, so the Floyd-Warshall algorithm
    computes it with the maximum in place of the sum, in time cubic in the number of places.

    Args:
        place_map: The map.
    """

    def __init__(self, place_map: PlaceMap) -> None:
        self._places = place_map.places
        self._number = {place: number for number, place in enumerate(place_map.places)}
        size = len(place_map.places)
        moves: dict[tuple[int, int], tuple[int, ...]] = {}  # the least labels of the moves from one place to another
        walked: set[tuple[int, int]] = set()
        for edge in place_map.edges:
            ends, found = (self._number[edge.source], self._number[edge.target]), edge_labels(edge)
            moves[ends] = tuple(map(min, moves[ends], found)) if ends in moves else found
            if edge.forward < NEVER:
                walked.add(ends)
        labels: _Table = np.full((len(Labels._fields), size, size), NEVER, dtype=np.uint16)
        lengths: _Table = np.full((2, size, size), _FAR, dtype=np.uint16)  # using all moves; only moves that are made
        for table, ends in ((lengths[0], moves), (lengths[1], walked)):
            sources, targets = zip(*ends, strict=True) if ends else ((), ())
            table[list(sources), list(targets)] = 1
        if moves:
            sources, targets = zip(*moves, strict=True)
            labels[:, sources, targets] = np.array(list(moves.values())).T
        for table, joined in ((labels, np.maximum), (lengths, np.add)):
            candidates = np.empty_like(table)
            for through in range(size):
                joined(table[:, :, through, None], table[:, None, through, :], out=candidates)
                np.minimum(table, candidates, out=table)
        self._labels, self._lengths = labels, lengths

    def labels(self, source: str, target: str) -> Labels:
        """Return the labels of a pair of different places; all are `NEVER` if there is no path."""
        return Labels(*self._labels[:, self._number[source], self._number[target]].tolist())

    def shortest(self, source: str, target: str) -> int | None:
        """Return the number of moves of a shortest path between two different places; None if there is no path."""
        length = int(self._lengths[0, self._number[source], self._number[target]])
        return length if length < _FAR else None

    def is_walked(self, source: str, target: str) -> bool:
        """Return whether some shortest path between two different places has only moves that are made."""
        shortest, shortest_walked = self._lengths[:, self._number[source], self._number[target]].tolist()
        return shortest_walked == shortest < _FAR

    def difficulty(self, source: str, target: str, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return the difficulty of finding a route between two different places; see `route_difficulty`."""
        return route_difficulty(self.labels(source, target), self.is_walked(source, target), cutoff, rule)

    def pairs(self, difficulty: Difficulty, cutoff: int, rule: Rule = "released") -> list[int]:
        """Return the numbers of all pairs of different places of this difficulty, in the order of the places.

        The same as `difficulty` of each pair, for all pairs at once. A number stands for the pair that `pair` returns.
        """
        which, last = Labels(*range(len(Labels._fields))), min(cutoff, NEVER - 1)
        walked: Masks = self._lengths[1] == self._lengths[0]
        is_easy: Masks = self._labels[which.easy_from(rule)] <= last if rule == "released" else walked
        wanted: Masks = self._labels[which.answerable_from(rule)] <= last
        wanted &= is_easy if difficulty == "easy" else ~is_easy
        np.fill_diagonal(wanted, val=False)
        return np.flatnonzero(wanted).tolist()

    def pair(self, number: int) -> tuple[str, str]:
        """Return the pair (source, target) of a number."""
        source, target = divmod(number, len(self._places))
        return self._places[source], self._places[target]


@lru_cache(maxsize=64)
def routes(place_map: PlaceMap) -> Routes:
    """Return the routes of a map (cached)."""
    return Routes(place_map)
