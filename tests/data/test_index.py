import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pytest

from tests.data.support import one_line
from waybench.core import UsageError
from waybench.data import DATASETS, DataSet, dataset

PUBLISHED = [each for name, each in DATASETS.items() if name != "toy"]


@pytest.mark.parametrize("wanted", PUBLISHED, ids=lambda wanted: wanted.name)
def test_rows_are_well_formed(wanted: DataSet) -> None:
    assert DATASETS[wanted.name] is wanted
    assert re.fullmatch(r"[a-z][a-z0-9_-]*", wanted.name)
    assert wanted.title and wanted.licence and urlsplit(wanted.home).scheme == "https"
    assert wanted.files and wanted.size == sum(file.size for file in wanted.files)
    paths = [file.path for file in wanted.files]
    assert len({path.casefold() for path in paths}) == len(paths)
    for file in wanted.files:
        path = PurePosixPath(file.path)
        assert str(path) == file.path and not path.is_absolute() and ".." not in path.parts
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256) and file.size >= 0
        assert urlsplit(file.url).scheme == "https" and urlsplit(file.url).path.endswith(path.name)


@pytest.mark.parametrize("wanted", PUBLISHED, ids=lambda wanted: wanted.name)
def test_addresses_are_pinned(wanted: DataSet) -> None:
    for file in wanted.files:
        if urlsplit(file.url).hostname == "raw.githubusercontent.com":
            assert re.fullmatch(r"[0-9a-f]{40}", urlsplit(file.url).path.split("/")[3]), file.url


@pytest.mark.parametrize("wanted", PUBLISHED, ids=lambda wanted: wanted.name)
def test_checksums_are_those_of_the_published_files(wanted: DataSet, data_dir: Callable[..., Path]) -> None:
    for file in wanted.files:
        body = data_dir(wanted.name, *file.path.split("/")).read_bytes()
        assert (sha256(body).hexdigest(), len(body)) == (file.sha256, file.size), file.path


def test_an_unknown_name_gets_a_proposal() -> None:
    assert dataset("aqa").title == "AQA-Bench test cases"
    with pytest.raises(UsageError) as caught:
        dataset("aqua")
    assert "unknown data set 'aqua': did you mean 'aqa'? choose from aqa" in one_line(caught)


def test_importing_loads_no_library() -> None:
    script = "import sys, waybench.data\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "waybench" in loaded
    assert not loaded & {"pooch", "requests", "urllib3", "platformdirs", "click"}
