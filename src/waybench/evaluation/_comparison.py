"""A stream of items that several models play until a comparison of them is decided, and how it is taken up again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from pathlib import Path
from typing import Any

import anyio
from inspect_ai import Task
from inspect_ai._eval.evalset import GENERATE_CONFIG_FIELDS_TO_EXCLUDE  # what the engine tells runs apart without
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, get_model

from waybench.core import End, EpisodeRecord, Json
from waybench.envs import registry
from waybench.evaluation._adaptive import AdaptiveSampleSource
from waybench.evaluation._agents import PrerequisiteError
from waybench.evaluation._sample import finished_record
from waybench.results.stats._sequential import DecisionRule, Race, differences


@dataclass(frozen=True, kw_only=True)
class StreamConfig:
    """What is compared, and on what; fixed before the first reply but for `size`.

    Attributes:
        units: Number of a unit, from 0 -> the samples of each of its items.
        size: Most units.
        rule: When the comparison ends.
        models: The names of the models.
        window: How many units a model may be ahead of the last one that all have finished.
    """

    units: Callable[[int], Sequence[Sequence[Sample]]]
    size: int
    rule: DecisionRule
    models: tuple[str, ...]
    window: int


@dataclass(slots=True)
class _StreamProgress:
    """How many units of the stream a model was given in this attempt of its task."""

    units: int


class ComparisonSource(AdaptiveSampleSource[_StreamProgress]):
    """Supplies the items of a stream to several models, in order, until the comparison is decided.

    A unit counts once all models that are still in the race have finished it and all units before it: only the gapless
    prefix of the stream is looked at, so the order in which episodes finish decides nothing. What has no result counts
    against the model and in favour of nobody until it is repeated. A model that was dropped plays no further unit.
    """

    one_epoch = "a comparison counts its own attempts: use -T attempts=N instead of --epochs N"

    def __init__(self, config: StreamConfig) -> None:
        super().__init__()
        self.config = config
        self._race = Race(config.rule)
        self._results: dict[str, dict[str, float]] = {model: {} for model in config.models}
        self._units: list[list[list[Sample]]] = []
        self._unit_of: dict[str, int] = {}  # by the sample's id
        self._ended: set[str] = set()  # models whose task has ended
        self._changed = anyio.Event()

    @cached_property
    def _first(self) -> int:
        return min(self.config.window, self.config.size)

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first units."""
        return self._samples(0, self._first)

    def begin(self, player: str) -> _StreamProgress:
        """Return the state of a model after the initial samples."""
        return _StreamProgress(self._first)

    def follow(self, at: _StreamProgress, name: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples of the units that a model may play after a result."""
        self.note(record.player, name, unit_score(record))
        return self._release(record.player, at)

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return what follows from a finished sample, which may have no result."""
        if sample.epoch != 1:
            raise PrerequisiteError(self.one_epoch)
        record, name = finished_record(sample), str(sample.id)
        if record.player not in self._results:
            raise PrerequisiteError(f"{record.player[:80]} is not one of the models that are compared")
        self._ended.discard(record.player)
        at = self._state_for_sample(record.player, name)
        if not is_lost(sample, record):
            return self.follow(at, name, record)
        self.note(record.player, name, nan)
        return self._release(record.player, at)

    async def next_samples(self) -> list[Sample] | None:
        """Return the next samples of the model that has none in flight, as soon as the others have caught up."""
        player = str(get_model())
        while True:
            at = self._players[player][0] if player in self._players else _StreamProgress(self._first)
            samples = self._release(player, at)
            if samples:
                return samples
            # Nothing follows where a model that the others wait for plays no more.
            if not self.wants(player) or self._ended & {*self._live} - {player}:
                return None
            await self._changed.wait()

    def leave(self, player: str) -> None:
        """Note that a model's task has ended, so that nobody waits for it."""
        self._ended.add(player)
        self._notify()

    def note(self, player: str, name: str, score: float) -> None:
        """Note the score of a sample, from 0 to 1 or NaN for none, and look at all units that are complete."""
        results = self._results[player]
        if score == score or name not in results:
            results[name] = score
        while not self.is_over and self._is_complete(self._race.units):
            self._race.add(differences(self._scores(self._race.units)))
            self._notify()

    @property
    def is_over(self) -> bool:
        """Whether the comparison is decided, or its last unit was played."""
        return bool(self._race.ended_at) or self._race.units >= self.config.size

    def wants(self, player: str) -> bool:
        """Return whether further units may follow for a model."""
        return not self.is_over and player in self._live

    @property
    def _live(self) -> list[str]:
        return [model for model, live in zip(self.config.models, self._race.live, strict=True) if live]

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _is_complete(self, unit: int) -> bool:
        names = [str(sample.id) for item in self._unit(unit) for sample in item]
        return all(name in self._results[model] for model in self._live for name in names)

    def _scores(self, unit: int) -> list[list[float]]:
        return [
            [mean_score([results.get(str(sample.id), nan) for sample in item]) for item in self._unit(unit)]
            for results in self._results.values()
        ]

    def _release(self, player: str, at: _StreamProgress) -> list[Sample]:
        # What an earlier run has played beyond is told again, and what it has lost there is repeated.
        played = max((self._unit_of.get(name, -1) + 1 for name in self._results[player]), default=0)
        most = min(self._race.units + self.config.window, self.config.size) if self.wants(player) else 0
        most, first = max(played, most), at.units
        at.units = max(first, most)
        return self._samples(first, most)

    def _samples(self, first: int, last: int) -> list[Sample]:
        return [sample for unit in range(first, last) for item in self._unit(unit) for sample in item]

    def _unit(self, number: int) -> list[list[Sample]]:
        while len(self._units) <= number:
            unit = [list(item) for item in self.config.units(len(self._units))]
            self._unit_of |= {str(sample.id): len(self._units) for item in unit for sample in item}
            self._units.append(unit)
        return self._units[number]

    def find_unit(self, name: str) -> int:
        """Return the number of the unit that has a sample; -1 if no unit of the stream has it."""
        while name not in self._unit_of and len(self._units) < self.config.size:
            self._unit(len(self._units))
        return self._unit_of.get(name, -1)


def mean_score(attempts: Sequence[float]) -> float:
    """Return the mean score of an item's attempts; NaN if one is lost."""
    return fsum(attempts) / len(attempts)


def unit_score(record: EpisodeRecord) -> float:
    """Return the headline metric of an episode as a share of its range, 1 being the best."""
    head = registry.load(record.env).scoring.metrics[0]
    return head.normalized_value(head.of(record), head.range_of(record))


def is_lost(sample: EvalSample, record: EpisodeRecord) -> bool:
    """Return whether an episode has no result, as after an infrastructure error."""
    return bool(sample.error) or record.end in (None, End.INFRASTRUCTURE)


def comparison_of(task: Task) -> ComparisonSource | None:
    """Return the comparison that a task plays; None if it plays none."""
    source = task.sample_source
    return source if isinstance(source, ComparisonSource) else None


def resume_comparison(
    source: ComparisonSource, task: str, args: Mapping[str, Any], out: Path, config: Mapping[str, Json]
) -> None:
    """Tell a comparison what the logs of a folder have of it, and reopen the logs of models that play on.

    The engine runs no task again whose log is complete; that of a model is, too, where the comparison ended undecided
    and has a higher limit now, or another model goes on.

    Args:
        source: The comparison.
        task: The task's name in logs.
        args: What the task was made with, as logs have it.
        out: The folder.
        config: Inspect's generation settings.
    """
    logs: dict[str, EvalLog] = {}
    for info in list_eval_logs(str(out.absolute()), recursive=False):
        try:
            header = read_eval_log(info, header_only=True)
        except Exception:  # not a log, or one that was cut off; the engine has its own word on it
            continue
        spec, model = header.eval, str(header.eval.model)
        if spec.task != task or model not in source.config.models or spec.task_args_passed != args:
            continue
        if _identity(header.plan.config) != _identity(GenerateConfig.model_validate(config)):
            continue
        if model not in logs or logs[model].eval.created < spec.created:
            logs[model] = header
    whole = {model: read_eval_log(header.location) for model, header in logs.items()}
    for model, log in whole.items():
        for sample in log.samples or ():
            if source.find_unit(str(sample.id)) >= 0:
                record = finished_record(sample)
                source.note(model, str(sample.id), nan if is_lost(sample, record) else unit_score(record))
    for model, log in whole.items():
        if log.status == "success" and source.wants(model):
            log.status = "cancelled"
            write_eval_log(log, log.location)


def _identity(config: GenerateConfig) -> dict[str, Any]:
    return config.model_dump(exclude=GENERATE_CONFIG_FIELDS_TO_EXCLUDE, exclude_none=True)
