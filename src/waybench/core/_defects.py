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

DEFECT = "defect in environment "  # the beginning of the message of every `DefectError`
_LONGEST = 300  # characters of an exception's own text
_OURS = __name__.partition(".")[0]
_SOURCES = Path(__file__).parents[1]
# What a machine lacks is no defect of an environment: a library, a server of worlds that has ended, a full disk.
_OF_THE_MACHINE = (WaybenchError, OSError, MemoryError, ModuleNotFoundError)


class CodeLocation(NamedTuple):
    """A line of an environment's code.

    Attributes:
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


def location_in_environment(error: BaseException) -> CodeLocation | None:
    """Return the line of an environment's code that raised an exception; None if none of its code ran.

    The first function that is neither waybench's nor the standard library's is the environment's; of those that it
    called, the last one of the same package counts, so that an error within a library is shown where it was called.
    An error of the kit is shown where the function or class is defined that it is about.
    """
    if isinstance(error, KitError):
        place = location_of_definition(error.subject)
        return place and place._replace(caller=extract_tb(error.__traceback__)[-1].name)
    package = entered = caller = before = ""
    deepest: CodeLocation | None = None
    step = error.__traceback__
    while step is not None:
        code, owner = step.tb_frame.f_code, _environment_package(step.tb_frame)
        if not package and owner:
            package, entered, caller = owner, code.co_name, before
        if owner and owner == package and not code.co_filename.startswith("<"):
            deepest = CodeLocation(code.co_filename, step.tb_lineno, entered, caller)
        before = code.co_name
        step = step.tb_next
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
    """Return the package of the environment whose code a frame runs; "" for other code."""
    first, *others = str(frame.f_globals.get("__name__", "")).split(".")
    if first == _OURS:
        return "/".join((first, *others[:1])) if others[:1] == ["envs"] else ""
    return "" if first in sys.stdlib_module_names or first in ("inspect_ai", "pytest", "_pytest") else first


def exception_text(error: BaseException) -> str:
    """Return an exception as text, with its location if known: "raised KeyError: 'x' (compass.py:116)"."""
    text = " ".join(str(error).split())[:_LONGEST]
    location = location_in_environment(error)
    return (
        f"raised {type(error).__name__}"
        + (f": {text}" if text else "")
        + (f" ({location})" if location is not None else "")
    )


@contextmanager
def reraise_as_defect(environment_id: str, action: str = "") -> Generator[None]:
    """Raise exceptions of an environment's code as a DefectError.

    Errors that the user can mend, and those of the machine (a full disk, a library that is missing), go on as they are.

    `action` is the action of the block, such as "metric score"; by default the name of the function that was called.
    """
    try:
        yield
    except _OF_THE_MACHINE:
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

    An error of data is one, too, where the code of a user's environment raises it: waybench's own environments say so
    of files that are missing or damaged.
    """
    location = location_in_environment(error)
    if isinstance(error, DataError):
        return location is not None and _SOURCES not in Path(location.path).parents
    return not isinstance(error, _OF_THE_MACHINE) and location is not None
