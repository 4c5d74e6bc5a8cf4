"""Who may use a server of this package over HTTP and WebSockets."""

import secrets

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HEALTH = "/health"  # needs no token: containers request it before anybody has one


class TokenAccess:
    """Refuses requests without the token, and those that a page of another site sends.

    A browser cannot send the header: it opens an address of the server with ?token=TOKEN once, and gets a cookie.

    Args:
        token: What clients have to send as "Authorization: Bearer TOKEN"; None to ask for none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it where the token is missing or another site's page sent it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request, headers = HTTPConnection(scope), Headers(scope=scope)
        origins, hosts = headers.getlist("origin"), headers.getlist("host")
        # A browser sends the site of the page as the origin; pages of any site can send requests.
        if any(origin.lower() not in _origins_of_host(host) for origin in origins for host in hosts or [""]):
            response = PlainTextResponse("Pages of other sites are refused\n", 403)
        elif self._token is None or scope["path"] == _HEALTH or self._request_has_token(request):
            await self._app(scope, receive, send)
            return
        elif self._is_right_token(request.query_params.get("token", "")):
            response = RedirectResponse(str(request.url.remove_query_params("token")), 303)
            response.set_cookie(_cookie_name(request), self._token, httponly=True, samesite="strict")
        else:
            text = "Send the token that `waybench serve` printed, as Authorization: Bearer TOKEN\n"
            response = PlainTextResponse(text, 401)
        if scope["type"] == "http":
            await response(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # violation of a policy

    def _request_has_token(self, request: HTTPConnection) -> bool:
        """Return whether a request has the token, in its header or in a cookie."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return self._is_right_token(token if scheme == "Bearer" else request.cookies.get(_cookie_name(request), ""))

    def _is_right_token(self, text: str) -> bool:
        """Return whether a text is the token, in constant time."""
        assert self._token is not None
        return secrets.compare_digest(text.encode(), self._token.encode())


def _cookie_name(request: HTTPConnection) -> str:
    """Return the name of the cookie with the token of the server at a request's port."""
    return f"waybench-serve-{request.url.port}"  # ports of a host share their cookies


def _origins_of_host(host: str) -> tuple[str, str]:
    """Return the origins that a page of this host has, with http and with https."""
    return f"http://{host.lower()}", f"https://{host.lower()}"
