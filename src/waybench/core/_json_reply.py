"""Reading a JSON object out of a model's reply, which is hostile text of any size and shape."""

import json
import re
from typing import Any

from waybench.core._wording import Invalid

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 100
MAX_DIGITS = 18
MAX_OBJECTS = 2_000
MAX_MALFORMED = 100

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL)
_UNOPENED_REASONING = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL)
_REASONING_TAG = re.compile(r"</?(?:think|thinking|reasoning)>")
_CANDIDATE = re.compile(r"\{\s*[\"}]")  # braces in prose and formulas are passed over


class JsonObject(dict[str, Any]):
    """A JSON object which remembers whether one of its keys was there twice."""

    duplicate: str | None = None


class Oversized:
    """A number with too many digits to be held; it is no number to anyone who checks."""


def without_reasoning(reply: str) -> str:
    """Return a reply without the reasoning blocks (`<think>...</think>`) that some models put before it.

    A block that was opened and never closed reaches to the end; one that was closed and never opened begins at the
    start.
    """
    return _UNOPENED_REASONING.sub("", _REASONING.sub("", reply))


def reasoning_in(reply: str) -> str:
    """Return the text of the reasoning blocks that `without_reasoning` leaves out, without their tags; "" for none."""
    blocks = [match[0] for match in _REASONING.finditer(reply)]
    unopened = _UNOPENED_REASONING.match(_REASONING.sub("", reply))
    blocks += [unopened[0]] if unopened else []
    return "\n\n".join(text for block in blocks if (text := _REASONING_TAG.sub("", block).strip()))


def last_object(reply: str, key: str, *, unique: bool = False) -> JsonObject | Invalid:
    """Return the last JSON object in a reply that has a key.

    Prose, code fences and reasoning blocks around it are passed over, and so are objects without the key. Objects
    within a well-formed object do not count. The player's last word is what counts: an earlier object does not if a
    later one is malformed and has the key, followed by a colon, before or at the place where it goes wrong. Beyond that
    place nothing is known of malformed text, so reading goes on from there, and an object that begins there counts.

    No text is decoded twice, and the number of malformed objects is limited (each costs a search for the number of its
    line, from the start of the reply), so that time is linear in the reply's length.

    Args:
        reply: The raw reply.
        key: The key that the object must have.
        unique: Whether an object that has any of its keys twice is refused.

    Returns:
        The object (numbers of more than 18 digits in it are `Oversized`), or why there is none.
    """
    if len(reply) > MAX_CHARACTERS:
        return Invalid(f"The reply has {len(reply)} characters; at most {MAX_CHARACTERS} are read.")
    text = without_reasoning(reply)
    constants: list[str] = []  # NaN and Infinity, which Python reads and JSON does not have
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole, parse_constant=constants.append)
    reply_object: JsonObject | None = None
    broken = False
    malformed = 0
    candidate = _CANDIDATE.search(text)
    for _ in range(MAX_OBJECTS):
        if candidate is None:
            break
        start = candidate.start()
        try:
            value, end = decoder.raw_decode(text, start)
            if _deeper_than(MAX_DEPTH, value):
                raise RecursionError
            if key in value:
                reply_object, broken = value, bool(constants)
        except json.JSONDecodeError as error:
            malformed += 1
            if malformed > MAX_MALFORMED:
                return Invalid(f"The reply has more than {MAX_MALFORMED} malformed JSON objects.")
            end = max(error.pos, start + 1)
            # At that place, too: a comma may be missing just before the key.
            pattern = re.compile(re.escape(json.dumps(key)) + r"\s*:")
            broken = broken or (pattern.search(text, start, end) or pattern.match(text, end)) is not None
        except RecursionError:
            return Invalid(f"The reply has more than {MAX_DEPTH} brackets within each other.")
        constants.clear()
        candidate = _CANDIDATE.search(text, end)
    if candidate is not None:
        return Invalid(f"The reply has more than {MAX_OBJECTS} JSON objects.")
    if broken:
        return Invalid(f"The last JSON object with {json.dumps(key)} is malformed.")
    if reply_object is None:
        return Invalid(f"The reply has no JSON object with the key {json.dumps(key)}.")
    if unique and reply_object.duplicate is not None:
        return Invalid(f"The JSON object has the key {shown(reply_object.duplicate)} twice.")
    return reply_object


def shown(value: Any) -> str:
    """Return a value of a reply as short ASCII JSON, for an error message."""
    if isinstance(value, Oversized):
        return f"a number of more than {MAX_DIGITS} digits"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value if not isinstance(value, str) else value[:40])
    return text if len(text) <= 60 else text[:57] + "..."


def _deeper_than(limit: int, value: Any) -> bool:
    layer = [value]
    for _ in range(limit):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not layer:
            return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    json_object = JsonObject(pairs)
    if len(json_object) < len(pairs):
        names: set[str] = set()
        json_object.duplicate = next(name for name, _ in pairs if name in names or names.add(name))
    return json_object


def _whole(digits: str) -> int | Oversized:
    return int(digits) if len(digits.removeprefix("-")) <= MAX_DIGITS else Oversized()
