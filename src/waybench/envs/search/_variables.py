"""Explanatory variables of cases: what may make one harder than another of the same range or number of nodes."""

from collections import Counter

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables, proof_axis

MINIMUM = proof_axis("minimum", "Optimal steps", "Answers of the optimal policy.")


def _off_middle(record: EpisodeRecord) -> float:
    case = record.instance
    return abs(2 * case["target"] - case["min"] - case["max"]) / (case["max"] - case["min"])


def _degrees(record: EpisodeRecord) -> Counter[int]:
    return Counter(node for edge in record.instance["edges"] for node in edge)


def _depth(record: EpisodeRecord) -> float:
    """Return the distance of the farthest node from node 0, where every walk starts."""
    neighbours: dict[int, list[int]] = {}
    for first, second in record.instance["edges"]:
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    visited, layer, depth = {0}, [0], 0
    while layer := [
        node for node in {after for at in layer for after in neighbours.get(at, ())} if node not in visited
    ]:
        visited.update(layer)
        depth += 1
    return float(depth)


NUMBER_VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="off_middle",
            title="Distance from the middle",
            of=_off_middle,
            doc="How far the number is from the middle of its range: 0 in the middle, 1 at an end.",
        ),
    )
)
WALK_VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="leaves",
            title="Leaves",
            of=lambda record: float(sum(degree == 1 for degree in _degrees(record).values())),
            doc="Nodes with one neighbour.",
        ),
        Axis(name="depth", title="Depth", of=_depth, doc="Distance of the farthest node from the start, in edges."),
        Axis(
            name="most_neighbours",
            title="Most neighbours",
            of=lambda record: float(max(_degrees(record).values(), default=0)),
            doc="Neighbours of the node that has the most.",
        ),
    )
)
