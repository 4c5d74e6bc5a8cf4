"""A real browser: Chromium, driven by Selenium."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.conftest import missing


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser; without one tests are skipped, but with CI=true they fail."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None or find_spec("selenium") is None:
        missing("no browser: install Debian's packages chromium and chromium-driver, and run `make test-all`")
    selenium: Any = import_module("selenium.webdriver")  # not there where types are checked
    options = selenium.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()
