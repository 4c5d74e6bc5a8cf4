"""Which of the report's functions make tables and charts, and which of them have made any."""

import ast
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from importlib.resources import files
from inspect import currentframe
from pathlib import Path
from typing import Any

from waybench.reporting.charts import Chart
from waybench.reporting.tables import Table

REPORTING = Path(str(files("waybench.reporting")))
_KINDS = {"Table": Table, "Chart": Chart}


def makers() -> set[str]:
    """Return the functions of the report that return tables or charts, as MODULE.FUNCTION."""
    kinds: set[str] = set()
    for path in REPORTING.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                names = {name.id for name in ast.walk(node.returns) if isinstance(name, ast.Name)}
                if names & _KINDS.keys():
                    kinds.add(f"{path.stem}.{node.name}")
    return kinds


@contextmanager
def recorded(file: Path) -> Generator[None, None, None]:
    """Add to a file the functions within which a table with rows, or a chart, is made, also in copies of this process.

    Args:
        file: The file, a line for each function.
    """
    seen: set[str] = set()

    def note(value: Any) -> None:
        if isinstance(value, Table) and not any(group.rows for group in value.groups):
            return
        frame = currentframe()
        names: set[str] = set()
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(REPORTING):
                names.add(f"{path.stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        if new := names - seen:
            seen.update(new)
            with file.open("a", encoding="utf-8") as out:
                out.write("".join(f"{name}\n" for name in sorted(new)))

    before = {kind: kind.__init__ for kind in _KINDS.values()}
    for kind, init in before.items():
        setattr(kind, "__init__", _noting(init, note))  # noqa: B010
    try:
        yield
    finally:
        for kind, init in before.items():
            setattr(kind, "__init__", init)  # noqa: B010


def _noting(init: Callable[..., None], note: Callable[[Any], None]) -> Callable[..., None]:
    @wraps(init)
    def noting(self: Any, *args: Any, **values: Any) -> None:
        init(self, *args, **values)
        note(self)

    return noting
