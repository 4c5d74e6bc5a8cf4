"""From a line of the list of tasks to a function that the engine takes for a task."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

from inspect_ai import SampleSource, Task, task
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR  # what a log says of a task has no public names
from inspect_ai._util.registry import registry_add, registry_info, registry_params
from inspect_ai.dataset import Dataset, MemoryDataset

from waybench.core import Option, resolve
from waybench.envs import registry
from waybench.eval import episode, one_line_errors, play, to_sample
from waybench.tasks._entry import TaskEntry
from waybench.tasks._horizon import horizon_search
from waybench.tasks._items import Played, played_parts
from waybench.tasks._keys import hide_key, with_key
from waybench.tasks._ladder import ladder, one_rung


def declared(entry: TaskEntry) -> Callable[..., Task]:
    """Return the engine's task of a line, with the parameters that it declares."""

    def run(**given: Any) -> Task:
        with one_line_errors():
            checked = with_key(resolve(entry.options, given, f"parameter of {entry.name}"))
            version = max(registry.load(env_id).version for env_id in entry.envs)
            return played(_samples(entry, checked), version)

    run.__name__ = run.__qualname__ = entry.name
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


def _samples(entry: TaskEntry, given: dict[str, Any]) -> Dataset | SampleSource:
    if entry.climb is not None:
        return ladder(entry, given)
    if entry.horizon is not None:
        return horizon_search(entry, given)
    return _dataset(list(played_parts(entry.parts, given)))


def played_items(items: Iterable[Played], version: int) -> Task:
    """Return the engine's task of playing some items.

    Args:
        items: What is played.
        version: The task's version.
    """
    return played(_dataset(list(items)), version)


def _dataset(items: list[Played]) -> Dataset | SampleSource:
    if items and items[0].environment.best_of:  # no task plays such an environment together with others
        return one_rung(items)
    return MemoryDataset(
        [
            to_sample(environment, item, options, attempt)
            for environment, options, item, attempts in items
            for attempt in range(1, attempts + 1)
        ]
    )


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


def _parameter(option: Option) -> Parameter:
    kind = option.type | None if option.default is None else option.type | int if option.or_number else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)
