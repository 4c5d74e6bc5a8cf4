"""Inspect task functions from task entries."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

from inspect_ai import SampleSource, Task, task
from inspect_ai._eval.registry import task_create  # neither this nor what a log says of a task has public names
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR
from inspect_ai._util.registry import RegistryInfo, registry_add, registry_info, registry_name, registry_params
from inspect_ai.dataset import Dataset, MemoryDataset

from waybench.core import (
    AGENT,
    DIFFICULTY_INDEX,
    INTERFACE,
    PLAY_EXTENSIONS,
    PROBE,
    TOOLS,
    WORDING,
    Option,
    UsageError,
    is_template_name,
)
from waybench.envs import registry
from waybench.evaluation import agent_sandbox, episode, one_line_errors, play, read_plan
from waybench.evaluation.tasks._entry import TaskEntry, hide_key, resolve_key
from waybench.evaluation.tasks._parameters import read_index
from waybench.evaluation.tasks._samples import Samples, task_samples
from waybench.results.stats import SEARCH_REVISION


def announce(entry: TaskEntry) -> None:
    """Make a task known to the engine by its name; the code of its environments is loaded when it is created."""

    def create(**given: Any) -> Task:
        task_function(entry)  # takes this function's place
        return task_create(name, **given)

    name = registry_name(create, entry.name)
    registry_add(create, RegistryInfo(type="task", name=name, metadata={"attribs": {}, "params": []}))


def task_function(entry: TaskEntry) -> Callable[..., Task]:
    """Return the Inspect task function of an entry; its signature has the entry's parameters."""

    def run(**given: Any) -> Task:
        with one_line_errors():
            checked = resolve_key(entry.resolve(given))
            version = max(registry.load(env_id).version for env_id in entry.envs)
            # Another version of the search would continue an unfinished one with other items.
            version += entry.horizon.revision + SEARCH_REVISION if entry.horizon is not None else 0
            agent = checked[AGENT]
            if agent is not None and checked[INTERFACE] == TOOLS:
                raise UsageError(f"agent={agent[:60]}: an agent writes its replies; leave out interface=tools")
            probe = checked.get(PROBE)
            if probe is not None:
                _check_probe(entry, checked, probe)
            return inspect_task(_dataset(task_samples(entry, checked)), version, agent, probe)

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
            for extension in PLAY_EXTENSIONS:
                if extension.for_log is not None:
                    parameters.update(extension.for_log(registry.load(entry.envs[0]), parameters))
            if parameters.get(DIFFICULTY_INDEX) is not None:
                # Another content of the file is another task. The task can be repeated without the file.
                index = read_index(parameters[DIFFICULTY_INDEX], registry.load(entry.envs[0]))
                parameters[DIFFICULTY_INDEX] = index.dumps()
        return created

    # `inspect eval` finds it by its name.
    registry_add(run_hiding_key, registry_info(registered))
    return run_hiding_key


def _dataset(samples: Samples) -> Dataset | SampleSource:
    return samples if isinstance(samples, SampleSource) else MemoryDataset(list(samples))


def _check_probe(entry: TaskEntry, checked: Mapping[str, Any], probe: str) -> None:
    """Refuse probes that cannot be read, or that nobody could answer, before anything is spent."""
    read_plan(probe)
    if checked[AGENT] is not None:
        raise UsageError(f"probe={probe[:60]}: an agent has a conversation of its own; leave out agent or probe")
    if is_template_name(str(checked.get(WORDING))):
        raise UsageError(f"probe={probe[:60]}: nobody knows what your own template shows; choose another wording")


def inspect_task(
    dataset: Dataset | SampleSource, version: int, agent: str | None = None, probe: str | None = None
) -> Task:
    """Return the Inspect task that plays every sample of a data set to its end.

    Args:
        dataset: The samples.
        version: The task's version.
        agent: The agent that works out the replies; None for the model itself.
        probe: Before which turns belief probes ask the model what it knows; None for never.
    """
    return Task(
        dataset=dataset,
        solver=play() if agent is None and probe is None else play(agent, probe),
        sandbox=None if agent is None else agent_sandbox(agent),
        scorer=episode(),
        version=version,
        # A failed sample does not lose the others: the run ends as unfinished and can be resumed.
        fail_on_error=True,
        continue_on_fail=True,
        score_on_error=True,  # so that the score says how many attempts it lacks
    )


def _parameter(option: Option) -> Parameter:
    kind = option.type | None if option.default is None else option.type | int if option.or_number else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)
