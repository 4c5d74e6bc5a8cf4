"""Labels and shortest path lengths of all pairs of places, without enumerating paths."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from waybench.envs.textmap.map._labels import Difficulty, Labels, Rule, edge_labels, route_difficulty
from waybench.envs.textmap.map._place_map import NEVER, PlaceMap

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
