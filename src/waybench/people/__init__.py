"""A person in a model's place: in the terminal and in the browser."""

from waybench.people._play import PlayedEpisode, board_svg, board_text, play_lines, player_name, reply_for, show_result

__all__ = ["PlayedEpisode", "board_svg", "board_text", "play_lines", "player_name", "reply_for", "show_result"]
