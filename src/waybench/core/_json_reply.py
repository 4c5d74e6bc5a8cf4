"""Reading answers in JSON from replies, which are hostile text of any size and shape."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from waybench.core._json import (
    MAX_DEPTH,
    MAX_DIGITS,
    PLACEHOLDER,
    JsonObject,
    MalformedError,
    Oversized,
    RefusedError,
    ValueReader,
    is_array,
    is_object,
    object_from_pairs,
    parse_integer,
    raise_for_constant,
)
from waybench.core._texts import ENGLISH, Texts
from waybench.core._wording import Invalid

MAX_CHARACTERS = 1_000_000
MAX_OBJECTS = 2_000
MAX_MALFORMED = 100

FORMS = (
    ("prose and code fences around it", True, '```json {"k": 1} ```'),
    ("several answers: the last one counts", True, '{"k": 1} No, I mean {"k": 2}.'),
    ("within a list", True, '[{"k": 1}]'),
    ("within another object that has no other answer", True, '{"answer": {"k": 1}}'),
    ("double encoded: a string that holds it", True, r'"{\"k\": 1}"'),
    ("single quotes, and the escapes of Python", True, r"{'k': 'a\x41'}"),
    ("True, False and None", True, '{"k": True}'),
    ("a comma before a closing bracket", True, '{"k": [1,],}'),
    ("comments: /* ... */, and // or # to the end of the line", True, '{"k": 1 /* one */}'),
    ("a mention of the format beside an answer", True, '{"k": 1}, as in {"k": <list>} or {"k": ...}'),
    ("a malformed answer, also after a good one", False, '{"k": 1} No, I mean {"k": 2.'),
    ("several answers within an object", False, '{"first": {"k": 1}, "second": {"k": 2}}'),
    ("keys without quotes", False, "{k: 1}"),
    ("numbers that JSON does not have", False, '{"k": 01}, {"k": +1}, {"k": .5}, {"k": 0x1}, {"k": NaN}'),
    ("line breaks in a string", False, '{"k": "a\nb"}'),
    ("a key twice", False, '{"k": 1, "k": 2}'),
)
"""The forms of JSON: what it is, whether it is read, an example. They are the same in all environments."""

# After the brace of an object: a quote, the closing brace or a comment. Braces in prose and formulas are ignored.
_OBJECT_CONTENT = r"\s*+(?:[\"'}#]|/[/*])"
_ESCAPED_GAP = r"(?:\s|\\[nrt])*+"
# A string that holds JSON: the quotes in it are escaped.
_ENCODED = rf'"(?={_ESCAPED_GAP}(?:\[{_ESCAPED_GAP})?\{{{_ESCAPED_GAP}\\+")'
_OBJECT = re.compile(rf"\{{{_OBJECT_CONTENT}|{_ENCODED}")
_LIST = re.compile(rf"(?:\[\s*+)?\{{{_OBJECT_CONTENT}|{_ENCODED}")


@dataclass(frozen=True, slots=True)
class _AnswerForm:
    """The form of the answers that are searched for.

    Attributes:
        candidate: Matches where a value can begin that is an answer or holds one.
        is_answer: Value -> whether it is an answer.
        content: Answer -> the part of it that consists of placeholders alone if it only mentions the format.
        key: Matches a key of an answer with its colon, in malformed text.
        encoded_key: Matches such a key in a malformed string, in which quotes are escaped.
    """

    candidate: re.Pattern[str]
    is_answer: Callable[[Any], bool]
    content: Callable[[Any], Any]
    key: re.Pattern[str]
    encoded_key: re.Pattern[str]


class _Answer(NamedTuple):
    """The last answer: its value (None if it is malformed), and whether it only mentions the format."""

    value: Any
    is_mention: bool


def last_json_object(reply: str, key: str, *, unique: bool = False, texts: Texts = ENGLISH) -> JsonObject | Invalid:
    """Return the last JSON object in a reply that has a key.

    `FORMS` lists the forms of JSON that are read. Objects without the key are ignored. An object within another one
    counts if it is the only one with the key in there. The player's last word counts: an earlier object does not if a
    later one is malformed and has the key, followed by a colon, up to the error. Reading goes on after the error, and
    an object that begins there counts. A mention of the format counts only if there is no other answer.

    The time is linear in the reply's length: the number of malformed objects is limited, since for each the json module
    counts lines from the start of the reply. Depth is counted, so that no result depends on the machine's stack.

    Args:
        reply: The reply, without its reasoning.
        key: The key that the object must have.
        unique: Whether an object that has any of its keys twice is refused.
        texts: The texts in which reasons are given.

    Returns:
        The object, in which numbers of more than 18 digits are `Oversized`; or why there is none.
    """
    answer = _last_answer(reply, _object_with_key(key), texts)
    if isinstance(answer, Invalid):
        return answer
    if answer is None:
        return Invalid(texts.fill("json.missing", key=json.dumps(key)))
    if answer.value is None:
        return Invalid(texts.fill("json.malformed", key=json.dumps(key)))
    value: JsonObject = answer.value
    if unique and value.duplicate is not None:
        return Invalid(texts.fill("json.twice", key=json_excerpt(value.duplicate)))
    return value


def last_json_list(reply: str, keys: Iterable[str], texts: Texts = ENGLISH) -> list[Any] | Invalid | None:
    """Return the last list of objects in a reply, or as `Invalid` why it is malformed; None if there is none.

    The reply is read as by `last_json_object`. At least one of the list's objects must have one of `keys`; a list with
    an object that has a key twice is malformed.
    """
    answer = _last_answer(reply, _list_of_objects_with_key(tuple(keys)), texts)
    if answer is None or isinstance(answer, Invalid):
        return answer
    if answer.value is None or any(getattr(entry, "duplicate", None) is not None for entry in answer.value):
        return Invalid(texts["json.list"])
    return answer.value


@lru_cache(maxsize=64)
def _object_with_key(key: str) -> _AnswerForm:
    """Return the form of answers that are an object with a key."""

    def is_answer(value: Any) -> bool:
        return isinstance(value, JsonObject) and key in value

    return _AnswerForm(_OBJECT, is_answer, itemgetter(key), *_key_patterns([key]))


@lru_cache(maxsize=64)
def _list_of_objects_with_key(keys: tuple[str, ...]) -> _AnswerForm:
    """Return the form of answers that are a list with at least one object that has one of some keys."""

    def is_answer(value: Any) -> bool:
        return is_array(value) and any(is_object(entry) and any(key in entry for key in keys) for entry in value)

    return _AnswerForm(_LIST, is_answer, lambda value: value, *_key_patterns(keys))


def _key_patterns(names: Iterable[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of any of some keys and its colon: with quotes, and with escaped quotes within a string."""
    any_name = "|".join(map(re.escape, names))
    return re.compile(rf"(?:\"(?:{any_name})\"|'(?:{any_name})')\s*+:"), re.compile(rf"\\+\"(?:{any_name})\\+\"\s*+:")


