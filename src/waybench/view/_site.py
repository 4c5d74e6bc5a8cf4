"""The files of a site, as they are answered: nothing outside its folder, nothing hidden, no listings."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from waybench.view._pages import version, with_reload

# Files of a site have such names. Temporary ones, which begin with a dot, "..", and what has a backslash or a colon
# are none, whatever they may mean to the file system.
_PATH = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)
_FIRST = "index.html"
_REPLAY = re.compile(r"replays/([a-z0-9][a-z0-9.-]*)-[0-9]{1,9}\.html")
_MAKING = "The page of this replay is being made; it reloads when it is ready."
# Not the system's own table, which may have other types: browsers are told to take these for what they are.
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


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Answer:
    """What is sent for a path: the bytes, their type, and what tells them apart from an earlier answer."""

    content: bytes
    media_type: str
    version: str


@dataclass
class Site:
    """A folder of pages, and a page that stands in until there is a first one.

    Attributes:
        folder: The folder; it need not be there yet.
        title: The title of the page that stands in.
        start: Commands that would give the site something to show, each after what it does.
        message: What the page that stands in says.
        hint: Whether it shows these commands.
        folders: Where the logs are, whose runs' progress is shown.
        wanted: File names of pages of replays that somebody has opened, of which some may not be made yet.
        built: Those of them that the last build was to make.
        call: Is called when another one is wanted.
    """

    folder: Path
    title: str
    start: Mapping[str, str] = field(default_factory=dict[str, str])
    message: str = "The report is being built; this page reloads when it is ready."
    hint: bool = False
    folders: tuple[Path, ...] = ()
    wanted: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    call: Callable[[], None] = _nothing

    def answer(self, path: str) -> Answer | None:
        """Return what is sent for a decoded path without its first slash; None if there is no such file."""
        wanted = path or _FIRST
        content = self._read(wanted) if _PATH.fullmatch(wanted) else None
        if content is None:
            if wanted == _FIRST:
                return _page(self._waiting(self.message))
            return _page(self._waiting(_MAKING)) if self._is_to_come(wanted) else None
        suffix = Path(wanted).suffix
        if suffix == ".html":
            return _page(content)
        return Answer(content, _TYPES.get(suffix, "application/octet-stream"), version(content))

    def _read(self, path: str) -> bytes | None:
        try:
            home = self.folder.resolve(strict=True)
            found = (home / path).resolve(strict=True)
            # A link may lead within the folder, not out of it.
            return found.read_bytes() if found.is_relative_to(home) and found.is_file() else None
        except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle
            return None

    def _is_to_come(self, path: str) -> bool:
        """Return whether a path is that of a replay whose page can be made, and have it made."""
        found = _REPLAY.fullmatch(path)
        if found is None or self._read(f"results/{found[1]}.html") is None:
            return False
        name = path.removeprefix("replays/")
        was_built = name in self.built  # before the call, which another thread may follow at once
        if name not in self.wanted:
            self.wanted |= {name}
            self.call()
        return not was_built

    def _waiting(self, message: str) -> bytes:
        template = Template((files("waybench.view") / "pages" / "waiting.html").read_text(encoding="utf-8"))
        commands: Mapping[str, str] = self.start if self.hint else {}
        listed = [f'<p class="soft">{escape(what)}</p>\n<pre>{escape(how)}</pre>' for what, how in commands.items()]
        shown = template.substitute(title=escape(self.title), message=escape(message), start="\n".join(listed))
        return shown.encode("utf-8", "replace")


def _page(content: bytes) -> Answer:
    return Answer(with_reload(content), "text/html", version(content))
