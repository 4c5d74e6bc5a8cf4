"""Reading a plan out of a reply, as the published program did and as it should have."""

import ast
import re
import warnings
from typing import Any

from waybench.core import Invalid, fold_typography, is_array, last_object, shown
from waybench.envs.tilemap._board import MovePlan
from waybench.envs.tilemap._game import MOST_NAMES
from waybench.envs.tilemap._walk import CRASH

LONGEST_LITERAL = 20_000  # characters between two braces that are read as Python
MOST_LITERALS = 200
LONGEST_NAME = 100

# The requested form: names of letters, properly separated. It is read without Python's parser, which is much faster.
_NAME = r"""(?:'[A-Za-z_]{0,100}'|"[A-Za-z_]{0,100}")"""
_GAP = r"[ \n]*"
_LISTED = rf"({_NAME}(?:{_GAP},{_GAP}{_NAME})*)(?:{_GAP},)?"
_REGULAR = re.compile(rf"\{{{_GAP}(?:'action'|\"action\"){_GAP}:{_GAP}\[{_GAP}{_LISTED}{_GAP}\]{_GAP}\}}")
_NAMES = re.compile(r"[A-Za-z_]+")
_INNERMOST = re.compile(r"\{[^{}]*\}")
_NOT_READ = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


def published_plan(reply: str) -> MovePlan | Invalid:
    """Read the first innermost {...} of a reply that is a Python literal, as the published program does.

    Only literals are read, nothing is evaluated. A dictionary of something else hides the right one after it. An
    "action" that is no sequence gives a plan of `CRASH`, a value in it that cannot be looked up gives `CRASH` in its
    place; every other value that is no text stands for an unknown name.
    """
    for number, match in enumerate(_INNERMOST.finditer(reply)):
        if number >= MOST_LITERALS:
            return Invalid(f"The reply has more than {MOST_LITERALS} pairs of braces.")
        text = match[0]
        if len(text) > LONGEST_LITERAL:
            return Invalid(f"The reply has more than {LONGEST_LITERAL} characters between two braces.")
        regular = _REGULAR.fullmatch(text)
        if regular is not None and "''" not in text and '""' not in text:
            return MovePlan(tuple(_NAMES.findall(regular[1])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a backslash in a reply needs no warning
                value: Any = ast.literal_eval(text)
        except _NOT_READ:
            continue
        if not isinstance(value, dict) or "action" not in value:
            return Invalid('The first dictionary in the reply has no "action".')
        return _any_plan(value["action"])  # pyright: ignore[reportUnknownArgumentType]
    return Invalid("The reply has no Python dictionary.")


def _any_plan(action: Any) -> MovePlan:
    if not isinstance(action, (str, bytes, list, tuple, set)):
        return MovePlan((CRASH,))
    names: list[str] = []
    for value in action:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, str):
            names.append(_writable(value))
        else:
            names.append(_unknown(value))
    return MovePlan(tuple(names))


def _unknown(value: Any) -> str:
    """Return what stands for a value that is no text: `CRASH` where it cannot be looked up, or else its form."""
    try:
        hash(value)
    except TypeError:
        return CRASH
    try:
        return _writable(repr(value))
    except ValueError:  # a number of more digits than Python writes
        return "(a number)"


def _writable(name: str) -> str:
    # A name of nearly the right form, cut, is as unknown as the whole; a lone surrogate cannot be sent or stored; and
    # what stands for a crash is nothing that a reply can say.
    shortened = name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
    return f"{shortened} " if shortened == CRASH else shortened


def sound_plan(reply: str, *, single: bool, predicts: bool) -> MovePlan | Invalid:
    """Read the last JSON object with "action" in a reply.

    Args:
        reply: The raw reply.
        single: Whether "action" must be one name, alone or in a list, or an empty list; otherwise a list of names.
        predicts: Whether the object must also have "map", a text or a list of texts.
    """
    reply_object = last_object(reply, "action", unique=True)
    if isinstance(reply_object, Invalid):
        return reply_object
    names: Any = reply_object["action"]
    if single and isinstance(names, str):
        names = [names]
    if not is_array(names):
        return Invalid(f'"action" must be a list of names, not {shown(names)}.')
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or len(names) > MOST_NAMES:
        return Invalid(
            f'"action" must hold names only, not {shown(wrong[0])}.'
            if wrong
            else f'"action" has {len(names)} names; at most {MOST_NAMES} are read.'
        )
    if single and len(names) > 1:
        return Invalid(f'"action" must be one name, not {len(names)}.')
    drawing: str | None = None
    if predicts:
        lines: Any = reply_object.get("map")
        if is_array(lines) and all(isinstance(line, str) for line in lines):
            lines = "\n".join(lines)
        if not isinstance(lines, str):
            return Invalid('"map" must be the map after the actions, a text or a list of rows.')
        drawing = lines.encode("utf-8", "backslashreplace").decode()
    return MovePlan(tuple(_writable(fold_typography(name)) for name in names), drawing)
