"""`prefix=record:PATH`: the turns before a hand-over are the replies of a stored record of the same item."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from waybench.core._bounds import check_json
from waybench.core._errors import DataError, UsageError
from waybench.core._instance import Item
from waybench.core._prefix import PREFIX, PREFIX_REPLIES, RECORD, split_record, without_prefix
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import json_lines, user_path

if TYPE_CHECKING:
    from waybench.core._environment import Environment
    from waybench.core._game import Json

_MOST_VALUES = 5_000_000  # of a line
_MOST_BYTES = 1 << 30
_CUT_OFF = ("truncated", "overflow", "refused")


class _Records(NamedTuple):
    digest: str
    by_instance: Mapping[str, Sequence[EpisodeRecord]]


def with_recorded_prefix(
    environment: "Environment[Any, Any, Any]", item: Item[Any], options: dict[str, Any], attempt: int
) -> dict[str, Any]:
    """Return options of play with the replies of a record, if their prefix names a file of records.

    Args:
        environment: The environment.
        item: The item, of which the file has to have a record.
        options: Resolved options of play. Those that are returned have the name and digest of the file in the place of
            its path, and the replies as a further option, `prefix_replies`: they need the file no more.
        attempt: The attempt; where there is chance in a game, the record is that of the same attempt.

    Raises:
        UsageError: If the file cannot be read, or has no record of this item that fits.
    """
    text = options.get(PREFIX)
    if text is None or not text.startswith(RECORD) or PREFIX_REPLIES in options:
        return options
    path, turns = split_record(text)
    stored = _read(path)
    what = f"prefix={text[:80]}"
    record = _chosen(environment, item, options, attempt, stored, what)
    replies = [turn.reply for turn in record.turns][: len(record.turns) if turns is None else turns]
    for number, turn in enumerate(record.turns[: len(replies)], start=1):
        if turn.executed is not None or str(turn.outcome) in _CUT_OFF:
            raise UsageError(
                f"{what}: turn {number} of the record was cut off, refused or carried out by a teacher; give less"
            )
    name = f"{RECORD}{Path(path).name}#{stored.digest}{'' if turns is None else f':{turns}'}"
    return {**options, PREFIX: name, PREFIX_REPLIES: replies}


def named_prefix(text: "Json") -> "Json":
    """Return a prefix with the name and digest of its file of records in place of the path; others as they are.

    Raises:
        UsageError: If the file cannot be read.
    """
    if not isinstance(text, str) or not text.startswith(RECORD):
        return text
    path, turns = split_record(text)
    return f"{RECORD}{Path(path).name}#{_read(path).digest}{'' if turns is None else f':{turns}'}"


def _chosen(
    environment: "Environment[Any, Any, Any]",
    item: Item[Any],
    options: Mapping[str, Any],
    attempt: int,
    stored: _Records,
    what: str,
) -> EpisodeRecord:
    own = [
        record
        for record in stored.by_instance.get(item.instance.hash, ())
        if (record.env, record.env_version) == (environment.id, environment.version)
    ]
    if not own:
        raise UsageError(f"{what}: the file has no record of item {item.id} of {environment.id}; record it first")
    alike = [record for record in own if without_prefix(record.options) == without_prefix(options)]
    if not alike:
        raise UsageError(f"{what}: item {item.id} was recorded with other options of play; give the same ones")
    is_chance = not environment.play_with(options).game.facts.deterministic
    fitting = [record for record in alike if record.attempt == attempt] or ([] if is_chance else alike)
    if not fitting:
        raise UsageError(f"{what}: attempt {attempt} at item {item.id} is not in the file, and each has its own chance")
    return fitting[0]


def _read(path: str) -> _Records:
    try:
        status = user_path(path).stat()
        if status.st_size > _MOST_BYTES:
            raise UsageError(f"prefix={RECORD}{path[:120]}: more than {_MOST_BYTES >> 30} GiB; give a smaller file")
        return _parsed(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UsageError(f"prefix={RECORD}{path[:120]}: cannot be read ({reason}); give a file of records") from None


@lru_cache(maxsize=4)
def _parsed(path: str, changed: int, size: int) -> _Records:
    content = user_path(path).read_bytes()
    by_instance: dict[str, list[EpisodeRecord]] = {}
    for number, line in json_lines(BytesIO(content), _MOST_BYTES + 1, path[:120]):
        if not line or not line.strip():
            continue
        try:
            check_json(line, _MOST_VALUES)
            record = EpisodeRecord.from_json(json.loads(line.decode("utf-8-sig")))
        except (DataError, ValueError, RecursionError) as error:
            raise UsageError(
                f"prefix={RECORD}{path[:120]}: line {number} is no record ({str(error)[:100]}); give a file "
                "of JSON lines from `waybench play --record`"
            ) from None
        by_instance.setdefault(record.instance_hash, []).append(record)
    return _Records(hashlib.sha256(content).hexdigest()[:12], by_instance)
