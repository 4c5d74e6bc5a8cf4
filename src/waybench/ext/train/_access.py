"""Who may use a server of this package over HTTP and WebSockets."""

import secrets

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HEALTH = "/health"  # which containers ask for before anybody has a token


class TokenAccess:
    """Refuses requests without the token, and those that a page of another site sends.

    Args:
        app: The application.
        token: What clients have to send as "Authorization: Bearer TOKEN"; None to ask for none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._wanted = app, None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origins, hosts = headers.getlist("origin"), headers.getlist("host")
        # A browser names the page's site, which may be any on the Internet.
        if any(origin.lower() not in _origins(host) for origin in origins for host in hosts or [""]):
            refusal = PlainTextResponse("Pages of other sites are refused\n", 403)
        elif self._wanted is None or scope["path"] == _HEALTH or self._has_token(headers):
            await self._app(scope, receive, send)
            return
        else:
            text = "Send the token that `waybench serve` printed, as Authorization: Bearer TOKEN\n"
            refusal = PlainTextResponse(text, 401)
        if scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _has_token(self, headers: Headers) -> bool:
        assert self._wanted is not None
        return secrets.compare_digest(headers.get("authorization", "").encode(), self._wanted)


def _origins(host: str) -> tuple[str, str]:
    return f"http://{host.lower()}", f"https://{host.lower()}"
