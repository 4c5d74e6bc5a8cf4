"""Explanatory variables of tile maps: what may make one harder than another with a tour of the same length."""

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables


def _cells(record: EpisodeRecord) -> float:
    return float(sum(map(len, record.instance["environment"].splitlines())))


def _blocked(record: EpisodeRecord) -> float:
    text, walkable = record.instance["environment"].replace("\n", ""), set(record.instance["walkable_tiles"])
    return sum(tile not in walkable for tile in text) / max(1, len(text))


def _longest_leg(record: EpisodeRecord) -> float | None:
    legs = [leg for leg in record.proof.get("legs", ()) if leg is not None]
    return float(max(legs)) if legs else None


VARIABLES = ExplanatoryVariables(
    items=(
        Axis(
            name="objectives",
            title="Objectives",
            of=lambda record: float(len(record.instance["objectives"])),
            doc="Objectives of the map.",
        ),
        Axis(
            name="longest_leg",
            title="Longest leg",
            of=_longest_leg,
            doc="Moves of the longest shortest path from one objective to the next.",
        ),
        Axis(name="cells", title="Cells", of=_cells, doc="Cells of the map."),
        Axis(
            name="blocked",
            title="Share of cells that block",
            of=_blocked,
            doc="Share of the cells whose tiles cannot be walked on.",
        ),
    )
)
