"""Parsers of trajectories: the published parser without its `eval`, and a sound one."""

import ast
import warnings
from typing import Any, NamedTuple

from waybench.core import Invalid, is_array, is_object, last_list, shown
from waybench.envs.textmap.map import LONGEST

LONGEST_LITERAL = 20_000  # characters of a Python literal; the published limit was 512 tokens
MOST_HOPS = 1_000

_PARSE_ERRORS = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


class Hop(NamedTuple):
    """One move of an answer: place before, action, place after."""

    before: str
    action: str
    after: str


Trajectory = tuple[Hop, ...]


class Keys(NamedTuple):
    """The keys of the objects in an answer."""

    before: str
    action: str
    after: str


RELEASED = Keys("location_before", "action", "location_after")
"""The keys of the released program; its evaluator accepts no others."""

PRINTED = Keys("prev_node", "action", "node")
"""The keys of the paper's Examples 7 and 8."""


def published_answer(reply: str, keys: Keys = RELEASED, lead: str = "") -> Trajectory | Invalid:
    """Parse the text from the first "[" to the first "]" of a reply as a Python literal.

    So a "]" in a name, a nested list or JSON's `null` make an answer ill-structured, and the first of two lists counts
    (spec, section 5.1). Nothing is evaluated, so an expression that is not a literal is ill-structured too, as is a
    list of anything but dictionaries, on which the published evaluator crashed.

    Args:
        reply: The raw reply.
        keys: The keys that the prompt requires.
        lead: The end of the prompt, which is prepended to the reply.
    """
    text = lead + reply.strip() if lead else reply
    start = text.find("[")
    end = text.find("]")
    if start < 0 or end < start:
        return Invalid("The reply has no list in square brackets.")
    if end - start >= LONGEST_LITERAL:
        return Invalid(f"The reply has more than {LONGEST_LITERAL} characters between two brackets.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a reply is not worth a warning
            value: Any = ast.literal_eval(text[start : end + 1])
    except _PARSE_ERRORS:
        return Invalid("What stands from the first [ to the first ] is no Python list.")
    return trajectory(value, keys)


def sound_answer(reply: str, keys: Keys = RELEASED, lead: str = "") -> Trajectory | Invalid:
    """Parse the last JSON array or Python list of objects in a reply.

    Args:
        reply: The reply without its reasoning.
        keys: The keys that the prompt requires.
        lead: The end of the prompt, which is prepended to a reply that has no list of its own.
    """
    moves = last_list(reply, keys)
    if moves is None and lead:
        moves = last_list(lead + reply.strip(), keys)
    if moves is None:
        return Invalid(f"The reply has no list of objects with the key {shown(keys.before)}.")
    return moves if isinstance(moves, Invalid) else trajectory(moves, keys)


def trajectory(value: Any, keys: Keys = RELEASED) -> Trajectory | Invalid:
    """Validate a parsed value: a non-empty list of objects, each with a string under each of the three keys."""
    if not is_array(value):
        return Invalid("The answer must be a list.")
    if not value:
        return Invalid("The answer is an empty list.")
    if len(value) > MOST_HOPS:
        return Invalid(f"The answer has {len(value)} moves; at most {MOST_HOPS} are read.")
    hops: list[Hop] = []
    for number, move in enumerate(value):
        if not is_object(move):
            return Invalid(f"Element {number} of the list is no object.")
        texts: list[str] = []
        for key in keys:
            if key not in move:
                return Invalid(f"Element {number} of the list has no {shown(key)}.")
            text = move[key]
            if not isinstance(text, str):
                return Invalid(f"In element {number} of the list, {shown(key)} must be a text.")
            if len(text) > LONGEST:
                return Invalid(f"In element {number} of the list, {shown(key)} has more than {LONGEST} characters.")
            texts.append(text.encode("utf-8", "backslashreplace").decode())  # lone surrogates cannot be stored
        hops.append(Hop(*texts))
    return tuple(hops)
