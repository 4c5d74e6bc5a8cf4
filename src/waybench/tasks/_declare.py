"""From a declared line of the list of tasks to a function that the engine takes for a task."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from inspect_ai import Task, task

from waybench.core import Option, resolve
from waybench.llm import one_line_errors
from waybench.tasks._index import TASKS

_ENTRIES = {entry.name: entry for entry in TASKS}


def declared(name: str, make: Callable[..., Task]) -> Callable[..., Task]:
    """Return the engine's task of a name, with the parameters that the list of tasks declares for it.

    Args:
        name: The task's name in the list.
        make: Takes every parameter by name, checked, and returns the task.
    """
    entry = _ENTRIES[name]

    def run(**given: Any) -> Task:
        with one_line_errors():
            return make(**resolve(entry.options, given, f"parameter of {name}"))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"{entry.summary}.\n\nArgs:\n" + "\n".join(f"    {o.name}: {o.doc}" for o in entry.options)
    # The engine reads a task's parameters from its signature.
    run.__signature__ = Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [_parameter(option) for option in entry.options], return_annotation=Task
    )
    return task(run)


def _parameter(option: Option) -> Parameter:
    kind = option.type | None if option.default is None else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)
