"""Journals: each reply is on disk before the next request is sent.

The engine writes a sample to its log when the sample has ended. A journal holds the turns of those that have not: when
the same command runs again, it answers them from the journal and asks the model from there on.
"""

import hashlib
import json
import os
import threading
import zlib
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.model import ModelOutput
from pydantic import ValidationError

from waybench._version import __version__
from waybench.core import Json

FORM = 1  # raised when older versions cannot read what is written
SYNC_EVERY = 0.2  # seconds: a kill loses nothing, a power cut what these held
CUT_OFF = "the last line was cut off and is ignored"
_Key = tuple[str, int]  # a sample's id and epoch


class _LineLocation(NamedTuple):
    """Offset and length of a line in bytes, and the digest of what the player was shown before it replied."""

    offset: int
    length: int
    history_digest: str


class JournalError(OSError):
    """A journal cannot be written, so no further request may be sent."""


@dataclass(slots=True)
class _SampleLines:
    """A sample's turns in a journal.

    Attributes:
        lines: The line of each turn.
        probes: Number of a turn and name of a belief -> the line of the answer to the belief probe before the turn.
        uuid: The sample's UUID if it has ended; None while it goes on.
    """

    lines: list[_LineLocation] = field(default_factory=list[_LineLocation])
    probes: dict[tuple[int, str], _LineLocation] = field(default_factory=dict[tuple[int, str], _LineLocation])
    uuid: str | None = None


