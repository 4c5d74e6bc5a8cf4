"""Pages in a real browser: Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # no package of those that every test may count on
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
_PATIENCE = 240_000  # milliseconds: many times what a page takes on a busy machine
# Nothing but this machine has an address, whatever a page or the browser itself asks for.
_ARGUMENTS = ("--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost")


def lacking() -> str:
    """Return what there is to do before a browser can be started; "" for nothing."""
    if shutil.which("chromium") is None:
        return "no browser: install Debian's package chromium"
    if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        return "nothing drives the browser: run `make test-all`, which installs it"
    return ""


@contextmanager
def chromium() -> "Iterator[Browser]":
    """Start the browser, and end it.

    In between this thread has a running loop of asyncio, so that nothing else can run one.
    """
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        # No network of its own, and no sandbox, are Playwright's defaults.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield browser
        browser.close()


class Visits:
    """Opens pages, each in a browser of its own, and takes down what they should not do.

    Attributes:
        complaints: Errors and warnings on consoles, breaches of policies among them; dialogs; and requests to anywhere
            but the site.
    """

    def __init__(self, browser: "Browser") -> None:
        self.complaints: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    def __call__(
        self,
        site: Path | str,
        page: str = "index.html",
        *,
        phone: bool = False,
        dark: bool = False,
        scripts: bool = True,
        **options: Any,
    ) -> "Page":
        """Open a page.

        Args:
            site: A folder, or the address of a server, without a slash at its end.
            page: Where in it.
            phone: Whether the window is as narrow as a phone's.
            dark: Whether dark colours are preferred.
            scripts: Whether scripts run.
            **options: Of Playwright's `Browser.new_context`.
        """
        root = site if isinstance(site, str) else site.as_uri()
        context = self._browser.new_context(
            viewport=PHONE if phone else WIDE,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            **options,
        )
        self._contexts.append(context)
        context.set_default_timeout(_PATIENCE)
        context.on("console", self._told)
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        context.on("dialog", self._asked)
        context.on("request", lambda request: self._fetched(request, root))
        opened = context.new_page()
        opened.goto(f"{root}/{page}")
        if scripts:
            _wait_for_replay(opened)
        return opened

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()

    def _told(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"console: {message.text}")

    def _asked(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _fetched(self, request: "Request", root: str) -> None:
        # The pages' icon is an empty one in the page itself.
        if not request.url.startswith((f"{root}/", "data:")):
            self.complaints.append(f"request: {request.url}")


def follow(link: "Locator", *, scripts: bool = True) -> None:
    """Click a link, and wait until its page is loaded: until then, what is asked is asked of the page before it."""
    with link.page.expect_event("load"):
        link.click()
    if scripts:
        _wait_for_replay(link.page)


def _wait_for_replay(page: "Page") -> None:
    """Wait until a replay has unpacked its data, which no event tells."""
    page.wait_for_function("!document.querySelector('#controls[hidden]')")


def too_wide(page: "Page") -> list[str]:
    """Return the elements that stick out of the window, if the page is wider than it; as they begin."""
    problems: list[str] = page.evaluate("""() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth <= clientWidth) return [];
        const out = [...document.querySelectorAll("body *")].filter(
            (each) => each.getBoundingClientRect().right > clientWidth + 1 && !each.closest(".scroll, pre"));
        return [`${scrollWidth} > ${clientWidth}`, ...out.map((each) => each.outerHTML.slice(0, 120))];
    }""")
    return problems


def barriers(page: "Page") -> list[str]:
    """Return what axe finds on a page that keeps people out, of any impact."""
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    # It would fetch style sheets, to see what is hidden on a turned screen; the pages' policy forbids that.
    result = axe.run(page, options={"preload": False, "resultTypes": ["violations"]})
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {node['html'][:200]}"
        for rule in result.response["violations"]
        for node in rule["nodes"]
    ]
