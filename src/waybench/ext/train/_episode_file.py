"""The file to which a server appends the records of episodes that programs outside play."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from waybench.core import EpisodeRecord, Json, UsageError, WaybenchError, open_private_file
from waybench.core._episode import AnyEpisode

_Counting = tuple[AnyEpisode, Mapping[str, Json]]
_Key = tuple[str, str, str]  # player, environment and the hash of the instance


@dataclass(slots=True)
class _Played:
    """The episodes of a player on an item.

    Attributes:
        options: The options of the first episode, as JSON.
        started: Number of episodes.
        blocked: Whether an episode is open or was left before its end: who leaves an episode has seen the item.
    """

    options: str
    started: int = 0
    blocked: bool = False


@dataclass(slots=True)
class EpisodeFile:
    """Records of episodes as JSON lines, so that no player gains by leaving an episode or by playing an item again.

    An episode that its player leaves before the end counts as failed. An item counts once for a player, or as often as
    `attempts` says: with the options of the first episode, one episode after the other, and no more after one that was
    left. Another episode can be played, and is not recorded.

    Args:
        path: The file, which only its owner can read if it is new; None to record nothing.
        attempts: How often an item counts for a player.

    Raises:
        UsageError: If the file cannot be read or written.
    """

    path: Path | None
    attempts: int = 1
    _played: dict[_Key, _Played] = field(default_factory=dict[_Key, _Played], init=False)
    _counting: dict[int, _Counting] = field(default_factory=dict[int, _Counting], init=False)  # by identity

    def __post_init__(self) -> None:
        """Count the episodes that the file has from earlier starts of the server."""
        if self.path is None:
            return
        try:
            with open_private_file(self.path, "a+", encoding="utf-8") as file:  # before an episode has been played
                file.seek(0)
                for line in file:
                    self._count_stored_record(line)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise UsageError(f"cannot write {str(self.path)!r}: {reason}; choose another file") from None

    def begin_episode(self, episode: AnyEpisode, settings: Mapping[str, Json]) -> bool:
        """Register a new episode, with settings for its record; return whether it will be recorded."""
        if self.path is None:
            return False
        options = _options_json(episode.options)
        played_episodes = self._played.setdefault(_player_and_item(episode.record()), _Played(options))
        if played_episodes.blocked or played_episodes.started >= self.attempts or played_episodes.options != options:
            return False
        played_episodes.started, played_episodes.blocked = played_episodes.started + 1, True
        self._counting[id(episode)] = episode, settings
        return True

    def end_episode(self, episode: AnyEpisode) -> None:
        """Write the record of a registered episode, which is abandoned if it is not over."""
        is_over = episode.done
        if not is_over:
            episode.abandon()
        counting = self._counting.pop(id(episode), None)
        if self.path is None or counting is None:
            return
        settings, record = counting[1], episode.record()
        self._played[_player_and_item(record)].blocked = not is_over
        with open_private_file(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"settings": dict(settings), **record.to_json()}) + "\n")

    def end_open_episodes(self) -> None:
        """Write the records of all episodes that are not over, when the server stops."""
        for episode, _ in list(self._counting.values()):
            self.end_episode(episode)

    def _count_stored_record(self, record_line: str) -> None:
        """Count the episode of a stored line; lines without a record are ignored."""
        try:
            record = EpisodeRecord.from_json(json.loads(record_line))
        except (WaybenchError, ValueError, RecursionError):
            return  # a report names the problem of the line
        played_episodes = self._played.setdefault(_player_and_item(record), _Played(_options_json(record.options)))
        played_episodes.started += 1
        played_episodes.blocked = played_episodes.blocked or record.end is None or record.error is not None


def _player_and_item(record: EpisodeRecord) -> _Key:
    """Return the player, environment and instance hash of a record, by which episodes are counted."""
    return record.player, record.env, record.instance_hash


def _options_json(options: Mapping[str, Json]) -> str:
    return json.dumps(dict(options), sort_keys=True)
