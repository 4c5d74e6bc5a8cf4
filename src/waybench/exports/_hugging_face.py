"""Results as Hugging Face shows them: `.eval_results` of a model's repository, and `eval.yaml` of the benchmark's."""

from collections.abc import Iterable, Iterator

from waybench.analysis.formatting import NO_RANK, lost_text
from waybench.core import Json, UsageError
from waybench.envs import registry
from waybench.exports._files import FileText, as_name, yaml
from waybench.exports._results import Results


def eval_results(found: Iterable[Results], dataset: str, *, url: str = "") -> Iterator[FileText]:
    """Yield a file for each model and task: MODEL/.eval_results/waybench_TASK.yaml.

    Results of one model at one task with different settings are files of their own, whose notes say what is not the
    default.

    Args:
        found: The results.
        dataset: The benchmark's data set on the Hub, "owner/name".
        url: Where the evaluation can be read; left out if empty.

    Raises:
        UsageError: If the data set's name is no such name.
    """
    _check(dataset)
    written: set[str] = set()
    for one in found:
        group = one.group
        assert one.total.best is not None
        entry: dict[str, Json] = {
            "dataset": {"id": dataset, "task_id": group.task},
            "value": one.total.best.value,
            **({"date": one.date} if one.date else {}),
            **({"source": {"url": url, "name": "waybench"}} if url else {}),
            "notes": _notes(one),
        }
        path = f"{as_name(group.model)}/.eval_results/waybench_{as_name(group.task)}"
        number = 1
        while (name := path if number == 1 else f"{path}_{number}") in written:
            number += 1
        written.add(name)
        yield FileText(f"{name}.yaml", yaml([entry]) + "\n")


def benchmark_file(found: Iterable[Results]) -> FileText:
    """Return `eval.yaml` of the benchmark's data set: its tasks, which leaderboards list.

    Inspect's own `hf/` tasks cannot play episodes of several turns: `waybench run TASK` does.
    """
    tasks = sorted({one.group.task for one in found})
    document = {
        "name": "waybench",
        "description": "How well a language model finds its way.",
        "evaluation_framework": "waybench",
        "tasks": [{"id": task} for task in tasks],
    }
    return FileText("eval.yaml", yaml(document) + "\n")


def _notes(one: Results) -> str:
    group = one.group
    environment = registry.load(group.env)
    defaults = {option.name: option.default for option in (*environment.playing.options, *environment.items.options)}
    other = [f"{name}={value}" for name, value in group.options if name in defaults and value != defaults[name]]
    mean = one.total.best
    assert mean is not None
    interval = [] if mean.low is None or mean.high is None else [f"95 % interval {mean.low:.4g} to {mean.high:.4g}"]
    if mean.lost:
        lost = lost_text(mean.lost, environment.scoring.metrics[0])
        interval = [f"{lost} with the attempts that have no result", NO_RANK]
    facts = [f"{group.env} version {group.version}", f"key {group.key}", f"{one.total.items} items", *interval, *other]
    return ", ".join(facts)


def _check(dataset: str) -> None:
    owner, slash, name = dataset.partition("/")
    if not slash or as_name(owner) != owner or as_name(name) != name:
        raise UsageError(f"--dataset {dataset[:80]!r}: give the data set on the Hub as owner/name")
