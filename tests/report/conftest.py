"""The site whose pages the tests of this folder open in a browser."""

from pathlib import Path

import pytest

from tests.report import sites


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, made once."""
    return sites.make(tmp_path_factory.mktemp("report") / "site")
