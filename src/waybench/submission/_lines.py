"""Records as lines of a submission, without the texts that follow from the item and the replies."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from waybench.core import DataError, EpisodeRecord, Json, LiveError, Outcome, check_json, replay
from waybench.envs import registry

_MOST_VALUES = 5_000_000
_LONGEST_ID = 500  # characters of a sample's id, which verification keeps in memory
_TEXTS = "texts"  # false where the opening and the messages of turns are left out
# Paths of the submitter's machine in the message of an infrastructure error.
_PATH = re.compile(r"(?<![\w/:.])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+-]+){2,}[/\\]?")


class Line(NamedTuple):
    """A line of a submission.

    Attributes:
        sample: The sample's id.
        epoch: Its epoch, from 1.
        record: The record; without texts its opening is empty, and so are the messages of its turns.
        has_texts: Whether it has these texts.
    """

    sample: str
    epoch: int
    record: EpisodeRecord
    has_texts: bool


def write_line(sample: str, epoch: int, record: EpisodeRecord, *, confirmed: bool) -> bytes:
    """Return a record as a line.

    Args:
        sample: The sample's id.
        epoch: Its epoch, from 1.
        record: The record.
        confirmed: Whether a simulation confirms the record. Only then are its texts left out.
    """
    if record.error:
        record = replace(record, error=_PATH.sub("PATH", record.error))
    data = record.to_json()
    if confirmed:
        del data["opening"]
        data["turns"] = [{name: value for name, value in turn.items() if name != "message"} for turn in data["turns"]]
    line = {"sample": sample, "epoch": epoch, _TEXTS: not confirmed, "record": data}
    return json.dumps(line, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def read_line(line: bytes) -> Line:
    """Read a line.

    Raises:
        DataError: If it is none.
    """
    check_json(line, _MOST_VALUES)
    try:
        data: Any = json.loads(line)
        record: Any
        sample, epoch, has_texts, record = data["sample"], data["epoch"], data[_TEXTS], data["record"]
        if type(sample) is not str or type(epoch) is not int or type(has_texts) is not bool or len(data) != 4:
            raise DataError("the line is not one of a submission")
        if len(sample) > _LONGEST_ID:
            raise DataError(f"the sample's id has more than {_LONGEST_ID} characters")
        if not has_texts:
            if "opening" in record or any("message" in turn for turn in record["turns"]):
                raise DataError("the line has texts, and says that it has none")
            record = {**record, "opening": []}
        return Line(sample, epoch, EpisodeRecord.from_json(record), has_texts)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"the line is not one of a submission: {type(error).__name__}") from None


def with_texts(line: Line) -> tuple[EpisodeRecord, tuple[Outcome, ...]]:
    """Return a line's record with its texts, which a simulation makes again where they were left out.

    Returns:
        The record, and the outcomes of its turns in the simulation where these are not the recorded ones (`replay`);
        otherwise, and without a simulation, none.

    Raises:
        WaybenchError: If the simulation does not agree with the record, or is not possible.
    """
    if line.has_texts:
        return line.record, ()
    record = line.record
    try:
        again = replay(registry.load(record.env), record, without_texts=True)
    except LiveError as error:
        raise DataError(f"its texts were left out, but it cannot be simulated here: {error}") from None
    turns = tuple(
        turn._replace(message=simulated.message) for turn, simulated in zip(record.turns, again.turns, strict=True)
    )
    outcomes = tuple(turn.outcome for turn in again.turns)
    recorded = tuple(turn.outcome for turn in record.turns)
    return replace(record, opening=again.record().opening, turns=turns), outcomes if outcomes != recorded else ()


def head_of(record: EpisodeRecord) -> dict[str, Json]:
    """Return what follows from a record's item and options but for its opening, to compare it with the item made again.

    Args:
        record: The record.
    """
    return comparable_head(cast("Mapping[str, Json]", json.loads(record.head())), texts=False)


def comparable_head(head: Mapping[str, Json], *, texts: bool) -> dict[str, Json]:
    """Return a head without the version that wrote it, and without the opening unless `texts` is true."""
    left_out = {"package", "schema"} if texts else {"package", "schema", "opening"}
    return {name: value for name, value in head.items() if name not in left_out}
