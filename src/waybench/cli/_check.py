"""`waybench check`: the whole contract of `waybench.testing` on one environment, for whoever writes it."""

import sys
import time
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from waybench.cli._options import AS_JSON, argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import Environment, Json, UsageError, plural, unknown_name_message
from waybench.core._defects import CodeLocation, location_of, raised_text
from waybench.envs import registry
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names
from waybench.testing import ENVIRONMENT_CHECKS, LEVEL_CHECKS, Breach, find_breaches

AnyEnvironment = Environment[Any, Any, Any]
PATIENCE = 300.0  # seconds of one check, after which it is taken for one that never ends
_LONGEST_REPLY = 200  # characters
_EXAMPLES = """\b
waybench check FAMILY/VARIANT
waybench check compass.py
waybench check my_package.compass:ENVIRONMENT --level 5 --level 9"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def check(
    env: str = argument(),
    levels: tuple[int, ...] = option(
        "Level to look at; repeatable.  [default: the smallest one]", "--level", "-l", type=int, metavar="N"
    ),
    all_levels: bool = option("Look at all sample levels."),
    verbose: bool = option("Also print the traceback of each failure.", "--verbose", "-v"),
    as_json: bool = AS_JSON,
) -> None:
    """Check whether an environment keeps its contract, in seconds.

    ENV is the id of an environment, its family or task, or the place of your own one: FILE.py, FILE.py:NAME or
    MODULE:NAME. For each failure you read the check, the item, the reply, what is wrong, the line of your code and what
    to do. The exit status is 1 if a check fails.
    """
    began, name, count = time.monotonic(), env, 1
    try:
        environment = find_environment(env)
    except UsageError:
        raise
    except Exception as error:  # somebody's module can raise anything while it is imported
        breaches = [_import_breach(error)]
    else:
        name = f"{environment.id}@{environment.version}"
        levels = environment.items.sample_levels if all_levels else levels or environment.items.sample_levels[:1]
        for level in levels:
            if level not in environment.items.sample_levels:
                environment.source(level=level)  # which refuses a level that does not exist
        count = len(ENVIRONMENT_CHECKS) + len(levels) * len(LEVEL_CHECKS)
        breaches = find_breaches(environment, levels, family=_family(environment), seconds=PATIENCE)
    seconds = time.monotonic() - began
    if as_json:
        failures = [_to_json(breach, verbose=verbose) for breach in breaches]
        click.echo(dumps({"env": name, "levels": list(levels), "checks": count, "failures": failures}))
    else:
        for breach in breaches:
            click.echo(_text(breach, verbose=verbose) + "\n")
        at = f" at level {', '.join(map(str, levels))}" if levels else ""
        found = plural(len(breaches), "problem") if breaches else "no problem"
        click.echo(f"{name}: {found} in {plural(count, 'check')}{at} ({seconds:.1f} s)")
    sys.exit(1 if breaches else 0)


def find_environment(name: str) -> AnyEnvironment:
    """Return the environment of an id, a family, a task, FILE.py, FILE.py:NAME or MODULE:NAME.

    Raises:
        UsageError: If there is none.
        Exception: Whatever the module raises while it is imported.
    """
    place, colon, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    if place.endswith(".py"):
        return _environment_in(_module_of_file(Path(place)), attribute)
    if colon:
        sys.path.insert(0, str(Path.cwd()))
        try:
            module = import_module(place)
        except ModuleNotFoundError as error:
            if error.name is not None and place.startswith(error.name):
                raise UsageError(f"there is no module {place!r}: install its package, or give FILE.py") from None
            raise
        return _environment_in(module, attribute)
    names = environment_names()
    plain = name.removeprefix("waybench/").partition("@")[0]
    if plain in names:
        return registry.load(names[plain])
    tasks = {task.name: task for task in all_tasks()}
    if plain not in tasks:
        raise UsageError(
            f"{unknown_name_message('environment', plain, names, also=tasks)}; or give FILE.py, or MODULE:NAME"
        )
    if len(tasks[plain].envs) > 1:
        raise UsageError(f"{plain} plays several environments: choose one of {', '.join(tasks[plain].envs)}")
    return registry.load(tasks[plain].envs[0])


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


def _environment_in(module: ModuleType, attribute: str) -> AnyEnvironment:
    if attribute:
        value: Any = getattr(module, attribute, None)
        if not _is_environment(value):
            raise UsageError(f"{module.__name__} has no environment {attribute[:80]!r}")
        return value
    values: dict[str, Any] = vars(module)
    named: dict[str, AnyEnvironment] = {name: values[name] for name in values if _is_environment(values[name])}
    if len({id(value) for value in named.values()}) != 1:
        found = f"has {len(named)} environments ({', '.join(named)}): add :NAME" if named else "has no environment"
        raise UsageError(f"{module.__name__} {found}")
    return next(iter(named.values()))


def _is_environment(value: object) -> bool:
    return isinstance(value, Environment)


def _family(environment: AnyEnvironment) -> list[AnyEnvironment]:
    """Return the other environments of the catalogue that share an environment's presentation."""
    family = environment.id.partition("/")[0]
    ids = [
        entry.id for entry in registry.entries if entry.id.partition("/")[0] == family and entry.id != environment.id
    ]
    return [registry.load(id_) for id_ in ids]


def _import_breach(error: Exception) -> Breach:
    location = location_of(error)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        location = CodeLocation(error.filename, error.lineno, "")
    advice = "Mend the module so that `import` works."
    return Breach("import", None, "", None, f"the module {raised_text(error)}", location, advice, error)


def _text(breach: Breach, *, verbose: bool) -> str:
    """Return a failure for the terminal: a heading, and a line for each thing that is known of it."""
    where = [f"level {breach.level}"] if breach.level is not None else []
    where += [f"item {breach.item}"] if breach.item else []
    location = breach.location
    lines = {
        "reply": None if breach.reply is None else repr(_cut(breach.reply)),
        "wrong": " ".join(breach.problem.split()),
        "where": location
        and f"{location.path}:{location.line}" + (f" ({location.function})" * bool(location.function)),
        "to do": breach.advice,
        "also": breach.also and f"the same in {', '.join(breach.also)}",
    }
    rows = [f"  {click.style(f'{name}:', bold=True)} {line}" for name, line in lines.items() if line]
    rows += [breach.traceback.rstrip()] if verbose else []
    heading = click.style(f"FAILED {breach.check}", fg="red", bold=True)
    return "\n".join([heading + (f" ({', '.join(where)})" if where else ""), *rows])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_REPLY else f"{text[:_LONGEST_REPLY]}... ({len(text):,} characters)"


def _to_json(breach: Breach, *, verbose: bool) -> Json:
    location = breach.location
    return {
        "check": breach.check,
        "level": breach.level,
        "item": breach.item or None,
        "reply": None if breach.reply is None else _cut(breach.reply),
        "problem": breach.problem,
        "file": location and location.path,
        "line": location and location.line,
        "advice": breach.advice,
        "also": list(breach.also),
        **({"traceback": breach.traceback} if verbose else {}),
    }
