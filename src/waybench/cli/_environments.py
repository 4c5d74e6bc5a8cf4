"""Environments that commands name: those of the catalogue, and those in a file or module of the user's."""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from waybench.core import Entry, Environment, UsageError, WaybenchError, unknown_name_message
from waybench.core._defects import exception_text
from waybench.envs import registry
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names

AnyEnvironment = Environment[Any, Any, Any]
_places: dict[str, str] = {}  # id -> the file or module from which this process has the environment


class EnvironmentName(click.ParamType[str]):
    """A parameter's type: a name of the catalogue as it is; FILE.py, FILE.py:NAME or MODULE:NAME becomes an id.

    The environment of such a place enters the catalogue of this process.
    """

    name = "environment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or the id of the environment at the place."""
        return register_place(str(value)) if _is_place(str(value)) else str(value)


def register_place(place: str) -> str:
    """Have the catalogue of this process know the environment at a place, and return its id.

    Raises:
        UsageError: If there is none, or its module raises while it is imported.
        WaybenchError: If its id is taken.
    """
    if not _is_place(place):
        raise UsageError(f"{place[:200]!r} is no place of an environment: give FILE.py, FILE.py:NAME or MODULE:NAME")
    try:
        module, attribute = _located(place)
    except WaybenchError:
        raise
    except Exception as error:  # somebody's module can raise anything while it is imported
        raise UsageError(f"{place}: the module {exception_text(error)}; run waybench check {place}") from error
    environment: AnyEnvironment = vars(module)[attribute]
    id_ = environment.id
    if all(entry.id != id_ for entry in registry.entries) or registry.load(id_) is not environment:
        registry.register(_entry(module, attribute, environment))  # which refuses an id that is taken
        _places[id_] = place
    return id_


def places_of(names: Iterable[str]) -> list[str]:
    """Return the files and modules from which this process, and no other one, has some of these environments."""
    return [_places[name] for name in names if name in _places]


def refuse_places(names: Iterable[str], what: str) -> None:
    """Refuse environments that other processes would not find.

    Args:
        names: Ids and other names.
        what: What needs other processes.
    """
    for place in places_of(names):
        raise UsageError(
            f"{what}: other processes do not know {place}: give the environment a package (`waybench new` shows one), "
            "run `pip install -e .` in its folder, and name it by its id"
        )


def find_environment(name: str) -> AnyEnvironment:
    """Return the environment of an id, a family, a task, FILE.py, FILE.py:NAME or MODULE:NAME.

    Raises:
        UsageError: If there is none.
        Exception: Whatever the module raises while it is imported.
    """
    return find_with_module(name)[0]


def find_with_module(name: str) -> tuple[AnyEnvironment, ModuleType | None]:
    """Return the environment of a name as `find_environment`, and its module if the name is a place."""
    if _is_place(name):
        module, attribute = _located(name)
        return vars(module)[attribute], module
    names = environment_names()
    plain = name.removeprefix("waybench/").partition("@")[0]
    if plain in names:
        return registry.load(names[plain]), None
    tasks = {task.name: task for task in all_tasks()}
    if plain not in tasks:
        raise UsageError(
            f"{unknown_name_message('environment', plain, names, also=tasks)}; or give FILE.py, or MODULE:NAME"
        )
    if len(tasks[plain].envs) > 1:
        raise UsageError(f"{plain} plays several environments: choose one of {', '.join(tasks[plain].envs)}")
    return registry.load(tasks[plain].envs[0]), None


def _is_place(name: str) -> bool:
    return name.endswith(".py") or (":" in name and not name.endswith((".json", ".jsonl")))


def _located(name: str) -> tuple[ModuleType, str]:
    """Import the module of a place, and return it with the name of its environment."""
    place, _, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    if place.endswith(".py"):
        module = _module_of_file(Path(place))
    else:
        sys.path.insert(0, str(Path.cwd()))
        try:
            module = import_module(place)
        except ModuleNotFoundError as error:
            if error.name is not None and place.startswith(error.name):
                raise UsageError(f"there is no module {place!r}: install its package, or give FILE.py") from None
            raise
    return module, _environment_in(module, attribute)


def _module_of_file(path: Path) -> ModuleType:
    """Import a file under its own name, as its package does if it is part of one."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)[:200]!r}")
    path = path.resolve()
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        parts, folder = [folder.name, *parts], folder.parent
    name = ".".join(part for part in parts if part != "__init__")
    sys.path.insert(0, str(folder))
    if len(parts) > 1:
        return import_module(name)
    if getattr(sys.modules.get(name), "__file__", None) == str(path):
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def _environment_in(module: ModuleType, attribute: str) -> str:
    """Return the name of a module's environment, which has to be this one if a name is given."""
    values: dict[str, Any] = vars(module)
    if attribute:
        if not _is_environment(values.get(attribute)):
            raise UsageError(f"{module.__name__} has no environment {attribute[:80]!r}")
        return attribute
    named: dict[str, AnyEnvironment] = {name: values[name] for name in values if _is_environment(values[name])}
    if len({id(value) for value in named.values()}) != 1:
        problem = f"has {len(named)} environments ({', '.join(named)}): add :NAME" if named else "has no environment"
        raise UsageError(f"{module.__name__} {problem}")
    return next(iter(named))


def _is_environment(value: object) -> bool:
    return isinstance(value, Environment)


def _entry(module: ModuleType, attribute: str, environment: AnyEnvironment) -> Entry:
    """Return the line of the catalogue that an environment would have if its package was installed."""
    declared: Any = getattr(module, "entry", None)
    entry = declared() if callable(declared) else declared
    if isinstance(entry, Entry) and entry.id == environment.id:
        return entry
    horizon = environment.title if environment.difficulty.horizon is not None else ""
    target = f"{module.__name__}:{attribute}"
    return Entry(environment.id, environment.version, target, environment.title, horizon=horizon)
