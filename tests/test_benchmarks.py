"""The benchmarks can be imported: what they use is still there."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "__main__"))


@pytest.mark.slow  # some need what the slow tests install
@pytest.mark.filterwarnings("ignore")  # of libraries that waybench is compared with
@pytest.mark.parametrize("name", MODULES)
def test_it_is_imported(name: str) -> None:
    assert import_module(f"benchmarks.{name}").__doc__
