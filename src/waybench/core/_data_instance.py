"""Instances that are what their fields are, with their canonical form, their JSON and its reader."""

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any, Self, cast, get_args, get_origin, get_type_hints

from waybench.core._datasets import check_fields
from waybench.core._errors import DataError, KitError
from waybench.core._game import Json
from waybench.core._items import Instance
from waybench.core._json import MAX_DIGITS, is_array, is_object

_KINDS: dict[Any, str] = {int: "a whole number", str: "a text", bool: "true or false"}


class DataInstance(Instance):
    """An instance that is what its fields are; a subclass is a frozen dataclass.

    Fields are whole numbers, texts, booleans, and tuples of these. The canonical form is the fields as JSON;
    `from_json` reads them back.
    """

    __slots__ = ()

    def canonical(self) -> str:
        """Return the fields as JSON text, in the order of their names."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the fields by name, tuples as arrays."""
        return {name: _to_json(getattr(self, name)) for name in _field_kinds(type(self))}

    @classmethod
    def from_json(cls, data: Json, what: str = "instance") -> Self:
        """Read an instance that comes from outside, as `to_json` writes it.

        Args:
            data: What should be its JSON value.
            what: What it is called in messages.

        Raises:
            DataError: If a field is missing, unknown, or of another type.
        """
        kinds = _field_kinds(cls)
        if not is_object(data):
            raise DataError(f"{what}: give an object with {', '.join(kinds)}")
        check_fields(data, kinds, what)
        if missing := [name for name in kinds if name not in data]:
            raise DataError(f"{what}: {', '.join(missing)} is missing")
        return cls(**{name: _read(data[name], kind, f"{what}: {name}") for name, kind in kinds.items()})


def _to_json(value: Any) -> Json:
    return [_to_json(element) for element in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value


@lru_cache(maxsize=64)
def _field_kinds(cls: type[DataInstance]) -> dict[str, Any]:
    """Return the names and types of the fields."""
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cast("Any", cls))]
    return {name: _require_known(hints[name], name, cls) for name in names}


def _require_known(kind: Any, name: str, cls: type[DataInstance]) -> Any:
    if get_origin(kind) is tuple:
        for element in get_args(kind):
            if element is not Ellipsis:
                _require_known(element, name, cls)
    elif kind not in _KINDS:
        raise KitError(
            f"{cls.__name__}.{name} has a type that is not read from JSON",
            "use int, str, bool, and tuples of these",
            cls,
        )
    return kind


def _read(value: Json, kind: Any, where: str) -> Any:
    if get_origin(kind) is tuple:
        elements = get_args(kind)
        if not is_array(value):
            raise DataError(f"{where}: give an array")
        if elements[-1] is Ellipsis:
            elements = elements[:1] * len(value)
        if len(value) != len(elements):
            raise DataError(f"{where}: give {len(elements)} values")
        return tuple(_read(*pair, where) for pair in zip(value, elements, strict=True))
    if type(value) is not kind:  # true is no whole number
        raise DataError(f"{where}: give {_KINDS[kind]}")
    if kind is int and abs(value) >= 10**MAX_DIGITS:
        raise DataError(f"{where}: give a number of at most {MAX_DIGITS} digits")
    if kind is str and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise DataError(f"{where}: give a text without surrogates")
    return value
