"""Who may use a server of this package over HTTP and WebSockets."""

import secrets

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HEALTH = "/health"  # which containers ask for before anybody has a token


class TokenAccess:
    """Refuses requests without the token, and those that a page of another site sends.

    A browser cannot send the header: it opens an address of the server with ?token=TOKEN once, and gets a cookie.

    Args:
        app: The application.
        token: What clients have to send as "Authorization: Bearer TOKEN"; None to ask for none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request, headers = HTTPConnection(scope), Headers(scope=scope)
        origins, hosts = headers.getlist("origin"), headers.getlist("host")
        # A browser names the page's site, which may be any on the Internet.
        if any(origin.lower() not in _origins(host) for origin in origins for host in hosts or [""]):
            answer = PlainTextResponse("Pages of other sites are refused\n", 403)
        elif self._token is None or scope["path"] == _HEALTH or self._has_token(request):
            await self._app(scope, receive, send)
            return
        elif self._is_token(request.query_params.get("token", "")):
            answer = RedirectResponse(str(request.url.remove_query_params("token")), 303)
            answer.set_cookie(_cookie(request), self._token, httponly=True, samesite="strict")
        else:
            text = "Send the token that `waybench serve` printed, as Authorization: Bearer TOKEN\n"
            answer = PlainTextResponse(text, 401)
        if scope["type"] == "http":
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _has_token(self, request: HTTPConnection) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return self._is_token(token if scheme == "Bearer" else request.cookies.get(_cookie(request), ""))

    def _is_token(self, given: str) -> bool:
        assert self._token is not None
        return secrets.compare_digest(given.encode(), self._token.encode())


def _cookie(request: HTTPConnection) -> str:
    return f"waybench-serve-{request.url.port}"  # ports of a host share their cookies


def _origins(host: str) -> tuple[str, str]:
    return f"http://{host.lower()}", f"https://{host.lower()}"
