"""Reading the tables of a paper's TOML file."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar, cast

from waybench.core import DataError

T = TypeVar("T")


class TomlEntry:
    """A table of the file: takes values out by name and type, and in the end complains of what nobody took."""

    def __init__(self, content: Any, where: str) -> None:
        self.where = where
        if not isinstance(content, Mapping):
            self.fail("it is no table")
        self.left = dict(cast("Mapping[str, Any]", content))

    def fail(self, problem: str) -> NoReturn:
        """Raise a `DataError` that says where the problem is."""
        raise DataError(f"{self.where}: {problem}")

    def take_value(self, name: str, kind: type[Any], default: Any = None) -> Any:
        """Remove a value of a type from the table and return it, or the default; without one it is required."""
        if name not in self.left:
            if default is None:
                self.fail(f"{name} is missing")
            return default
        value = self.left.pop(name)
        if isinstance(value, bool) is not (kind is bool) or not isinstance(value, kind):
            self.fail(f"{name} is no {kind.__name__}: {str(value)[:40]!r}")
        return value

    def take_text(self, name: str, default: str | None = None) -> str:
        """Remove a text and return it without the blanks around it."""
        return self.take_value(name, str, default).strip()

    def take_texts(self, name: str) -> tuple[str, ...]:
        """Remove an array of texts and return it; empty if it is missing."""
        texts: tuple[Any, ...] = self.take_value(name, tuple, ())
        if not all(isinstance(text, str) for text in texts):
            self.fail(f"{name}: not all are texts")
        return texts

    def take_optional_table(self, name: str) -> dict[str, Any]:
        """Remove a table and return it; empty if it is missing."""
        return dict(self.take_value(name, dict, {}))

    def read_tables(self, name: str, read: Callable[["TomlEntry"], T]) -> tuple[T, ...]:
        """Remove an array of tables and return what a function reads from each."""
        entries: list[T] = []
        for number, content in enumerate(self.take_value(name, tuple, ()), start=1):
            part = TomlEntry(content, f"{self.where}, {name} {number}")
            entries.append(read(part))
            part.reject_unknown_names()
        return tuple(entries)

    def reject_unknown_names(self) -> None:
        """Raise a `DataError` if values are left that nobody took."""
        if self.left:
            self.fail(f"unknown: {', '.join(self.left)}")
