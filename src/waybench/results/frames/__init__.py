"""Frames: tables of pyarrow with a declared schema."""

from waybench.results.frames._frames import Column, Frame, Meaning, column_data, column_frame, group_frame, group_id
from waybench.results.frames._json import column_json, column_schema

__all__ = [
    "Column",
    "Frame",
    "Meaning",
    "column_data",
    "column_frame",
    "column_json",
    "column_schema",
    "group_frame",
    "group_id",
]
