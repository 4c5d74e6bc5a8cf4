"""A person in a model's place: in the terminal and in the browser."""

from waybench.people._play import PlayedEpisode

__all__ = ["PlayedEpisode"]
