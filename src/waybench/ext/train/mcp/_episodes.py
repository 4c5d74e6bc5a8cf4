"""Episodes that agents play by the Model Context Protocol."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waybench.core import (
    WORDING,
    Environment,
    Json,
    Picture,
    ToolCall,
    UsageError,
    is_tool_name,
    object_schema,
    reply_of_calls,
    standalone_svg_document,
    unknown_name_message,
)
from waybench.core._episode import AnyEpisode
from waybench.envs import registry
from waybench.ext.train._episode_file import EpisodeFile
from waybench.ext.train._session import IDLE, LARGEST_BODY, Session, SessionTurn, split_play_and_source_options

_NAME = 80  # characters of a client's name in records
_REFERENCES = ("env:", "file:", "record:")  # prefixes of values that name variables and files of this machine


@dataclass(slots=True)
class _OpenEpisode:
    """An episode that is not finished.

    Attributes:
        turn: The last turn.
        used: Time of the last use.
        settings: Settings of its record.
        is_over: Whether it has ended, and its record has been written.
    """

    session: Session
    turn: SessionTurn
    used: float
    settings: dict[str, Json]
    is_over: bool = False

    @property
    def episode(self) -> AnyEpisode:
        """The episode of the session."""
        assert self.session.episode is not None
        return self.session.episode


class AgentEpisodes:
    """Open episodes by their names, which are secret: only the client that started an episode knows its name.

    An agent never receives a record, an instance or a solution, whichever tool it calls. All methods raise a UsageError
    for an unknown episode or environment.

    Args:
        environments: Ids of the environments that are offered.
        key: Key of the only item sets, which no client learns; if None, clients choose a key, by default the public
            set's.
        options: Options of play, which are the same for all episodes; each must belong to all environments.
        most: Greatest number of open episodes.
        out: File to which records are appended, as JSON lines (`EpisodeFile`); None for no file.
        attempts: Number of attempts at an item that count for a player.
        player: The name of the player in records; by default the client's name.
        clock: Returns the time in seconds.

    Raises:
        UsageError: For an unknown environment or option, or a file that cannot be written.
    """

    def __init__(
        self,
        environments: Sequence[str],
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
        most: int = 16,
        out: Path | None = None,
        attempts: int = 1,
        player: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environments: dict[str, Environment[Any, Any, Any]] = {
            name: registry.load(name) for name in dict.fromkeys(environments)
        }
        self._options = dict(options or {})
        for environment in self._environments.values():
            environment.resolve_options(self._options)
        self._key, self._most, self._player, self._clock = key, most, player, clock
        self._open: dict[str, _OpenEpisode] = {}
        self._file = EpisodeFile(out, attempts)

    def __len__(self) -> int:
        """Return the number of episodes that are not finished."""
        return len(self._open)

    def environments(self) -> list[dict[str, Json]]:
        """Return the offered environments, with their levels, as JSON."""
        return [
            {
                "environment": environment.id,
                "title": environment.title,
                "smallest_level": environment.items.smallest_level,
                "some_levels": list(environment.items.sample_levels),
                "about": " ".join(environment.about.split("\n\n", 1)[0].split())[:500],
            }
            for environment in self._environments.values()
        ]

    def options(self, environment: str) -> list[dict[str, Json]]:
        """Return the options of an environment that a client can set."""
        offered = self._offered_environment(environment)
        return [
            {"name": option.name, "default": option.default, "choices": list(option.choices), "about": option.doc}
            for option in (*offered.play_options, *offered.items.options)
            if option.name not in self._options
        ]

    def start(
        self,
        environment: str,
        level: int | None,
        index: int,
        attempt: int,
        client: str,
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
    ) -> dict[str, Json]:
        """Start an episode of an item.

        Returns:
            The episode's name, item, level and first prompt; whether it counts, if records are kept; and the actions,
            with tools as interface.

        Raises:
            UsageError: For an unknown level, item or option, an option that the server has fixed, or if there are too
                many episodes.
        """
        offered = self._offered_environment(environment)
        self._check_server_options(offered, options or {})
        play_options, source_options = split_play_and_source_options(offered, {**(options or {}), **self._options})
        self.free_idle_episodes()
        if len(self._open) >= self._most:
            raise UsageError(f"{len(self._open)} episodes are open, the maximum: finish one of yours, or wait")
        key = self._checked_key(key) or offered.items.public_key
        session = Session(offered, key=key, level=level, source_options=source_options, legal_actions=0, **play_options)
        player = self._player or f"agent/{_printable_name(client) or 'unnamed'}"
        turn = session.start(index, attempt, player)
        name = secrets.token_urlsafe(16)
        settings: dict[str, Json] = {"interface": "mcp", "client": _printable_name(client)}
        self._open[name] = open_episode = _OpenEpisode(session, turn, self._clock(), settings)
        result = {"episode": name, "item": turn.info["item"], "level": turn.info["level"], **_turn_json(turn)}
        if self._file.path is not None:
            result["counts"] = self._file.begin_episode(open_episode.episode, open_episode.settings)
        if turn.done:
            self._end_episode(open_episode)
        return {**result, "actions": actions} if (actions := _offered_actions(session)) else result

    def prompt_of(self, name: str) -> dict[str, Json]:
        """Return all messages of an episode's present prompt."""
        turn = self._open_episode(name).turn
        return {"messages": turn.messages, "done": turn.done}

    def act(self, name: str, reply: str | None = None, action: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Play a turn with a reply, or with an action that `start` has listed.

        Raises:
            UsageError: If the episode is over, or not exactly one of reply and action is given.
        """
        open_episode = self._open_episode(name)
        if (reply is None) == (action is None):
            raise UsageError("give a reply, or an action where start has given actions: one of them")
        if action is not None:
            if not _acts_by_tools(open_episode.session):
                raise UsageError('this episode takes replies; actions are for the option "interface": "tools"')
            reply = _reply_of_action(action)
        assert reply is not None
        if len(reply) > LARGEST_BODY:
            raise UsageError(f"the reply is longer than {LARGEST_BODY:,} characters")
        open_episode.turn = open_episode.session.reply(reply)
        if open_episode.turn.done:
            self._end_episode(open_episode)
        return _turn_json(open_episode.turn)

    def finish(self, name: str) -> dict[str, Json]:
        """End an episode and return its outcome. An episode that is not over counts as failed."""
        open_episode = self._open_episode(name)
        self._end_and_free(name)
        turn = open_episode.turn
        return _turn_json(turn) if turn.done else {"text": "", "done": True, "end": "abandoned"}

    def rules(self, name: str) -> str:
        """Return the rules of an episode."""
        episode = self._open_episode(name).episode
        return episode.play.wording.rules(episode.item.instance)

    def picture(self, name: str) -> str:
        """Return the picture of an episode's state as SVG.

        The record has the setting `pictures` from then on, since pictures are another test than texts.

        Raises:
            UsageError: If the environment has no pictures.
        """
        open_episode = self._open_episode(name)
        environment, images = open_episode.session.environment, open_episode.session.environment.playing.images
        if images is None:
            raise UsageError(f"{environment.id} has no pictures: use `look`")
        open_episode.settings["pictures"] = True
        picture = Picture(open_episode.episode.state, images.size, False, images.draw)
        return standalone_svg_document(picture.svg, images.size)

    def request_to_play(self, environment: str, level: str, first: str, count: str) -> str:
        """Return the text that asks an agent to play items of an environment."""
        first_item, n_items = _parse_whole_number(first, "first"), _parse_whole_number(count, "count")
        if not n_items:
            raise UsageError("count=0: give 1 or more")
        items = f"item {first_item}" if n_items == 1 else f"the items {first_item} to {first_item + n_items - 1}"
        level_text = f" at level {_parse_whole_number(level, 'level')}" if level else ""
        name = self._offered_environment(environment).id
        return f"Use waybench: play {items} of {name}{level_text}, and finish each episode. Use no other tools."

    def end_all_episodes(self) -> None:
        """End and free all episodes; episodes that are not over count as failed."""
        for name in list(self._open):
            self._end_and_free(name)

    def _offered_environment(self, name: str) -> Environment[Any, Any, Any]:
        """Return an offered environment by its id; raise a UsageError for any other."""
        if name not in self._environments:
            raise UsageError(unknown_name_message("environment", name, self._environments))
        return self._environments[name]

    def _check_server_options(self, environment: Environment[Any, Any, Any], options: Mapping[str, Json]) -> None:
        """Raise a UsageError for options that the server has fixed, or whose values name files of the server."""
        file_options = {option.name for option in environment.items.options if option.local}
        for name, value in options.items():
            if name in self._options:
                raise UsageError(f"the server has fixed the option {name[:60]}: leave it out")
            names_file = isinstance(value, str) and any(reference in value for reference in _REFERENCES)
            if name in file_options or names_file:
                raise UsageError(f"option {name[:60]}: a client cannot name files of the server")

    def _checked_key(self, key: str | None) -> str | None:
        """Return the client's key or the server's, None for the public set's; a UsageError for a key not allowed."""
        if key is not None and self._key is not None:
            raise UsageError("the items of this server are of one set: leave the key out")
        if key is not None and key.startswith(_REFERENCES):
            raise UsageError("give the key of a set itself: a client cannot name files of the server")
        return self._key if key is None else key

    def _open_episode(self, name: str) -> _OpenEpisode:
        """Return an open episode by its name, and note its use; raise a UsageError if there is none."""
        self.free_idle_episodes()
        if name not in self._open:
            raise UsageError(f"there is no episode {name[:40]!r}: it was finished, or unused for too long; start one")
        open_episode = self._open[name]
        open_episode.used = self._clock()
        return open_episode

    def free_idle_episodes(self) -> None:
        """Free the episodes that nobody has used for an hour."""
        earliest_use = self._clock() - IDLE
        for name in [name for name, open_episode in self._open.items() if open_episode.used < earliest_use]:
            self._end_and_free(name)

    def _end_and_free(self, name: str) -> None:
        self._end_episode(self._open.pop(name))

    def _end_episode(self, open_episode: _OpenEpisode) -> None:
        """End an episode, and write its record if it counts."""
        if not open_episode.is_over:
            open_episode.is_over = True
            self._file.end_episode(open_episode.episode)


def _turn_json(turn: SessionTurn) -> dict[str, Json]:
    """Return a turn as a model in an evaluation sees it, with the metrics at the end."""
    names = ("end", "metrics")
    return {"text": turn.text, "done": turn.done, **{name: turn.info[name] for name in names if name in turn.info}}


def _parse_whole_number(text: str, name: str) -> int:
    """Return the text of the parameter `name` as a whole number; raise a UsageError for other texts."""
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise UsageError(f"{name}={text[:20]!r}: give a whole number")
    return int(text)


def _printable_name(name: str) -> str:
    """Return a client's name, shortened, without characters that cannot be printed."""
    return "".join(sign for sign in " ".join(name.split()) if sign.isprintable())[:_NAME]


def _acts_by_tools(session: Session) -> bool:
    """Return whether the player of a session acts by calls of tools."""
    return is_tool_name(session.options[WORDING])


def _offered_actions(session: Session) -> list[dict[str, Json]]:
    """Return the environment's tools as JSON; [] where the player replies with texts."""
    if session.episode is None or not _acts_by_tools(session):
        return []
    tools = session.episode.play.wording.tools(session.episode.state)
    return [{"name": tool.name, "about": tool.doc, "arguments": object_schema(tool.parameters)} for tool in tools]


def _reply_of_action(action: Mapping[str, Json]) -> str:
    """Return a call of a tool as a raw reply, unchecked."""
    name, arguments = action.get("name"), action.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict) or action.keys() - {"name", "arguments"}:
        raise UsageError('an action has the form {"name": ..., "arguments": {...}}')
    return reply_of_calls("", [ToolCall(name, arguments)])
