"""Data sets of the six tasks: cases by key, the published ones and those of a file, with or without examples."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from waybench._package_data import read_toml
from waybench.core import (
    DataFiles,
    Dataset,
    Download,
    Environment,
    Item,
    ItemList,
    Json,
    Option,
    Source,
    file_key,
    resolve,
    user_path,
    with_examples,
)
from waybench.envs.search._source import CaseFile

PUBLIC_KEY = "search-v1"
_CASES = {"easy": 400, "hard": 1500}  # as many as the published tables are made of

_MODE = Option(
    name="mode",
    default="easy",
    choices=("easy", "hard"),
    doc="EASY: 32 to 32800, 8 nodes (depth first), 15 (breadth first); HARD: 32 to 33554464, 13 and 25 nodes.",
)
_OF_ALL = (
    _MODE,
    Option(name="icl", default=0, low=0, high=100, doc="Number of in-context examples."),
    Option(
        name="limit",
        default=None,
        kind=int,
        low=1,
        high=1_000_000,
        doc="Cases per set; by default 400 in EASY and 1500 in HARD mode, as published.",
    ),
    Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per case."),
)
_OF_GENERATED = (
    Option(name="level", default=None, kind=int, low=1, doc="Level of generated cases; by default the level of mode."),
    Option(name="key", default=None, kind=str, doc="Key of generated cases; by default the public set."),
    Option(name="sets", default=1, low=1, high=100, doc="Number of generated sets, to measure the spread over sets."),
)
_DATA_DIR = Option(
    name="data_dir", default=None, kind=str, doc="Folder with aqa/dfs_0.json and so on, for published cases."
)


class PublishedCases(NamedTuple):
    """The published cases of a task.

    Attributes:
        file: The file of EASY mode.
        levels: Mode -> level.
        common: Level -> what the files leave out of each case.
        similar: (item, parameters) -> source options with which cases similar to an item are drawn.
    """

    file: str
    levels: Mapping[str, int]
    common: Callable[[int], Mapping[str, Json]]
    similar: Callable[[Item[Any], Mapping[str, Any]], Mapping[str, Json]]


def _range(level: int) -> Mapping[str, Json]:
    return {"min": 32, "max": 32 + 2**level}


def _same_range(item: Item[Any], options: Mapping[str, Any]) -> Mapping[str, Json]:
    return {"lowest": item.instance.low, "span": item.instance.high - item.instance.low}


def _nothing(level: int) -> Mapping[str, Json]:
    return {}


def _same_shape(item: Item[Any], options: Mapping[str, Any]) -> Mapping[str, Json]:
    return {"shape": options["shape"], "cycles": item.instance.graph.cycles}


NUMBERS = PublishedCases("binary_search_0.json", {"easy": 15, "hard": 25}, _range, _same_range)
DEPTH = PublishedCases("dfs_0.json", {"easy": 8, "hard": 13}, _nothing, _same_shape)
BREADTH = PublishedCases("bfs_0.json", {"easy": 15, "hard": 25}, _nothing, _same_shape)


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of one environment.

    Attributes:
        environment: The environment.
        twin: The id of the environment with the same cases in other words.
        published: Its published cases.
    """

    environment: Environment[Any, Any, int]
    twin: str
    published: PublishedCases

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The three data sets."""
        return (
            Dataset(
                name="generated",
                doc="cases by key",
                items="cases",
                open=self._from_key,
                options=(*_OF_GENERATED, *_OF_ALL),
            ),
            Dataset(
                name="published",
                doc="the benchmark's own, see `waybench data fetch aqa`",
                download=Download.from_table(read_toml(__file__, "published.toml")),
                items="cases",
                open=self._from_published,
                options=(_DATA_DIR, *_OF_ALL),
            ),
            Dataset(name="file", doc="a file's path", items="cases", open=self._from_file, options=_OF_ALL),
        )

    def _from_key(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        key = PUBLIC_KEY if options["key"] is None else options["key"]
        level = self.published.levels[options["mode"]] if options["level"] is None else options["level"]
        style = {option.name: options[option.name] for option in self.environment.items.options}
        items: list[Item[Any]] = []
        for number in range(1, options["sets"] + 1):
            source = self.environment.items.make_source(key if number == 1 else f"{key}/{number}", level, style)
            items_of_set = self._played(source, options, options["limit"] or _CASES[options["mode"]])
            items += (
                items_of_set if number == 1 else [replace(item, id=f"{item.id}-set{number}") for item in items_of_set]
            )
        return ItemList(items)

    def _from_published(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        path = files("aqa", ("hard_" if options["mode"] == "hard" else "") + self.published.file)
        return self._of_file(path, f"aqa-{options['mode']}", options)

    def _from_file(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        path = user_path(options["source"])
        return self._of_file(path, file_key(path, "cases"), options)

    def _of_file(self, path: Path, key: str, options: Mapping[str, Any]) -> Source[Any]:
        environment = self.environment
        decode, level_of, prove = environment.items.decode, environment.items.level_of, environment.items.prove
        common = self.published.common(self.published.levels[options["mode"]])
        source = CaseFile(path, key, (environment.id, self.twin), decode, level_of, prove, common)
        size = len(source)
        return ItemList(self._played(source, options, options["limit"] or min(_CASES[options["mode"]], size), size))

    def _played(
        self, source: Source[Any], options: Mapping[str, Any], count: int, size: int | None = None
    ) -> Iterator[Item[Any]]:
        """Yield the first items of a source, or of a file of some size, with their examples."""

        def similar(item: Item[Any]) -> Source[Any]:
            style = resolve(self.environment.items.options, self.published.similar(item, options))
            return self.environment.items.make_source(f"{item.key}/examples", item.level, style)

        return with_examples(
            source, range(count), options["icl"], protocol=options["protocol"], similar=similar, size=size, noun="case"
        )
