"""The episodes of agents: separate, limited in number, freed when nobody uses them, and recorded."""

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waybench.core import Environment, Json, UsageError, unknown
from waybench.envs import registry
from waybench.rl._session import Session, Turn

IDLE = 3600.0  # seconds after which an episode that nobody uses is freed
_NAME = 80  # characters of a client's name in records


@dataclass(slots=True)
class _Open:
    """An episode that is not finished.

    Attributes:
        session: Its session.
        turn: The last turn.
        client: The client that started it.
        used: When it was used last.
        recorded: Whether its record has been written.
    """

    session: Session
    turn: Turn
    client: str
    used: float
    recorded: bool = False


class AgentEpisodes:
    """Episodes by names that only the client knows that started them.

    Args:
        environments: Ids of the environments that are offered.
        key: Key of the item sets; the public sets if None. No client learns it.
        options: Options of play, which are the same for all episodes; each must belong to all environments.
        most: Most episodes at once.
        out: File to which records are appended, as JSON lines; None for no file.
        player: The name of the player in records; by default the client's name.
        clock: Returns the time in seconds.

    Raises:
        UsageError: For an unknown environment or option.
    """

    def __init__(
        self,
        environments: Sequence[str],
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
        most: int = 16,
        out: Path | None = None,
        player: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environments: dict[str, Environment[Any, Any, Any]] = {
            name: registry.load(name) for name in dict.fromkeys(environments)
        }
        self._options = dict(options or {})
        for environment in self._environments.values():
            environment.resolve_options(self._options)
        self._key, self._most, self._out, self._player, self._clock = key, most, out, player, clock
        self._open: dict[str, _Open] = {}

    def __len__(self) -> int:
        """Return the number of episodes that are not finished."""
        return len(self._open)

    def environments(self) -> list[dict[str, Json]]:
        """Return the environments that are offered, with their levels."""
        return [
            {
                "environment": environment.id,
                "title": environment.title,
                "smallest_level": environment.smallest_level,
                "some_levels": list(environment.sample_levels),
                "about": " ".join(environment.about.split("\n\n", 1)[0].split())[:500],
            }
            for environment in self._environments.values()
        ]

    def start(self, environment: str, level: int | None, index: int, attempt: int, client: str) -> dict[str, Json]:
        """Start an episode.

        Args:
            environment: The environment's id.
            level: The level; the smallest by default.
            index: The item's number in its set, from 0.
            attempt: The number of the attempt at the item, from 1.
            client: The client's name.

        Returns:
            The episode's name and its first prompt.

        Raises:
            UsageError: For an unknown environment, level or item, or if there are too many episodes.
        """
        if environment not in self._environments:
            raise UsageError(unknown("environment", environment, self._environments))
        self._free_idle()
        if len(self._open) >= self._most:
            raise UsageError(f"{len(self._open)} episodes are open, the maximum: finish one of yours, or wait")
        chosen = self._environments[environment]
        session = Session(chosen, key=self._key or chosen.public_key, level=level, legal_actions=0, **self._options)
        player = self._player or f"agent/{_printable(client) or 'unnamed'}"
        turn = session.start(index, attempt, player)
        name = secrets.token_urlsafe(16)
        self._open[name] = _Open(session, turn, client, self._clock())
        return {"episode": name, "item": turn.info["item"], "level": turn.info["level"], **_shown(turn)}

    def look(self, name: str) -> dict[str, Json]:
        """Return the present prompt of an episode again: all of its messages.

        Raises:
            UsageError: If there is no such episode.
        """
        turn = self._known(name).turn
        return {"messages": turn.messages, "done": turn.done}

    def act(self, name: str, reply: str) -> dict[str, Json]:
        """Carry out a reply, and return the answer to it.

        Raises:
            UsageError: If there is no such episode, or it is over.
        """
        one = self._known(name)
        one.turn = one.session.reply(reply)
        if one.turn.done:
            self._write(one)
        return _shown(one.turn)

    def finish(self, name: str) -> dict[str, Json]:
        """End an episode and return its record. One that is not over counts as unfinished.

        Raises:
            UsageError: If there is no such episode.
        """
        one = self._known(name)
        self._write(one)
        del self._open[name]
        return {**_shown(one.turn), "record": one.session.record().to_json()}

    def close(self) -> None:
        """Free all episodes, as when the server stops."""
        for name in list(self._open):
            self._free(name)

    def _known(self, name: str) -> _Open:
        self._free_idle()
        if name not in self._open:
            raise UsageError(f"there is no episode {name[:40]!r}: it was finished, or unused for too long; start one")
        one = self._open[name]
        one.used = self._clock()
        return one

    def _free_idle(self) -> None:
        latest = self._clock() - IDLE
        for name in [name for name, one in self._open.items() if one.used < latest]:
            self._free(name)

    def _free(self, name: str) -> None:
        self._write(self._open.pop(name))

    def _write(self, one: _Open) -> None:
        if one.recorded or self._out is None:
            return
        one.recorded = True
        settings = {"interface": "mcp", "client": _printable(one.client)}
        line = {"settings": settings, **one.session.record().to_json()}
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _shown(turn: Turn) -> dict[str, Json]:
    """Return what a player of an evaluation sees of a turn, and at the end how the episode ended."""
    names = ("outcome", "reason", "end", "metrics")
    return {"text": turn.text, "done": turn.done, **{name: turn.info[name] for name in names if name in turn.info}}


def _printable(name: str) -> str:
    return "".join(sign for sign in " ".join(name.split()) if sign.isprintable())[:_NAME]
