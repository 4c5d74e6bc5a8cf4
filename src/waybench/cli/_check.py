"""`waybench check`: the whole contract of `waybench.testing` on one environment, for whoever writes it."""

import sys
import time
from types import ModuleType
from typing import Any

import click

from waybench.cli._environments import AnyEnvironment, find_environment_and_module
from waybench.cli._options import AS_JSON, argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import Entry, Json, UsageError, WaybenchError, plural
from waybench.core._errors import CodeLocation, exception_text, location_in_environment, location_of_definition
from waybench.core._registry import entry_mismatch
from waybench.envs import registry
from waybench.testing import ENVIRONMENT_CHECKS, LEVEL_CHECKS, Breach, find_breaches

PATIENCE = 60.0  # seconds of one check, after which it is taken for one that never ends
_LONGEST_REPLY = 200  # characters
_MOST_NAMES, _SHOWN_NAMES = 5, 3  # checks that are all named, and those that are named of more
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
    start_time, name, n_checks = time.monotonic(), env, 1
    try:
        environment, module = find_environment_and_module(env)
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
        n_checks = len(ENVIRONMENT_CHECKS) + len(levels) * len(LEVEL_CHECKS)
        breaches = [
            *_entry_breaches(environment, module),
            *find_breaches(environment, levels, family=_other_environments_of_family(environment), seconds=PATIENCE),
        ]
    seconds = time.monotonic() - start_time
    if as_json:
        failures = [_breach_json(breach, verbose=verbose) for breach in breaches]
        click.echo(dumps({"env": name, "levels": list(levels), "checks": n_checks, "failures": failures}))
    else:
        for breach in breaches:
            click.echo(_breach_text(breach, verbose=verbose) + "\n")
        levels_text = f" at level {', '.join(map(str, levels))}" if levels else ""
        problems_text = plural(len(breaches), "problem") if breaches else "no problem"
        click.echo(f"{name}: {problems_text} in {plural(n_checks, 'check')}{levels_text} ({seconds:.1f} s)")
    sys.exit(1 if breaches else 0)


def _other_environments_of_family(environment: AnyEnvironment) -> list[AnyEnvironment]:
    """Return the other environments whose ids begin with the same family."""
    family = environment.id.partition("/")[0]
    ids = [entry.id for entry in registry.entries if entry.id.partition("/")[0] == family]
    return [registry.load(id_) for id_ in ids if id_ != environment.id]


def _entry_breaches(environment: AnyEnvironment, module: ModuleType | None) -> list[Breach]:
    """Return the breach of a module whose `entry` does not fit its environment; none without an `entry`."""
    entry_or_function: Any = getattr(module, "entry", None)
    try:
        entry = entry_or_function() if callable(entry_or_function) else entry_or_function
        if isinstance(entry, Entry):
            target = getattr(module, entry.target.rpartition(":")[2], environment)
            # The entry may be that of another environment in the module.
            if target is environment and (difference := entry_mismatch(entry, environment)):
                raise WaybenchError(difference)
    except Exception as error:  # it is somebody's code
        location = location_in_environment(error) or location_of_definition(entry_or_function)
        # The message of an own error is the problem, then ": " and what to do.
        problem, _, advice = str(error).rpartition(": ") if isinstance(error, WaybenchError) else ("", "", "")
        problem = problem or f"entry {exception_text(error)}"
        advice = f"{advice[0].upper()}{advice[1:]}." if advice else "Return an Entry."
        return [Breach("entry", None, "", None, problem, location, advice, error)]
    return []


def _import_breach(error: Exception) -> Breach:
    """Return the breach for a module that cannot be imported."""
    location = location_in_environment(error)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        location = CodeLocation(error.filename, error.lineno, "")
    advice = "Mend the module so that `import` works."
    return Breach("import", None, "", None, f"the module {exception_text(error)}", location, advice, error)


def _breach_text(breach: Breach, *, verbose: bool) -> str:
    """Return a breach for the terminal: a heading, then a line for each known detail."""
    places = [f"level {breach.level}"] if breach.level is not None else []
    places += [f"item {breach.item}"] if breach.item else []
    location = breach.location
    function = f" ({location.function})" if location and location.function else ""
    lines = {
        "reply": None if breach.reply is None else repr(_shorten_reply(breach.reply)),
        "wrong": " ".join(breach.problem.split()),
        "where": location and f"{location.path}:{location.line}{function}",
        "to do": breach.advice,
        "also": breach.also and f"the same in {_names_text(breach.also)}",
    }
    rows = [f"  {click.style(f'{name}:', bold=True)} {line}" for name, line in lines.items() if line]
    rows += [breach.traceback.rstrip()] if verbose else []
    heading = click.style(f"FAILED {breach.check}", fg="red", bold=True)
    return "\n".join([heading + (f" ({', '.join(places)})" if places else ""), *rows])


def _names_text(names: tuple[str, ...]) -> str:
    """Return names of checks as text, of many only the first ones."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN_NAMES])} and {len(names) - _SHOWN_NAMES} more"


def _shorten_reply(text: str) -> str:
    return text if len(text) <= _LONGEST_REPLY else f"{text[:_LONGEST_REPLY]}... ({len(text):,} characters)"


def _breach_json(breach: Breach, *, verbose: bool) -> Json:
    """Return a breach as JSON, with the traceback if `verbose`."""
    location = breach.location
    return {
        "check": breach.check,
        "level": breach.level,
        "item": breach.item or None,
        "reply": None if breach.reply is None else _shorten_reply(breach.reply),
        "problem": breach.problem,
        "file": location and location.path,
        "line": location and location.line,
        "advice": breach.advice,
        "also": list(breach.also),
        **({"traceback": breach.traceback} if verbose else {}),
    }
