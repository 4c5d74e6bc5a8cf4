"""Drawings of maps of places."""

from waybench.envs.textmap.drawing._atlas import draw_map
from waybench.envs.textmap.drawing._draw import draw_picture, scenes

__all__ = ["draw_map", "draw_picture", "scenes"]
