"""Sets of tile maps: by key, published, and from files."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from waybench._package_data import read_toml
from waybench.core import (
    DataError,
    DataFiles,
    Dataset,
    Download,
    Item,
    ItemList,
    ItemRecord,
    Json,
    Option,
    Source,
    UsageError,
    check_hash,
    check_ids,
    file_key,
    is_object,
    plural,
    read_records,
    user_path,
    with_examples,
)
from waybench.envs.tilemap._instance import PLAYER, TileMap, decode, outside, prove
from waybench.envs.tilemap.worlds import WORLD_OPTIONS, WorldSource

_ENVIRONMENTS = ("tilemap/gtb", "tilemap/state", "tilemap/stepwise")
_MOST_CELLS = 3  # that an error names


class MapFile(Source[TileMap]):
    """The records of a JSON list, or of JSON lines with one record or one line of `waybench generate` each.

    Args:
        path: The file.
        key: The set's name.
        published: Whether it is the published file. In any other a record that contradicts itself is an error, such as
            an objective outside its map or beside its tile; the published ones have 4 and 69 of these.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is no such list; the message names the record and the field.
    """

    def __init__(self, path: Path, key: str, *, published: bool = False) -> None:
        self._maps: list[TileMap] = []
        records = read_records(path, _ENVIRONMENTS, "maps")
        for record in records:
            name = record.instance.get("experiment_id") if is_object(record.instance) else None
            position = record.where + (f" ({name[:60]!r})" if isinstance(name, str) else "")
            try:
                case = decode(record.instance)
            except DataError as error:
                raise DataError(f"{position}: {error}") from None
            check_hash(record, case)
            problem = None if published else next(_contradictions(record, case), None)
            if problem is not None:
                raise DataError(f"{position}: {problem}")
            self._maps.append(case)
        self._names = [
            record.id or case.id or str(number)
            for number, (record, case) in enumerate(zip(records, self._maps, strict=True))
        ]
        check_ids(records, self._names, "id" if any(record.id for record in records) else "experiment_id")
        self._key = key

    def __len__(self) -> int:
        """Return the number of maps."""
        return len(self._maps)

    @property
    def space(self) -> int:
        """The number of maps."""
        return len(self._maps)

    def item(self, index: int) -> Item[TileMap]:
        """Return the map of this number.

        Raises:
            UsageError: If there is none.
        """
        if not 0 <= index < len(self._maps):
            raise UsageError(f"map {index} of {self._key}: it has only {len(self._maps)}; lower the limit")
        case = self._maps[index]
        return Item(case, self._names[index], case.level, self._key, index, prove(case))


def _contradictions(record: ItemRecord, case: TileMap) -> Iterator[str]:
    """Yield what in a record contradicts its map."""
    for name, size, noun in (("width", case.width, "column"), ("height", case.height, "row")):
        if record.instance.get(name, size) not in (size, str(size)):
            yield f"{name}: it is {str(record.instance[name])[:40]}, but the map has {plural(size, noun)}"
    missing = set(outside(case))
    for number, (name, tile, row, column) in enumerate(case.objectives):
        called = f"objectives: {name[:40]!r}"
        if number in missing:
            yield (
                f"{called} is at row {row}, column {column}, outside the map of {plural(case.height, 'row')} and "
                f"{plural(case.width, 'column')}"
            )
        # A line with a hash is as `waybench generate` wrote it, perhaps of a published map.
        elif record.hash is None and (there := case.rows[row][column]) != tile:
            player = ", where the player starts" if there == PLAYER else ""
            yield f"{called}: the map has {there!r} at row {row}, column {column}{player}, and {_cells(case, tile)}"


def _cells(case: TileMap, tile: str) -> str:
    """Say where a tile is on a map."""
    cells = [(row, column) for row, text in enumerate(case.rows) for column, sign in enumerate(text) if sign == tile]
    if not cells:
        return f"no {tile[:20]!r} anywhere"
    listed = " and ".join(f"row {row}, column {column}" for row, column in cells[:_MOST_CELLS])
    return f"{tile!r} at {listed}" + (" and elsewhere" if len(cells) > _MOST_CELLS else "")


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
