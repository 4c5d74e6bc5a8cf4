"""Maps of a file in the published form."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from waybench.core import DataError, Item, Json, Source, UsageError, is_array, is_object, plural
from waybench.envs.tilemap._instance import TileMap, decode, outside

LARGEST_FILE = 1 << 30  # bytes

Prove = Callable[[TileMap], Mapping[str, Json]]


class MapFile(Source[TileMap]):
    """The records of a JSON list, or of JSON lines with one record or one line of `waybench generate` each.

    Args:
        path: The file.
        key: The set's name.
        prove: Map -> what is known of it.
        published: Whether it is the published file, of which four objectives are outside of their maps; in any other
            that is an error.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is no such list; the message names the record and the field.
    """

    def __init__(self, path: Path, key: str, prove: Prove, *, published: bool = False) -> None:
        self._maps: list[TileMap] = []
        self._names: list[str] = []
        for number, record in enumerate(_records(path)):
            name = record.get("experiment_id") if is_object(record) else None
            position = f"{path}: record {number}" + (f" ({name[:60]!r})" if isinstance(name, str) else "")
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
        self._key, self._prove = key, prove

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
        return Item(case, self._names[index], case.level, self._key, index, self._prove(case))


def _records(path: Path) -> list[Json]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path}: larger than {LARGEST_FILE >> 20} MiB, so it is not a file of maps")
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give a file of maps") from None
    try:
        if text.lstrip()[:1] == b"[":
            data: Json = json.loads(text)
            return data if is_array(data) else []
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not JSON; give a list of records, or one record per line") from None
    return [line["instance"] if is_object(line) and "instance" in line else line for line in lines]
