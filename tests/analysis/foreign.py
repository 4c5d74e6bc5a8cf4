"""Logs of tasks that are not ours: sums, asked of models that a test makes up."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import inspect_ai.log as inspect_log
import inspect_ai.model as inspect_model
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate

_LOG: Any = inspect_log  # its types are not complete
_MODEL: Any = inspect_model

RIGHT, WRONG, CUT, REFUSED, BROKEN = "right", "wrong", "max_tokens", "content_filter", "broken"


def ask(
    out: Path,
    name: str,
    said: Callable[[int], str],
    *,
    count: int = 12,
    task: str = "sums",
    epochs: int = 1,
    words: str = "",
    **config: Any,
) -> None:
    """Evaluate a model on sums, of which it is told what to say.

    Args:
        out: Where the log goes.
        name: The model's name, after "mockllm/".
        said: A sample's number -> RIGHT, WRONG, CUT, REFUSED or BROKEN.
        count: Number of samples.
        task: The task's name.
        epochs: How often each is asked.
        words: What the input begins with.
        **config: How the model is asked.
    """

    def reply(messages: Any, *args: Any) -> Any:
        number = int(messages[-1].text.rpartition(" ")[2].partition("+")[0])
        kind = said(number)
        if kind == BROKEN:
            raise RuntimeError("no connection")
        text, stop = (str(number + 1), "stop") if kind == RIGHT else ("none", "stop" if kind == WRONG else kind)
        output = _MODEL.ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
        output.usage = _MODEL.ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
        return output

    samples = [Sample(id=f"q{i}", input=f"{words} {i}+1".strip(), target=str(i + 1)) for i in range(count)]
    made = Task(dataset=samples, solver=generate(), scorer=match(), epochs=epochs, name=task)
    model = _MODEL.get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)
    inspect_eval(made, model=model, log_dir=str(out), display="none", fail_on_error=False, **config)


def rescored(log: Path, to: Path, values: Mapping[str, Iterable[Any]], model: str = "") -> None:
    """Write a log with other scores: of each scorer, one value for each sample."""
    read = _LOG.read_eval_log(str(log))
    read.eval.model = model or read.eval.model
    read.eval.task_id = f"{to.stem}"
    each = {name: list(some) for name, some in values.items()}
    for number, sample in enumerate(sorted(read.samples, key=lambda sample: int(sample.id[1:]))):
        scored = next(iter(sample.scores.values()))
        sample.scores = {name: scored.model_copy(update={"value": some[number]}) for name, some in each.items()}
    to.parent.mkdir(exist_ok=True)
    _LOG.write_eval_log(read, str(to))


def dated(log: Path, created: str) -> None:
    """Change when a log was begun; two runs may begin in the same second, and which is the later is then not known."""
    read = _LOG.read_eval_log(str(log))
    read.eval.created = created
    _LOG.write_eval_log(read, str(log))
