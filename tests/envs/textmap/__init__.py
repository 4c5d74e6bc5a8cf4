"""Small maps for tests, and their paths found in the simplest way."""

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, WalkthroughStep


def edge(source: str, action: str, target: str, forward: int = NEVER, reverse: int = NEVER, later: int = 0) -> Edge:
    """Return a move, the names of its places known a number of steps after it."""
    named = (step if step == NEVER else step + later for step in (forward, reverse))
    return Edge(source, target, action, forward, reverse, *named)


def of_edges(name: str, edges: Sequence[Edge], places: Sequence[str] = (), last: int = 9) -> PlaceMap:
    """Return the map of some moves."""
    all_places = tuple(dict.fromkeys([*places, *(end for each in edges for end in (each.source, each.target))]))
    actions = tuple(dict.fromkeys(each.action for each in edges))
    steps = tuple(
        WalkthroughStep(number, "wait" if number else "Init", f"Tick {number}.\n") for number in range(last + 1)
    )
    return PlaceMap(name, all_places, actions, tuple(edges), steps)


# The attic can be left by two ways; the cellar only be entered; the garden has a path that comes back to it.
HOUSE = of_edges(
    "house",
    [
        edge("hall", "up", "attic", forward=1, reverse=2),
        edge("attic", "down", "hall", forward=2, reverse=1),
        edge("attic", "jump", "hall", forward=6),
        edge("hall", "out", "garden", forward=3, reverse=5),
        edge("garden", "in", "hall", forward=5, reverse=3, later=2),
        edge("garden", "around", "garden", forward=4),
        edge("garden", "dig", "cellar", forward=8),
        edge("garden", "up", "attic", reverse=7),
    ],
)


def square(size: int) -> PlaceMap:
    """Return a map of size × size places in rows, all neighbours joined in both directions."""
    edges: list[Edge] = []
    for row in range(size):
        for column in range(size):
            for action, down, right in (("east", 0, 1), ("west", 0, -1), ("south", 1, 0), ("north", -1, 0)):
                if 0 <= row + down < size and 0 <= column + right < size:
                    edges.append(edge(f"{row},{column}", action, f"{row + down},{column + right}", forward=1))
    return of_edges(f"square {size}", edges)


def all_paths(place_map: PlaceMap, numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the simple paths that some moves make, from the definition."""
    edges = place_map.edges

    def further(path: tuple[int, ...], seen: frozenset[str]) -> Iterator[tuple[int, ...]]:
        for number in numbers:
            if edges[number].source == edges[path[-1]].target and edges[number].target not in seen:
                longer = (*path, number)
                yield longer
                yield from further(longer, seen | {edges[number].target})

    for number in numbers:
        source, target = edges[number].source, edges[number].target
        if source != target:
            yield (number,)
            yield from further((number,), frozenset({source, target}))


_STEPS = st.integers(1, 9) | st.just(NEVER)


@st.composite
def maps(draw: st.DrawFn) -> PlaceMap:
    """Draw a map of up to five places, with moves side by side, to the same place, and one action to several places."""
    places = [f"place {number}" for number in range(draw(st.integers(1, 5)))]
    triples = draw(
        st.lists(
            st.tuples(st.sampled_from(places), st.sampled_from(["north", "south"]), st.sampled_from(places)),
            unique=True,
            max_size=14,
        )
    )
    edges: list[Edge] = []
    for source, action, target in triples:
        forward, reverse, later = draw(_STEPS), draw(_STEPS), draw(st.integers(0, 3))
        # Every move of a map is made or inferred at some time.
        edges.append(edge(source, action, target, min(forward, 8) if reverse == NEVER else forward, reverse, later))
    return of_edges("drawn", edges, places)
