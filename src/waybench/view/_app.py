"""The server's answers: which requests are taken, and what every answer says to the browser."""

from importlib.resources import files
from secrets import compare_digest
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waybench.view._pages import PROGRESS, SCRIPT
from waybench.view._progress import run_progress
from waybench.view._site import Site

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # which a page's own policy cannot say
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TOKEN = "token"  # in an address
_REFUSED = "This page is private: open the full address that `waybench {}` printed, with ?token=... at the end.\n"


def application(site: Site, port: int, token: str) -> ASGIApp:
    """Return the application that serves a site on a port of this machine to those who have a token."""

    # Functions that are not async run in threads: reading a file holds up nobody else.
    def file(request: Request) -> Response:
        if request.path_params["path"] == "replays/index.html" and request.url.query:  # a replay without a page
            name = quote(request.url.query, safe="")
            return RedirectResponse(str(request.url.replace(path=f"/replays/{name}", query="")), 303)
        answer = site.answer(request.path_params["path"])
        if answer is None:
            return PlainTextResponse("Page not found.\n", 404)
        return Response(answer.content, media_type=answer.media_type, headers={"ETag": answer.version})

    def script(request: Request) -> Response:
        pages = files("waybench.view") / "pages"
        text = "".join((pages / name).read_text(encoding="utf-8") for name in ("reload.js", "progress.js"))
        return Response(text, media_type="text/javascript")

    def progress(request: Request) -> Response:
        return JSONResponse(run_progress(site.folders))

    routes = [Route(SCRIPT, script), Route(PROGRESS, progress)]
    return Guard(Access(Starlette(routes=[*routes, Route("/{path:path}", file)]), port, token), port)


class Guard:
    """Refuses requests that were meant for another name, and puts the common headers on every answer.

    A page of some other site can make its own name mean this machine (DNS rebinding). The browser then lets it read
    what we answer; but it tells us that name.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._names |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # a page may have a stricter policy of its own
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        known = len(hosts) == 1 and hosts[0].lower() in self._names
        app = self._app if known else PlainTextResponse("This server answers only to 127.0.0.1 and localhost.\n", 421)
        await app(scope, receive, send_with_headers)


class Access:
    """Answers those who have the token; others who use this machine reach the server, too.

    The token comes in the first address ("/?token=...") and in a cookie from then on. Ports of a host share their
    cookies, so that the cookie's name has the port.
    """

    def __init__(self, app: ASGIApp, port: int, token: str, command: str = "view") -> None:
        self._app = app
        self._command = command
        self._cookie = f"waybench-{command}-{port}"
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        app: ASGIApp = self._app
        if self._is_token(request.query_params.get(_TOKEN)):
            app = self._admitted(request)
        elif not self._is_token(request.cookies.get(self._cookie)):
            app = PlainTextResponse(_REFUSED.format(self._command), 403)
        await app(scope, receive, send)

    def _admitted(self, request: Request) -> Response:
        """Return the answer that sets the cookie and leads to the same page without the token in its address."""
        # With the host, which was checked: a path such as "//other.example" alone would be another host's address.
        answer = RedirectResponse(str(request.url.remove_query_params(_TOKEN)), 303)
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
        return answer

    def _is_token(self, given: str | None) -> bool:
        return given is not None and compare_digest(given.encode("utf-8", "replace"), self._token.encode())
