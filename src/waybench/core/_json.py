"""JSON from outside: limits that are checked before it is parsed, and a reader of values in hostile text."""

import ast
import json
import re
import warnings
from typing import Any, TypeGuard

from waybench.core._errors import DataError
from waybench.core._texts import ENGLISH

_PART = 1 << 20
_STRUCTURE = b'[]{},"'
_OTHER = bytes(byte for byte in range(256) if byte not in _STRUCTURE)
MAX_DEPTH = 100  # brackets within each other; what waybench writes has fewer than ten
MAX_DIGITS = 18
MAX_TOKENS = 100_000  # brackets, strings, commas and so on
# Blanks and comments, then a token. Possessive quantifiers keep the time linear.
_TOKEN = re.compile(
    r"""(?P<gap>(?:\s++|\#[^\n]*+|//[^\n]*+|/\*(?:[^*]|\*(?!/)){0,2000}+\*/)*+)(?:(?P<sign>[\[\]{}:,])
    | (?P<text>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+" | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')
    | (?P<number>-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+(?![\w.]))
    | (?P<word>(?:null|None|true|True|false|False|-?Infinity|NaN)\b)
    | (?P<placeholder>\.\.\.|…|<[^<>\n]{1,100}>|\$\w{1,100}+|_{2,100}+))""",
    re.VERBOSE | re.DOTALL,
)
_GAP = re.compile(r"\s*")
PLACEHOLDER = re.compile(r"\s*(?:\.\.\.|…|<[^<>\n]{1,100}>|\$\w{1,100}|_{2,100})\s*")
_WORDS = {"null": None, "None": None, "true": True, "True": True, "false": False, "False": False}
_CLOSING = {"[": "]", "{": "}"}


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Return whether a JSON value is an array."""
    return isinstance(value, list)


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


class JsonBounds:
    """Checks that a JSON text in UTF-8, which comes in parts, is neither too deep nor has too many values.

    Nothing is parsed: strings are left out, brackets that follow each other are taken away in pairs, and what is kept
    from one part to the next is what is still open. Whatever is no JSON is left to the parser, which stops there.

    Args:
        max_values: Most values, counted by commas and opening brackets.
        max_depth: Most brackets within each other. In a text of several parts up to twice as many can go unnoticed.
    """

    def __init__(self, max_values: int, max_depth: int = MAX_DEPTH) -> None:
        self._left, self._depth = max_values, max_depth
        self._carry = b""  # half an escape
        self._inside = 0  # whether a string is open
        self._open = b""

    def check_next_part(self, part: bytes) -> None:
        """Count the next part of a text; raise a DataError for too many nested brackets or too many values."""
        part = self._carry + part
        self._carry = b"\\" if (len(part) - len(part.rstrip(b"\\"))) % 2 else b""
        part = part[: len(part) - len(self._carry)].replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.translate(None, _OTHER).split(b'"')
        outside = b"".join(pieces[self._inside :: 2])
        self._inside ^= (len(pieces) - 1) % 2
        self._left -= sum(map(outside.count, (b",", b"[", b"{")))
        if self._left < 0:
            raise DataError("it has too many values")
        self._open = self._without_closed_brackets(self._open + outside.translate(None, b","))

    def _without_closed_brackets(self, brackets: bytes) -> bytes:
        """Return brackets without those that are closed; raise a DataError if too many are open at once."""
        for _ in range(self._depth + 1):
            before = len(brackets)
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
            if len(brackets) == before:
                if before <= self._depth:
                    return brackets
                break
        raise DataError("it has too many nested brackets")


def check_json_bounds(text: str | bytes, max_values: int, max_depth: int = MAX_DEPTH) -> None:
    """Raise a DataError for a JSON text that is too deep or has too many values (`JsonBounds`)."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) <= max_values and data.count(b"[") + data.count(b"{") <= max_depth:
        return  # even if none of it were in strings; most texts are small
    bounds = JsonBounds(max_values, max_depth)
    for start in range(0, len(data), _PART):
        bounds.check_next_part(data[start : start + _PART])


class JsonObject(dict[str, Any]):
    """A JSON object which remembers whether one of its keys was there twice."""

    duplicate: str | None = None


class Oversized:
    """A number with too many digits to be held; it is no number to anyone who checks."""


class MalformedError(ValueError):
    """A JSON value that is malformed; `position` is the index in the text."""

    def __init__(self, position: int) -> None:
        self.position = position


class RefusedError(ValueError):
    """A text that is not read any further.

    Args:
        name: The name of the text that says why.
        most: The limit that it exceeds.
    """

    def __init__(self, name: str, most: int) -> None:
        super().__init__(ENGLISH.fill(name, most=most))
        self.name, self.most = name, most


class _OpenBracket:
    """A list or an object that is not closed yet."""

    __slots__ = ("closing", "entries", "key")

    def __init__(self, bracket: str) -> None:
        self.closing = _CLOSING[bracket]
        self.entries: list[Any] = []
        self.key: str | None = None  # of the value that comes next

    def add_key_or_value(self, value: Any) -> None:
        """Add a value to the array, or under the key that was read before it."""
        if self.closing == "]":
            self.entries.append(value)
        elif self.key is not None:  # without one it is a placeholder in the place of entries
            self.entries.append((self.key, value))
        self.key = None

    def value(self) -> Any:
        """Return the array or object that has been read."""
        return object_from_pairs(self.entries) if self.closing == "}" else self.entries


class ValueReader:
    """Reads one value after another.

    It takes what the json module takes, and beyond it strings in single quotes, the escapes and words of Python, a
    comma before a closing bracket, comments, and placeholders ("...", "<moves>", "$MOVES", "__") in the place of a
    value, an entry or all of an object's further entries.

    Attributes:
        end: Where the value that was read last ends.
        has_placeholder: Whether a placeholder is in it.
        has_constant: Whether NaN or Infinity is in it, which Python reads and JSON does not have.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.end = self._start = 0
        self.has_placeholder = self.has_constant = False
        self._tokens = 0

    def read_value(self, start: int) -> Any:
        """Return the value that begins at an index of the text.

        Raises:
            MalformedError: If there is none.
            RefusedError: If it has too many brackets within each other, or the values that were read too many tokens.
        """
        self.end, self.has_placeholder, self.has_constant = start, False, False
        within: list[_OpenBracket] = []
        while True:
            kind, token = self._next_token()
            last = within[-1] if within else None
            if last is not None and last.key is None and token == last.closing and kind == "sign":
                value = within.pop().value()
            elif last is not None and last.key is None and last.closing == "}":
                if kind == "text":
                    last.key = self._unquote(token)
                    self._require_sign(":")
                    continue
                if kind != "placeholder":
                    raise MalformedError(self._start)
                value = None  # in the place of entries
                self.has_placeholder = True
            elif kind == "sign":
                if token not in _CLOSING:
                    raise MalformedError(self._start)
                if len(within) == MAX_DEPTH:
                    raise RefusedError("json.depth", MAX_DEPTH)
                within.append(_OpenBracket(token))
                continue
            else:
                value = self._scalar_of_token(kind, token)
            if (value := self._add_to_innermost_bracket(within, value)) is not within:
                return value

    def _add_to_innermost_bracket(self, open_brackets: list[_OpenBracket], value: Any) -> Any:
        """Add a value to the innermost open bracket; return the whole value, or `open_brackets` if it goes on."""
        while open_brackets:
            last = open_brackets[-1]
            last.add_key_or_value(value)
            kind, token = self._next_token()
            if kind != "sign" or token not in (",", last.closing):
                raise MalformedError(self._start)
            if token == ",":
                return open_brackets
            value = open_brackets.pop().value()
        return value

    def _scalar_of_token(self, kind: str, token: str) -> Any:
        """Return the value of a token that is no bracket: a text, number, word or placeholder."""
        if kind == "text":
            return self._unquote(token)
        if kind == "number":
            return parse_integer(token) if token.lstrip("-").isdecimal() else float(token)
        if kind == "placeholder":
            self.has_placeholder = True
            return None
        self.has_constant = self.has_constant or token not in _WORDS
        return _WORDS.get(token)

    def _next_token(self) -> tuple[str, str]:
        """Return the kind and the text of the next token."""
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            raise RefusedError("json.tokens", MAX_TOKENS)
        match = _TOKEN.match(self._text, self.end)
        if match is None or match.lastgroup is None:
            gap = _GAP.match(self._text, self.end)
            raise MalformedError(self.end if gap is None else gap.end())
        self._start, self.end = match.end("gap"), match.end()
        return match.lastgroup, match[match.lastgroup]

    def _require_sign(self, sign: str) -> None:
        """Read a token that has to be this sign."""
        if self._next_token() != ("sign", sign):
            raise MalformedError(self._start)

    def _unquote(self, quoted: str) -> str:
        """Return the text of a quoted string with the escapes of JSON or Python decoded."""
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
            raise MalformedError(self._start) from None


def object_from_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return an object of its pairs, which remembers a key that occurs twice."""
    value = JsonObject(pairs)
    if len(value) < len(pairs):
        names: set[str] = set()
        value.duplicate = next(name for name, _ in pairs if name in names or names.add(name))
    return value


def parse_integer(digits: str) -> int | Oversized:
    """Return an integer; `Oversized` if it has more than `MAX_DIGITS` digits."""
    return int(digits) if len(digits.removeprefix("-")) <= MAX_DIGITS else Oversized()


def raise_for_constant(constant: str) -> None:
    """Raise an error for NaN or Infinity, as `parse_constant` of the json module."""
    raise ValueError(f"{constant} is not JSON")
