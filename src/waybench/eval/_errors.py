"""waybench's errors as Inspect's."""

from collections.abc import Generator
from contextlib import contextmanager

from inspect_ai._util.error import PrerequisiteError  # what the engine prints as one line; it has no public name

from waybench.core import WaybenchError


@contextmanager
def one_line_errors() -> Generator[None]:
    """Raise errors that the user can correct as Inspect's own, which are printed as one line without a traceback."""
    try:
        yield
    except WaybenchError as error:
        raise PrerequisiteError(str(error)) from None
