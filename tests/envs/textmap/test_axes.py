"""What makes questions about maps hard."""

from typing import Any

import pytest

import waybench
from waybench.core import Episode, EpisodeRecord

NEVER = 9999


def record(env: str, edges: list[tuple[str, str, str, int, int]], **question_fields: Any) -> EpisodeRecord:
    """Return the record of a question about a map of moves: from, to, action, steps when made and when inferred."""
    places = sorted({place for source, target, *_ in edges for place in (source, target)})
    environment = waybench.load(f"textmap/{env}")
    instance = {
        "map": {
            "name": "small",
            "places": places,
            "actions": sorted({action for *_, action, _, _ in edges}),
            "edges": [[*edge, edge[3], edge[4]] for edge in edges],
            "steps": [["look", f"Step {number}."] for number in range(10)],
        },
        "cutoff": 9,
        **question_fields,
    }
    return Episode(environment, environment.item(instance), {}).record()


# a -> b -> c was walked, and back again only in part; d is reached from c.
EDGES = [
    ("a", "b", "east", 1, NEVER),
    ("b", "a", "west", NEVER, 1),
    ("b", "c", "north", 2, NEVER),
    ("c", "b", "south", NEVER, 2),
    ("c", "d", "up", 3, 4),
    ("d", "c", "down", 4, 3),
]


def axes(found: EpisodeRecord) -> dict[str, float | None]:
    return {axis.name: axis.of(found) for axis in waybench.load(found.env).difficulty.axes}


@pytest.mark.parametrize(
    ("src", "dst", "length", "inferred"),
    [("a", "d", 3, None), ("c", "a", 2, 2), ("d", "a", 3, 2), ("d", "b", 2, 1), ("d", "c", 1, None)],
)
def test_routes(src: str, dst: str, length: int, inferred: int | None) -> None:
    found = axes(record("route", EDGES, src=src, dst=dst))
    assert found == {"path_length": length, "inferred": inferred, "prefix": 9}


@pytest.mark.parametrize(
    ("src", "actions", "path", "inferred"),
    [
        ("a", ["east", "north", "up"], ["b", "c", "d"], None),
        ("d", ["down", "south", "west"], ["c", "b", "a"], 2),
        ("d", ["down", "south"], ["c", "b"], 1),
    ],
)
def test_destinations(src: str, actions: list[str], path: list[str], inferred: int | None) -> None:
    found = axes(record("destination", EDGES, src=src, dst=path[-1], actions=actions, path=path))
    assert found == {"path_length": len(path), "inferred": inferred, "prefix": 9}


def test_of_shortest_ways_the_one_with_fewest_inferred_moves() -> None:
    # Two ways of two moves: one has to be inferred wholly, of the other one move.
    edges = [
        ("a", "b", "east", NEVER, 1),
        ("b", "d", "north", NEVER, 2),
        ("a", "c", "north", NEVER, 3),
        ("c", "d", "east", 4, NEVER),
    ]
    assert axes(record("route", edges, src="a", dst="d"))["inferred"] == 1
