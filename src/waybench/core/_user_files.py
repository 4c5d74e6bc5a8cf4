"""Files that users name: their paths, encodings and line ends, the JSON values in them, and folders to write to."""

import codecs
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from waybench.core._errors import DataError, UsageError
from waybench.core._game import Json

# UTF-32 comes before UTF-16, since the mark of UTF-16 is the beginning of that of UTF-32.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COMPRESSED_STARTS = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_DOS_END = "\x1a"  # old editors end a file with it
_BLANKS = re.compile("[ \t\n\r\ufeff]*")  # files that were joined can have byte order marks between their lines
_LINE_BREAK = re.compile(b"\r\n|\r|\n")
_JSON_SIGN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)  # a string, a bracket or a comma
_BLOCK_BYTES = 1 << 20
# Files that `waybench run` writes into the folder of its logs, for programs that look at the run.
LOCK_FILE = ".waybench-lock"  # an SQLite database that the process holds exclusively
PROGRESS_FILE = ".waybench-progress.json"


def user_path(name: str | os.PathLike[str]) -> Path:
    """Return the path that a user named, with "~" expanded."""
    path = Path(name)
    try:
        return path.expanduser()
    except RuntimeError:  # there is no such user
        return path


def open_private_file(path: Path, mode: str, *, encoding: str | None = None) -> IO[Any]:
    """Open a file to write to it; a new one is readable by its owner only."""
    return open(path, mode, encoding=encoding, opener=lambda name, flags: os.open(name, flags, 0o600))


def read_text_file(path: Path, max_bytes: int, what: str) -> str:
    """Return a user's text file, in UTF-8 or UTF-16, with line feeds as line ends.

    The path is one of `user_path`; `what` says what the file should be, for messages: "a file of maps".

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is larger than `max_bytes`, or no such text; the message names the line.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UsageError(f"cannot read {path}: {reason}; give {what}") from None
    if len(content) > max_bytes:
        raise DataError(f"{path}: larger than {max_bytes >> 20} MiB, so it is not {what}")
    return decode_text(content, str(path))


def decode_text(content: bytes, name: str) -> str:
    """Return the text of a user's file from its bytes; see `read_text_file`.

    Raises:
        DataError: If it is no such text.
    """
    _check_uncompressed(content, name)
    mark, encoding = _byte_order_mark_and_encoding(content)
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise DataError(f"{name} is neither UTF-8 nor whole {encoding[:6].upper()}: save it as UTF-8") from None
        position = len(mark) + error.start
        line = len(_LINE_BREAK.findall(content[:position])) + 1
        where = f"byte 0x{content[position]:02x} at position {position}, line {line}"
        raise DataError(f"{name} is not UTF-8 ({where}): save it as UTF-8") from None
    # A second byte order mark can be a character of the text: programs that do not know marks save it so.
    text = text.lstrip("\ufeff").removesuffix(_DOS_END).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}: line {line}: a NUL character, so this is not a text; save it as UTF-8")
    return text


def _byte_order_mark_and_encoding(content: bytes) -> tuple[bytes, str]:
    """Return the byte order mark of a text, b"" without one, and the name of its encoding."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return mark, encoding
    match [byte > 0 for byte in content[:4]]:  # ASCII in UTF-16 has zeros in between
        case [True, False, True, False]:
            return b"", "utf-16-le"
        case [False, True, False, True]:
            return b"", "utf-16-be"
        case _:
            return b"", "utf-8"


def _check_uncompressed(content: bytes, name: str) -> None:
    """Raise a DataError if content is that of a compressed file."""
    for start, kind in _COMPRESSED_STARTS.items():
        if content.startswith(start):
            raise DataError(f"{name} is a {kind} file: decompress it first")


def read_json_file(path: Path, max_bytes: int, what: str) -> Json:
    """Return the one JSON value in a user's file.

    Raises:
        UsageError: As `read_text_file`.
        DataError: As `read_text_file`, and if it is no JSON value, or has a name twice in one object.
    """
    values = [value for _, value in numbered_json_values(read_text_file(path, max_bytes, what), str(path), what)]
    if len(values) != 1:
        raise DataError(f"{path}: not JSON, since it has {len(values)} values; give {what}")
    return values[0]