def _last_answer(reply: str, form: _AnswerForm, texts: Texts) -> _Answer | Invalid | None:
    """Return the last answer in a reply, None if there is none, or why the reply is refused."""
    if len(reply) > MAX_CHARACTERS:
        return Invalid(texts.fill("reply.long", count=len(reply), most=MAX_CHARACTERS))
    try:
        return _last_answer_in_text(reply, form, is_decoded=False)
    except RefusedError as error:
        return Invalid(texts.fill(error.name, most=error.most))


def _last_answer_in_text(text: str, form: _AnswerForm, *, is_decoded: bool) -> _Answer | None:
    """Return the last answer in a text; a mention of the format only if there is no other answer; None without any.

    Where the text was a string in another text (`is_decoded`), no string in it is decoded again.
    """
    reader = _ReplyReader(text)
    answer: _Answer | None = None
    candidate = form.candidate.search(text)
    for _ in range(MAX_OBJECTS):
        if candidate is None:
            return answer
        start = candidate.start()
        later_answer: _Answer | None = None
        try:
            value, end = reader.read_value(start)
            later_answer = _answer_in_value(value, form, is_decoded=is_decoded)
            if later_answer is not None and (reader.has_placeholder or reader.has_constant):
                later_answer = _Answer(None, reader.has_placeholder)
        except MalformedError as error:
            end = max(error.position, start + 1)
            if text[start] == '"':  # the position of an error in a string is where the string begins
                key = form.encoded_key.search(text, start)
            else:  # also at `end`: a comma may be missing just before the key
                key = form.key.search(text, start, end) or form.key.match(text, end)
            if key is not None:
                later_answer = _Answer(None, False)
        if later_answer is not None and (answer is None or answer.is_mention or not later_answer.is_mention):
            answer = later_answer
        candidate = form.candidate.search(text, end)
    if candidate is not None:
        raise RefusedError("json.objects", MAX_OBJECTS)
    return answer


