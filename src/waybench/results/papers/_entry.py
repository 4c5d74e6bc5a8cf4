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
        raise DataError(f"{self.where}: {problem}")

    def take_value(self, name: str, kind: type[Any], default: Any = None) -> Any:
        """Return a value; it has to be there if there is no default."""
        if name not in self.left:
            if default is None:
                self.fail(f"{name} is missing")
            return default
        value = self.left.pop(name)
        if isinstance(value, bool) is not (kind is bool) or not isinstance(value, kind):
            self.fail(f"{name} is no {kind.__name__}: {str(value)[:40]!r}")
        return value

    def take_text(self, name: str, default: str | None = None) -> str:
        """Return a text without the blanks around it."""
        return self.take_value(name, str, default).strip()

    def take_texts(self, name: str) -> tuple[str, ...]:
        texts: tuple[Any, ...] = self.take_value(name, tuple, ())
        if not all(isinstance(text, str) for text in texts):
            self.fail(f"{name}: not all are texts")
        return texts

    def take_optional_table(self, name: str) -> dict[str, Any]:
        return dict(self.take_value(name, dict, {}))

    def read_tables(self, name: str, read: Callable[["TomlEntry"], T]) -> tuple[T, ...]:
        """Return what is read of each table of an array of tables."""
        entries: list[T] = []
        for number, content in enumerate(self.take_value(name, tuple, ()), start=1):
            part = TomlEntry(content, f"{self.where}, {name} {number}")
            entries.append(read(part))
            part.reject_unknown_names()
        return tuple(entries)

    def reject_unknown_names(self) -> None:
        if self.left:
            self.fail(f"unknown: {', '.join(self.left)}")