def numbered_json_values(text: str, name: str, what: str) -> Iterator[tuple[int, Json]]:
    """Yield (number of its first line, value) for the JSON values of a text, of which each can take several lines.

    The text has line feeds as line ends. `name` is the file's name in messages, and `what` says what it should be.

    Raises:
        DataError: If the text is no JSON, or has a name twice in one object.
    """
    decoder = json.JSONDecoder(parse_constant=_raise_for_constant, object_pairs_hook=object_without_duplicates)
    line, previous_start, end = 1, 0, 0
    while (start := _skip_blanks(text, end)) < len(text):
        line, previous_start = line + text.count("\n", previous_start, start), start
        try:
            value, end = decoder.raw_decode(text, start)
            if text.startswith(",", _skip_blanks(text, end)):
                raise DataError("not JSON: a comma follows the value; give lines without commas between, or a list")
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg} at line {error.lineno}, column {error.colno}); give {what}"
        except DataError as error:
            reason = str(error)
        except ValueError:  # more digits than Python converts
            reason = "not JSON that can be read (a number has too many digits)"
        except RecursionError:
            reason = "not JSON that can be read (too many nested brackets)"
        else:
            yield line, value
            continue
        raise DataError(f"{name}: line {line}: {reason}") from None


def _skip_blanks(text: str, start: int) -> int:
    """Return the index of the first character from `start` that is no blank; the text's length if there is none."""
    blanks = _BLANKS.match(text, start)
    return start if blanks is None else blanks.end()


def numbered_json_lines(stream: IO[bytes], max_bytes: int, name: str) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number from 1, JSON text) for the lines of a user's file, or for the elements of a list.

    Lines are read one at a time, and are not parsed. A file that is a list, has objects of several lines, or is in
    UTF-16 is read whole.

    `max_bytes` is the largest size of a line, and of a file that is read whole; None is yielded in place of a larger
    one. `name` is the file's name in messages.

    Raises:
        DataError: If the file is compressed, or is read whole and is no text.
    """
    number, is_first = 0, True
    while line := stream.readline(max_bytes):
        start = line.removeprefix(codecs.BOM_UTF8).strip()
        if is_first and start:
            is_first = False
            _check_uncompressed(line, name)
            is_utf16 = _byte_order_mark_and_encoding(line)[1] != "utf-8"
            if is_utf16 or start == b"{" or start.startswith(b"["):
                content = line + stream.read(max_bytes - len(line) + 1)
                if len(content) > max_bytes:
                    yield 1, None
                else:
                    for part_number, part in _numbered_json_parts(decode_text(content, name)):
                        yield part_number, part.encode()
                return
        if len(line) == max_bytes and not line.endswith(b"\n"):
            number += 1
            while (block := stream.readline(_BLOCK_BYTES)) and not block.endswith(b"\n"):
                pass  # skip the rest of the line
            yield number, None
            continue
        if line == _DOS_END.encode():
            return
        # `readline` divides at line feeds alone.
        for part in _LINE_BREAK.split(line.rstrip(b"\r\n")) if b"\r" in line else [line]:
            number += 1
            yield number, part


def _numbered_json_parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, text) for the elements of a list, for objects of several lines, or else for lines.

    Parts that are no JSON are yielded, too, so that their parser reports them.
    """
    first_line = text.lstrip().partition("\n")[0].rstrip()
    is_list = first_line.startswith("[")
    if not is_list and first_line != "{":
        yield from enumerate(text.split("\n"), start=1)
        return
    number, depth, start = 1, 0, text.index("[") + 1 if is_list else 0
    for match in _JSON_SIGN.finditer(text, start):
        sign, end = match[0], match.end()
        is_end = not depth and is_list and sign in (",", "]")  # of an element
        if sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}") and depth:
            depth -= 1
            is_end = not depth and not is_list  # of an object
        if not is_end:
            continue
        part = text[start : match.start() if is_list else end]
        is_empty_list = not part.strip() and sign == "]" and number == 1
        if not is_empty_list:
            yield number, part if part.strip() else sign  # in place of an empty element its sign, which is no JSON
            number += 1
        start = end
        if is_list and sign == "]":
            break
    rest = text[start:]  # after the list, or from a bracket that is not closed
    if rest.strip():
        yield number, rest


def object_without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return a JSON object of its pairs, for `object_pairs_hook`; raise a DataError if a name occurs twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names: set[str] = set()
        for name, _ in pairs:
            if name in names:
                raise DataError(f"it has {name[:40]!r} twice in one object")
            names.add(name)
    return values


def _raise_for_constant(name: str) -> NoReturn:
    """Raise a DataError for NaN or Infinity, as `parse_constant` of the json module."""
    raise DataError(f"{name} is not JSON")


def make_writable_folder(folder: Path) -> Path:
    """Create a folder if need be, and return it; raise a UsageError if files cannot be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".waybench-write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"cannot write to {folder} ({error.strerror}): choose another folder with --out") from None
    return folder
