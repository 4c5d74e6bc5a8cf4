"""Reading a site as a browser would, strictly."""

import base64
import json
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from waybench.reporting import write_report
from waybench.results import LoggedEpisode

VOID = {"meta", "br", "wbr", "input", "img", "link", "hr"}
# A path or another shape in an SVG may close itself.
SELF_CLOSING = {"path", "circle", "rect", "line", "use", "g", "text"}
EXECUTABLE = {"iframe", "object", "embed", "base", "form", "foreignobject", "animate", "set", "img", "style"}
FOLDERS = "tasks", "models", "results", "replays", "compare", "ledger", "clusters", "families", "agents", "all"
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:; "
    "script-src {}; base-uri 'none'; form-action 'none'"
)
# Of scripts that read data of the page's, the id and the type of these.
DATA = {
    "replay": ("frames", "application/zlib"),
    "results": ("boards", "application/zlib"),
    "compare": ("data", "application/json"),
}
LINK = re.compile(r"((?:\.\./)?(?:[a-z]+/)?[a-z0-9.-]+\.[a-z]+)?(?:\?[a-z0-9.-]+)?(?:#([\w-]+))?")
INSIDE = re.compile(
    rf"(?:{'|'.join(FOLDERS)})/[a-z0-9-]+\.html|index\.html|summary\.json|table\.md|charts/index\.json|"
    r"data/(?:index\.html|summary\.schema\.json|[a-z]+\.(?:csv|parquet))"
)


def unpacked(data: str) -> Any:
    """Return the values in a replay's data, as its script unpacks them."""
    return json.loads(zlib.decompress(base64.b64decode(data, validate=True)))


class Page(HTMLParser):
    """A parsed page: its elements, its text, and whether its tags are balanced."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.problems: list[str] = []
        self.feed(html)
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in SELF_CLOSING:
            self.problems.append(f"<{tag}/> closes itself")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def links(self, start: str) -> set[str]:
        """Return the targets of links that begin so."""
        return {a["href"] for a in self.all("a") if a.get("href", "").startswith(start)}

    def table(self, marker: str) -> list[list[str]]:
        """Return the cells' texts of the table whose caption has a marker."""
        table = next(part for part in self.html.split("<table")[1:] if marker in part).split("</table>")[0]
        return [
            [
                " ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split())
                for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
            ]
            for row in re.findall(r"<tr[ >].*?</tr>", table, re.DOTALL)
        ]


def read(path: Path) -> Page:
    """Read a page of a site.

    Nothing in it but the site's own scripts can be executed, nothing leads outside, nothing is left open, and what
    links lead to is there.
    """
    page = Page(path.read_text(encoding="utf-8"))
    assert page.problems == []
    up = "../" if path.parent.name in (*FOLDERS, "data") else ""
    listed = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    ids = set(listed)
    assert len(ids) == len(listed)
    _check_scripts(page, up)
    assert page.all("link") == [
        {"rel": "icon", "href": "data:,"},
        {"rel": "stylesheet", "href": f"{up}assets/style.css"},
    ]
    for tag, attributes in page.elements:
        assert tag not in EXECUTABLE
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"srcset", "srcdoc", "action", "formaction", "data", "xlink:href", "ping", "target"} & set(
            attributes
        )
        assert tag == "script" or "src" not in attributes
        assert "url(" not in attributes.get("style", "")
        assert "aria-labelledby" not in attributes or attributes["aria-labelledby"] in ids
        if tag != "link" and "href" in attributes:
            _check_link(path.parent, path.parents[len(up) // 3], attributes["href"], ids)
    return page


def _check_scripts(page: Page, up: str) -> None:
    """A page's policy allows scripts where it loads some of ours, and only there; what stands in it is data."""
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    loaded = [script for script in page.all("script") if "src" in script]
    inline = [script for script in page.all("script") if "src" not in script]
    assert policy == POLICY.format("'self'" if loaded else "'none'")
    names = [script["src"].removeprefix(f"{up}assets/").removesuffix(".js") for script in loaded]
    assert set(names) <= {"datatables", "tables", "unpack", "replay", "results", "compare"}
    assert loaded == [{"src": f"{up}assets/{name}.js", "defer": ""} for name in names]
    wanted = [DATA[name] for name in names if name in DATA]
    assert inline == [{"type": kind, "id": id_} for id_, kind in wanted]
    assert len(page.scripts) == len(inline)


def _check_link(here: Path, site: Path, href: str, ids: set[str]) -> None:
    found = LINK.fullmatch(href)
    assert found, href
    name, fragment = found.groups()
    if name is None:
        assert fragment in ids, href
        return
    there = Path(os.path.normpath(here / name))
    assert INSIDE.fullmatch(there.relative_to(site).as_posix()), href
    state = there.stat()
    assert fragment is None or fragment in _ids(there, state.st_mtime_ns, state.st_size), href


@lru_cache(maxsize=100)
def _ids(path: Path, changed: int, size: int) -> set[str]:
    return set(re.findall(r'\sid="([^"]+)"', path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Site:
    """A site that was written.

    Attributes:
        folder: Where it is.
    """

    folder: Path

    @cached_property
    def home(self) -> Page:
        """The first page."""
        return read(self.folder / "index.html")

    @cached_property
    def scores(self) -> Page:
        """The page of all results."""
        return read(self.folder / "all" / "index.html")

    @cached_property
    def tasks(self) -> dict[str, Page]:
        """The tasks' pages, by name: "search-dfs"."""
        return self.named("tasks")

    @cached_property
    def models(self) -> list[Page]:
        """The models' pages."""
        return list(self.named("models").values())

    @cached_property
    def results(self) -> list[Page]:
        """The pages of models' results at tasks."""
        return list(self.named("results").values())

    @cached_property
    def replays(self) -> list[Page]:
        """The attempts' pages."""
        return list(self.named("replays").values())

    @cached_property
    def compared(self) -> dict[str, Page]:
        """The pages of two models side by side, by the task's name."""
        return self.named("compare") if (self.folder / "compare").exists() else {}

    @property
    def agents(self) -> Page:
        """The page of agents."""
        return read(self.folder / "agents" / "index.html")

    @property
    def family(self) -> Page:
        """The only family's page: that of its task, if it has no other."""
        if not (self.folder / "families").exists():
            return self.task
        (page,) = self.named("families").values()
        return page

    @property
    def task(self) -> Page:
        """The only task's page."""
        (page,) = self.tasks.values()
        return page

    @property
    def result(self) -> Page:
        """The only page of results."""
        (page,) = self.results
        return page

    @property
    def pages(self) -> list[Page]:
        """All pages."""
        made = (*self.tasks.values(), *self.models, *self.results, *self.replays, *self.compared.values())
        ledger = self.named("ledger").values() if (self.folder / "ledger").exists() else ()
        clusters = self.named("clusters").values() if (self.folder / "clusters").exists() else ()
        return [self.home, self.scores, read(self.folder / "data" / "index.html"), *made, *ledger, *clusters]

    def named(self, folder: str) -> dict[str, Page]:
        """Return the pages of a folder by name."""
        found = sorted((self.folder / folder).iterdir())
        return {path.stem: read(path) for path in found if path.suffix == ".html"}


def site(out: Path, episodes: Iterable[LoggedEpisode], title: str = "waybench") -> Site:
    """Write a site of some episodes."""
    assert write_report(episodes, out, title=title).index == out / "index.html"
    return Site(out)
