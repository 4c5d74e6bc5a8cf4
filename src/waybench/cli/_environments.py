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
from waybench.core._errors import exception_text
from waybench.envs import registry
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names

AnyEnvironment = Environment[Any, Any, Any]
_locations: dict[str, str] = {}  # id -> the file or module from which this process has the environment


class EnvironmentName(click.ParamType[str]):
    """A parameter's type: names of the catalogue stay; FILE.py, FILE.py:NAME and MODULE:NAME become an id.

    The environment in such a file or module enters the catalogue of this process.
    """

    name = "environment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return register_environment(str(value)) if _is_location(str(value)) else str(value)


def register_environment(location: str) -> str:
    """Add the environment in a file or module to the catalogue of this process, and return its id.

    Raises:
        UsageError: If there is none, or its module raises while it is imported.
        WaybenchError: If its id is taken.
    """
    if not _is_location(location):
        raise UsageError(f"{location[:200]!r} is no place of an environment: give FILE.py, FILE.py:NAME or MODULE:NAME")
    try:
        module, attribute = _import_location(location)
    except WaybenchError:
        raise
    except Exception as error:  # somebody's module can raise anything while it is imported
        raise UsageError(f"{location}: the module {exception_text(error)}; run waybench check {location}") from error
    environment: AnyEnvironment = vars(module)[attribute]
    id_ = environment.id
    if all(entry.id != id_ for entry in registry.entries) or registry.load(id_) is not environment:
        registry.register(_catalogue_entry(module, attribute, environment))  # which refuses an id that is taken
        _locations[id_] = location
    return id_


def local_locations(env_ids: Iterable[str]) -> list[str]:
    """Return the file or module of each environment that only this process knows; the others have none."""
    return [_locations[name] for name in env_ids if name in _locations]


def refuse_local_environments(names: Iterable[str], purpose: str) -> None:
    """Raise a UsageError that names the purpose if an environment is known to this process only."""
    if locations := local_locations(names):
        raise UsageError(
            f"{purpose}: other processes do not know {locations[0]}: give the environment a package (`waybench new` "
            "shows one), run `pip install -e .` in its folder, and name it by its id"
        )


def find_environment(name: str) -> AnyEnvironment:
    """Return the environment of an id, a family, a task, FILE.py, FILE.py:NAME or MODULE:NAME.

    Raises:
        UsageError: If there is none.
        Exception: Whatever the module raises while it is imported.
    """
    return find_environment_and_module(name)[0]


def find_environment_and_module(name: str) -> tuple[AnyEnvironment, ModuleType | None]:
    """Return the environment of a name, as `find_environment`, and the module if the name is FILE.py or MODULE:NAME."""
    if _is_location(name):
        module, attribute = _import_location(name)
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


def _is_location(name: str) -> bool:
    """Return whether a name is of the form FILE.py, FILE.py:NAME or MODULE:NAME."""
    return name.endswith(".py") or (":" in name and not name.endswith((".json", ".jsonl")))


def _import_location(name: str) -> tuple[ModuleType, str]:
    """Import the module in FILE.py:NAME or MODULE:NAME, and return it with the attribute that is the environment."""
    file_or_module, _, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    if file_or_module.endswith(".py"):
        module = _import_file(Path(file_or_module))
    else:
        sys.path.insert(0, str(Path.cwd()))
        try:
            module = import_module(file_or_module)
        except ModuleNotFoundError as error:
            if error.name is not None and file_or_module.startswith(error.name):
                problem = f"there is no module {file_or_module!r}"
                raise UsageError(f"{problem}: install its package, or give FILE.py") from None
            raise  # the module is there, and lacks another one
    return module, _environment_name_in(module, attribute)


def _import_file(path: Path) -> ModuleType:
    """Import a file under its own name, as its package does if it is part of one."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)[:200]!r}")
    path = path.resolve()
    module_parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        module_parts, folder = [folder.name, *module_parts], folder.parent
    name = ".".join(part for part in module_parts if part != "__init__")
    sys.path.insert(0, str(folder))
    if len(module_parts) > 1:
        return import_module(name)
    if getattr(sys.modules.get(name), "__file__", None) == str(path):
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def _environment_name_in(module: ModuleType, attribute: str) -> str:
    """Return the attribute of a module that is its environment; `attribute` is the user's choice, or ""."""
    values: dict[str, Any] = vars(module)
    if attribute:
        if not isinstance(values.get(attribute), Environment):
            raise UsageError(f"{module.__name__} has no environment {attribute[:80]!r}")
        return attribute
    environments: dict[str, AnyEnvironment] = {
        name: values[name] for name in values if isinstance(values[name], Environment)
    }
    if len({id(environment) for environment in environments.values()}) != 1:  # one may have several names
        names = ", ".join(environments)
        problem = f"has {len(environments)} environments ({names}): add :NAME" if environments else "has no environment"
        raise UsageError(f"{module.__name__} {problem}")
    return next(iter(environments))


def _catalogue_entry(module: ModuleType, attribute: str, environment: AnyEnvironment) -> Entry:
    """Return the module's own entry of the environment, or one that is made for it."""
    declared: Any = getattr(module, "entry", None)
    entry = declared() if callable(declared) else declared
    if isinstance(entry, Entry) and entry.id == environment.id:
        return entry
    horizon = environment.title if environment.difficulty.horizon is not None else ""
    target = f"{module.__name__}:{attribute}"
    return Entry(environment.id, environment.version, target, environment.title, horizon=horizon)
