"""The episodes of agents: what the tools of the server do, whichever transport calls them."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from waybench.core import (
    WORDING,
    Environment,
    Json,
    ToolCall,
    UsageError,
    is_tool_name,
    object_schema,
    resolve,
    unknown,
    write_calls,
)
from waybench.envs import registry
from waybench.rl._limits import IDLE, LARGEST_BODY
from waybench.rl._session import Session, play_and_source_options

COMMUNITY = "community"  # what the names of players begin with whose word alone says who they are
UNNAMED = "unnamed"
_LONGEST_NAME = 60
_REFERENCES = ("env:", "file:")

P = ParamSpec("P")
R = TypeVar("R")


class Client(NamedTuple):
    """Who calls a tool.

    Attributes:
        name: The name that the client gives itself.
        version: Its version, likewise.
        connection: What ends with the client's connection, where the transport says so.
    """

    name: str = ""
    version: str = ""
    connection: str | None = None


class Answer(NamedTuple):
    """The result of a tool.

    Attributes:
        text: The text of the environment, as it is.
        data: What the tool says beside it.
    """

    text: str
    data: Mapping[str, Json]


@dataclass(slots=True)
class _Game:
    session: Session
    client: Client
    settings: Mapping[str, Json]
    text: str
    used: float
    is_written: bool = False


def player_of(name: str) -> str:
    """Return what records call an agent: its own name, marked as one that nobody has verified."""
    shown = "".join(character if character.isalnum() or character in "._@+-" else "-" for character in name.strip())
    return f"{COMMUNITY}/{shown[:_LONGEST_NAME].strip('-') or UNNAMED}"


def attempt_key(player: str, env: str, instance_hash: str, item: Json, options: Mapping[str, Json]) -> Hashable:
    """Return what the attempts of one player at one item have in common."""
    return (player, env, instance_hash, str(item), tuple(sorted((name, str(value)) for name, value in options.items())))


def _one_at_a_time(
    method: Callable[Concatenate["Games", P], R],
) -> Callable[Concatenate["Games", P], R]:
    @wraps(method)
    def locked(self: "Games", *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:  # pyright: ignore[reportPrivateUsage]
            return method(self, *args, **kwargs)

    return locked


class Games:
    """The episodes that are being played, each under a handle that nobody can guess.

    Calls come from several threads; one is served at a time.

    Args:
        environments: The ids of the environments that can be played; all if empty.
        key: The key of the only set that can be played; agents choose one if None.
        options: Options that agents cannot change.
        sessions: Most episodes at once.
        idle: Seconds after which an episode that nobody uses is freed.
        player: The name of the player; the client's own if "".
        write: Is given each record as JSON: when its episode has ended, or was left.
        attempts: How many attempts at an item there are already, by `attempt_key`.
        clock: Seconds, never going back.

    Raises:
        UsageError: If there is no such environment, or it has no such option.
    """

    def __init__(
        self,
        environments: Sequence[str] = (),
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
        sessions: int = 16,
        idle: float = IDLE,
        player: str = "",
        write: Callable[[Mapping[str, Json]], None] | None = None,
        attempts: Mapping[Hashable, int] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.idle = idle
        self.sessions = sessions
        self._key, self._fixed, self._player = key, dict(options or {}), player
        self._names = tuple(environments) or tuple(entry.id for entry in registry.entries)
        for name in environments:  # says what is wrong before the first request
            play, source = play_and_source_options(registry.load(name), self._fixed)
            Session(name, source_options=source, **play)
        self._write = write
        self._attempts = Counter(dict(attempts or {}))
        self._clock = clock
        self._games: dict[str, _Game] = {}
        self._lock = Lock()

    @_one_at_a_time
    def environments(self, environment: str | None = None) -> Answer:
        """Return the environments, or what can be chosen for one of them.

        Raises:
            UsageError: If there is no such environment.
        """
        if environment is None:
            found = [
                {"id": entry.id, "summary": entry.summary} for entry in registry.entries if entry.id in self._names
            ]
            return Answer("\n".join(f"{each['id']}: {each['summary']}" for each in found), {"environments": found})
        env = self._environment(environment)
        options = [
            {
                "name": option.name,
                "default": option.default,
                "choices": None if option.choices is None else list(option.choices),
                "doc": option.doc,
            }
            for option in (*env.play_options, *env.source_options)
            if option.name not in self._fixed
        ]
        return Answer(
            env.about,
            {"id": env.id, "smallest_level": env.smallest_level, "levels": list(env.sample_levels), "options": options},
        )

    @_one_at_a_time
    def start(
        self,
        environment: str,
        client: Client,
        *,
        level: int | None = None,
        index: int = 0,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
    ) -> Answer:
        """Start an episode.

        Args:
            environment: The environment's id.
            client: Who plays.
            level: The level; the smallest if None.
            index: The number of the item in its set, from 0.
            key: The key of the set; the public one, or the server's, if None.
            options: Options of play and of the source of items.

        Raises:
            UsageError: For a wrong value, or if too many episodes are open.
        """
        self._free_idle()
        if len(self._games) >= self.sessions:
            raise UsageError(f"{self.sessions} sessions are open, the most that this server takes: finish one first")
        env = self._environment(environment)
        play, source = play_and_source_options(env, {**self._checked(options or {}), **self._fixed})
        session = Session(env, key=self._key_of(env, key), level=level, source_options=source, legal_actions=0, **play)
        player = player_of(self._player or client.name)
        item = session.source.item(index) if index >= 0 else None
        instance = "" if item is None else item.instance.hash
        attempt = attempt_key(player, env.id, instance, "" if item is None else item.id, session.options)
        turn = session.start(index, self._attempts[attempt] + 1, player)
        self._attempts[attempt] += 1
        settings = {option.name: option.default for option in env.source_options}
        settings |= resolve(env.source_options, source, "source option")
        settings = {name: value for name, value in settings.items() if value is not None}
        handle = token_urlsafe(12)
        game = self._games[handle] = _Game(session, client, settings, turn.text, self._clock())
        episode = session.episode
        assert episode is not None
        tools = episode.play.wording.tools(episode.state) if self._acts_by_tools(game) else ()
        declared: dict[str, Json] = {
            "actions": [
                {"name": tool.name, "description": tool.doc, "arguments": object_schema(tool.parameters)}
                for tool in tools
            ]
        }
        return Answer(
            turn.text,
            {
                "session": handle,
                "environment": env.id,
                "item": episode.item.id,
                "level": episode.item.level,
                "attempt": episode.attempt,
                **(declared if tools else {}),
                **self._state(game),
            },
        )

    @_one_at_a_time
    def look(self, session: str, *, whole: bool = False) -> Answer:
        """Return the latest text of an episode again, or the whole prompt that a model receives now.

        Raises:
            UsageError: If there is no such session.
        """
        game = self._game(session)
        episode = game.session.episode
        assert episode is not None
        text = "\n\n".join(message.text for message in episode.messages) if whole else game.text
        return Answer(text, self._state(game))

    @_one_at_a_time
    def act(self, session: str, *, reply: str | None = None, action: Mapping[str, Json] | None = None) -> Answer:
        """Take a reply as text, or an action as the call of a tool that the environment declares.

        Raises:
            UsageError: If there is no such session, it is over, or not one of both is given.
        """
        game = self._game(session)
        if (reply is None) == (action is None):
            raise UsageError("give reply, a text, or action, the call of an action: one of them")
        if action is not None:
            if not self._acts_by_tools(game):
                raise UsageError('this episode takes a reply as text; actions are for the option "interface": "tools"')
            reply = _call(action)
        assert reply is not None
        if game.session.episode is not None and game.session.episode.done:
            raise UsageError("the episode is over: finish it")
        game.text = game.session.reply(reply).text
        if game.session.episode is not None and game.session.episode.done:
            self._keep(game)
        return Answer(game.text, self._state(game))

    @_one_at_a_time
    def finish(self, session: str) -> Answer:
        """End a session; the record of an episode that is not over has no end.

        Returns:
            The outcome, and the record unless the set is the server's own: its items stay unknown to the agent.

        Raises:
            UsageError: If there is no such session.
        """
        game = self._game(session)
        del self._games[session]
        self._keep(game)
        record = game.session.record()
        metrics = {metric.name: metric.of(record) for metric in game.session.environment.metrics}
        end = "unfinished" if record.end is None else str(record.end)
        data: dict[str, Json] = {"end": end, "turns": len(record.turns), "metrics": metrics}
        if self._key is None:
            data["record"] = self._line(game)
        return Answer(f"The episode has ended: {end}.", data)

    @_one_at_a_time
    def leave(self, connection: str) -> None:
        """Free the episodes of a connection that has ended."""
        for handle in [handle for handle, game in self._games.items() if game.client.connection == connection]:
            self._keep(self._games.pop(handle))

    @_one_at_a_time
    def free_idle(self) -> None:
        """Free the episodes that nobody has used for long."""
        self._free_idle()

    @_one_at_a_time
    def close(self) -> None:
        """Free all episodes."""
        while self._games:
            self._keep(self._games.popitem()[1])

    def _free_idle(self) -> None:
        now = self._clock()
        for handle in [handle for handle, game in self._games.items() if now - game.used > self.idle]:
            self._keep(self._games.pop(handle))

    def _environment(self, name: str) -> Environment[Any, Any, Any]:
        if name not in self._names:
            raise UsageError(unknown("environment", name[:60], self._names))
        return registry.load(name)

    def _key_of(self, environment: Environment[Any, Any, Any], given: str | None) -> str:
        if self._key is not None:
            if given is not None:
                raise UsageError("the items of this server are of one set: leave key out")
            return self._key
        if given is not None and given.startswith(_REFERENCES):  # nothing of this machine is read for an agent
            raise UsageError("give the key of a set as a text, not where it is")
        return environment.public_key if given is None else given

    def _checked(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        for name, value in options.items():
            if name in self._fixed:
                raise UsageError(f"the option {name[:60]} is fixed by this server: leave it out")
            if isinstance(value, str) and any(reference in value for reference in _REFERENCES):
                raise UsageError(f"option {name[:60]}: an agent cannot name files of this machine")
        return options

    def _game(self, handle: str) -> _Game:
        self._free_idle()
        game = self._games.get(handle)
        if game is None:
            raise UsageError("there is no such session: it was finished or freed, or never started; start one")
        game.used = self._clock()
        return game

    @staticmethod
    def _acts_by_tools(game: _Game) -> bool:
        return is_tool_name(game.session.options[WORDING])

    @staticmethod
    def _state(game: _Game) -> dict[str, Json]:
        """Return whether the episode is over: nothing that the text does not say before the end."""
        episode = game.session.episode
        assert episode is not None
        end = episode.end_reason
        return {"done": False} if end is None else {"done": True, "end": str(end)}

    def _line(self, game: _Game) -> dict[str, Json]:
        client = {"name": game.client.name[:200], "version": game.client.version[:200]}
        record = game.session.record().to_json()
        return {**record, "settings": dict(game.settings), "source": COMMUNITY, "client": client}

    def _keep(self, game: _Game) -> None:
        if not game.is_written and self._write is not None:
            self._write(self._line(game))
        game.is_written = True


def _call(action: Mapping[str, Json]) -> str:
    name, arguments = action.get("name"), action.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict) or action.keys() - {"name", "arguments"}:
        raise UsageError('action: give {"name": ..., "arguments": {...}}')
    written = write_calls("", [ToolCall(name, arguments)])
    if len(written) > LARGEST_BODY:
        raise UsageError(f"action: longer than {LARGEST_BODY:,} characters")
    return written
