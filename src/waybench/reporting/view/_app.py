"""The server's answers: files of a site, pages that reload themselves, and the progress of runs."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from secrets import compare_digest
from string import Template
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from waybench.core import LOCK_FILE, PROGRESS_FILE, Json, is_array, is_object

_PAGES = files(__name__.rpartition(".")[0]) / "pages"
_MOST_BYTES = 1 << 22
_MOST_TASKS = 200
_RECENT = 30.0  # seconds since a file was written, up to which a process without a lock is taken to run
_TEXTS = ("name", "state", "done_text", "state_text", "use_text")
_TITLES = {
    "running": "",
    "interrupted": "Interrupted; run the same command again to resume",
    "failed": "Ended by an error; run the same command again to resume",
    "stopped": "Stopped (its process has ended); run the same command again to resume",
}


def unfinished_runs(folders: Iterable[Path]) -> list[dict[str, Json]]:
    """Return the progress of each unfinished run in some folders: its state, title, and tasks."""
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.rglob(PROGRESS_FILE))]
    return [progress for path in paths if (progress := _read_progress(path))]


def _read_progress(path: Path) -> dict[str, Json] | None:
    """Return the progress in a file for a page; None if the run is finished or the file is not valid."""
    data: Any = None
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= _MOST_BYTES:
            data = json.loads(path.read_text("utf-8"))
    if not is_object(data):
        return None
    state = str(data.get("state"))
    if state == "running" and not _is_running(path, data.get("written")):
        state = "stopped"
    if state not in _TITLES:
        return None
    title = str(data.get("text", ""))[:300].capitalize() if state == "running" else _TITLES[state]
    return {"state": state, "title": title, "tasks": list(_task_progress(data.get("tasks"), state))}


def _task_progress(tasks: Json, state: str) -> Iterator[dict[str, Json]]:
    """Yield the progress of each task of a run; `state` is that of the run."""
    for task in tasks[:_MOST_TASKS] if is_array(tasks) else ():
        if not is_object(task):
            continue
        texts: dict[str, Json] = {name: str(task.get(name, ""))[:300] for name in _TEXTS}
        if state != "running" and texts["state"] == "running":
            texts["state_text"] = "unfinished"
        yield {**texts, "share": _done_share(task.get("done"), task.get("total"))}


def _done_share(done: Json, total: Json) -> float | None:
    """Return a number as a share of a total, at most 1; None if these are not numbers."""
    if not isinstance(done, int) or not isinstance(total, int) or total <= 0:
        return None
    return min(done / total, 1.0)


def _is_running(path: Path, written_at: Json) -> bool:
    """Return whether the process that writes a progress file still runs, which then locks a database in the folder."""
    lock = path.with_name(LOCK_FILE)
    try:
        with closing(sqlite3.connect(f"{lock.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as database:
            database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return True
        # Without a lock, as on some network drives, the time decides.
        return isinstance(written_at, int | float) and abs(time.time() - written_at) < _RECENT
    return False


HOME = "/~waybench"  # of the server's own files; no name of a site's file begins with "~"
SCRIPT = f"{HOME}/reload.js"
PROGRESS = f"{HOME}/progress.json"
_RELOAD = ("script-src", "connect-src")  # directives that restrict a page that reloads itself


def entity_tag(content: bytes) -> str:
    """Return a page's entity tag, which changes with its content."""
    return f'"{sha256(content).hexdigest()[:16]}"'


def add_reload_script(page: bytes) -> bytes:
    """Return a page with the script that reloads it, and with a policy that allows the script.

    Bytes that are not UTF-8 stay as they are.
    """
    text = page.decode("utf-8", "surrogateescape")
    head, end_of_head, tail = text.partition("</head>")
    reader = _PolicyReader()
    reader.feed(head)
    reader.close()
    for element, policy in reader.policies:
        allowed = escape(allow_reload(policy))
        head = head.replace(element, f'<meta http-equiv="Content-Security-Policy" content="{allowed}">')
    script = f'<script src="{SCRIPT}" data-version="{escape(entity_tag(page))}"></script>\n'
    before, end_of_body, after = (head + end_of_head + tail).rpartition("</body>")
    html = before + script + end_of_body + after if end_of_body else after + script
    return html.encode("utf-8", "surrogateescape")


