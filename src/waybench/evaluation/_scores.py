"""The two scorers of an episode, and the numbers of a run that Inspect shows: the headline, and success by level."""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

from inspect_ai.event import ErrorEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from waybench.core import End, EpisodeRecord, Range, TurnRecord
from waybench.core._designs import DESIGN
from waybench.envs import registry
from waybench.evaluation._sample import DRAWN, KEY, METRICS, stored_record
from waybench.results.estimates._run_score import run_score
from waybench.results.logs import LoggedEpisode
from waybench.results.logs._settings import allowed_attempts
from waybench.results.results import Row, rows
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._rows import is_perfect, single_attempt_mean

_LOST = "lost"  # the field of a score without a result
_PERFECT = "perfect"  # the field of a score after which no other attempt at the item follows
_MISSING = float("nan")
_Measured = tuple[Row, Range]


@metric(scores="unreduced")
def headline() -> Metric:
    """Return the metric of a run's score from 0 to 100, higher is better, as in waybench's own tables.

    It is normalised between the stored scores of the best player without a model (0) and of the oracle (100); where
    these are not stored it is rescaled by the bounds of the environment's headline metric. Its standard error and 95 %
    interval are over independent clusters (`waybench.results.estimates._run_score`). `n` attempts of `planned` have a
    result; where some are lost, `lowest` and `highest` bound the score with all of them.
    """
    measured_by_key: dict[Hashable, _Measured] = {}
    lookup = cache(lambda: ReferenceLookup(plays_items=False, measures=False))

    def summary(scores: list[SampleScore]) -> Value:
        """Return the score with its standard error, interval and numbers of attempts."""
        measured: list[_Measured] = []
        for score in scores:
            sample_metadata, score_metadata = score.sample_metadata or {}, score.score.metadata or {}
            if KEY not in sample_metadata:
                continue
            progress = score_metadata.get(KEY)
            turns = () if progress is None else tuple(progress["turns"])
            key = sample_metadata[KEY][0], turns, _LOST in score_metadata
            if key not in measured_by_key:
                measured_by_key[key] = _row_and_headline_bounds(sample_metadata, progress, lookup())
            measured.append(measured_by_key[key])
        result = run_score([row for row, _ in measured], [bounds for _, bounds in measured])
        run_score_estimate = result.score
        if run_score_estimate is None:
            return {"score": _MISSING, "n": result.n, "planned": result.planned}
        low, high = run_score_estimate.shown_interval or (None, None)
        numbers = {
            "score": run_score_estimate.value,
            "stderr": run_score_estimate.standard_error,
            "ci_lower": low,
            "ci_upper": high,
            "n": result.n,
            "planned": result.planned,
            "lowest": run_score_estimate.lost and run_score_estimate.lost.lowest,
            "highest": run_score_estimate.lost and run_score_estimate.lost.highest,
        }
        return {name: float(number) for name, number in numbers.items() if number is not None}

    return summary


def _row_and_headline_bounds(metadata: Mapping[str, Any], progress: Any, lookup: ReferenceLookup) -> _Measured:
    """Return the row of a sample as reports have it, and the bounds of its headline metric."""
    record = EpisodeRecord.from_parts(metadata[KEY], progress)
    if progress is None:
        record = replace(record, end=End.INFRASTRUCTURE)
    design = json.loads(metadata.get(DESIGN) or "{}")
    settings_json = metadata.get(DRAWN)
    settings: Mapping[str, Any] = json.loads(settings_json or "{}")
    attempts = allowed_attempts(metadata)
    episode = LoggedEpisode("", "", record, settings=settings, design=design, most_attempts=attempts)
    [row] = rows([episode])
    if settings_json is not None and not row.error:  # logs of older versions do not say how their items were drawn
        row = replace(row, anchors=lookup.scores(record, row.group))
    return row, registry.load(record.env).scoring.headline_bounds(record)


@metric(scores="unreduced")
def level_scores() -> Metric:
    """Return the metric of success rates: of a single attempt (`rate`), and by level.

    By level, and by environment if there are several, these are the share of items that some attempt solves, as 5_best,
    and of all attempts, as 5_mean. The latter counts failures too often where attempts after a perfect one are skipped.

    Where attempts at a level have no result, since infrastructure errors ended them, there are four numbers more: how
    many have one (n) of how many (planned), and what the first share would be if all lost attempts had failed (lowest)
    or succeeded (highest).
    """

    def summary(scores: list[SampleScore]) -> Value:
        """Return the success rates by name."""
        attempts_by_level: dict[tuple[str, int], list[_Attempt]] = {}
        for score in scores:
            sample_metadata, value, score_metadata = (
                score.sample_metadata or {},
                score.score.value,
                score.score.metadata or {},
            )
            if "level" not in sample_metadata:
                continue
            env_level = str(sample_metadata.get("env", "")), int(sample_metadata["level"])
            is_solved = float(value) if isinstance(value, int | float) else None
            attempts_by_level.setdefault(env_level, []).append(
                _Attempt(str(sample_metadata["item"]), is_solved, _PERFECT in score_metadata)
            )
        has_several_environments = len({env for env, _ in attempts_by_level}) > 1
        numbers: dict[str, float] = {"rate": _single_attempt_success_rate(attempts_by_level)}
        for env, level in sorted(attempts_by_level):
            name = f"{env.partition('/')[2]}_{level}" if has_several_environments else str(level)
            numbers |= {
                f"{name}_{key}": number for key, number in _level_numbers(attempts_by_level[env, level]).items()
            }
        return numbers

    return summary


