"""Instances whose fields are their whole content, with their canonical form, their JSON and its reader."""

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any, Self, cast, get_args, get_origin, get_type_hints

from waybench.core._datasets import check_known_fields
from waybench.core._errors import DataError, KitError
from waybench.core._game import Json
from waybench.core._items import Instance
from waybench.core._json import MAX_DIGITS, is_array, is_object

_KINDS: dict[Any, str] = {int: "a whole number", str: "a text", bool: "true or false"}


class DataInstance(Instance):
    """An instance whose fields are its whole content; a subclass is a frozen dataclass.

    Fields are whole numbers, texts, booleans, and tuples of these. The canonical form is the fields as JSON;
    `from_json` reads them back.
    """

    __slots__ = ()

    def canonical(self) -> str:
        """Return the fields as JSON text, in the order of their names."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the fields by name, tuples as arrays."""
        return {name: _to_json_value(getattr(self, name)) for name in _field_types(type(self))}

    @classmethod
    def from_json(cls, data: Json, what: str = "instance") -> Self:
        """Return the instance of a JSON value that `to_json` wrote, which may come from outside.

        `what` is the name of the instance in messages.

        Raises:
            DataError: If a field is missing, unknown, or of another type.
        """
        kinds = _field_types(cls)
        if not is_object(data):
            raise DataError(f"{what}: give an object with {', '.join(kinds)}")
        check_known_fields(data, kinds, what)
        if missing := [name for name in kinds if name not in data]:
            raise DataError(f"{what}: {', '.join(missing)} is missing")
        return cls(**{name: _read_field_value(data[name], kind, f"{what}: {name}") for name, kind in kinds.items()})


def _to_json_value(value: Any) -> Json:
    """Return a field's value with tuples as lists."""
    return (
        [_to_json_value(element) for element in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value
    )


@lru_cache(maxsize=64)
def _field_types(cls: type[DataInstance]) -> dict[str, Any]:
    """Return the type of each field by name."""
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cast("Any", cls))]
    return {name: _require_supported_type(hints[name], name, cls) for name in names}


def _require_supported_type(field_type: Any, name: str, cls: type[DataInstance]) -> Any:
    """Return a field's type; raise a KitError if `from_json` cannot read it."""
    if get_origin(field_type) is tuple:
        for element in get_args(field_type):
            if element is not Ellipsis:
                _require_supported_type(element, name, cls)
    elif field_type not in _KINDS:
        raise KitError(
            f"{cls.__name__}.{name} has a type that is not read from JSON",
            "use int, str, bool, and tuples of these",
            cls,
        )
    return field_type


def _read_field_value(value: Json, field_type: Any, where: str) -> Any:
    """Return a JSON value as a value of a field's type; raise a DataError if it has another type."""
    if get_origin(field_type) is tuple:
        elements = get_args(field_type)
        if not is_array(value):
            raise DataError(f"{where}: give an array")
        if elements[-1] is Ellipsis:
            elements = elements[:1] * len(value)
        if len(value) != len(elements):
            raise DataError(f"{where}: give {len(elements)} values")
        return tuple(_read_field_value(*pair, where) for pair in zip(value, elements, strict=True))
    if type(value) is not field_type:  # true is no whole number
        raise DataError(f"{where}: give {_KINDS[field_type]}")
    if field_type is int and abs(value) >= 10**MAX_DIGITS:
        raise DataError(f"{where}: give a number of at most {MAX_DIGITS} digits")
    if field_type is str and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise DataError(f"{where}: give a text without surrogates")
    return value
