"""A full screen of the terminal to play in."""

from waybench.people.screen._app import PlayApp, play_screen

__all__ = ["PlayApp", "play_screen"]
