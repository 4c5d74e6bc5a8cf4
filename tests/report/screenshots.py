"""Pictures of a report's pages, light and dark, wide and as on a phone, for people to look at.

`python -m tests.report.screenshots SITE FOLDER` takes them; `make screenshots` makes a site of the demonstration first.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.browser import Visits, chromium, lacking

MAZE = "maze/alicia"
OTHERS = "tilemap/gtb", "messenger/roles", "hanoi/rods"  # other drawings; the first that there is
SCALE = 1.5


def pages(site: Path) -> dict[str, str]:
    """Return a page of each kind, by what its pictures are called: of several the longest, which shows most."""
    groups = json.loads((site / "summary.json").read_text(encoding="utf-8"))["overall"]
    other = next(env for env in OTHERS if any(each["group"]["env"] == env for each in groups))

    def longest(paths: Iterable[Path]) -> str:
        return max(paths, key=lambda path: (path.stat().st_size, path.name)).relative_to(site).as_posix()

    def results(env: str) -> str:
        return longest(site / each["page"] for each in groups if each["group"]["env"] == env)

    def replay(env: str) -> str:
        return longest(site.glob(f"replays/{Path(results(env)).stem}-*.html"))

    return {
        "home": "index.html",
        "task": "tasks/maze-alicia.html",
        "model": longest(site.glob("models/*.html")),
        "results": results(MAZE),
        "replay": replay(MAZE),
        "replay-other": replay(other),
        "compare": "compare/maze-alicia.html",
    }


def take(browser: Any, site: Path, out: Path) -> Iterator[Path]:
    """Take the pictures, and yield their paths.

    Args:
        browser: The browser, of Playwright.
        site: The site's folder.
        out: Where the pictures go; the folder is made if need be.
    """
    out.mkdir(parents=True, exist_ok=True)
    visit = Visits(browser)
    for name, page in pages(site).items():
        for dark in (False, True):
            for phone in (False, True):
                opened = visit(site, page, phone=phone, dark=dark, device_scale_factor=SCALE)
                if name.startswith("replay"):
                    opened.keyboard.press("End")
                path = out / f"{name}-{'dark' if dark else 'light'}-{'phone' if phone else 'wide'}.png"
                opened.screenshot(path=path)
                yield path
                visit.close()


def main() -> None:
    """Take pictures of a site that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="folder of a report")
    parser.add_argument("out", type=Path, help="where the pictures go")
    given = parser.parse_args()
    if lacks := lacking():
        raise SystemExit(lacks)
    with chromium() as browser:
        for path in take(browser, given.site.resolve(), given.out):
            print(path)


if __name__ == "__main__":
    main()
