"""Parser of the last list of objects in a reply, in JSON or Python syntax."""

import ast
import json
import re
import warnings
from collections.abc import Iterable
from typing import Any

from waybench.core import Invalid, without_reasoning

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 20
MAX_LISTS = 2_000
MAX_MARKS = 50_000  # tokens (brackets, strings, commas and so on) to read in one reply

_CANDIDATE = re.compile(r"\[\s*\{\s*[\"'}]")  # skips brackets in prose
# White space and Python comments, then a token. Possessive quantifiers keep the time linear.
_MARK = re.compile(
    r"""(?:\s|\#[^\n]*+)*+(?:(?P<sign>[\[\]{}:,])
    | (?P<text>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+" | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')
    | (?P<other>[-+]?[0-9][0-9.eE+-]*+ | null | None | true | True | false | False))""",
    re.VERBOSE | re.DOTALL,
)


class _Malformed(Exception):
    def __init__(self, position: int) -> None:
        self.position = position


class _TooMuch(Exception):
    pass


class Other:
    """A number, a boolean or null; the value does not matter."""


OTHER = Other()


def last_list(reply: str, keys: Iterable[str]) -> list[Any] | Invalid | None:
    """Return the last list of objects in a reply.

    Strings can have double or single quotes, with escapes of JSON or Python. A list within prose, a code fence or
    another value counts; a list nested in a list does not. As in `waybench.core.last_object`, the last
    list decides: if it has one of the keys and is malformed, an earlier list does not count. The parser continues at
    the position of an error, so that no text is read twice.

    Args:
        reply: The raw reply; reasoning blocks are skipped.
        keys: A list must have at least one of these keys.

    Returns:
        The list, or the reason why it is malformed, or None if there is none.
    """
    if len(reply) > MAX_CHARACTERS:
        return Invalid(f"The reply has {len(reply)} characters; at most {MAX_CHARACTERS} are read.")
    reader = _Reader(without_reasoning(reply))
    key_pattern = re.compile("|".join(rf"(['\"]){re.escape(key)}\{number}\s*:" for number, key in enumerate(keys, 1)))
    last: list[Any] | None = None
    broken = False
    candidate = _CANDIDATE.search(reader.text)
    for _ in range(MAX_LISTS):
        if candidate is None:
            break
        start = candidate.start()
        try:
            reader.position = start
            value = reader.value(MAX_DEPTH)
            end = reader.position
            if key_pattern.search(reader.text, start, end):
                last, broken = value, False
        except _Malformed as error:
            end = max(error.position, start + 1)
            broken = broken or key_pattern.search(reader.text, start, end) is not None
        except _TooMuch:
            return Invalid(f"The reply has more than {MAX_DEPTH} brackets within each other, or {MAX_MARKS} marks.")
        candidate = _CANDIDATE.search(reader.text, end)
    if candidate is not None:
        return Invalid(f"The reply has more than {MAX_LISTS} lists.")
    return Invalid("The last list of objects in the reply is malformed.") if broken else last


class _Reader:
    """Reads consecutive values in JSON or Python syntax."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._marks = 0

    def value(self, depth: int) -> Any:
        """Read one value and stop after it."""
        kind, mark = self._next()
        if kind == "text":
            return self._unquote(mark)
        if kind == "other":
            return OTHER
        if mark not in "[{":
            raise _Malformed(self.position)
        if depth == 0:
            raise _TooMuch
        return self._list(depth - 1) if mark == "[" else self._object(depth - 1)

    def _list(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._peek() != "]":
            items.append(self.value(depth))
            if self._peek() != "]":
                self._expect(",")
        self._expect("]")
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while self._peek() != "}":
            kind, mark = self._next()
            key = self._unquote(mark) if kind == "text" else None
            if key is None or key in items:
                raise _Malformed(self.position)
            self._expect(":")
            items[key] = self.value(depth)
            if self._peek() != "}":
                self._expect(",")
        self._expect("}")
        return items

    def _next(self) -> tuple[str, str]:
        self._marks += 1
        if self._marks > MAX_MARKS:
            raise _TooMuch
        match = _MARK.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            raise _Malformed(self.position)
        self.position = match.end()
        return match.lastgroup, match[match.lastgroup]

    def _peek(self) -> str:
        match = _MARK.match(self.text, self.position)
        return (match["sign"] or "") if match else ""

    def _expect(self, sign: str) -> None:
        kind, mark = self._next()
        if kind != "sign" or mark != sign:
            raise _Malformed(self.position)

    def _unquote(self, quoted: str) -> str:
        if "\\" not in quoted:
            return quoted[1:-1]
        if quoted[0] == '"':
            try:
                return str(json.loads(quoted, strict=False))
            except ValueError:
                pass  # an escape of Python
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return str(ast.literal_eval(quoted))
        except (ValueError, SyntaxError):
            raise _Malformed(self.position) from None