def _answer_in_value(value: Any, form: _AnswerForm, *, is_decoded: bool) -> _Answer | None:
    """Return the answer that a value is, or the only answer inside it; None if there is none, or several."""
    if form.is_answer(value):
        return _Answer(value, _has_only_placeholders(form.content(value)))
    answers: list[_Answer] = []
    values = [value]
    while values and len(answers) < 2:
        inner = values.pop()
        if isinstance(inner, str):
            looks_like_json = inner[:100].lstrip()[:1] in ("{", "[")
            if looks_like_json and not is_decoded:
                answer = _last_answer_in_text(inner, form, is_decoded=True)
                answers += [] if answer is None else [answer]
        elif inner is not value and form.is_answer(inner):
            answers.append(_Answer(inner, _has_only_placeholders(form.content(inner))))
        elif isinstance(inner, JsonObject):
            if inner.duplicate is not None:  # which of the two values is meant is not known
                return None
            values.extend(inner.values())
        elif is_array(inner):
            values.extend(inner)
    return answers[0] if len(answers) == 1 else None


def _has_only_placeholders(content: Any) -> bool:
    """Return whether an answer has texts and all of them are placeholders, as in a mention of the format."""
    values, has_text = [content], False
    while values:
        value = values.pop()
        if isinstance(value, str):
            if PLACEHOLDER.fullmatch(value) is None:
                return False
            has_text = True
        elif is_array(value):
            values.extend(value)
        elif is_object(value):
            values.extend(value.values())
    return has_text


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_from_pairs, parse_int=parse_integer, parse_constant=raise_for_constant
)


class _ReplyReader:
    """Reads values of a text: by the json module, which is fast, and by a `ValueReader` where the module fails.

    Its attributes are those of `ValueReader`.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._n_malformed = 0
        self._reader = ValueReader(text)
        self.has_placeholder = self.has_constant = False

    def read_value(self, start: int) -> tuple[Any, int]:
        """Return the value that begins at an index of the reply, and the index of its end.

        Raises:
            MalformedError: If no value begins there.
            RefusedError: If it has too many brackets within each other, or the text too many malformed objects.
        """
        error_position = start
        try:
            value, end = _DECODER.raw_decode(self._text, start)
            if not _is_deeper_than(MAX_DEPTH, value):
                self.has_placeholder = self.has_constant = False
                return value, end
        except json.JSONDecodeError as error:
            error_position = error.pos
        except (ValueError, RecursionError):
            pass  # NaN or Infinity, or too deep for the machine's stack: the reader below decides
        reader = self._reader
        try:
            value = reader.read_value(start)
        except MalformedError as error:
            self._n_malformed += 1
            if self._n_malformed > MAX_MALFORMED:
                raise RefusedError("json.bad_objects", MAX_MALFORMED) from None
            raise MalformedError(max(error.position, error_position)) from None
        self.has_placeholder, self.has_constant = reader.has_placeholder, reader.has_constant
        return value, reader.end


def json_excerpt(value: Any, texts: Texts = ENGLISH) -> str:
    """Return a reply's value for error messages: the beginning of its ASCII JSON, or its kind in words ("a list")."""
    if isinstance(value, Oversized):
        return texts.fill("value.digits", most=MAX_DIGITS)
    if isinstance(value, (dict, list)):
        return texts["value.object" if isinstance(value, dict) else "value.list"]
    text = json.dumps(value if not isinstance(value, str) else value[:40])
    return text if len(text) <= 60 else text[:57] + "..."


def _is_deeper_than(limit: int, value: Any) -> bool:
    """Return whether a value has more than `limit` levels of arrays and objects."""
    containers = [value]
    for _ in range(limit):
        containers = [
            inner
            for container in containers
            if isinstance(container, (dict, list))
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, (dict, list))
        ]
        if not containers:
            return False
    return True
