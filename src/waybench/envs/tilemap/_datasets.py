"""Data sets of the tasks: maps by key, the published ones and those of a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waybench._package_data import read_toml
from waybench.core import DataFiles, Dataset, Download, ItemList, Option, Source, UsageError, file_key
from waybench.envs.tilemap._file import MapFile, Prove
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
        doc="Number of maps; by default 150 generated maps, or all maps of a file.",
    ),
    Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per map (repeats of the whole benchmark)."),
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


def datasets(prove: Prove) -> tuple[Dataset, ...]:
    """Return the three data sets.

    Args:
        prove: Map -> what is known of it.
    """

    def generated(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
        key = PUBLIC_KEY if options["key"] is None else options["key"]
        level = _LEVEL if options["level"] is None else options["level"]
        style = {option.name: options[option.name] for option in WORLD_OPTIONS}
        return ItemList(WorldSource(key, level, style, prove).head(options["limit"] or _MAPS))

    def published(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
        key = f"gtb-without-{options['skip']}" if options["skip"] else "gtb"
        return _limited(MapFile(files("gtb", _FILE), key, prove, published=True), options)

    def from_file(options: Mapping[str, Any], files: DataFiles) -> Source[TileMap]:
        path = Path(options["source"])
        return _limited(MapFile(path, file_key(path, "maps"), prove), options)

    def dataset(name: str, doc: str, open_: Any, *options: Option) -> Dataset:
        download = Download.from_table(read_toml(__file__, "published.toml")) if name == "published" else None
        return Dataset(name=name, doc=doc, items="maps", open=open_, options=(*options, *_OF_ALL), download=download)

    return (
        dataset("generated", "maps by key", generated, *_OF_GENERATED),
        dataset("published", "the benchmark's own, see `waybench data fetch gtb`", published, _DATA_DIR, _SKIP),
        dataset("file", "a file's path", from_file, _SKIP),
    )


def _limited(source: MapFile, options: Mapping[str, Any]) -> ItemList[TileMap]:
    numbers = range(options["skip"], len(source))
    items = [source.item(index) for index in numbers[: options["limit"]]]
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
