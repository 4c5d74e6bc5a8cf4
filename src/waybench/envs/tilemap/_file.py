"""Maps of a file in the published form."""

import json
from collections import Counter
from pathlib import Path

from waybench.core import DataError, Item, Json, Source, UsageError, is_array, is_object, plural
from waybench.envs.tilemap._instance import TileMap, decode, outside
from waybench.envs.tilemap._proof import prove

LARGEST_FILE = 1 << 30  # bytes


class MapFile(Source[TileMap]):
    """The records of a JSON list, or of JSON lines with one record or one line of `waybench generate` each.

    Args:
        path: The file.
        key: The set's name.
        published: Whether it is the published file, of which four objectives are outside of their maps; in any other
            that is an error.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is no such list; the message names the record and the field.
    """

    def __init__(self, path: Path, key: str, *, published: bool = False) -> None:
        self._maps: list[TileMap] = []
        self._names: list[str] = []
        for number, (place, record) in enumerate(_records(path)):
            name = record.get("experiment_id") if is_object(record) else None
            position = f"{path}: {place}" + (f" ({name[:60]!r})" if isinstance(name, str) else "")
            try:
                case = decode(record)
            except DataError as error:
                raise DataError(f"{position}: {error}") from None
            if not published and (missing := outside(case)):
                objective = case.objectives[missing[0]]
                raise DataError(
                    f"{position}: objectives: {objective.name[:40]!r} is at row {objective.row}, column "
                    f"{objective.column}, outside the map of {plural(case.height, 'row')} and "
                    f"{plural(case.width, 'column')}"
                )
            self._maps.append(case)
            self._names.append(case.id or str(number))
        if not self._maps:
            raise DataError(f"{path}: the file has no records")
        twice = next((name for name, times in Counter(self._names).items() if times > 1), None)
        if twice is not None:
            raise DataError(f"{path}: experiment_id: {twice[:60]!r} occurs twice")
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


def _records(path: Path) -> list[tuple[str, Json]]:
    """Return the records of a file, each with where it is: "record 0" of a list, or "line 1"."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path}: larger than {LARGEST_FILE >> 20} MiB, so it is not a file of maps")
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give a file of maps") from None
    try:
        if text.lstrip()[:1] == b"[":
            data: Json = json.loads(text)
            return [(f"record {number}", record) for number, record in enumerate(data if is_array(data) else [])]
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not JSON; give a list of records, or one record per line") from None
    records: list[tuple[str, Json]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                record: Json = json.loads(line)
            except (ValueError, RecursionError):
                raise DataError(
                    f"{path}: line {number}: not JSON; give a list of records, or one record per line"
                ) from None
            records.append(
                (f"line {number}", record["instance"] if is_object(record) and "instance" in record else record)
            )
    return records