def allow_reload(policy: str) -> str:
    """Return a Content-Security-Policy that also allows scripts from, and requests to, the page's own server.

    All other restrictions stay; scripts or requests that the policy does not restrict stay unrestricted.
    """
    directives: dict[str, list[str]] = {}
    for directive in policy.split(";"):
        name, *sources = directive.split() or [""]
        if name:
            directives.setdefault(name.lower(), sources)  # of a directive that is given twice, the first one counts
    names = [*_RELOAD, *(["script-src-elem"] if "script-src-elem" in directives else [])]
    for name in names:
        sources = directives.get(name, directives.get("default-src"))
        if sources is not None:
            others = [source for source in sources if source.lower() not in ("'none'", "'self'")]
            directives[name] = [*others, "'self'"]
    return "; ".join(" ".join([name, *sources]) for name, sources in directives.items())


class _PolicyReader(HTMLParser):
    """Finds the <meta> elements with a Content-Security-Policy, as (text in the page, policy)."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.policies: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "meta" and attributes.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append((self.get_starttag_text() or "", attributes.get("content", "")))


# The names of a site's files. Temporary files, which begin with a dot, "..", backslashes and colons are not among them,
# whatever they mean to the file system.
_PATH = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)
_FIRST_PAGE = "index.html"
_REPLAY = re.compile(r"replays/([a-z0-9][a-z0-9.-]*)-[0-9]{1,9}\.html")
_MAKING = "The page of this replay is being made; it reloads when it is ready."
# The system's own table may have other types, which browsers would have to follow (X-Content-Type-Options).
_TYPES = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/plain",
    ".parquet": "application/vnd.apache.parquet",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}


def _do_nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Answer:
    """The answer to a path: its bytes, their media type, and their entity tag."""

    content: bytes
    media_type: str
    version: str


@dataclass
class LiveSite:
    """A folder of pages, and a waiting page that is shown until there is a first one.

    Attributes:
        folder: The folder, which may not exist yet.
        start: Commands that would give the site something to show, by their purpose.
        hint: Whether the waiting page shows these commands.
        folders: The folders of the logs, whose runs' progress is shown.
        wanted: File names of the replays that somebody has opened; some may not be written yet.
        built: The replays of `wanted` that the last build had to write.
        call: Called when another replay is wanted.
    """

    folder: Path
    title: str
    start: Mapping[str, str] = field(default_factory=dict[str, str])
    message: str = "The report is being built; this page reloads when it is ready."
    hint: bool = False
    folders: tuple[Path, ...] = ()
    wanted: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    call: Callable[[], None] = _do_nothing

    def answer(self, path: str) -> Answer | None:
        """Return the answer to a decoded path without its first slash; None if there is no such file."""
        name = path or _FIRST_PAGE
        content = self._read_file(name) if _PATH.fullmatch(name) else None
        if content is None:
            if name == _FIRST_PAGE:
                return _html_answer(self._waiting_page(self.message))
            return _html_answer(self._waiting_page(_MAKING)) if self._request_replay(name) else None
        suffix = Path(name).suffix
        if suffix == ".html":
            return _html_answer(content)
        return Answer(content, _TYPES.get(suffix, "application/octet-stream"), entity_tag(content))

    def _read_file(self, path: str) -> bytes | None:
        """Return the content of a file of the folder; None if there is no such file."""
        try:
            home = self.folder.resolve(strict=True)
            file = (home / path).resolve(strict=True)
            # A link may lead to a file in the folder, but not out of it.
            return file.read_bytes() if file.is_relative_to(home) and file.is_file() else None
        except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle
            return None

    def _request_replay(self, path: str) -> bool:
        """Request the page of a replay if the path is one; return whether the page may still come."""
        match = _REPLAY.fullmatch(path)
        if match is None or self._read_file(f"results/{match[1]}.html") is None:
            return False
        name = path.removeprefix("replays/")
        was_built = name in self.built  # read before the call, after which another thread may change it at once
        if name not in self.wanted:
            self.wanted |= {name}
            self.call()
        return not was_built

    def _waiting_page(self, message: str) -> bytes:
        """Return the waiting page with a message."""
        template = Template((_PAGES / "waiting.html").read_text(encoding="utf-8"))
        commands: Mapping[str, str] = self.start if self.hint else {}
        lines = [
            f'<p class="soft">{escape(purpose)}</p>\n<pre>{escape(command)}</pre>'
            for purpose, command in commands.items()
        ]
        html = template.substitute(title=escape(self.title), message=escape(message), start="\n".join(lines))
        return html.encode("utf-8", "replace")


def _html_answer(content: bytes) -> Answer:
    return Answer(add_reload_script(content), "text/html", entity_tag(content))


HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # which a page's own policy cannot say
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TOKEN = "token"  # in an address
_REFUSED = "This page is private: open the full address that `waybench {}` printed, with ?token=... at the end.\n"


def site_application(site: LiveSite, port: int, token: str) -> ASGIApp:
    """Return the application that serves a site on a port of this machine to clients with the token."""

    # Functions that are not async run in threads, so that reading a file does not delay other answers.
    def serve_file(request: Request) -> Response:
        if request.path_params["path"] == "replays/index.html" and request.url.query:  # a replay without a page
            name = quote(request.url.query, safe="")
            return RedirectResponse(str(request.url.replace(path=f"/replays/{name}", query="")), 303)
        answer = site.answer(request.path_params["path"])
        if answer is None:
            return PlainTextResponse("Page not found.\n", 404)
        return Response(answer.content, media_type=answer.media_type, headers={"ETag": answer.version})

    def serve_script(request: Request) -> Response:
        text = "".join((_PAGES / name).read_text(encoding="utf-8") for name in ("reload.js", "progress.js"))
        return Response(text, media_type="text/javascript")

    def serve_progress(request: Request) -> Response:
        return JSONResponse(unfinished_runs(site.folders))

    routes = [Route(SCRIPT, serve_script), Route(PROGRESS, serve_progress)]
    return Guard(Access(Starlette(routes=[*routes, Route("/{path:path}", serve_file)]), port, token), port)


class Guard:
    """Refuses requests for another host name, and puts the common headers on every answer.

    Another site can make its own name the address of this machine (DNS rebinding), so that a browser lets its pages
    read the answers. But the browser's request names the site.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:  # the default port, which browsers leave out
            self._names |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # a page may have a stricter policy of its own
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        app = self._app
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            app = PlainTextResponse("This server answers only to 127.0.0.1 and localhost.\n", 421)
        await app(scope, receive, send_with_headers)


class Access:
    """Answers only clients with the token, since all users of this machine can reach the server.

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
        if self._is_valid_token(request.query_params.get(_TOKEN)):
            app = self._set_cookie_and_redirect(request)
        elif not self._is_valid_token(request.cookies.get(self._cookie)):
            app = PlainTextResponse(_REFUSED.format(self._command), 403)
        await app(scope, receive, send)

    def _set_cookie_and_redirect(self, request: Request) -> Response:
        """Return the redirection to the same page without the token in its address, which sets the cookie."""
        # With the host, which was checked: a path such as "//other.example" alone would be another host's address.
        answer = RedirectResponse(str(request.url.remove_query_params(_TOKEN)), 303)
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
        return answer

    def _is_valid_token(self, token: str | None) -> bool:
        return token is not None and compare_digest(token.encode("utf-8", "replace"), self._token.encode())
