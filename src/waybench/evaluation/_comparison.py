"""A stream of items that several models play until a comparison of them is decided, and how it is taken up again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isnan, nan
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
from waybench.results.stats._sequential import DecisionRule, Race, score_differences


@dataclass(frozen=True, kw_only=True)
class StreamConfig:
    """The configuration of a comparison; all but `size` is fixed before the first reply.

    Attributes:
        units: Number of a unit, from 0 -> the samples of each of its items.
        size: Maximum number of units.
        window: Number of units that a model may be ahead of the last one that all models have finished.
    """

    units: Callable[[int], Sequence[Sequence[Sample]]]
    size: int
    rule: DecisionRule
    models: tuple[str, ...]
    window: int


@dataclass(slots=True)
class _StreamProgress:
    """The number of units of the stream that a model was given in this attempt of its task."""

    n_units: int


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
        self._progress_event = anyio.Event()

    @cached_property
    def _n_initial_units(self) -> int:
        """Number of units that every model receives at the start."""
        return min(self.config.window, self.config.size)

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first units, as many as a model may be ahead of the others."""
        return self._samples_of_units(0, self._n_initial_units)

    def initial_state(self, player: str) -> _StreamProgress:
        """Return the state of a model to which the first units were given."""
        return _StreamProgress(self._n_initial_units)

    def samples_after(self, state: _StreamProgress, sample_id: str, record: EpisodeRecord) -> list[Sample]:
        """Return the samples of the units that a model may play now that a sample has a result."""
        self.add_score(record.player, sample_id, normalized_headline(record))
        return self._release_samples(record.player, state)

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Return the samples to play after a finished sample, which may have no result."""
        if sample.epoch != 1:
            raise PrerequisiteError(self.one_epoch)
        record, sample_id = finished_record(sample), str(sample.id)
        if record.player not in self._results:
            raise PrerequisiteError(f"{record.player[:80]} is not one of the models that are compared")
        self._ended.discard(record.player)
        state = self._state_for_sample(record.player, sample_id)
        if not has_no_result(sample, record):
            return self.samples_after(state, sample_id, record)
        self.add_score(record.player, sample_id, nan)
        return self._release_samples(record.player, state)

    async def next_samples(self) -> list[Sample] | None:
        """Wait until the other models have caught up; return the model's next samples, or None at its end."""
        player = str(get_model())
        while True:
            progress = self._states.get(player, _StreamProgress(self._n_initial_units))
            samples = self._release_samples(player, progress)
            if samples:
                return samples
            # Nothing follows where a model that the others wait for plays no more.
            if not self.may_play_on(player) or self._ended & {*self._models_in_race} - {player}:
                return None
            await self._progress_event.wait()

    def end_player(self, player: str) -> None:
        """Record that a model's task has ended, so that no other model waits for it."""
        self._ended.add(player)
        self._wake_waiting_models()

    def add_score(self, player: str, sample_id: str, score: float) -> None:
        """Record the score of a sample, 0 to 1 or NaN for none, and evaluate all units that are now complete."""
        results = self._results[player]
        if not isnan(score) or sample_id not in results:  # what is lost replaces no result
            results[sample_id] = score
        while not self.is_over and self._is_unit_complete(self._race.units):
            self._race.add_unit(score_differences(self._unit_scores(self._race.units)))
            self._wake_waiting_models()

    @property
    def is_over(self) -> bool:
        """Whether the comparison is decided, or its last unit was played."""
        return bool(self._race.ended_at) or self._race.units >= self.config.size

    def may_play_on(self, player: str) -> bool:
        """Return whether the comparison is undecided and a model is still in the race."""
        return not self.is_over and player in self._models_in_race

    @property
    def _models_in_race(self) -> list[str]:
        """Names of the models that were not dropped."""
        return [model for model, live in zip(self.config.models, self._race.live, strict=True) if live]

    def _wake_waiting_models(self) -> None:
        """Wake the models that wait in `next_samples`."""
        old_event, self._progress_event = self._progress_event, anyio.Event()
        old_event.set()

    def _is_unit_complete(self, unit: int) -> bool:
        """Return whether all models in the race have a score for every sample of a unit."""
        names = [str(sample.id) for item in self._samples_of_unit(unit) for sample in item]
        return all(name in self._results[model] for model in self._models_in_race for name in names)

    def _unit_scores(self, unit: int) -> list[list[float]]:
        """Return the mean score of each item of a unit, NaN if an attempt has no result; a list for each model."""
        items = self._samples_of_unit(unit)
        return [
            [fsum(results.get(str(sample.id), nan) for sample in item) / len(item) for item in items]
            for results in self._results.values()
        ]

    def _release_samples(self, player: str, progress: _StreamProgress) -> list[Sample]:
        """Return the samples of the units that a model may play now, and note in `progress` that it has them."""
        # Of units that an earlier run has played, the engine finds the results, and repeats what was lost.
        n_played = max((self._unit_of.get(name, -1) + 1 for name in self._results[player]), default=0)
        n_allowed = min(self._race.units + self.config.window, self.config.size) if self.may_play_on(player) else 0
        first_unit, end_unit = progress.n_units, max(n_played, n_allowed)
        progress.n_units = max(first_unit, end_unit)
        return self._samples_of_units(first_unit, end_unit)

    def _samples_of_units(self, first: int, end: int) -> list[Sample]:
        """Return the samples of the units from `first` up to `end`, exclusive."""
        return [sample for unit in range(first, end) for item in self._samples_of_unit(unit) for sample in item]

    def _samples_of_unit(self, number: int) -> list[list[Sample]]:
        """Return the samples of each item of a unit; units are drawn when they are first asked for."""
        while len(self._units) <= number:
            unit = [list(item) for item in self.config.units(len(self._units))]
            self._unit_of |= {str(sample.id): len(self._units) for item in unit for sample in item}
            self._units.append(unit)
        return self._units[number]

    def find_unit(self, sample_id: str) -> int:
        """Return the number of the unit that contains a sample; -1 if there is none in the stream."""
        while sample_id not in self._unit_of and len(self._units) < self.config.size:
            self._samples_of_unit(len(self._units))
        return self._unit_of.get(sample_id, -1)


