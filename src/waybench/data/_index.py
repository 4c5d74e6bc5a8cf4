"""The table of data sets.

A new set is a new row. Its files are pinned: their addresses name a commit or a release, never a branch. Where there
are many, they are listed in a file of comma-separated values beside this module.
"""

import csv
from collections.abc import Iterable, Iterator
from importlib.resources import files

from waybench.core import UsageError, unknown
from waybench.data._dataset import DataFile, DataSet

_GITHUB = "https://raw.githubusercontent.com"
_MESSENGER = f"{_GITHUB}/microsoft/SmartPlay/43d1426b415ab380e406d9b9a8eebdeb26412073/src/messenger/envs"


def _files(base: str, rows: Iterable[tuple[str, int, str]]) -> tuple[DataFile, ...]:
    """Return the files of rows (path, size, SHA-256) that are published under one address with these very paths."""
    return tuple(DataFile(path, sha256, size, f"{base}/{path}") for path, size, sha256 in rows)


def _listed(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield the rows (path, size, SHA-256) of a list beside this module."""
    text = files("waybench.data").joinpath(name).read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield row["path"], int(row["size"]), row["sha256"]


_ALL = (
    DataSet(
        "aqa",
        "AQA-Bench test cases",
        "MIT",
        "https://github.com/UCSC-VLAA/AQA-Bench",
        _files(
            f"{_GITHUB}/UCSC-VLAA/AQA-Bench/b3ceeb826880a6a703f024f1295377bc7b9368cf/datasets",
            (
                ("bfs_0.json", 156_240, "0e94aef1b4788ebf52b8730837ade8a45ffcd1bb20c88fa73e7960ca9e6a3ec5"),
                ("binary_search_0.json", 14_934, "22018c5a0a5426235744c356a53eada52998e160daece27f686c115331279839"),
                ("dfs_0.json", 83_200, "e8577f1d4f2a0d1b8355673b8d82005af17c9bd9f2925f7e6bb43e5f6fedf235"),
                ("hard_bfs_0.json", 502_174, "32b9fb3f9754340e403d11e481074b9d380fb944b4e7e23ba8c8c956c5de795b"),
                (
                    "hard_binary_search_0.json",
                    32_456,
                    "7b30b8ce63c909651c04220dbe3635abb16d343f29b563883446f330e05becc7",
                ),
                ("hard_dfs_0.json", 251_358, "0e733661eb98a1f4888d82c7502a5e406780f80c56bf31b7adeb67497308fcbb"),
            ),
        ),
    ),
    DataSet(
        "gtb",
        "GameTraversalBenchmark maps",
        "Apache-2.0",
        "https://github.com/umair-nasir14/Game-Traversal-Benchmark",
        _files(
            f"{_GITHUB}/umair-nasir14/Game-Traversal-Benchmark/9b548726fd17b444c6deaaf26dbe20e5a0f99c4a/data",
            (
                (
                    "traversal_benchmark.json",
                    1_381_077,
                    "e6c70bf8d512d15eae1683043008da0b885e1a49fe4865f88de8543283e58012",
                ),
            ),
        ),
    ),
    DataSet(
        "mango",
        "MANGO: maps and walkthroughs of 53 text games, 70 steps",
        "none is stated",
        "https://github.com/Oaklight/mango",
        # The lists of questions that are published with them follow from these files.
        _files(f"{_GITHUB}/Oaklight/mango/6f32fa7cdde4482496d3d659b21bd40bb3199ce0/data", _listed("mango.csv")),
    ),
    DataSet(
        "smartplay",
        "SmartPlay: games and sentences of Messenger",
        "MIT",
        "https://github.com/microsoft/SmartPlay",
        (
            *_files(
                f"{_MESSENGER}/texts",
                (("text_test.json", 76_652, "0501905522e051d0d84598d4881a08484d64ff1a3bdbf2f9f4fe48d54cf2826a"),),
            ),
            *_files(
                _MESSENGER,
                (("games.json", 3_304, "4200b08f2a30c883caeba386099a24399761362fe70ef6482864de9efd83a7d3"),),
            ),
        ),
    ),
)

DATASETS = {each.name: each for each in _ALL}


def dataset(name: str) -> DataSet:
    """Return a data set by its name.

    Raises:
        UsageError: If there is none of this name.
    """
    if name not in DATASETS:
        raise UsageError(unknown("data set", name, DATASETS))
    return DATASETS[name]
