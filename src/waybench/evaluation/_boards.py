"""Boards in Inspect's transcript: what a player sees of the game, for readers of a log."""

from typing import Any

from inspect_ai.log import transcript

from waybench.core import Episode
from waybench.core._board import board_text

SOURCE = "waybench board"
_MOST = 50  # boards of an episode
_LONGEST = 4_000  # characters of one


class Boards:
    """Writes the board of an episode to the transcript after a turn, at most 50 times."""

    def __init__(self) -> None:
        """Count the boards of one episode from 0."""
        self._shown = 0

    def show(self, episode: Episode[Any, Any, Any]) -> None:
        """Write an episode's present board to the transcript, if the environment has boards."""
        board = episode.environment.presentation.board
        if board is None or self._shown == _MOST:
            return
        text = board_text(board(episode.state, episode.turns)).replace("```", "'''")[:_LONGEST]
        if text.strip():
            self._shown += 1
            transcript().info(f"```text\n{text}\n```", source=SOURCE)
