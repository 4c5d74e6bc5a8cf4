"""The episodes that a run implies: the task's items made again, and what follows from its results."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample

from waybench.core import EpisodeRecord, Json, UsageError
from waybench.submission._parameters import draws_too_much, levels_drawn, usable
from waybench.tasks import Samples, find_task, implied_samples, task_samples


class Run(NamedTuple):
    """A run whose task can be played here.

    Attributes:
        samples: The samples of its task.
    """

    samples: Samples

    def played(self, model: str, result: Callable[[str], EpisodeRecord | None]) -> Iterator[Sample]:
        """Yield the samples that the task plays with a model, given the results (see `implied_samples`)."""
        return implied_samples(self.samples, model, result)


def open_run(
    task: str,
    parameters: Mapping[str, Json],
    *,
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
    records: int,
    levels: Collection[int] | None,
) -> Run:
    """Make the samples of a run's task again.

    Args:
        task: The task.
        parameters: Its parameters, as a submission has them.
        keys: Keys of private sets by their labels.
        items: Returns a file of items by its digest.
        folder: A folder for files that parameters name, which the caller removes.
        data_dir: The folder of published data sets; None for the usual places.
        records: Number of the run's records. A task that would draw far more items is refused.
        levels: Levels of records that a simulation confirms. A task that begins at another level is refused, for its
            items could be of any size; None for no such check.

    Raises:
        UsageError: If the task cannot be played with these parameters; the message says why.
        DataError: If a file of items is not in the submission.
    """
    entry = find_task(task)
    given: dict[str, Any] = usable(entry, parameters, keys=keys, items=items, folder=folder, data_dir=data_dir)
    if draws_too_much(given, records):
        raise UsageError(f"the parameters name far more items than the {records:,} records")
    if levels is not None:
        for level in levels_drawn(entry, given):
            if level not in levels:
                raise UsageError(f"no confirmed record is of level {level}, at which the task begins")
    return Run(task_samples(entry, given))
