"""The OpenEnv face: any environment of the catalogue behind OpenEnv's protocol. Needs the extra `openenv`.

    waybench serve openenv maze/alicia --level 9

A split of OpenEnv's task API is a split of this package and a level, as "train-9"; an index is an item's number in it.
"""

import os
from collections.abc import Callable
from importlib import import_module
from itertools import islice
from typing import Any

from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment as OpenEnvironment
from openenv.core.env_server.types import Action, ConcurrencyConfig, EnvironmentMetadata, Observation, State
from pydantic import Field
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waybench.core import Environment as Catalogued
from waybench.core import Json, UsageError
from waybench.envs import registry
from waybench.ext.train._access import TokenAccess
from waybench.ext.train._episode_file import EpisodeFile
from waybench.ext.train._session import ATTEMPTS, IDLE, LARGEST_BODY, SPLITS, TRAINING_KEY, Session, SessionTurn

__all__ = ["LARGEST_BODY", "TextAction", "TextEnvironment", "TextObservation", "TextState", "app"]

ITEMS = 10_000  # the number of items of a split, which has no end, for `num_tasks`
_POLICY = "style-src 'self' 'unsafe-inline'; font-src 'self' data:"
PREVIEW = 100  # tasks that `list_tasks` gives at most; `get_task_range` gives any


class TextAction(Action):
    """A reply."""

    text: str = Field(description="The reply, in the form that the first observation asks for")


class TextObservation(Observation):
    """What a player gets for a reply, and at the start."""

    text: str = Field(default="", description="The new text: the whole prompt at the start, then the answer")
    messages: list[dict[str, str]] = Field(default_factory=list, description="The prompt for the next reply, as a chat")
    info: dict[str, Any] = Field(
        default_factory=dict, description="item, level, legal_actions; outcome and reason; at the end: end, metrics"
    )


class TextState(State):
    """The episode so far."""

    environment: str = Field(default="", description="The environment's id")
    item: str = Field(default="", description="The item's id")
    end: str | None = Field(default=None, description="How the episode ended; null before its end")
    counts: bool = Field(default=False, description="Whether the server keeps the record")


class TextEnvironment(OpenEnvironment[TextAction, TextObservation, TextState]):
    """One environment of the catalogue, in OpenEnv's terms.

    Args:
        env_id: The environment's id.
        key: The set that items are drawn from.
        level: The level of an episode whose `reset` names no split; the smallest by default.
        file: Where records go; by default nowhere. A client never receives one: it has the item's solution.
        player: The name of the player in records.
        **settings: As `waybench.ext.train.Session`.

    Raises:
        UsageError: For an unknown environment, level or option.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        env_id: str,
        *,
        key: str = TRAINING_KEY,
        level: int | None = None,
        file: EpisodeFile | None = None,
        player: str = "openenv",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._file, self._player, self._counts = file or EpisodeFile(None), player, False
        self._catalogued: Catalogued[Any, Any, Any] = registry.load(env_id)
        self._key, self._settings = key, settings
        self._level = self._catalogued.items.smallest_level if level is None else level
        self._session = self._make_session(None, self._level)
        self._episode_id: str | None = None

    def _make_session(self, split: str | None, level: int) -> Session:
        """Return a session on the items of a split and level."""
        return Session(self._catalogued, key=self._key, level=level, split=split, **self._settings)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        attempt: int = 1,
        **kwargs: Any,
    ) -> TextObservation:
        """Start an episode; one that is not over is left, and counts as failed where records are kept.

        Args:
            seed: Where no index is given, the number of the item; the first item if None.
            episode_id: The episode's name in `state`.
            split: The split and level of the item, as `list_splits` names them; all items of the server's level if
                None.
            index: The item's number in the split, from 0.
            attempt: The number of the attempt at the item, from 1.
            **kwargs: None: any other parameter is an error.

        Raises:
            ValueError: For a wrong split, index, attempt or another parameter.
        """
        if kwargs:
            raise UsageError(f"reset takes seed, episode_id, split, index and attempt, not {', '.join(sorted(kwargs))}")
        session = self._make_session(*((None, self._level) if split is None else self._split_and_level(split)))
        item_index = _checked_whole_number((seed or 0) % ATTEMPTS if index is None else index, "index")
        turn = session.start(item_index, _checked_whole_number(attempt, "attempt"), self._player)
        self.close()
        self._session, self._episode_id = session, episode_id
        assert session.episode is not None
        self._counts = self._file.begin_episode(session.episode, {"interface": "openenv"})
        return self._observation_of_turn(turn, None)

    def step(self, action: TextAction, timeout_s: float | None = None, **kwargs: Any) -> TextObservation:
        """Play a turn with a reply.

        Raises:
            UsageError: Before the first reset, and after the end of the episode.
        """
        turn = self._session.reply(action.text)
        return self._observation_of_turn(turn, turn.reward)

    def _observation_of_turn(self, turn: SessionTurn, reward: float | None) -> TextObservation:
        """Return a turn as an observation, and end the episode if it is over."""
        if turn.done:
            self._end_episode()
        return TextObservation(done=turn.done, reward=reward, text=turn.text, messages=turn.messages, info=turn.info)

    def _end_episode(self) -> None:
        """Write the record of the episode, if there is one and it counts."""
        if self._session.episode is not None:
            self._file.end_episode(self._session.episode)

    @property
    def state(self) -> TextState:
        """The episode so far; without an episode, its name alone."""
        episode = self._session.episode
        if episode is None:
            return TextState(episode_id=self._episode_id, environment=self._catalogued.id)
        end = episode.end_reason
        return TextState(
            episode_id=self._episode_id,
            step_count=len(episode.turns),
            environment=self._catalogued.id,
            item=episode.item.id,
            end=None if end is None else str(end),
            counts=self._counts,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the environment's name, version and description."""
        env = self._catalogued
        return EnvironmentMetadata(
            name=env.id, description=env.title, version=str(env.version), readme_content=env.about
        )

    def close(self) -> None:
        """Leave the episode, if there is one."""
        self._end_episode()
        self._session.episode = None

    def list_splits(self) -> list[Json]:
        """Return the splits that have items, at the server's level and the sample levels."""
        levels = sorted({*self._catalogued.items.sample_levels, self._level})
        splits = [(split, level) for level in levels for split in SPLITS if self._has_items(split, level)]
        return [{"name": f"{split}-{level}", "type": split} for split, level in splits]

    def num_tasks(self, split: str) -> int:
        """Return the number of items of a split that are offered."""
        self._split_and_level(split)
        return ITEMS

    def list_tasks(self, split: str) -> list[Json]:
        """Return the first items of a split."""
        return self.get_task_range(split, 0, PREVIEW)

    def get_task(self, split: str, index: int) -> Json:
        """Return the id, index, split and level of an item.

        Raises:
            IndexError: If there is no such item.
        """
        name, level = self._split_and_level(split)
        if not 0 <= index < ITEMS:
            raise IndexError(f"index={index}: the split {split} has the items 0 to {ITEMS - 1}")
        item = self._make_session(name, level).source.item(index)
        # Without the instance's hash, from which a small instance, such as a number to guess, can be found by trying.
        return {"id": item.id, "index": index, "split": split, "level": level}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[Json]:
        """Return items of a split, with bounds as of a slice of Python; 1,000 at most."""
        indices = range(ITEMS)[slice(start, stop)]
        return [self.get_task(split, index) for index in islice(indices, 1000)]

    def _has_items(self, split: str, level: int) -> bool:
        """Return whether a split has items at a level."""
        try:
            self._make_session(split, level).source.item(0)
        except UsageError:
            return False
        return True

    def _split_and_level(self, split: str) -> tuple[str, int]:
        """Return the split and the level of a name such as "train-9"."""
        name, _, level = split.rpartition("-")
        if name not in SPLITS or not level.isascii() or not level.isdigit():
            raise UsageError(f"split={split[:60]!r}: give one of {', '.join(SPLITS)}, a hyphen and a level, as train-9")
        return name, int(level)


