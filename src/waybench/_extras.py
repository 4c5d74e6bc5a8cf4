"""The extras of the installation, and what to say when the packages of one are missing."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib.metadata import PackageNotFoundError, requires, version
from typing import ParamSpec, TypeVar

from waybench.core import UsageError

P = ParamSpec("P")
R = TypeVar("R")

_REQUIREMENT = re.compile(r"""([\w.-]+).*;.*extra\s*==\s*['"]([\w-]+)['"]""")
_PACKAGE_OF_MODULE = {"vl_convert": "vl-convert-python"}  # only modules whose name is not that of their package


def packages_by_extra() -> dict[str, list[str]]:
    """Return the packages of each declared extra, extras in alphabetical order; {} if waybench is not installed."""
    by_extra: dict[str, list[str]] = {}
    try:
        declared = requires("waybench") or []
    except PackageNotFoundError:
        declared = []
    for requirement in declared:
        if match := _REQUIREMENT.match(requirement):
            package, extra = match.groups()
            by_extra.setdefault(extra, []).append(package)
    return dict(sorted(by_extra.items()))


def missing_extra_error(error: ModuleNotFoundError, what: str = "this") -> UsageError | None:
    """Return the error that names the extra to install for a missing module; None if the module is in no extra.

    `what` is the command or function that needs the module, as the subject of a sentence.
    """
    module = (error.name or "").partition(".")[0]
    package = _PACKAGE_OF_MODULE.get(module, module).replace("_", "-").lower()
    extra = next((extra for extra, packages in packages_by_extra().items() if package in packages), None)
    if extra is None:
        return None
    problem = "which is not installed"
    if module != error.name and sys.modules.get(module):  # a part of a package, which an older version lacks
        with suppress(PackageNotFoundError):
            problem = f"in another version than {version(package)}"
    return UsageError(f"{what} needs the package {package}, {problem}: pip install 'waybench[{extra}]'")


def says_missing_extra(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that a missing package of an extra raises a `UsageError` that names the extra."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ModuleNotFoundError as error:
            raise missing_extra_error(error, f"{function.__name__}()") or error from None

    return call
