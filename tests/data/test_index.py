import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from tests.data.file_server import CONTENTS, file_server, toy_set
from tests.data.support import files_below, one_line
from tests.tasks.test_derived import TURNED
from waybench.cli._doctor import data
from waybench.core import CatalogueWarning, Download, Entry, UsageError
from waybench.core._registry import Registry
from waybench.data import fetch_dataset, find_download, locate_file, published_downloads
from waybench.envs import registry

CLASHING = replace(
    TURNED,
    id="a/clash",
    items=replace(
        TURNED.items,
        datasets=(replace(TURNED.items.datasets[0], download=replace(toy_set("https://toys.invalid"), name="gtb")),),
    ),
)
PUBLISHED = [each for name, each in published_downloads().items() if name != "toy"]


@pytest.mark.parametrize("wanted", PUBLISHED, ids=lambda wanted: wanted.name)
def test_rows_are_well_formed(wanted: Download) -> None:
    assert published_downloads()[wanted.name] is wanted
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
def test_addresses_are_pinned(wanted: Download) -> None:
    for file in wanted.files:
        if urlsplit(file.url).hostname == "raw.githubusercontent.com":
            assert re.fullmatch(r"[0-9a-f]{40}", urlsplit(file.url).path.split("/")[3]), file.url


@pytest.mark.parametrize("wanted", PUBLISHED, ids=lambda wanted: wanted.name)
def test_checksums_are_those_of_the_published_files(wanted: Download, data_dir: Callable[..., Path]) -> None:
    for file in wanted.files:
        body = data_dir(wanted.name, *file.path.split("/")).read_bytes()
        assert (sha256(body).hexdigest(), len(body)) == (file.sha256, file.size), file.path


def test_an_unknown_name_gets_a_proposal() -> None:
    assert find_download("aqa").title == "AQA-Bench test cases"
    with pytest.raises(UsageError) as caught:
        find_download("aqua")
    assert "unknown data set 'aqua': did you mean 'aqa'? choose from aqa" in one_line(caught)


def test_importing_loads_no_library() -> None:
    script = "import sys, waybench.data\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "waybench" in loaded
    assert not loaded & {"pooch", "requests", "urllib3", "platformdirs", "click"}


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """A catalogue with an environment of another package, whose data set is the toy one."""
    found = Registry(registry.built_in)
    found.register(
        Entry("toy/turned", 1, "tests.tasks.test_derived:TURNED", "a dial with published items", horizon="dials")
    )
    monkeypatch.setattr("waybench.data.registry", found)
    published_downloads.cache_clear()
    yield found
    published_downloads.cache_clear()


def test_a_data_set_of_another_package_is_listed_and_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: Registry
) -> None:
    assert list(published_downloads()) == ["aqa", "gtb", "mango", "smartplay", "toy"]
    with file_server() as server:
        server.serve()
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("WAYBENCH_DATA_MIRROR", server.url)
        assert files_below(fetch_dataset("toy", tmp_path)) == CONTENTS
    assert locate_file("toy", "one.json", tmp_path).read_bytes() == CONTENTS["one.json"]
    listed = CliRunner().invoke(data, ["list", "--data-dir", str(tmp_path)])
    assert (
        f"toy  Toys; licence: MIT; 3 files, 200.0 kB, https://toys.invalid\n     in {tmp_path / 'toy'}\n"
        in listed.output
    )


def test_a_name_of_ours_stays_ours_and_a_broken_package_takes_no_other_data_set_with_it(others: Registry) -> None:
    others.register(Entry("a/broken", 1, "tests.nowhere:X", "cannot be imported"))
    target = "tests.data.test_index:CLASHING"
    others.register(Entry("a/clash", 1, target, "a data set with a name that is taken", horizon="dials"))
    with pytest.warns(CatalogueWarning) as caught:
        found = published_downloads()
    assert found["gtb"].title == "GameTraversalBenchmark maps" and "toy" in found
    assert [str(each.message) for each in caught] == [
        "the data sets of environment a/broken are skipped: ModuleNotFoundError: No module named 'tests.nowhere'",
        "environment a/clash: a data set gtb exists already; this one is skipped",
    ]
