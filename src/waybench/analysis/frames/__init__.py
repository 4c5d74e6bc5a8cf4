"""Frames: tables of pyarrow with a declared schema."""

from waybench.analysis.frames._frames import (
    Fact,
    Frame,
    Meaning,
    column_frame,
    columns,
    group_frame,
    group_id,
    mean_facts,
)

__all__ = ["Fact", "Frame", "Meaning", "column_frame", "columns", "group_frame", "group_id", "mean_facts"]
