"""Paths of a map: simple paths in constant memory, and shortest lengths of all pairs.

The module imports numpy, so other modules import it only where there is something to compute. The loop that enumerates
simple paths is compiled; it is plain Python over arrays and gives the same results without compilation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.core import Stream, UsageError
from waybench.envs.textmap._place_map import NEVER, PlaceMap
from waybench.envs.textmap._prefix import EasyOrHard, Labels, Rule, edge_labels, is_reached

Ints = NDArray[np.int64]
Bits = NDArray[np.uint8]

OVER = -1  # returned by `enumerate_simple_paths` when the budget is exceeded
BUDGET = 100_000_000  # paths; a few seconds, and forty times the number of the largest published map
BLOCK = 1 << 12  # most paths in one block
BLOCK_MOVES = 1 << 16  # most moves in one block, unless one path can have more
_KINDS: dict[EasyOrHard | None, int] = {None: -1, "easy": 0, "hard": 1}
_INFINITE = 1 << 14  # more moves than any path has; the sum of two is below 2**16


def enumerate_simple_paths(
    first: Ints,
    heads: Ints,
    moves: Ints,
    hard: Bits,
    last: int,
    kind: int,
    longest: int,
    budget: int,
    ranks: Ints,
    state: Ints,
    nodes: Ints,
    cursors: Ints,
    hard_prefix: Bits,
    on_path: Bits,
    pairs: Ints,
    lengths: Ints,
    starts: Ints,
    path_moves: Ints,
) -> int:
    """Continue the enumeration of simple paths, and count and write those that match.

    A simple path is a sequence of moves that visits no place twice; two moves between the same places make two paths.
    Paths from one place are enumerated depth first, with the moves from each place in their order. The search keeps its
    own stack, as deep as there are places, so no map can exhaust the call stack.

    Args:
        first: Index of the first move of each place in the next three arrays; shape (places + 1,).
        heads: Target place of each move; shape (moves,).
        moves: The caller's number of each move; shape (moves,).
        hard: 1 for a move that makes every path with it hard; shape (moves,).
        last: The last start place.
        kind: 1 for hard paths only, 0 for easy ones only, -1 for both.
        longest: Greatest number of moves; longer paths are not enumerated.
        budget: Most paths to enumerate, whether they match or not.
        ranks: Ranks of the matching paths to write, in ascending order; empty for all.
        state: Start place, depth, and the numbers of paths visited, paths matched and ranks written so far; shape (5,).
            Modified. Initially the place before the first start place, and depth -1.
        nodes: The place at each depth; shape (places + 1,). Modified, as are the next three.
        cursors: The next move to try at each depth; shape (places + 1,).
        hard_prefix: 1 if the path up to a depth is hard; shape (places + 1,).
        on_path: 1 for a place on the path; shape (places,).
        pairs: Number of matching paths by start and end; shape (places, places), or (0, 0) to skip. Incremented.
        lengths: Number of matching paths by hardness and number of moves; shape (2, places + 1). Incremented.
        starts: Receives the start of each path in `path_moves`, and the end of the last one; its size is one more than
            the most paths to write in one call, 1 to count only.
        path_moves: Receives the moves of the paths, concatenated; holds at least as many as there are places.

    Returns:
        The number of paths written, or `OVER`. The enumeration is complete when the start place in `state` is beyond
        `last`.
    """
    source, depth, n_visited, n_matched, n_written = state[0], state[1], state[2], state[3], state[4]
    capacity, has_ranks, counts_pairs = starts.size - 1, ranks.size > 0, pairs.size > 0
    path_count, move_count = 0, 0
    while True:
        if depth < 0:
            source += 1
            if source > last:
                break
            if longest < 1:
                continue
            depth = 0
            nodes[0], cursors[0], hard_prefix[0], on_path[source] = source, first[source], 0, 1
        cursor = cursors[depth]
        node = nodes[depth]
        if cursor == first[node + 1]:
            on_path[node] = 0
            depth -= 1
            continue
        cursors[depth] = cursor + 1
        head = heads[cursor]
        is_hard = hard_prefix[depth] | hard[cursor]
        if on_path[head] or (is_hard and kind == 0):
            continue
        n_visited += 1
        if n_visited > budget:
            return OVER
        length = depth + 1
        is_written = False
        if kind < 0 or is_hard == kind:
            if counts_pairs:
                pairs[source, head] += 1
            lengths[is_hard, length] += 1
            is_written = capacity > 0 and (not has_ranks or ranks[n_written] == n_matched)
            n_matched += 1
        if is_written:
            starts[path_count] = move_count
            for step in range(length):
                path_moves[move_count + step] = moves[cursors[step] - 1]
            move_count += length
            path_count += 1
            n_written += 1
            starts[path_count] = move_count
        if length < longest:
            depth = length
            nodes[depth], cursors[depth], hard_prefix[depth], on_path[head] = head, first[head], is_hard, 1
        if is_written:
            if has_ranks and n_written == ranks.size:
                source = last + 1  # all ranks are written
                break
            if path_count == capacity or move_count + on_path.size > path_moves.size:  # the next path might not fit
                break
    state[0], state[1], state[2], state[3], state[4] = source, depth, n_visited, n_matched, n_written
    return path_count


@dataclass(frozen=True, slots=True)
class PathSelection:
    """A selection of paths: of a difficulty at the cutoff of `Paths`, and of at most `longest` moves; None for any."""

    difficulty: EasyOrHard | None = None
    longest: int | None = None


ALL = PathSelection()


class PathCounts(NamedTuple):
    """Counts of paths.

    `pairs` are by source and target, in the order of the map's places, shape (places, places); `lengths` are by
    difficulty (easy, hard) and number of moves, shape (2, places + 1).
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

    `moves` has the moves of all paths as numbers of edges of the map, concatenated; `starts` has the start of each path
    in it, and the end of the last one, shape (paths + 1,).
    """

    starts: Ints
    moves: Ints

    def __iter__(self) -> Iterator[Ints]:
        """Yield the moves of each path, as numbers of edges of the map."""
        return (self.moves[start:end] for start, end in pairwise(self.starts.tolist()))

    def maximum_over_moves(self, values: Ints) -> Ints:
        """Return the maximum of `values`, of shape (edges of the map, ...), over the moves of each path."""
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
        budget: Most paths to enumerate in one call, whether they match the selection or not.
    """

    def __init__(
        self, place_map: PlaceMap, cutoff: int | None = None, rule: Rule = "released", *, budget: int = BUDGET
    ) -> None:
        self._map, self._budget = place_map, budget
        labels = [edge_labels(edge) for edge in place_map.edges]
        bound = NEVER if cutoff is None else cutoff
        hard = np.array([not is_reached(label.easy_from(rule), bound) for label in labels], dtype=np.uint8)
        edges, numbers = place_map.edges, {place: number for number, place in enumerate(place_map.places)}
        sources = [numbers[edge.source] for edge in edges]
        usable_edges = [
            number
            for number, label in enumerate(labels)
            if cutoff is None or is_reached(label.answerable_from(rule), cutoff)
        ]
        usable_edges.sort(key=lambda number: sources[number])
        degrees = np.bincount([sources[number] for number in usable_edges], minlength=len(numbers))
        moves = np.array(usable_edges, dtype=np.int64)
        heads = np.array([numbers[edges[number].target] for number in usable_edges], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        self._graph = _Graph(first, heads, moves, hard[moves])

    def count_paths(self, selection: PathSelection = ALL) -> PathCounts:
        """Count the selected paths."""
        search = self._start_search(selection)
        search.pairs = np.zeros((len(self._map.places),) * 2, dtype=np.int64)
        search.find_next_block()
        return PathCounts(search.pairs, search.lengths)

    def blocks(self, selection: PathSelection = ALL) -> Iterator[Block]:
        """Yield blocks of paths; memory does not grow with their number."""
        yield from self._start_search(selection, writes=True).blocks()

    def sample_paths(self, count: int, stream: Stream, selection: PathSelection = ALL) -> list[tuple[int, ...]]:
        """Sample paths uniformly without replacement; all paths, shuffled, if there are at most `count`.

        A path is given by the numbers of its edges in the map. A sample of fewer paths is a prefix of a sample of more.
        The paths are not listed: they are counted first, then ranks are drawn, and a second enumeration returns the
        paths of these ranks. Raises a UsageError if there are more paths than the budget.
        """
        counting_search = self._start_search(selection)
        counting_search.find_next_block()
        ranks = stream.distinct(int(counting_search.lengths.sum()), count)
        if not ranks:
            return []
        search = self._start_search(selection, writes=True)
        search.ranks = np.sort(np.array(ranks, dtype=np.int64))
        paths = [tuple(path.tolist()) for block in search.blocks() for path in block]
        return [paths[position] for position in np.searchsorted(search.ranks, ranks)]

    def _start_search(self, selection: PathSelection, *, writes: bool = False) -> "_Search":
        """Return a new enumeration of the selected paths, which keeps their moves only if `writes`."""
        return _Search(self._map.name, self._graph, selection, self._budget, writes)


class _Graph(NamedTuple):
    """The usable moves by start; see the first arguments of `enumerate_simple_paths`."""

    first: Ints
    heads: Ints
    moves: Ints
    hard: Bits


class _Search:
    """An enumeration of paths that can be continued.

    Attributes:
        lengths: See `PathCounts`.
        pairs: See `PathCounts`; empty to skip the count.
        ranks: Ranks of the paths to write, in ascending order; empty for all.
    """

    def __init__(self, name: str, graph: _Graph, selection: PathSelection, budget: int, writes: bool) -> None:
        self._name, self._graph, self._budget = name, graph, budget
        size = len(graph.first) - 1
        self._last = size - 1
        longest = size if selection.longest is None else selection.longest
        self._query = self._last, _KINDS[selection.difficulty], longest
        self._state = np.array([-1, -1, 0, 0, 0], dtype=np.int64)
        self._nodes, self._cursors = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        self._hard_prefix, self._on_path = np.zeros(size + 1, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
        self._starts = np.zeros((BLOCK if writes else 0) + 1, dtype=np.int64)
        self._path_moves = np.empty(max(BLOCK_MOVES, size) if writes else 0, dtype=np.int64)
        self.lengths: Ints = np.zeros((2, size + 1), dtype=np.int64)
        self.pairs: Ints = np.zeros((0, 0), dtype=np.int64)
        self.ranks: Ints = np.zeros(0, dtype=np.int64)

    def find_next_block(self) -> int:
        """Find paths up to the end or until the block is full; return the number of paths in the block.

        They are then in `ranks`, `pairs` and `lengths`.

        Raises a UsageError if there are more paths than the budget.
        """
        path_count: int = _compiled_enumeration()(
            *(*self._graph, *self._query, self._budget, self.ranks, self._state, self._nodes, self._cursors),
            *(self._hard_prefix, self._on_path, self.pairs, self.lengths),
            *(self._starts, self._path_moves),
        )
        if path_count == OVER:
            raise UsageError(
                f"map {self._name}: more than {self._budget:,} simple paths would have to be walked: lower the cutoff "
                "or the greatest length, or raise the budget"
            )
        return path_count

    def blocks(self) -> Iterator[Block]:
        """Yield all remaining paths in blocks; the arrays are copies."""
        while self._state[0] <= self._last:  # the start place
            path_count = self.find_next_block()
            if path_count:
                starts = self._starts[: path_count + 1].copy()
                yield Block(starts, self._path_moves[: starts[-1]].copy())


@cache
def _compiled_enumeration() -> Callable[..., int]:
    """Return `enumerate_simple_paths` compiled; that happens when it is first needed."""
    return compiled(enumerate_simple_paths)


Masks = npt.NDArray[np.bool_]
_Table = npt.NDArray[np.uint16]  # the smallest type for all steps, which is the fastest


class Routes:
    """The labels and shortest path lengths of all pairs of places.

    The label of a pair is the minimum over its paths of the maximum step on the path, so the Floyd-Warshall algorithm
    computes it with the maximum in place of the sum, in time cubic in the number of places.
    """

    def __init__(self, place_map: PlaceMap) -> None:
        self._places = place_map.places
        self._number = {place: number for number, place in enumerate(place_map.places)}
        size = len(place_map.places)
        labels: _Table = np.full((len(Labels._fields), size, size), NEVER, dtype=np.uint16)
        lengths: _Table = np.full((2, size, size), _INFINITE, dtype=np.uint16)  # by all moves; by moves that are made
        for edge in place_map.edges:
            source, target = self._number[edge.source], self._number[edge.target]
            labels[:, source, target] = np.minimum(labels[:, source, target], edge_labels(edge))
            lengths[0, source, target] = 1
            if edge.forward < NEVER:
                lengths[1, source, target] = 1
        for table, join in ((labels, np.maximum), (lengths, np.add)):
            candidates = np.empty_like(table)
            for through in range(size):
                join(table[:, :, through, None], table[:, None, through, :], out=candidates)
                np.minimum(table, candidates, out=table)
        self._labels, self._lengths = labels, lengths

    def labels(self, source: str, target: str) -> Labels:
        """Return the labels of a pair of different places; all are `NEVER` if there is no path."""
        return Labels(*self._labels[:, self._number[source], self._number[target]].tolist())

    def shortest(self, source: str, target: str) -> int | None:
        """Return the number of moves of a shortest path between two different places; None if there is no path."""
        length = int(self._lengths[0, self._number[source], self._number[target]])
        return length if length < _INFINITE else None

    def has_walked_shortest_path(self, source: str, target: str) -> bool:
        """Return whether some shortest path between two different places has only moves that are made."""
        shortest, shortest_walked = self._lengths[:, self._number[source], self._number[target]].tolist()
        return shortest_walked == shortest < _INFINITE

    def difficulty(self, source: str, target: str, cutoff: int, rule: Rule = "released") -> EasyOrHard | None:
        """Return the difficulty of finding a route between two different places; see `Labels.difficulty`."""
        return self.labels(source, target).difficulty(
            cutoff, rule, walked=self.has_walked_shortest_path(source, target)
        )

    def pair_numbers(self, difficulty: EasyOrHard, cutoff: int, rule: Rule) -> list[int]:
        """Return the numbers of all pairs of different places of this difficulty, in the order of the places.

        The same as `difficulty` of each pair, for all pairs at once; `pair_of_number` returns the pair of a number.
        """
        label_index, last = Labels(*range(len(Labels._fields))), min(cutoff, NEVER - 1)
        is_walked: Masks = self._lengths[1] == self._lengths[0]
        is_easy: Masks = self._labels[label_index.easy_from(rule)] <= last if rule == "released" else is_walked
        matches: Masks = self._labels[label_index.answerable_from(rule)] <= last
        matches &= is_easy if difficulty == "easy" else ~is_easy
        np.fill_diagonal(matches, val=False)
        return np.flatnonzero(matches).tolist()

    def pair_of_number(self, number: int) -> tuple[str, str]:
        """Return the pair (source, target) of a number."""
        source, target = divmod(number, len(self._places))
        return self._places[source], self._places[target]


routes = lru_cache(maxsize=64)(Routes)
"""Return the routes of a map (cached)."""
