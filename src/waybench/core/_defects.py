"""Defects of environments: exceptions of an environment's own code, and where in that code they were raised."""

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import extract_tb
from types import FrameType
from typing import Any, NamedTuple

from waybench.core._errors import DataError, DefectError, KitError, WaybenchError

DEFECT = "defect in environment "  # what the message of every `DefectError` begins with
_LONGEST = 300  # characters of an exception's own text
_OURS = __name__.partition(".")[0]
_SOURCES = Path(__file__).parents[1]
# What a machine lacks is no defect of an environment: a library, a server of worlds that has ended, a full disk.
_OF_THE_MACHINE = (WaybenchError, OSError, MemoryError, ModuleNotFoundError)


class CodeLocation(NamedTuple):
    """A line of an environment's code.

    Attributes:
        path: The file.
        line: The number of the line, from 1.
        function: The function that waybench called, which raised the exception itself or called what did.
        caller: The function of waybench that called it.
    """

    path: str
    line: int
    function: str
    caller: str = ""

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line}"


def location_of(error: BaseException) -> CodeLocation | None:
    """Return where an environment's code raised an exception; None if none of its code was running.

    The first function that is neither waybench's nor the standard library's is the environment's; of those that it
    called, the last one of the same package counts, so that an error within a library is shown where it was called.
    An error of the kit is shown where the function or class is defined that it is about.
    """
    if isinstance(error, KitError):
        place = definition_of(error.subject)
        return place and place._replace(caller=extract_tb(error.__traceback__)[-1].name)
    package = entered = caller = before = ""
    deepest: CodeLocation | None = None
    step = error.__traceback__
    while step is not None:
        code, owner = step.tb_frame.f_code, _package_name(step.tb_frame)
        if not package and owner:
            package, entered, caller = owner, code.co_name, before
        if owner and owner == package and not code.co_filename.startswith("<"):
            deepest = CodeLocation(code.co_filename, step.tb_lineno, entered, caller)
        before = code.co_name
        step = step.tb_next
    return deepest


def definition_of(subject: Any) -> CodeLocation | None:
    """Return where a function or a class is defined; None if that is not known, or in the core of waybench."""
    with suppress(TypeError, OSError, ValueError):
        path = inspect.getfile(subject)
        if Path(__file__).parent in Path(path).parents:
            return None
        code: Any = getattr(subject, "__code__", None)
        line = code.co_firstlineno if code is not None else inspect.getsourcelines(subject)[1]
        return CodeLocation(path, line, getattr(subject, "__name__", ""))
    return None


def _package_name(frame: FrameType) -> str:
    """Return the package that a frame's code is of; "" for waybench, its engine and the standard library."""
    first, *others = str(frame.f_globals.get("__name__", "")).split(".")
    if first == _OURS:
        return "/".join((first, *others[:1])) if others[:1] == ["envs"] else ""
    return "" if first in sys.stdlib_module_names or first in ("inspect_ai", "pytest", "_pytest") else first


def raised_text(error: BaseException) -> str:
    """Return which exception was raised, and where if that is known: "raised KeyError: 'x' (compass.py:116)"."""
    text = " ".join(str(error).split())[:_LONGEST]
    location = location_of(error)
    return (
        f"raised {type(error).__name__}"
        + (f": {text}" if text else "")
        + (f" ({location})" if location is not None else "")
    )


@contextmanager
def reraise_as_defect(environment_id: str, what: str = "") -> Generator[None]:
    """Report an exception of an environment's code as a defect of the environment.

    Errors that the user can mend, and those of the machine (a full disk, a library that is missing), go on as they are.

    Args:
        environment_id: The environment.
        what: What the block does, such as "metric score"; by default the name of the function that was called.

    Raises:
        DefectError: If the block raises anything else.
    """
    try:
        yield
    except _OF_THE_MACHINE:
        raise
    except Exception as error:
        raise defect_of(environment_id, error, what) from error


def defect_of(environment_id: str, error: Exception, what: str = "") -> DefectError:
    """Return the error that calls an exception a defect of an environment; see `reraise_as_defect`."""
    location = location_of(error)
    subject = what or (location.function if location is not None else "its code")
    return DefectError(
        f"{DEFECT}{environment_id}: {subject} {raised_text(error)}; retrying will not help; "
        f"run waybench check {environment_id}"
    )


def as_defect(environment_id: str, error: Exception) -> Exception:
    """Return the defect that an exception is, or the exception itself if it is none; see `is_raised_within`."""
    return defect_of(environment_id, error) if is_raised_within(error) else error


def is_raised_within(error: Exception) -> bool:
    """Return whether an exception is one of an environment's code, and neither the caller's nor the machine's.

    An error of data is one, too, where the code of a user's environment raises it: waybench's own environments say so
    of files that are missing or damaged.
    """
    location = location_of(error)
    if isinstance(error, DataError):
        return location is not None and _SOURCES not in Path(location.path).parents
    return not isinstance(error, _OF_THE_MACHINE) and location is not None
