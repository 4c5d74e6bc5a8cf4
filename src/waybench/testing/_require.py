"""How a broken contract is reported."""

from enum import Enum
from typing import Any

from waybench.core import Environment, WaybenchError

_PLAIN = (Enum, str, bytes, int, float, tuple, frozenset)  # nothing of these can be set

AnyEnvironment = Environment[Any, Any, Any]


class ContractError(WaybenchError, AssertionError):
    """An environment that does not keep the contract; an `AssertionError`, so that every test runner shows it."""


def require(condition: object, message: str) -> None:
    """Raise `ContractError` with a message unless a condition holds."""
    if not condition:
        raise ContractError(message)


def require_frozen(value: Any, what: str) -> None:
    """Require that a value is hashable, has no `__dict__`, and that none of its fields can be set."""
    try:
        hash(value)
    except TypeError as error:
        raise ContractError(f"{what} is not hashable ({error}): use tuples and frozen dataclasses") from None
    if issubclass(type(value), _PLAIN) and not hasattr(value, "_fields"):
        return
    require(not hasattr(value, "__dict__"), f"{what} has a __dict__: give its class slots (NamedTuple, slots=True)")
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


def brief(value: object) -> str:
    """Return a value for a message, short and on one line."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
