"""Cases of the searches: by key, published, and from files, with isomorphic ones."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from waybench._package_data import read_toml
from waybench.core import (
    HARDER,
    NOTHING,
    DataError,
    DataFiles,
    Dataset,
    Download,
    Environment,
    Instance,
    Item,
    ItemList,
    Json,
    KeyedSource,
    Option,
    Source,
    Stream,
    UsageError,
    check_instance_hash,
    check_unique_ids,
    is_object,
    item_set_key_of_file,
    read_item_records,
    resolve,
    user_path,
    with_examples,
)
from waybench.envs.search import _number, _walk
from waybench.envs.search._number import LARGEST, Number
from waybench.envs.search._walk import WalkGraph
from waybench.envs.spaces._graph import SHAPES, Graph, connected_graph


def shift_range(case: Number, key: str, number: int) -> Number:
    """Return a case with its range and target moved up by 1 to the range's size, or down near the upper limit.

    All cases of a set with the same range move by the same amount.
    """
    span = case.high - case.low
    shift = 1 + Stream("isomorph", "number", key, case.low, case.high, number).below(span)
    if case.high + shift > LARGEST:
        shift = -min(shift, case.low)  # numbers below 0 are not allowed
    return Number(case.target + shift, case.low + shift, case.high + shift)


def relabel_nodes(case: WalkGraph, key: str, number: int) -> WalkGraph:
    """Return a case with other numbers for all nodes but the first, in which the player starts.

    Neighbours are shown in the same order, so a player that goes by this order visits the same nodes.
    """
    graph = case.graph
    labels = list(range(1, graph.size))
    Stream("isomorph", "walk", key, case.hash, number).shuffle(labels)
    labels.insert(0, 0)
    return WalkGraph(Graph(graph.size, tuple((labels[u], labels[v]) for u, v in graph.edges)))


I = TypeVar("I", bound=Instance)  # noqa: E741

VERSION = 1  # of the generators; part of every item's key
LOWEST = 32
LOWEST_LEVEL, HIGHEST_LEVEL = 3, 60
FEWEST_NODES = 5  # with fewer, a random walk does about as well as a search
LARGEST_FILE = 1 << 28  # bytes

NUMBER_OPTIONS = (
    Option(name="lowest", default=LOWEST, low=0, high=2**53, doc="Smallest number of the range."),
    Option(
        name="span",
        effect=HARDER,
        default=None,
        kind=int,
        low=1,
        high=2**53,
        doc="Largest minus smallest number of the range; by default 2 to the power of the level.",
    ),
)
WALK_OPTIONS = (
    Option(name="shape", default="random", choices=tuple(SHAPES), doc="Shape of the tree; random ones are uniform."),
    Option(name="cycles", default=0, low=0, high=10_000, doc="Edges added to the tree; each makes a cycle."),
)


class NumberSource(KeyedSource[Number]):
    """Uniformly drawn targets; the level is the binary logarithm of the range's size: 15 is EASY mode, 25 HARD mode.

    UsageError for a level that does not exist or does not fit the span.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise UsageError(f"level {level}: give a number of bits from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        self._span = int(options["span"] or 2**level)
        if self._span.bit_length() - 1 != level:
            raise UsageError(
                f"span={self._span} is of level {self._span.bit_length() - 1}, not {level}: use that level"
            )
        super().__init__(key, level, _number.prove)
        self._low = int(options["lowest"])

    @property
    def space(self) -> int:
        return self._span + 1

    def instance(self, index: int) -> Number:
        rng = Stream("search/number", VERSION, self.key, self.level, self._low, self._span, index)
        return Number(self._low + rng.below(self._span + 1), self._low, self._low + self._span)


class WalkSource(KeyedSource[WalkGraph]):
    """Randomly drawn graphs; the level is the number of nodes (UsageError if it does not exist)."""

    def __init__(
        self,
        key: str,
        level: int,
        options: Mapping[str, Json],
        prove: Callable[[WalkGraph], Mapping[str, Json]],
    ) -> None:
        if not FEWEST_NODES <= level <= _walk.LARGEST:
            raise UsageError(f"level {level}: give a number of nodes from {FEWEST_NODES} to {_walk.LARGEST}")
        super().__init__(key, level, prove)
        self._shape, self._cycles = str(options["shape"]), int(options["cycles"])

    def instance(self, index: int) -> WalkGraph:
        rng = Stream("search/walk", VERSION, self.key, self.level, self._shape, self._cycles, index)
        return WalkGraph(connected_graph(self._shape, self.level, self._cycles, rng))


class CaseFile(Source[I], Generic[I]):
    """Cases of a file: {"target": ...} or {"nodes": ..., "edges": ...}, in a list as published or in lines.

    The file can have cases of the environments `env_ids`. `common` is added to each case: the range of the numbers,
    which the published files leave out. Raises a UsageError if the file cannot be read, a DataError if it is invalid.
    """

    def __init__(
        self,
        path: Path,
        key: str,
        env_ids: Collection[str],
        decode: Callable[[Json], I],
        level_of: Callable[[I], int],
        prove: Callable[[I], Mapping[str, Json]],
        common: Mapping[str, Json],
    ) -> None:
        records = read_item_records(path, env_ids, "cases", LARGEST_FILE)
        self._cases: list[I] = []
        for record in records:
            instance = record.instance
            try:
                self._cases.append(decode({**common, **instance} if is_object(instance) else instance))
            except DataError as error:
                raise DataError(f"{record.where}: {error}") from None
            check_instance_hash(record, self._cases[-1])
        # As published, where a list has no ids.
        self._ids = [record.id or f"{key}-{n}" * record.is_listed or str(n) for n, record in enumerate(records)]
        check_unique_ids(records, self._ids)
        self._key, self._level_of, self._prove = key, level_of, prove

    def __len__(self) -> int:
        return len(self._cases)

    @property
    def space(self) -> int:
        return len(self._cases)

    def item(self, index: int) -> Item[I]:
        """Return the case of this number, counted from the end if negative; UsageError if there is none."""
        if not -len(self._cases) <= index < len(self._cases):
            raise UsageError(f"case {index} of {self._key}: it has only {len(self._cases)}; lower the limit")
        index %= len(self._cases)
        case = self._cases[index]
        return Item(case, self._ids[index], self._level_of(case), self._key, index, self._prove(case))


PUBLIC_KEY = "search-v1"
_N_CASES = {"easy": 400, "hard": 1500}  # in the published tables

_MODE = Option(
    name="mode",
    default="easy",
    choices=("easy", "hard"),
    doc="EASY: 32 to 32800, 8 nodes (depth first), 15 (breadth first); HARD: 32 to 33554464, 13 and 25 nodes.",
)
_COMMON_OPTIONS = (
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
_GENERATED_OPTIONS = (
    Option(name="level", default=None, kind=int, low=1, doc="Level of generated cases; by default the level of mode."),
    Option(name="key", default=None, kind=str, doc="Key of generated cases; by default the public set."),
    Option(
        name="sets",
        is_count=True,
        default=1,
        low=1,
        high=100,
        doc="Number of generated sets, to measure the spread over sets.",
    ),
)
_DATA_DIR = Option(
    name="data_dir", default=None, kind=str, doc="Folder with aqa/dfs_0.json and so on, for published cases."
)


class PublishedCases(NamedTuple):
    """The published cases of a task.

    Attributes:
        file: The file of EASY mode.
        levels: Mode -> level.
        similar: (item, parameters) -> source options with which cases similar to an item are drawn.
        common: Level -> fields of each case that the files leave out.
    """

    file: str
    levels: Mapping[str, int]
    similar: Callable[[Item[Any], Mapping[str, Any]], Mapping[str, Json]]
    common: Callable[[int], Mapping[str, Json]] = lambda level: NOTHING


def _range_options(item: Item[Any], options: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return the source options for numbers from the range of an item."""
    return {"lowest": item.instance.low, "span": item.instance.high - item.instance.low}


def _shape_options(item: Item[Any], options: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return the source options for graphs of the shape, and with the cycles, of an item."""
    return {"shape": options["shape"], "cycles": item.instance.graph.cycle_count}


def _published_range(level: int) -> Mapping[str, Json]:
    """Return the ends of the range of a level, which the published files leave out."""
    return {"min": 32, "max": 32 + 2**level}


NUMBERS = PublishedCases("binary_search_0.json", {"easy": 15, "hard": 25}, _range_options, _published_range)
DEPTH = PublishedCases("dfs_0.json", {"easy": 8, "hard": 13}, _shape_options)
BREADTH = PublishedCases("bfs_0.json", {"easy": 15, "hard": 25}, _shape_options)


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of one environment; `twin` is the id of the environment with the same cases in another wording."""

    environment: Environment[Any, Any, int]
    twin: str
    published: PublishedCases

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The three data sets: generated cases, published ones, and those of a file."""
        return (
            Dataset(
                name="generated",
                doc="cases by key",
                items="cases",
                open=self._open_generated,
                options=(*_GENERATED_OPTIONS, *_COMMON_OPTIONS),
            ),
            Dataset(
                name="published",
                doc="the benchmark's own, see `waybench data fetch aqa`",
                download=Download.from_table(read_toml(__file__, "published.toml")),
                items="cases",
                open=self._open_published,
                options=(_DATA_DIR, *_COMMON_OPTIONS),
            ),
            Dataset(
                name="file", doc="a file's path", items="cases", open=self._open_user_file, options=_COMMON_OPTIONS
            ),
        )

    def _open_generated(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return cases generated by key, in one or several sets."""
        key = PUBLIC_KEY if options["key"] is None else options["key"]
        level = self.published.levels[options["mode"]] if options["level"] is None else options["level"]
        source_options = {option.name: options[option.name] for option in self.environment.items.options}
        n_cases = options["limit"] or _N_CASES[options["mode"]]
        items: list[Item[Any]] = []
        for number in range(1, options["sets"] + 1):
            set_key, id_suffix = (key, "") if number == 1 else (f"{key}/{number}", f"-set{number}")
            source = self.environment.items.make_source(set_key, level, source_options)
            for item in self._items_with_examples(source, options, n_cases):
                items.append(replace(item, id=f"{item.id}{id_suffix}"))
        return ItemList(items)

    def _open_published(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return the published cases of a mode, with their examples."""
        path = files("aqa", ("hard_" if options["mode"] == "hard" else "") + self.published.file)
        return self._open_cases(path, f"aqa-{options['mode']}", options)

    def _open_user_file(self, options: Mapping[str, Any], files: DataFiles) -> Source[Any]:
        """Return the cases of the user's file, with their examples."""
        path = user_path(options["source"])
        return self._open_cases(path, item_set_key_of_file(path, "cases"), options)

    def _open_cases(self, path: Path, key: str, options: Mapping[str, Any]) -> Source[Any]:
        """Return the cases of a file at a path, with their examples."""
        environment = self.environment
        decode, level_of, prove = environment.items.decode, environment.items.level_of, environment.items.prove
        common = self.published.common(self.published.levels[options["mode"]])
        source = CaseFile(path, key, (environment.id, self.twin), decode, level_of, prove, common)
        size = len(source)
        n_cases = options["limit"] or min(_N_CASES[options["mode"]], size)
        return ItemList(self._items_with_examples(source, options, n_cases, size))

    def _items_with_examples(
        self, source: Source[Any], options: Mapping[str, Any], count: int, size: int | None = None
    ) -> Iterator[Item[Any]]:
        """Yield the first items of a source, or of a file with `size` cases, with their examples."""

        def similar_cases(item: Item[Any]) -> Source[Any]:
            """Return the source of an item's examples."""
            source_options = resolve(self.environment.items.options, self.published.similar(item, options))
            return self.environment.items.make_source(f"{item.key}/examples", item.level, source_options)

        return with_examples(
            source,
            range(count),
            options["icl"],
            protocol=options["protocol"],
            source_of_similar=similar_cases,
            size=size,
            noun="case",
        )