def normalized_headline(record: EpisodeRecord) -> float:
    """Return an episode's headline metric scaled to its range: 0 is the worst value and 1 the best."""
    metric = registry.load(record.env).scoring.metrics[0]
    return metric.normalized_value(metric.of(record), metric.range_of(record))


def has_no_result(sample: EvalSample, record: EpisodeRecord) -> bool:
    """Return whether a sample ended without a result, as after an infrastructure error."""
    return bool(sample.error) or record.end in (None, End.INFRASTRUCTURE)


def comparison_of_task(task: Task) -> ComparisonSource | None:
    """Return the comparison that supplies a task's samples; None for other tasks."""
    source = task.sample_source
    return source if isinstance(source, ComparisonSource) else None


def resume_comparison(
    comparison: ComparisonSource, task: str, task_args: Mapping[str, Any], folder: Path, config: Mapping[str, Json]
) -> None:
    """Give a comparison the scores in a folder's logs, and reopen logs of models that have to play on.

    The engine runs no task again whose log is complete; that of a model is complete, too, if the comparison ended
    undecided and has a higher limit now, or if another model goes on. `task_args` are as in logs, and `config` has
    Inspect's generation settings.
    """
    headers: dict[str, EvalLog] = {}
    for info in list_eval_logs(str(folder.absolute()), recursive=False):
        try:
            header = read_eval_log(info, header_only=True)
        except Exception:  # not a log, or one that was cut off, of which the engine warns
            continue
        spec, model = header.eval, str(header.eval.model)
        if spec.task != task or model not in comparison.config.models or spec.task_args_passed != task_args:
            continue
        if _resume_identity(header.plan.config) != _resume_identity(GenerateConfig.model_validate(config)):
            continue
        if model not in headers or headers[model].eval.created < spec.created:
            headers[model] = header
    logs = {model: read_eval_log(header.location) for model, header in headers.items()}
    for model, log in logs.items():
        for sample in log.samples or ():
            if comparison.find_unit(str(sample.id)) >= 0:
                record = finished_record(sample)
                comparison.add_score(
                    model, str(sample.id), nan if has_no_result(sample, record) else normalized_headline(record)
                )
    for model, log in logs.items():
        if log.status == "success" and comparison.may_play_on(model):
            log.status = "cancelled"
            write_eval_log(log, log.location)


def _resume_identity(config: GenerateConfig) -> dict[str, Any]:
    """Return the generation settings by which the engine decides whether it resumes a run."""
    return config.model_dump(exclude=GENERATE_CONFIG_FIELDS_TO_EXCLUDE, exclude_none=True)