def _checked_whole_number(value: object, name: str) -> int:
    """Return the value of the parameter `name` if it is a whole number; raise a UsageError otherwise."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{name}={str(value)[:60]}: give a whole number")
    return value


def app(
    env_id: str,
    *,
    sessions: int = 16,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]"),
    token: str | None = None,
    web: bool = False,
    **settings: Any,
) -> Any:
    """Return the ASGI application of an environment.

    Args:
        env_id: The environment's id.
        sessions: Most sessions at once. A session ends with its connection, and after an hour without a request.
        hosts: Host names that requests may use.
        token: What clients have to send as "Authorization: Bearer TOKEN"; None to ask for none.
        web: Whether OpenEnv's own page is at /web, where a person plays one episode that all visitors share.
        **settings: As `TextEnvironment`.

    Raises:
        UsageError: For an unknown environment, level or option, or if records are kept of a page, where nobody knows
            who plays.
    """
    file = settings.get("file")
    if web and file is not None and file.path is not None:
        raise UsageError("records of the page at /web would be nobody's: leave out --web or --out")
    TextEnvironment(env_id, **settings)  # says what is wrong before the first request

    def make_environment() -> TextEnvironment:
        return TextEnvironment(env_id, **settings)

    make_app: Callable[..., Any] = create_fastapi_app
    if web:
        os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # otherwise Gradio reports each start to its makers
        make_app = import_module("openenv.core.env_server.web_interface").create_web_interface_app
    application = make_app(
        make_environment,
        TextAction,
        TextObservation,
        env_name=env_id.replace("/", "-"),
        state_cls=TextState,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=IDLE),
    )
    application.add_exception_handler(UsageError, _error_response)
    if web:
        application.add_middleware(_StylePolicy)
    application.add_middleware(_BodySizeLimit)
    application.add_middleware(TokenAccess, token=token)
    application.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    return application


async def _error_response(request: Request, error: Exception) -> JSONResponse:
    """Return the HTTP answer to a refused request: status 409 without an episode, otherwise 400."""
    if request.url.path != "/step":
        return JSONResponse({"detail": str(error)}, 400)
    # Each request has an environment of its own, so that over HTTP no episode has ever started.
    return JSONResponse({"detail": f"{error}. Episodes are played over the WebSocket /ws: use OpenEnv's client"}, 409)


class _StylePolicy:
    """Keeps the page at /web from asking Google for fonts, which would tell who visits it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Content-Security-Policy"] = _POLICY
            await send(message)

        await self._app(scope, receive, send_with_policy if scope["type"] == "http" else send)


class _BodySizeLimit:
    """Refuses requests whose body is too large: by its declared length, or while it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared_length = dict(scope["headers"]).get(b"content-length", b"0")
        is_number = declared_length.isdigit() and len(declared_length) <= 15  # no body has a length of more digits
        if not is_number or int(declared_length) > LARGEST_BODY:
            await PlainTextResponse(f"at most {LARGEST_BODY:,} bytes\n", 413)(scope, receive, send)
            return
        n_read = 0

        async def receive_within_limit() -> Message:
            nonlocal n_read
            message = await receive()
            n_read += len(message.get("body", b""))
            if n_read > LARGEST_BODY:
                raise HTTPException(413, f"at most {LARGEST_BODY:,} bytes")
            return message

        await self._app(scope, receive_within_limit, send)
