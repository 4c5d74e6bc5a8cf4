"""What Inspect finds through the package's entry point."""

from inspect_ai.model import modelapi

from waybench.envs import registry
from waybench.evaluation._agents import FunctionModel
from waybench.evaluation._provider import EmbeddedPlayer
from waybench.evaluation._scores import episode, headline, level_scores, solved
from waybench.evaluation._solver import play
from waybench.evaluation.tasks._catalogue import all_tasks, environment_task
from waybench.evaluation.tasks._samples import register_task_by_name

__all__ = ["episode", "headline", "level_scores", "play", "python", "solved", "waybench"]


@modelapi(name="waybench")
def waybench() -> type[EmbeddedPlayer]:
    """Return the provider of the embedded players: waybench/null, random, heuristic, oracle, noisy-RATE."""
    return EmbeddedPlayer


@modelapi(name="python")
def python() -> type[FunctionModel]:
    """Return the provider of the user's functions: python/my_module.reply."""
    return FunctionModel


for _task in (*all_tasks(), *map(environment_task, registry.entries)):
    register_task_by_name(_task)
