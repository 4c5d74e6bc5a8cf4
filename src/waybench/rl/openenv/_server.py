"""The server of one environment: OpenEnv's own application, with limits on what it is sent and by whom."""

from collections.abc import Callable
from typing import Any

from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waybench.rl._limits import IDLE, LARGEST_BODY
from waybench.rl.openenv._environment import TextAction, TextEnvironment, TextObservation, TextState


def app(
    env_id: str, *, sessions: int = 16, hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]"), **settings: Any
) -> Any:
    """Return the ASGI application of an environment.

    Args:
        env_id: The environment's id.
        sessions: Most sessions at once. A session ends with its connection, and after an hour without a request.
        hosts: The names under which the server may be asked.
        **settings: As `TextEnvironment`.

    Raises:
        UsageError: For an unknown environment, level or option.
    """
    TextEnvironment(env_id, **settings)  # says what is wrong before the first request

    def environment() -> TextEnvironment:
        return TextEnvironment(env_id, **settings)

    make: Callable[..., Any] = create_fastapi_app
    made = make(
        environment,
        TextAction,
        TextObservation,
        env_name=env_id.replace("/", "-"),
        state_cls=TextState,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=IDLE),
    )
    made.add_middleware(_Limited)
    made.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    return made


class _Limited:
    """Refuses requests whose body is too large: by its declared length, or while it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or len(declared) > 15 or int(declared) > LARGEST_BODY:
            await PlainTextResponse(f"at most {LARGEST_BODY:,} bytes\n", 413)(scope, receive, send)
            return
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                raise HTTPException(413, f"at most {LARGEST_BODY:,} bytes")
            return message

        await self._app(scope, limited, send)
