"""Drawings of maps of places."""

from waybench.envs.textmap.drawing._atlas import draw_map
from waybench.envs.textmap.drawing._draw import draw, draw_frames, draw_picture

__all__ = ["draw", "draw_frames", "draw_map", "draw_picture"]
