"""From a declared line of the list of tasks to a function that the engine takes for a task."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

from inspect_ai import SampleSource, Task, task
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR  # what a log says of a task has no public names
from inspect_ai._util.registry import registry_add, registry_info, registry_params
from inspect_ai.dataset import Dataset, MemoryDataset

from waybench.core import Environment, Item, Json, Option, resolve
from waybench.eval import episode, one_line_errors, play, to_sample
from waybench.tasks._index import TASKS
from waybench.tasks._keys import hide_key, with_key

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
            return make(**with_key(resolve(entry.options, given, f"parameter of {name}")))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"{entry.summary}.\n\nArgs:\n" + "\n".join(f"    {o.name}: {o.doc}" for o in entry.options)
    # The engine reads a task's parameters from its signature.
    run.__signature__ = Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [_parameter(option) for option in entry.options], return_annotation=Task
    )
    registered = task(run)

    @wraps(registered)
    def run_hiding_key(**given: Any) -> Task:
        created = registered(**given)
        # The engine writes both to the log, and knows by the first one which task it is that it resumes.
        for parameters in (registry_params(created), getattr(created, TASK_ALL_PARAMS_ATTR)):
            hide_key(parameters, entry)
        return created

    # `inspect eval` finds it by its name.
    registry_add(run_hiding_key, registry_info(registered))
    return run_hiding_key


def played(dataset: Dataset | SampleSource, version: int) -> Task:
    """Return the engine's task of playing every sample of a data set to its end."""
    return Task(
        dataset=dataset,
        solver=play(),
        scorer=episode(),
        version=version,
        # A sample that fails is no reason to lose the others; the run ends as unfinished, and is taken up again.
        fail_on_error=True,
        continue_on_fail=True,
    )


Played = tuple[Environment[Any, Any, Any], Mapping[str, Json], Item[Any]]


def played_items(items: Iterable[Played], attempts: int | Callable[[Item[Any]], int], version: int) -> Task:
    """Return the engine's task of playing each item, by its environment and options, in a number of attempts.

    Args:
        items: What is played.
        attempts: How often each item is, or a function that says it.
        version: The task's version.
    """
    samples = [
        to_sample(environment, item, options, attempt)
        for environment, options, item in items
        for attempt in range(1, (attempts(item) if callable(attempts) else attempts) + 1)
    ]
    return played(MemoryDataset(samples), version)


def _parameter(option: Option) -> Parameter:
    kind = option.type | None if option.default is None else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)
