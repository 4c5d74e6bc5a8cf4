"""Declares parameters of commands where they are used: in a command's signature, or as the fields of a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, cast, get_args, get_origin

import click

_DECLARED = "waybench.cli"


def option(text: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """Declare an option, as the default of a command's parameter or of a dataclass's field.

    Its type follows from the annotation: a tuple can be given several times, and a bool is a flag. The help shows the
    default.

    Args:
        text: The help.
        *names: The names on the command line; by default that of the parameter, with "-" for "_".
        default: The value of an option that is not given.
        **settings: Other arguments of `click.option`.
    """
    return field(default=default, metadata={_DECLARED: (click.option, names, {"help": text, **settings})})


def argument(metavar: str | None = None, *, default: Any = None, **settings: Any) -> Any:
    """Declare an argument; a tuple takes any number of words, and one that can be None can be left out.

    Args:
        metavar: Its name in the help; by default that of the parameter.
        default: The value of an argument that is not given.
        **settings: Other arguments of `click.argument`.
    """
    return field(default=default, metadata={_DECLARED: (click.argument, (), {"metavar": metavar, **settings})})


def like(declared: "Field[Any]", *, default: Any = None, **changes: Any) -> Any:
    """Declare a parameter as another one, but for its default and the settings that are given."""
    kind, names, settings = declared.metadata[_DECLARED]
    return field(default=default, metadata={_DECLARED: (kind, names, settings | changes)})


def with_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the parameters that its signature declares.

    For a parameter whose type is a dataclass, the command has the parameters that its fields declare.
    """
    groups: dict[str, Any] = {}
    declared: list[tuple[str, Any, Field[Any]]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        annotation: Any = parameter.annotation
        if is_dataclass(annotation):
            groups[name] = annotation
            declared += [(part.name, part.type, part) for part in fields(annotation)]
        elif isinstance(default := parameter.default, Field):
            declared.append((name, annotation, cast("Field[Any]", default)))

    @wraps(function)
    def command(*args: Any, **values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        return function(*args, **values)

    for name, annotation, declaration in reversed(declared):
        _click_parameter(name, annotation, declaration)(command)
    return command


def _click_parameter(name: str, annotation: Any, declaration: "Field[Any]") -> Callable[..., Any]:
    kind, names, settings = declaration.metadata[_DECLARED]
    settings, default = dict(settings), declaration.default
    types = get_args(annotation) if get_origin(annotation) is not tuple else ()
    types = types or (annotation,)
    if default not in (None, ()) and default is not False:
        settings["default"] = default
        if kind is click.option and default != "":
            settings.setdefault("show_default", True)
    for type_ in (int, float):
        if type_ in types:
            settings.setdefault("type", type_)
    if Path in types or annotation == tuple[Path, ...]:
        settings.setdefault("type", click.Path(path_type=Path))
    if kind is click.argument:
        several: dict[str, Any] = {"nargs": -1} if get_origin(annotation) is tuple else {}
        optional = {"required": False} if type(None) in types else {}
        return click.argument(name, **several, **optional, **settings)
    if get_origin(annotation) is tuple:
        settings["multiple"] = True
    if annotation is bool:
        settings["is_flag"] = True
    return click.option(name, *(names or (f"--{name.replace('_', '-')}",)), **settings)
