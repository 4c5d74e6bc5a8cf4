"""JSON from outside: limits that are checked before it is parsed, and a reader of values in hostile text."""

import ast
import json
import re
import warnings
from typing import Any, TypeGuard

from waybench.core._errors import DataError
from waybench.core._texts import ENGLISH

_PART_BYTES = 1 << 20
_STRUCTURE = b'[]{},"'
_OTHER_BYTES = bytes(byte for byte in range(256) if byte not in _STRUCTURE)
MAX_DEPTH = 100  # brackets within each other; what waybench writes has fewer than ten
MAX_DIGITS = 18
MAX_TOKENS = 100_000  # brackets, strings, commas and so on
# Whitespace and comments, then a token. Possessive quantifiers keep the time linear.
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

    Nothing is parsed: strings are left out, pairs of brackets with nothing between them are removed again and again,
    and only brackets that are still open are kept from one part to the next. Text that is no JSON is left to the
    parser, which stops there.

    Args:
        max_values: Most values, counted by commas and opening brackets.
        max_depth: Most brackets within each other. In a text of several parts up to twice as many can go unnoticed.
    """

    def __init__(self, max_values: int, max_depth: int = MAX_DEPTH) -> None:
        self._values_left, self._max_depth = max_values, max_depth
        self._carry = b""  # the backslash of an escape that the next part completes
        self._in_string = 0  # 1 if the last part ended within a string
        self._open_brackets = b""

    def check_next_part(self, part: bytes) -> None:
        """Count the next part of a text; raise a DataError for too many nested brackets or too many values."""
        part = self._carry + part
        n_last_backslashes = len(part) - len(part.rstrip(b"\\"))
        self._carry = b"\\" if n_last_backslashes % 2 else b""  # an even number is complete escapes
        part = part[: len(part) - len(self._carry)].replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.translate(None, _OTHER_BYTES).split(b'"')  # by turns within a string and outside
        outside_strings = b"".join(pieces[self._in_string :: 2])
        self._in_string ^= (len(pieces) - 1) % 2  # an odd number of quotes opens or closes a string
        self._values_left -= sum(map(outside_strings.count, (b",", b"[", b"{")))
        if self._values_left < 0:
            raise DataError("it has too many values")
        self._open_brackets = self._without_closed_brackets(self._open_brackets + outside_strings.translate(None, b","))

    def _without_closed_brackets(self, brackets: bytes) -> bytes:
        """Return brackets without those that are closed; raise a DataError if too many are open at once."""
        for _ in range(self._max_depth + 1):  # each round removes at least the innermost pairs
            n_before = len(brackets)
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
            if len(brackets) == n_before:
                if n_before <= self._max_depth:
                    return brackets
                break
        raise DataError("it has too many nested brackets")


def check_json_bounds(text: str | bytes, max_values: int, max_depth: int = MAX_DEPTH) -> None:
    """Raise a DataError for a JSON text that is too deep or has too many values (`JsonBounds`)."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) <= max_values and data.count(b"[") + data.count(b"{") <= max_depth:
        return  # no more values than bytes, and no more levels than brackets: true of most texts
    bounds = JsonBounds(max_values, max_depth)
    for start in range(0, len(data), _PART_BYTES):
        bounds.check_next_part(data[start : start + _PART_BYTES])


class JsonObject(dict[str, Any]):
    """A JSON object; `duplicate` is the first key that it had twice, None if none was."""

    duplicate: str | None = None


class Oversized:
    """The value of an integer with more than `MAX_DIGITS` digits: no number, so that checks of types refuse it."""


class MalformedError(ValueError):
    """A JSON value that is malformed; `position` is the index in the text."""

    def __init__(self, position: int) -> None:
        self.position = position


class RefusedError(ValueError):
    """A JSON text that is not read any further, for it exceeds a limit.

    Args:
        name: The name of the message in the tables of texts: "json.depth" or "json.tokens".
        most: The limit.
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
        self.key: str | None = None  # of an object's value that comes next; None before a key

    def add_key_or_value(self, value: Any) -> None:
        """Add a value to an array, or to an object under the key that was read before it."""
        if self.closing == "]":
            self.entries.append(value)
        elif self.key is not None:  # a value without a key is a placeholder in the place of entries
            self.entries.append((self.key, value))
        self.key = None

    def value(self) -> Any:
        """Return the array or object that has been read."""
        return object_from_pairs(self.entries) if self.closing == "}" else self.entries


class ValueReader:
    """Reads JSON values at given indices of a text.

    It takes what the json module takes, and beyond it strings in single quotes, the escapes and words of Python, a
    comma before a closing bracket, comments, and placeholders ("...", "<moves>", "$MOVES", "__") in the place of a
    value, an entry or all of an object's further entries.

    Attributes:
        end: Index in the text after the value that was read last.
        has_placeholder: Whether the value that was read last contains a placeholder, such as "...".
        has_constant: Whether it contains NaN or Infinity, which Python reads and JSON does not have.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self.end = 0  # of the last token
        self.has_placeholder = self.has_constant = False
        self._n_tokens_read = 0  # over all values, so that `MAX_TOKENS` bounds the work on a text

    def read_value(self, start: int) -> Any:
        """Return the value that begins at an index of the text.

        Raises:
            MalformedError: If no value begins there.
            RefusedError: If it has too many brackets within each other, or all values read have too many tokens.
        """
        self.end, self.has_placeholder, self.has_constant = start, False, False
        open_brackets: list[_OpenBracket] = []
        while True:
            kind, token = self._next_token()
            # The bracket whose next entry or end begins here; None at the start and after a key, where a value must be.
            bracket = open_brackets[-1] if open_brackets and open_brackets[-1].key is None else None
            if bracket is not None and token == bracket.closing and kind == "sign":
                value = open_brackets.pop().value()
            elif bracket is not None and bracket.closing == "}":
                if kind == "text":
                    bracket.key = self._unquote(token)
                    self._require_sign(":")
                    continue
                if kind != "placeholder":
                    raise MalformedError(self._start)
                value = None  # in the place of entries
                self.has_placeholder = True
            elif kind == "sign":
                if token not in _CLOSING:
                    raise MalformedError(self._start)
                if len(open_brackets) == MAX_DEPTH:
                    raise RefusedError("json.depth", MAX_DEPTH)
                open_brackets.append(_OpenBracket(token))
                continue
            else:
                value = self._scalar_of_token(kind, token)
            value = self._add_to_innermost_bracket(open_brackets, value)
            if value is not open_brackets:  # they are the mark that the value goes on
                return value

    def _add_to_innermost_bracket(self, open_brackets: list[_OpenBracket], value: Any) -> Any:
        """Add a value to the innermost open bracket, and read the comma or the closing brackets after it.

        Returns:
            The whole value if no bracket is open any more; `open_brackets` itself after a comma.
        """
        while open_brackets:
            innermost = open_brackets[-1]
            innermost.add_key_or_value(value)
            kind, token = self._next_token()
            if kind != "sign" or token not in (",", innermost.closing):
                raise MalformedError(self._start)
            if token == ",":
                return open_brackets
            value = open_brackets.pop().value()
        return value

    def _scalar_of_token(self, kind: str, token: str) -> Any:
        """Return the value of a token that is no bracket: a text, number or word; None for a placeholder.

        It also notes whether the token is a placeholder, or NaN or Infinity.
        """
        if kind == "text":
            return self._unquote(token)
        if kind == "number":
            return parse_integer(token) if token.lstrip("-").isdecimal() else float(token)
        if kind == "placeholder":
            self.has_placeholder = True
            return None
        self.has_constant = self.has_constant or token not in _WORDS
        return _WORDS.get(token)  # None for NaN and Infinity

    def _next_token(self) -> tuple[str, str]:
        """Return the next token's kind (the name of its group in `_TOKEN`) and its text."""
        self._n_tokens_read += 1
        if self._n_tokens_read > MAX_TOKENS:
            raise RefusedError("json.tokens", MAX_TOKENS)
        match = _TOKEN.match(self._text, self.end)
        if match is None or match.lastgroup is None:
            gap = _GAP.match(self._text, self.end)
            raise MalformedError(self.end if gap is None else gap.end())
        self._start, self.end = match.end("gap"), match.end()
        return match.lastgroup, match[match.lastgroup]

    def _require_sign(self, sign: str) -> None:
        """Read the next token; raise a MalformedError if it is not this sign."""
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
                pass  # it may have an escape of Python
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
        seen_names: set[str] = set()
        value.duplicate = next(name for name, _ in pairs if name in seen_names or seen_names.add(name))
    return value


def parse_integer(digits: str) -> int | Oversized:
    """Return an integer; `Oversized` if it has more than `MAX_DIGITS` digits."""
    return int(digits) if len(digits.removeprefix("-")) <= MAX_DIGITS else Oversized()


def raise_for_constant(constant: str) -> None:
    """Raise an error for NaN or Infinity, as `parse_constant` of the json module."""
    raise ValueError(f"{constant} is not JSON")
