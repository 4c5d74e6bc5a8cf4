"""Reading a page as a browser would, strictly."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import waybench.report

SCRIPT = Path(waybench.report.__file__).parent / "templates" / "replay.js"

VOID = {"meta", "br", "wbr", "input", "img", "link", "hr"}
# A path or another shape in an SVG may close itself.
SELF_CLOSING = {"path", "circle", "rect", "line", "use", "g", "text"}
EXECUTABLE = {"script", "iframe", "object", "embed", "base", "link", "form", "foreignobject", "animate", "set", "img"}


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


def read(path: Path) -> Page:
    """Read a page and check that nothing in it can be executed, leads outside or is left open."""
    page = Page(path.read_text(encoding="utf-8"))
    assert page.problems == []
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    # A page that runs a script has data for it, names that one alone in its policy, and is ours.
    assert len(page.scripts) == len(page.all("script"))
    if page.scripts:
        assert page.all("script") == [{"type": "application/json", "id": "frames"}, {}]
        assert page.scripts[1] == SCRIPT.read_text(encoding="utf-8")
        digest = b64encode(sha256(page.scripts[1].encode()).digest()).decode()
        assert policy.endswith(f"; script-src 'sha256-{digest}'")
    else:
        assert "script-src" not in policy
    for tag, attributes in page.elements:
        assert tag == "script" or tag not in EXECUTABLE
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"src", "srcset", "srcdoc", "action", "formaction", "data", "xlink:href"} & set(attributes)
        if href := attributes.get("href"):
            inside = r"(\.\./)?(index\.html|summary\.json|models/[a-z0-9-]+\.html(#[\w-]+)?|replays/[a-z0-9-]+\.html)"
            assert re.fullmatch(rf"#[\w-]+|{inside}", href)
            assert not href.startswith("#") or href[1:] in ids
        assert "url(" not in attributes.get("style", "")
        labelled = attributes.get("aria-labelledby")
        assert labelled is None or labelled in ids
    style = page.html[page.html.index("<style>") : page.html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    return page
