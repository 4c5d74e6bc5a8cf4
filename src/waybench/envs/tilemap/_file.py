"""Maps of a file in the published form."""

from collections.abc import Iterator
from pathlib import Path

from waybench.core import (
    DataError,
    Item,
    ItemRecord,
    Source,
    UsageError,
    check_hash,
    check_ids,
    is_object,
    plural,
    read_records,
)
from waybench.envs.tilemap._instance import PLAYER, TileMap, decode, outside
from waybench.envs.tilemap._proof import prove

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
