"""How a broken contract is reported."""

from enum import Enum
from typing import Any

from waybench.core import Environment, WaybenchError

_PLAIN = (Enum, str, bytes, int, float, tuple, frozenset)  # nothing of these can be set

AnyEnvironment = Environment[Any, Any, Any]


class ContractError(WaybenchError, AssertionError):
    """An environment that does not keep the contract; an `AssertionError`, so that every test runner shows it."""


class Message:
    """A text that is put together when it is shown, for a state may take longer to print than to check.

    Args:
        template: The text, with {} for each part, as for `str.format`.
        *parts: The parts.
    """

    __slots__ = ("_parts", "_template")

    def __init__(self, template: str, *parts: object) -> None:
        self._template, self._parts = template, parts

    def __str__(self) -> str:
        return self._template.format(*self._parts) if self._parts else self._template


class _Brief:
    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        text = repr(self._value)
        return text if len(text) <= 100 else f"{text[:97]}..."


def brief(value: object) -> object:
    """Return what prints a value for a message, short and on one line, when the message is shown."""
    return _Brief(value)


def require(condition: object, message: str, *parts: object) -> None:
    """Raise `ContractError` with a message unless a condition holds; the message is made only then.

    Args:
        condition: What has to be true.
        message: What to say otherwise, with {} for each part.
        *parts: What costs time to print: values, or a `Message` that names the place.
    """
    if not condition:
        raise ContractError(str(Message(message, *parts)))


def require_frozen(value: Any, what: object) -> None:
    """Require that a value is hashable, has no `__dict__`, and that none of its fields can be set."""
    try:
        hash(value)
    except TypeError as error:
        raise ContractError(f"{what} is not hashable ({error}): use tuples and frozen dataclasses") from None
    if issubclass(type(value), _PLAIN) and not hasattr(value, "_fields"):
        return
    require(not hasattr(value, "__dict__"), "{} has a __dict__: give its class slots (NamedTuple, slots=True)", what)
    listings = ("__dataclass_fields__", "_fields", "__slots__")
    names: list[str] = next(
        (list(getattr(value, listing)) for listing in listings if hasattr(value, listing)), list[str]()
    )
    for name in names:
        try:
            setattr(value, name, getattr(value, name))
        except (AttributeError, TypeError):
            continue
        raise ContractError(f"{what} is not frozen: its field {name!r} could be set")