class _Attempt(NamedTuple):
    """An attempt at an item.

    Attributes:
        solved: 1 or 0; None if its result is lost.
        is_perfect: Whether no other attempt had to follow.
    """

    item: str
    solved: float | None
    is_perfect: bool


def _single_attempt_success_rate(attempts_by_level: Mapping[tuple[str, int], Sequence[_Attempt]]) -> float:
    """Return the share of items solved by a single attempt, as a mean over environments; NaN without any."""
    by_env: dict[str, dict[Hashable, list[tuple[bool, float]]]] = {}
    for (env, level), attempts in attempts_by_level.items():
        for item, solved, is_perfect_attempt in attempts:
            if solved is not None:
                by_env.setdefault(env, {}).setdefault((level, item), []).append((is_perfect_attempt, solved))
    means: list[float] = []
    for items in by_env.values():
        item_means: list[float] = []
        for attempts in map(sorted, items.values()):  # a perfect attempt is the last one, whenever it ended
            is_perfect, values = zip(*attempts, strict=True)
            item_means.append(single_attempt_mean(values, is_perfect))
        means.append(fmean(item_means))
    return fmean(means) if means else _MISSING


def _level_numbers(attempts: Sequence[_Attempt]) -> dict[str, float]:
    """Return best, mean and, where results are lost, counts and bounds of the attempts at one level."""

    def share_solved(values: Iterable[tuple[str, float]]) -> float | None:
        """Return the share of items with a solved attempt, from (item, solved) pairs; None without any."""
        best: dict[str, float] = {}
        for item, value in values:
            best[item] = max(value, best.get(item, value))
        return fmean(best.values()) if best else None

    scored_attempts = [(item, solved) for item, solved, _ in attempts if solved is not None]
    numbers = {
        "best": share_solved(scored_attempts),
        "mean": fmean(value for _, value in scored_attempts) if scored_attempts else None,
    }
    if len(scored_attempts) < len(attempts):
        lowest, highest = (
            share_solved((item, value_of_lost if solved is None else solved) for item, solved, _ in attempts)
            for value_of_lost in (0.0, 1.0)
        )
        numbers |= {"n": len(scored_attempts), "planned": len(attempts), "lowest": lowest, "highest": highest}
    return {name: float(number) for name, number in numbers.items() if number is not None}


def _outcome_counts_text(turns: Sequence[TurnRecord]) -> str:
    """Return the number of turns of each outcome, and what happened in the last turn, as text."""
    counts = Counter(str(turn.outcome) for turn in turns)
    last_turn = f"; at last: {turns[-1].reason or dict(turns[-1].events)}"[:300] if turns else ""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) + last_turn


def _finished_record_or_lost_score(state: TaskState) -> EpisodeRecord | Score:
    """Return a sample's record, or a score without value if an infrastructure error ended its episode.

    Raises:
        TimeoutError: If the sample had no error event, so that the engine tries it again.
    """
    record = stored_record(state.metadata, state.store)
    if record.end not in (None, End.INFRASTRUCTURE):
        return record
    if not any(isinstance(event, ErrorEvent) for event in transcript().events):
        # An error, unlike a limit, makes the engine try the sample again.
        raise TimeoutError(record.error or "the episode was stopped before its end, by a limit on time")
    # No number, which would be taken for a result; and not NaN, which the engine leaves out before it calls metrics.
    value = {"value": None}
    return Score(value=value, answer=str(End.INFRASTRUCTURE), metadata={_LOST: True}, explanation=record.error or "")


@scorer(metrics=[headline()])
def episode() -> Scorer:
    """Return the scorer of an episode by its headline metric: from 0, the worst possible, to 100, the best.

    All metrics of the environment are in the metadata, by name. An episode that an infrastructure error ended has no
    number.
    """

    async def score(state: TaskState, target: Target) -> Score:
        """Score a sample's episode by its headline metric."""
        record = _finished_record_or_lost_score(state)
        if isinstance(record, Score):
            return record
        environment = registry.load(record.env)
        metrics = environment.measure(record)
        value = environment.scoring.headline_percent(record)
        return Score(
            value=_MISSING if value is None else float(value),
            answer=str(record.end),
            # The progress once more, for what `finished_record` says.
            metadata={KEY: state.store.get(KEY), METRICS: metrics},
            explanation=_outcome_counts_text(record.turns),
        )

    return score


@scorer(metrics=[level_scores()])
def solved() -> Scorer:
    """Return the scorer of an episode by success: 1 or 0."""

    async def score(state: TaskState, target: Target) -> Score:
        """Score a sample's episode by whether it was solved."""
        record = _finished_record_or_lost_score(state)
        if isinstance(record, Score):
            return record
        scoring = registry.load(record.env).scoring
        headline_metric = scoring.metrics[0]
        is_last = scoring.best_of and is_perfect(headline_metric.of(record), headline_metric)
        value = float(record.end is End.SOLVED)
        return Score(value=value, answer=str(record.end), metadata={_PERFECT: True} if is_last else None)

    return score
