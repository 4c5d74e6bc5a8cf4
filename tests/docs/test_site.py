"""The documentation site builds without a warning, its links work, and it loads nothing from elsewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser import Visits, too_wide
from tests.conftest import PATIENCE

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
# Links that name a page without loading it.
NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "license"}


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        address = given.get(LOADING.get(tag, ""), "")
        if address and given.get("rel") not in NOT_LOADED:
            self.loads.append(address)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-n", "-q"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "site")],
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_document_is_a_page(site: Path) -> None:
    names = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md") if path.name != "guide.md"}
    assert len(names) > 40
    assert {name for name in names if not (site / name).is_file()} == set()


def _broken(pages: dict[Path, Page]) -> Iterator[str]:
    for page in pages.values():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            anchor = unquote(parts.fragment)
            if not target.is_file():
                yield f"{page.path.name}: {link}"
            elif anchor and target.suffix == ".html" and anchor not in pages[target].anchors:
                yield f"{page.path.name}: no anchor {link}"


def test_every_link_and_anchor_of_the_site_exists(pages: dict[Path, Page]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert list(_broken(pages)) == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    loads = {address for page in pages.values() for address in page.loads}
    assert any(address.endswith("site.css") for address in {address.partition("?")[0] for address in loads})
    assert {address for address in loads if urlsplit(address).scheme or address.startswith("//")} == set()
    styles = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\s]+", styles) == []


def test_the_api_has_the_text_of_the_docstrings(pages: dict[Path, Page], site: Path) -> None:
    import waybench

    page = pages[(site / "reference" / "python.html").resolve()]
    assert {f"waybench.{name}" for name in waybench.__all__ if name != "__version__"} <= page.anchors
    assert "The same call continues a run that was interrupted" in page.path.read_text(encoding="utf-8")


def test_search_works_without_a_server(site: Path, visit: Visits) -> None:
    page = visit(site, "search.html?q=horizon")
    page.wait_for_selector("#search-results ul.search li a", timeout=PATIENCE * 1000)
    assert "Find a horizon" in page.locator("#search-results ul.search li a").all_inner_texts()


@pytest.mark.parametrize(
    "name", ["index", "tutorial", "tasks", "environments/maze-alicia", "reference/python", "reference/cli"]
)
def test_a_page_fits_a_phone_and_makes_no_request(site: Path, visit: Visits, name: str) -> None:
    assert too_wide(visit(site, f"{name}.html", phone=True, dark=True)) == []
