"""A person in a model's place: in the terminal and in the browser."""

from waybench.people._game import PlayedEpisode, player_name, reply_for
from waybench.people._render import board_svg, board_text, play_lines, show_result

__all__ = ["PlayedEpisode", "board_svg", "board_text", "play_lines", "player_name", "reply_for", "show_result"]
