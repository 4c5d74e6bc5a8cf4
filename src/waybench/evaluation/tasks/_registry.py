"""What Inspect finds through the package's entry point."""

from inspect_ai.model import modelapi

from waybench.envs import registry
from waybench.evaluation import EmbeddedPlayer, FunctionModel, by_level, episode, play
from waybench.evaluation.tasks._declare import announce
from waybench.evaluation.tasks._derived import all_tasks, environment_task

__all__ = ["by_level", "episode", "play", "python", "waybench"]


@modelapi(name="waybench")
def waybench() -> type[EmbeddedPlayer]:
    """Provide the embedded players: waybench/null, random, heuristic, oracle, noisy-RATE."""
    return EmbeddedPlayer


@modelapi(name="python")
def python() -> type[FunctionModel]:
    """Provide functions of the user's: python/my_module.reply."""
    return FunctionModel


for _task in (*all_tasks(), *map(environment_task, registry.entries)):
    announce(_task)
