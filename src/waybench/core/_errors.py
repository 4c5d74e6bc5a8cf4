"""Errors that a user can act upon, defects of environments with their place in the code, and words of messages."""

import difflib
import inspect
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import extract_tb
from types import FrameType
from typing import Any, NamedTuple

_MOST_LISTED_NAMES = 20  # beside the suggestion of a similar name; without a suggestion all names are listed
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
        reply: The reply at which the exception was raised; None if no reply led to it.
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

    Args:
        kind: What is named, such as "option".
        name: The unknown name.
        names: The names to choose from.
        also: More names that exist and can be suggested, but are too many to list.
        meant: The name to suggest; by default the one that is spelled most alike.
    """
    choices = sorted({*names})
    suggestions = [meant] if meant else difflib.get_close_matches(name[:80], sorted({*choices, *also}), n=1)
    hint = f"did you mean {suggestions[0]!r}?" if suggestions else ""
    choice = "" if suggestions and len(choices) > _MOST_LISTED_NAMES else f"choose from {', '.join(choices)}"
    return f"unknown {kind} {name[:80]!r}: {' '.join(filter(None, (hint, choice)))}"


def plural(count: int, singular: str, plural_noun: str | None = None) -> str:
    """Return a number with its noun: "1 maze", "2 mazes", "1,000 mazes"; the plural is by default formed with "s"."""
    return f"{count:,} {singular if count == 1 else plural_noun or singular + 's'}"


def short_count(count: float) -> str:
    """Return a number with three significant digits as text: "950", "31.2k", "1.2M"."""
    for least, unit, letter in ((999_500, 1_000_000, "M"), (1_000, 1_000, "k")):  # 999,500 is 1.00M, not 1000k
        if count >= least:
            value = count / unit
            return f"{value:,.0f}{letter}" if value >= 99.95 else f"{value:.3g}{letter}"  # .3g writes 1e+03 for 1000
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
    """Return a noun with its indefinite article: "a maze", "an item", "a unit"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


DEFECT = "defect in environment "  # the beginning of the message of every `DefectError`
_LONGEST_TEXT = 300  # characters of an exception's own text
_OWN_PACKAGE = __name__.partition(".")[0]
_OWN_SOURCES = Path(__file__).parents[1]
# Errors that the user can mend, or that come from the machine: a missing library, a server that has ended, a full disk.
_NO_DEFECTS = (WaybenchError, OSError, MemoryError, ModuleNotFoundError)


class CodeLocation(NamedTuple):
    """A line of an environment's code.

    Attributes:
        line: The number of the line, from 1.
        function: The environment's function that waybench called; the exception was raised in it or below it.
        caller: The function of waybench that called `function`; "" if unknown.
    """

    path: str
    line: int
    function: str
    caller: str = ""

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line}"


def location_in_environment(error: BaseException) -> CodeLocation | None:
    """Return the line of an environment's code that raised an exception; None if none of its code ran.

    The first function that is neither waybench's nor the standard library's is the environment's. The line is that of
    the last function of the same package below it, so that an error within a library is shown where the environment
    called the library. A `KitError` is shown where the function or class that it is about is defined.
    """
    if isinstance(error, KitError):
        location = location_of_definition(error.subject)
        return location and location._replace(caller=extract_tb(error.__traceback__)[-1].name)
    package = function = caller = previous_function = ""
    deepest: CodeLocation | None = None
    entry = error.__traceback__
    while entry is not None:
        code, frame_package = entry.tb_frame.f_code, _environment_package(entry.tb_frame)
        if not package and frame_package:  # the first frame of the environment
            package, function, caller = frame_package, code.co_name, previous_function
        is_in_file = not code.co_filename.startswith("<")  # unlike the methods that dataclasses generate
        if frame_package and frame_package == package and is_in_file:
            deepest = CodeLocation(code.co_filename, entry.tb_lineno, function, caller)
        previous_function = code.co_name
        entry = entry.tb_next
    return deepest


def location_of_definition(subject: Any) -> CodeLocation | None:
    """Return the line that defines a function or class; None if unknown, or if it is in `waybench.core`."""
    with suppress(TypeError, OSError, ValueError):
        path = inspect.getfile(subject)
        if Path(__file__).parent in Path(path).parents:
            return None
        code: Any = getattr(subject, "__code__", None)
        line = code.co_firstlineno if code is not None else inspect.getsourcelines(subject)[1]
        return CodeLocation(path, line, getattr(subject, "__name__", ""))
    return None


def _environment_package(frame: FrameType) -> str:
    """Return the package of the environment whose code a frame runs; "" for code of waybench or of libraries.

    All environments of waybench count as one package.
    """
    top_package, *subpackages = str(frame.f_globals.get("__name__", "")).split(".")
    if top_package == _OWN_PACKAGE:
        return f"{top_package}/envs" if subpackages[:1] == ["envs"] else ""
    is_library = top_package in sys.stdlib_module_names or top_package in ("inspect_ai", "pytest", "_pytest")
    return "" if is_library else top_package


def exception_text(error: BaseException) -> str:
    """Return an exception as text, with its location if known: "raised KeyError: 'x' (compass.py:116)"."""
    text = " ".join(str(error).split())[:_LONGEST_TEXT]
    location = location_in_environment(error)
    return (
        f"raised {type(error).__name__}"
        + (f": {text}" if text else "")
        + (f" ({location})" if location is not None else "")
    )


@contextmanager
def reraise_as_defect(environment_id: str, action: str = "") -> Generator[None]:
    """Raise exceptions of an environment's code as a DefectError.

    Errors that the user can mend, and those of the machine (a full disk, a library that is missing), stay as they are.

    `action` says what the block does, such as "metric score"; by default the message names the function that was
    called.
    """
    try:
        yield
    except _NO_DEFECTS:
        raise
    except Exception as error:
        raise defect_error(environment_id, error, action) from error


def defect_error(environment_id: str, error: Exception, action: str = "") -> DefectError:
    """Return the DefectError that reports an exception of an environment's code; see `reraise_as_defect`."""
    location = location_in_environment(error)
    subject = action or (location.function if location is not None else "its code")
    return DefectError(
        f"{DEFECT}{environment_id}: {subject} {exception_text(error)}; retrying will not help; "
        f"run waybench check {environment_id}"
    )


def defect_or_same_error(environment_id: str, error: Exception) -> Exception:
    """Return an exception as a DefectError if it is a defect (`is_environment_defect`), otherwise unchanged."""
    return defect_error(environment_id, error) if is_environment_defect(error) else error


def is_environment_defect(error: Exception) -> bool:
    """Return whether an environment's code raised an exception that neither user nor machine caused.

    A DataError is a defect only in the code of a user's environment: waybench's own environments raise it for files
    that are missing or damaged.
    """
    location = location_in_environment(error)
    if isinstance(error, DataError):
        return location is not None and _OWN_SOURCES not in Path(location.path).parents
    return not isinstance(error, _NO_DEFECTS) and location is not None
