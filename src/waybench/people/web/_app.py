"""The pages on which people play, and the application that answers their browsers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from waybench.core import turns_without_prefix
from waybench.people import PlayedEpisode
from waybench.people._play import LONGEST, board_svg
from waybench.people.web._study import Participant, Study
from waybench.reporting.view._app import Access, Guard

_MOST_BYTES = 4 * LONGEST + 10_000  # of a request
_MOST_SESSIONS = 2_000  # in memory
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_FORMS = ("join", "begin", "reply", "next", "stop", "leave")
_STATIC = {"play.css": "text/css", "play.js": "text/javascript"}
_NOT_UNDERSTOOD = "Not understood. It does not count as a reply; try again."
_NO_CODE = "This code is not on the list. Check it, or ask the person who runs the study."
_NO_NAME = (
    "Use up to 40 letters, digits, spaces, dots, hyphens or underscores, and a name that no other browser has taken."
)
_COOKIE_AGE = 90 * 24 * 3600  # seconds for which a browser keeps the cookie


@dataclass
class _Session:
    """A browser.

    Attributes:
        secret: A value in its forms, without which forms are refused, as another site may send them.
        person: The participant at the browser; None before the person has joined.
        note: A text that the next page shows once.
        typed: The text that was not understood, for the person to correct.
    """

    secret: str = field(default_factory=lambda: token_urlsafe(24))
    person: Participant | None = None
    note: str = ""
    typed: str = ""


def study_application(study: Study, port: int, token: str) -> ASGIApp:
    """Return the ASGI application of a study on a port of this machine, for browsers that have the token."""
    pages = _Pages(study, f"waybench-person-{port}")
    routes = [
        Route("/", pages.show_page),
        Route("/static/{name}", _static_file),
        *(Route(f"/{name}", pages.form_handler(name), methods=["POST"]) for name in _FORMS),
    ]
    return Guard(Access(Starlette(routes=routes), port, token, "play"), port)


def _static_file(request: Request) -> Response:
    """Return a style sheet or script of the pages."""
    name = request.path_params["name"]
    if name not in _STATIC:
        return PlainTextResponse("Page not found.\n", 404)
    return Response((files("waybench.people.web") / "pages" / name).read_text("utf-8"), media_type=_STATIC[name])


class _Pages:
    """Answers browsers with the page of their participant, and carries out its forms."""

    def __init__(self, study: Study, cookie: str) -> None:
        self._study, self._cookie = study, cookie
        self._sessions: dict[str, _Session] = {}
        self._page = Templates(
            loader=PackageLoader("waybench.people.web", "pages"), autoescape=True, undefined=StrictUndefined
        ).get_template("play.html")

    def show_page(self, request: Request) -> Response:
        """Answer a request with the page of a browser's person; a new browser gets a cookie."""
        with self._study.lock:
            key = request.cookies.get(self._cookie, "")
            session = self._sessions.get(key)
            if session is None:
                if len(self._sessions) >= _MOST_SESSIONS:
                    self._sessions.pop(next(iter(self._sessions)))
                # A person may have joined before the server was started again.
                person = self._study.participant_of_browser(_cookie_digest(key))
                key = key if person else token_urlsafe(24)
                self._sessions[key] = session = _Session(person=person)
            response = HTMLResponse(self._page.render(self._page_values(session)))
        response.headers["Content-Security-Policy"] = _POLICY
        response.set_cookie(self._cookie, key, path="/", max_age=_COOKIE_AGE, httponly=True, samesite="strict")
        return response

    def form_handler(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of a form, which acts on it and redirects to the page."""

        async def handle_request(request: Request) -> Response:
            """Read a form of limited size, and handle it."""
            body = b""
            async for chunk in request.stream():
                body += chunk
                if len(body) > _MOST_BYTES:
                    return PlainTextResponse("This is too long.\n", 413)
            return await run_in_threadpool(self._handle_form, name, request.cookies.get(self._cookie, ""), body)

        return handle_request

    def _handle_form(self, form_name: str, key: str, body: bytes) -> Response:
        """Check a form's session and secret, carry it out, and redirect to the page."""
        try:
            fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20)
        except ValueError:
            return PlainTextResponse("This form cannot be read.\n", 400)
        form = {field: texts[0] for field, texts in fields.items()}
        with self._study.lock:
            session = self._sessions.get(key)
            secret = form.get("secret", "")
            if session is None:
                return RedirectResponse("/", 303)  # the server was started again; the page asks for the code
            if not compare_digest(secret.encode("utf-8", "replace"), session.secret.encode()):
                return PlainTextResponse("This form is not from this page: reload it.\n", 403)
            session.note = session.typed = ""
            if form_name == "join":
                self._join(session, form.get("code", "")[:200], _cookie_digest(key))
            elif session.person is not None:
                self._carry_out_form(form_name, session, session.person, form)
        return RedirectResponse("/", 303)

    def _join(self, session: _Session, code: str, browser: str) -> None:
        """Set the session's person by a code or name, or a note if the code is refused."""
        session.person = self._study.join(code, browser)
        if session.person is None:
            session.note = _NO_CODE if self._study.has_codes else _NO_NAME

    def _carry_out_form(self, name: str, session: _Session, person: Participant, form: dict[str, str]) -> None:
        """Carry out a form of a person who has joined."""
        study = self._study
        if name == "leave":
            session.person = None
        elif name == "begin":
            if study.introduction and form.get("agree") != "yes":
                session.note = "Tick the box if you agree, and begin then."
            else:
                study.begin(person)
        elif form.get("place") != _round_and_turn(person):
            return  # an old page sent the form; the new page shows the present state
        elif name == "next":
            study.next_item(person)
        elif name == "stop":
            study.give_up(person)
        elif person.game is not None:
            # A button sends its action; the line beside it may have several actions.
            typed = (form.get("action") or form.get("typed", "")).replace("\r\n", "\n").strip()
            if not typed:
                session.note = "Type something, or choose an action."
            elif not study.play_typed(person, typed):
                session.note, session.typed = _NOT_UNDERSTOOD, typed[:1000]

    def _page_values(self, session: _Session) -> dict[str, Any]:
        """Return the values of the page's template."""
        study, person = self._study, session.person
        values: dict[str, Any] = {
            "secret": session.secret,
            "note": session.note,
            "typed": session.typed,
            "most": LONGEST,
            "has_codes": study.has_codes,
            "introduction": study.introduction,
            "count": study.rounds,
            "items": len(study.items),
            "where": "" if person is None else study.round_text(person.number),
            "repeats": person is not None and study.repeats_item(person),
            "code": "" if person is None else person.code,
            "number": 0 if person is None else person.number + 1,
            "place": "" if person is None else _round_and_turn(person),
            "game": None,
        }
        session.note = session.typed = ""
        if person is None:
            values["view"] = "join"
        elif not person.has_begun:
            values["view"] = "introduction"
        elif person.game is None:
            values["view"] = "end"
        else:
            values["view"] = "break" if person.is_closed else "play"
            values |= _episode_values(person.game, text_only=study.text_only)
            if not person.is_closed:
                study.start_turn_timer(person)
        return values


def _cookie_digest(cookie: str) -> str:
    """Return the SHA-256 of a cookie."""
    return sha256(cookie.encode("utf-8", "replace")).hexdigest()


def _round_and_turn(person: Participant) -> str:
    """Return a person's round and turn, which a form must name, so that an old page sends nothing twice."""
    return f"{person.number}.{len(person.game.episode.turns) if person.game else 0}"


def _episode_values(game: PlayedEpisode, *, text_only: bool) -> dict[str, Any]:
    """Return the values of the page's template that describe an episode."""
    episode = game.episode
    board = None if text_only else game.board
    has_started = any(turn.reply for turn in turns_without_prefix(episode.turns))
    return {
        "game": game,
        "title": episode.environment.title,
        "svg": "" if board is None else Markup(board_svg(board, f"Board. {' '.join(board.notes[:1])}")),
        "notes": () if board is None else [note for note in board.notes if note],
        "large": board is not None and max(map(len, board.rows), default=0) > 30,  # columns, which need a wide page
        "actions": game.actions,
        "message": game.message if has_started else "",
        "prompt": game.prompt,
        "started": has_started,
        "status": game.status_text,
        "help": game.help,
        "result": game.result_lines()[0],
        "measures": game.metric_values(),
    }