class Journal:
    """The turns of one task with one model and one choice of settings.

    A file of lines, each a checksum and a JSON object: first the head, then a turn or the end of a sample each. It is
    created with the first turn.

    Args:
        settings: Everything that replies depend on. The file has only their digest, for they may hold secrets.
        syncer: Brings what was written from the system's memory to the disk.
        warn: Receives a line about what of the file is ignored.
    """

    def __init__(self, path: Path, settings: Json, syncer: "Syncer", warn: Callable[[str], None]) -> None:
        self.path = path
        self._head = {"form": FORM, "waybench": __version__, "settings": json_digest(settings)}
        self._syncer = syncer
        self._warn = warn
        self._samples: dict[_Key, _SampleLines] = {}
        self._size = 0  # up to the last whole line
        self._file: int | None = None
        if path.exists():
            self._load_file()

    def read_output(
        self, sample: _Key, turn: int, history_digests: Container[str], probe: str | None = None
    ) -> ModelOutput | None:
        """Return the stored output of a turn, or the stored answer to a belief probe before it; None if there is none.

        `turn` counts from 0. An output is not returned if the digest of what the player was shown is not in
        `history_digests`.
        """
        turns = self._samples.get(sample, _SampleLines())
        if probe is not None:
            line = turns.probes.get((turn, probe))
        else:
            line = turns.lines[turn] if turn < len(turns.lines) else None
        if line is None or line.history_digest not in history_digests:
            return None
        with self.path.open("rb") as file:
            file.seek(line.offset)
            fields = _decode_line(file.read(line.length))
        try:
            return None if fields is None else ModelOutput.model_validate(fields["output"])
        except (KeyError, ValidationError):
            return None

    def write_output(
        self, sample: _Key, turn: int, history_digest: str, output: ModelOutput, probe: str | None = None
    ) -> None:
        """Append the output of a turn, replacing later turns of the sample, or the answer to a belief probe before it.

        Raises:
            JournalError: If that cannot be done.
        """
        sample_id, epoch = sample
        position: dict[str, Json] = {"turn": turn} if probe is None else {"probe": probe, "before": turn}
        # The completion is the message's text.
        content = output.model_dump(mode="json", exclude_none=True, exclude={"completion"})
        offset, length = self._append_line(
            {"id": sample_id, "epoch": epoch, **position, "seen": history_digest, "output": content}
        )
        self._store_location(sample, turn, _LineLocation(offset, length, history_digest), probe)

    def count_unlogged_turns(self, logged_uuids: Container[str]) -> list[int]:
        """Return the number of turns of each sample that has not ended or whose UUID is not among those in logs."""
        return [
            len(turns.lines) for turns in self._samples.values() if turns.uuid is None or turns.uuid not in logged_uuids
        ]

    def raise_if_failed(self) -> None:
        """Raise a `JournalError` if an earlier write failed."""
        self._syncer.raise_if_failed()

    def end_sample(self, sample: _Key, uuid: str) -> None:
        """Append that a sample has ended, or raise a `JournalError`; its turns stay until the log has the sample."""
        if sample in self._samples:
            sample_id, epoch = sample
            self._append_line({"id": sample_id, "epoch": epoch, "end": uuid})
            self._samples[sample].uuid = uuid

    def drop_logged_samples(self, logged_uuids: set[str]) -> None:
        """Rewrite the file without the ended samples that logs have, if any; remove it if no sample is left."""
        remaining = [turns for turns in self._samples.values() if turns.uuid not in logged_uuids]
        if not remaining:
            if self._samples:
                self.remove_file()
            return
        if len(remaining) == len(self._samples):
            return
        self.close()
        new_path = self.path.with_suffix(".new")
        with suppress(OSError):  # the old file stays: turns that are in the log, too, do no harm
            with self.path.open("rb") as old, new_path.open("wb") as new:
                new.write(_encode_line(self._head))
                for turns in remaining:
                    for line in (*turns.lines, *turns.probes.values()):
                        old.seek(line.offset)
                        new.write(old.read(line.length))
                new.flush()
                os.fsync(new.fileno())
            new_path.replace(self.path)
        new_path.unlink(missing_ok=True)

    def remove_file(self) -> None:
        """Close and remove the file, if there is one."""
        self.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Sync and close the file."""
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def _load_file(self) -> None:
        """Index all lines of the file; a damaged or foreign file is set aside with a warning."""
        n_damaged = 0
        with self.path.open("rb") as file:
            first_line = file.readline()
            if not first_line.endswith(b"\n"):  # the disk was full, or the run was killed, before anything was kept
                if first_line:
                    self._warn(f"{self.path}: {CUT_OFF}")
                return
            head = _decode_line(first_line)
            if head != self._head:
                self._set_aside_file(head)
                return
            self._size = file.tell()
            for line in file:
                if not line.endswith(b"\n"):
                    self._warn(f"{self.path}: {CUT_OFF}")
                    break
                fields = _decode_line(line)
                n_damaged += fields is None or not self._index_line(fields, self._size, len(line))
                self._size += len(line)
        if n_damaged:
            self._warn(f"{self.path}: {n_damaged} damaged lines are ignored; their requests are repeated")

    def _set_aside_file(self, head: Mapping[str, Any] | None) -> None:
        """Rename a file that does not belong to this run, and warn why; `head` is its first line, None if damaged."""
        if head is None:
            reason = "it is damaged"
        elif head.get("form") != FORM or head.get("waybench") != __version__:
            reason = f"waybench {head.get('waybench')} wrote it, but this is {__version__}"
        else:
            reason = "its settings differ"
        ignored_path = self.path.with_suffix(".ignored")
        self.path.replace(ignored_path)
        self._warn(f"{self.path}: ignored, because {reason}; it is renamed to {ignored_path.name}")

    def _index_line(self, data: Mapping[str, Any], offset: int, length: int) -> bool:
        """Index a line, at an offset and of a length in bytes, by sample and turn; return whether it is valid."""
        match data:
            case {"id": str(name), "epoch": int(epoch), "end": str(uuid)}:
                self._samples.setdefault((name, epoch), _SampleLines()).uuid = uuid
                return True
            case {"id": str(name), "epoch": int(epoch), "turn": int(turn), "seen": str(seen)}:
                return self._store_location((name, epoch), turn, _LineLocation(offset, length, seen))
            case {"id": str(name), "epoch": int(epoch), "probe": str(probe), "before": int(turn), "seen": str(seen)}:
                return self._store_location((name, epoch), turn, _LineLocation(offset, length, seen), probe)
            case _:
                return False

    def _store_location(self, sample: _Key, turn: int, location: _LineLocation, probe: str | None = None) -> bool:
        """Store where the line of a turn or probe is; return False if an earlier turn is missing."""
        turns = self._samples.setdefault(sample, _SampleLines())
        if probe is not None:
            turns.probes[turn, probe] = location
        elif 0 <= turn <= len(turns.lines):
            turns.lines[turn:] = [location]
        else:
            return False  # a line before it is damaged
        turns.uuid = None
        return True

    def _append_line(self, data: Mapping[str, Json]) -> tuple[int, int]:
        """Append a JSON line; return its offset and length in bytes."""
        self._syncer.raise_if_failed()
        line = _encode_line(data)
        try:
            if self._file is None:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                os.ftruncate(self._file, self._size)  # without a line that was cut off
            if not self._size:
                self._write_all_bytes(self._file, _encode_line(self._head))
            offset = self._size
            self._write_all_bytes(self._file, line)
        except OSError as error:
            if self._file is not None:
                with suppress(OSError):
                    os.ftruncate(self._file, self._size)
            raise self._syncer.remember_failure(error) from error
        self._syncer.schedule_sync(self._file)
        return offset, len(line)

    def _write_all_bytes(self, file: int, line: bytes) -> None:
        """Write a line, in several writes if the system takes only a part."""
        remaining = memoryview(line)
        while remaining:  # a disk that fills up takes a part, and refuses the next
            remaining = remaining[os.write(file, remaining) :]
        self._size += len(line)


class Syncer:
    """Syncs the files of a run to the disk in one thread.

    It calls `on_failure` once if something cannot be written, for from then on nothing more may be paid for.
    """

    def __init__(self, on_failure: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        self._on_failure = on_failure
        self._files: set[int] = set()
        self._lock = threading.Lock()
        self._has_files, self._is_closed = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def raise_if_failed(self) -> None:
        """Raise a `JournalError` if an earlier write failed."""
        if self.failure is not None:
            raise JournalError(self.failure.errno, self.failure.strerror)

    def remember_failure(self, error: OSError) -> JournalError:
        """Store a write error, call `on_failure` for the first one, and return the error to raise."""
        if self.failure is None:
            self.failure = error
            self._on_failure()
        return JournalError(error.errno, error.strerror)

    def schedule_sync(self, file: int) -> None:
        """Schedule a file descriptor for syncing; it must stay open until `close`."""
        with self._lock:
            self._files.add(file)
        self._has_files.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._sync_until_closed, name="waybench-journal", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread and wait for it."""
        self._is_closed.set()
        self._has_files.set()
        if self._thread is not None:
            self._thread.join()

    def _sync_until_closed(self) -> None:
        """Sync the scheduled files every 0.2 s."""
        while not self._is_closed.is_set():
            self._has_files.wait()
            self._has_files.clear()
            with self._lock:
                files, self._files = self._files, set()
            for file in files:
                try:
                    os.fsync(file)
                except OSError as error:
                    self.remember_failure(error)
            self._is_closed.wait(SYNC_EVERY)


def json_digest(value: Json) -> str:
    """Return the first 32 hexadecimal digits of the SHA-256 of a JSON value; other values count as their text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _encode_line(data: Mapping[str, Json]) -> bytes:
    """Return an object as a line: checksum, blank, JSON."""
    text = json.dumps(data, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode_line(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line; None if the line is damaged."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]
