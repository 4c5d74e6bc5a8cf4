"""Errors that a user can act upon, and the plain English of messages."""

import difflib
import re
from collections.abc import Iterable

_MANY = 20  # names, which are listed only if none of them is like the one that was given
_LONG_WORD = re.compile(r"\S{201,}")


class WaybenchError(Exception):
    """A problem that the user can mend; its message is one line which says what to do."""


class UsageError(WaybenchError):
    """A wrong option, name or level."""


class DataError(WaybenchError):
    """An invalid instance, record or file."""


class ReplayError(WaybenchError):
    """A record that does not agree with a new simulation of it."""


class LiveError(ReplayError):
    """A record that cannot be re-simulated here, so its recorded values count; the message says why."""


class DefectError(WaybenchError):
    """A defect of an environment: its code raised an exception that its contract does not allow (`reraise_as_defect`).

    Attributes:
        reply: The reply at which it did; None if it was at none.
    """

    reply: str | None = None


class KitError(TypeError):
    """A value that a function or class of an environment gave to the kit does not fit.

    Args:
        advice: What to do, without a period.
    """

    def __init__(self, problem: str, advice: str, subject: object) -> None:
        super().__init__(f"{problem}: {advice}")
        self.problem, self.advice, self.subject = problem, advice, subject


class LostWorkerError(WaybenchError):
    """A process or a machine that worked for this one ended without a result."""


def shorten_long_words(message: str) -> str:
    """Return a message with words of more than 200 characters, such as paths, cut in the middle."""
    return _LONG_WORD.sub(lambda match: f"{match[0][:120]}…{match[0][-79:]}", message)


def unknown_name_message(kind: str, name: str, names: Iterable[str], also: Iterable[str] = (), meant: str = "") -> str:
    """Return the error message for an unknown name, which suggests the nearest known one.

    `kind` says what is named. The names in `also` exist too and can be the nearest one, but are too many to list.
    `meant` is the name that was meant, where that is known; by default the one that is spelled most alike.
    """
    choices = sorted({*names})
    near = [meant] if meant else difflib.get_close_matches(name[:80], sorted({*choices, *also}), n=1)
    hint = f"did you mean {near[0]!r}?" if near else ""
    choice = "" if near and len(choices) > _MANY else f"choose from {', '.join(choices)}"
    return f"unknown {kind} {name[:80]!r}: {' '.join(filter(None, (hint, choice)))}"


def plural(count: int, singular: str, several: str | None = None) -> str:
    """Return a number with its noun: "1 maze", "2 mazes", "1,000 mazes".

    `several` is the plural; by default `singular` with an "s".
    """
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"


def short_count(count: float) -> str:
    """Return a number with three significant digits as text: "950", "31.2k", "1.2M"."""
    for least, size, letter in ((999_500, 1_000_000, "M"), (1_000, 1_000, "k")):
        if count >= least:
            value = count / size
            return f"{value:,.0f}{letter}" if value >= 99.95 else f"{value:.3g}{letter}"
    return f"{count:.0f}"


def duration_text(seconds: float) -> str:
    """Return a duration as text: "45 s", "3 min 20 s", "35 min", "1 h 5 min"."""
    rounded = max(round(seconds), 0)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min" + (f" {rounded % 60} s" if rounded < 600 and rounded % 60 else "")
    return f"{rounded // 3600:,} h" + (f" {rounded % 3600 // 60} min" if rounded % 3600 >= 60 else "")


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article: "a maze", "an item"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
