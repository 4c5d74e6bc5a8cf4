"""Data sets of the tasks: maps by key, the published ones and those of a file."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from waybench._package_data import read_toml
from waybench.core import (
    DataFiles,
    Dataset,
    Download,
    Item,
    ItemList,
    Json,
    Option,
    Source,
    UsageError,
    file_key,
    user_path,
    with_examples,
)
from waybench.envs.tilemap._file import MapFile
from waybench.envs.tilemap._instance import TileMap
from waybench.envs.tilemap.worlds import WORLD_OPTIONS, WorldSource

PUBLIC_KEY = "tilemap-v1"
_FILE = "traversal_benchmark.json"
_MAPS = 150  # generated ones, as many as the published description counts
_LEVEL = 3  # 280 to 559 tiles, as most of the published maps have

_OF_ALL = (
    Option(
        name="limit",
        default=None,
        kind=int,
        low=1,
        high=1_000_000,
        doc="Number of maps; by default 150 generated maps, or all maps of a file.",
    ),
    Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per map (repeats of the whole benchmark)."),
    Option(name="icl", default=0, low=0, high=100, doc="Number of in-context examples: other maps, solved."),
)
_OF_GENERATED = (
    Option(name="key", default=None, kind=str, doc="Key of generated maps; by default the public set."),
    Option(name="level", default=None, kind=int, low=1, high=9, doc="Level of generated maps; by default 3."),
)
_SKIP = Option(
    name="skip",
    default=0,
    low=0,
    high=10**6,
    doc="Number of maps to skip at the beginning of a file; the published program skips 2 of its 151.",
)
_DATA_DIR = Option(
    name="data_dir", default=None, kind=str, doc="Folder with gtb/traversal_benchmark.json, for published maps."
)


def _generated(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
    key = PUBLIC_KEY if options["key"] is None else options["key"]
    level = _LEVEL if options["level"] is None else options["level"]
    source = WorldSource(key, level, _style(options))
    return ItemList(_with_examples(source, range(options["limit"] or _MAPS), options))


def _published(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
    key = f"gtb-without-{options['skip']}" if options["skip"] else "gtb"
    return _limited(MapFile(files("gtb", _FILE), key, published=True), options)


def _from_file(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
    path = user_path(options["source"])
    return _limited(MapFile(path, file_key(path, "maps")), options)


def _style(options: Mapping[str, Any]) -> dict[str, Json]:
    return {option.name: options[option.name] for option in WORLD_OPTIONS}


def _with_examples(
    source: Source[TileMap], numbers: Iterable[int], options: Mapping[str, Any], size: int | None = None
) -> Iterator[Item[TileMap]]:
    """Yield maps of a source, each with other maps that are shown solved: in "sound" generated ones of its size."""

    def similar(item: Item[TileMap]) -> Source[TileMap]:
        return WorldSource(f"{item.key}/examples", item.level, _style(options))

    return with_examples(
        source, numbers, options["icl"], protocol=options["protocol"], similar=similar, size=size, noun="map"
    )


def _limited(source: MapFile, options: Mapping[str, Any]) -> ItemList[TileMap]:
    numbers = range(options["skip"], len(source))
    items = list(_with_examples(source, numbers[: options["limit"]], options, len(source)))
    if not items:
        raise UsageError(f"skip={options['skip']}: the number of maps is {len(source)}; lower skip")
    # "sound" leaves out objectives that cannot be reached; a map without any other has nothing to play.
    playable = [
        item
        for item in items
        if options["protocol"] == "paper" or len(item.proof["unreachable"]) < len(item.instance.objectives)
    ]
    if not playable:
        raise UsageError("no objective of these maps can be reached: choose other maps")
    return ItemList(playable)


DATASETS = (
    Dataset(name="generated", doc="maps by key", items="maps", open=_generated, options=(*_OF_GENERATED, *_OF_ALL)),
    Dataset(
        name="published",
        doc="the benchmark's own, see `waybench data fetch gtb`",
        items="maps",
        open=_published,
        options=(_DATA_DIR, _SKIP, *_OF_ALL),
        download=Download.from_table(read_toml(__file__, "published.toml")),
    ),
    Dataset(name="file", doc="a file's path", items="maps", open=_from_file, options=(_SKIP, *_OF_ALL)),
)
