"""A person in a model's place: in the terminal and in the browser."""

from waybench.play._game import PlayedEpisode, player_name
from waybench.play._plain import play_lines, show_result
from waybench.play._render import board_svg, board_text
from waybench.play._typed import reply_for

__all__ = ["PlayedEpisode", "board_svg", "board_text", "play_lines", "player_name", "reply_for", "show_result"]
