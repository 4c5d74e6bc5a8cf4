"""Explanatory variables of puzzles: what may make one harder than another with as many disks."""

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables, proof_axis

MINIMUM = proof_axis("minimum", "Optimal moves", "Length of a shortest solution, in moves.")


def _misplaced(record: EpisodeRecord) -> float:
    """Return the number of disks that do not start on their goal rod."""
    return float(sum(a != b for a, b in zip(record.instance["start"], record.instance["goal"], strict=True)))


def _towers(record: EpisodeRecord) -> float:
    """Return the number of rods on which disks start or end."""
    return float(len(set(record.instance["start"])) + len(set(record.instance["goal"])))


VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="misplaced",
            title="Misplaced disks",
            of=_misplaced,
            doc="Disks that do not start on their goal rod.",
        ),
        Axis(
            name="towers",
            title="Towers",
            of=_towers,
            doc="Rods with disks at the start, and rods with disks at the end, added up.",
        ),
    )
)
