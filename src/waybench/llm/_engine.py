"""Running tasks as one of Inspect's eval sets."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai import Task
from inspect_ai.model import Model, get_model

from waybench.core import Json, UsageError
from waybench.llm._errors import PrerequisiteError

_ENGINE: Any = inspect_ai  # its signatures are too wide for a type checker


def evaluate(
    tasks: Sequence[Callable[[], Task]],
    models: Sequence[str],
    out: Path,
    *,
    model_base_url: str | None = None,
    model_args: Mapping[str, Json] | None = None,
    config: Mapping[str, Json] | None = None,
    limits: Mapping[str, int | None] | None = None,
    rerun: int = 0,
    display: str = "none",
) -> list[str]:
    """Run tasks with models as one of Inspect's eval sets in a folder; what is finished there is not run again.

    Args:
        tasks: Functions that make the tasks.
        models: Names of models.
        out: The folder of the logs.
        model_base_url: Address of the models' server.
        model_args: Arguments of the models' provider.
        config: Inspect's generation settings.
        limits: Inspect's limits on a sample.
        rerun: How often episodes with errors are tried again.
        display: Inspect's display type.

    Returns:
        What is not finished, as "task with model".

    Raises:
        UsageError: If a model cannot be had (unknown provider, no key, package missing), in the provider's words, or
            a task refuses its parameters.
    """
    ready = [_model(name, model_base_url, model_args or {}) for name in models]
    try:
        success, logs = _ENGINE.eval_set(
            tasks=[make() for make in tasks],
            model=ready,
            log_dir=str(out.absolute()),
            log_dir_allow_dirty=True,
            log_buffer=1,  # every finished sample is on disk before the next one is paid for
            retry_attempts=rerun,
            retry_immediate=rerun > 0,
            display=display,
            log_level="error",
            **(limits or {}),
            **(config or {}),
        )
    except PrerequisiteError as error:
        raise UsageError(_one_line(error)) from None
    if success:
        return []
    return [
        f"{log.eval.task.removeprefix('waybench/')} with {log.eval.model}" for log in logs if log.status != "success"
    ]


def _model(name: str, base_url: str | None, args: Mapping[str, Json]) -> Model:
    try:
        return get_model(name, base_url=base_url, memoize=False, **args)
    except Exception as error:  # every provider has its own; its message is what the user needs
        raise UsageError(f"model {name[:120]!r}: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    text = re.sub(r"\[/?[a-z ]*\]", "", str(error) or type(error).__name__)  # rich's markup
    return " ".join(text.split())[:300]
