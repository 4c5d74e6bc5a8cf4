"""Comparisons that end as soon as they are decided: the plan, fixed beforehand, and the decision from the logs."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, isnan, nan
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np

from waybench.core import Json, UsageError
from waybench.results.results import UNCONFIRMED, UNFINISHED, Row, group_by
from waybench.results.stats._sequential import (
    MOST_MARGIN,
    SEQUENTIAL_REVISION,
    ConfidenceLimits,
    DecisionRule,
    Race,
    confidence_sequence,
    score_differences,
)

SUFFIX = ".decision.json"  # of the file beside the logs
BETTER, TIED, WITHIN, UNDECIDED = "better", "tied", "within margin", "undecided"
_FIXED_KEYS = ("rule", "task", "stream", "over", "models", "margin", "tasks", "bets")  # all but the limit
_MOST_FILE_SIZE = 1 << 28  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPlan:
    """The plan of a comparison, which is fixed before the first reply; only `limit` may be raised.

    Attributes:
        stream: Identifies its stream of items.
        unit: The name of a unit of the stream, such as "item".
        population: The items that the decision is about, in words.
        limit: Most units.
        rule: When the comparison ends.
    """

    task: str
    stream: str
    unit: str
    population: str
    limit: int
    models: tuple[str, ...]
    rule: DecisionRule

    @property
    def file_name(self) -> str:
        """The name of the plan's file beside the logs."""
        digest = hashlib.sha256(json.dumps([self.stream, self.models]).encode()).hexdigest()[:12]
        return f"{re.sub(r'[^A-Za-z0-9.]+', '-', self.task)[:60]}-{digest}{SUFFIX}"

    def to_json(self) -> dict[str, Json]:
        """Return the plan as a JSON value."""
        return {
            "rule": SEQUENTIAL_REVISION,
            "task": self.task,
            "stream": self.stream,
            "unit": self.unit,
            "population": self.population,
            "over": "clusters" if self.rule.clusters else "items",
            "limit": self.limit,
            "models": list(self.models),
            "margin": self.rule.margin,
            "tasks": self.rule.tasks,
            "bets": list(self.rule.bets),
            "better": self.rule.better_threshold,
            "tied": self.rule.tie_threshold,
        }


def read_plan(values: Mapping[str, Any]) -> DecisionPlan:
    """Read a plan from a JSON value, which comes from outside.

    Raises:
        UsageError: If it is not a plan, or one of another version.
    """
    try:
        models = tuple(map(str, values["models"]))
        rule = DecisionRule(
            models=len(models),
            margin=float(values["margin"]),
            tasks=int(values["tasks"]),
            clusters=values["over"] == "clusters",
        )
        texts = {name: str(values[name]) for name in ("task", "stream", "unit", "population")}
        plan = DecisionPlan(**texts, limit=int(values["limit"]), models=models, rule=rule)
        is_valid = 2 <= len(set(models)) == len(models) and 0 < rule.margin <= MOST_MARGIN and rule.tasks > 0
    except (KeyError, TypeError, ValueError, OverflowError):
        raise UsageError("it does not say what is compared") from None
    if not is_valid or values.get("rule") != SEQUENTIAL_REVISION or tuple(values.get("bets", ())) != rule.bets:
        raise UsageError("another version of waybench wrote it, or it was changed")
    return plan


@dataclass(frozen=True, slots=True)
class UnitScores:
    """The scores of a unit of the stream.

    Attributes:
        items: Name and hash of each item.
        scores: For each model its score at each item, from 0 to 1; NaN for one that is lost or was not played.
    """

    items: tuple[tuple[str, str], ...]
    scores: tuple[tuple[float, ...], ...]

    def to_json(self) -> dict[str, Json]:
        """Return the scores as a JSON value."""
        return {
            "items": [{"id": name, "hash": instance} for name, instance in self.items],
            "scores": [[None if isnan(score) else score for score in scores] for scores in self.scores],
        }


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The decision of a comparison, from the gapless prefix of its stream.

    Attributes:
        units: The units that were looked at.
        looks: After each unit, the evidence that each model is better than each other one.
        race: The comparison after the last look.
        tokens: Mean tokens of an attempt; None if those of some attempt are not known.
        problem: Why the file beside the logs does not agree with these; "" if it does.
    """

    plan: DecisionPlan
    units: Sequence[UnitScores]
    looks: Sequence[Sequence[Sequence[float]]] = field(repr=False)
    race: Race = field(repr=False)
    tokens: float | None = None
    problem: str = ""

    @cached_property
    def live(self) -> tuple[str, ...]:
        """The models that were not dropped as worse than another one."""
        return tuple(model for model, live in zip(self.plan.models, self.race.live, strict=True) if live)

    @property
    def verdict(self) -> str:
        """The conclusion: "better" (of one model than all others), "tied", "within margin", or "undecided"."""
        if not self.race.ended_at:
            return UNDECIDED
        if len(self.live) == 1:
            return BETTER
        return TIED if len(self.plan.models) == 2 else WITHIN

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The models that are shown to be best, or within the margin of the best."""
        pairs = zip(self.plan.models, self.race.unbeaten, strict=True)
        return tuple(model for model, is_unbeaten in pairs if is_unbeaten and self.race.ended_at)

    def _differences(self, first: int, second: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return by how much a model's score is above another's at each unit; the numbers are indices of models."""
        return np.array([score_differences(unit.scores)[first, second] for unit in self.units])

    @cached_property
    def limits(self) -> ConfidenceLimits | None:
        """The confidence sequence of two models' difference, 95 % (90 % for a tie); None for more models."""
        if len(self.plan.models) > 2:
            return None
        rule = self.plan.rule
        threshold = rule.tie_threshold if self.verdict == TIED else rule.better_threshold
        return confidence_sequence(self._differences(0, 1), self._differences(1, 0), rule.bets, threshold)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of units that the first of two models won, lost and tied."""
        differences = self._differences(0, 1)
        won, lost = int((differences > 0).sum()), int((differences < 0).sum())
        return won, lost, len(differences) - won - lost

    @cached_property
    def means(self) -> Mapping[str, float | None]:
        """Each model's mean at the stop over the items with a score, None without any; too uncertain for a rank."""
        means: dict[str, float | None] = {}
        for number, model in enumerate(self.plan.models):
            scores = [score for unit in self.units for score in unit.scores[number] if not isnan(score)]
            means[model] = fsum(scores) / len(scores) if scores else None
        return means

    @property
    def summary(self) -> dict[str, Json]:
        """The plan and the decision as a JSON value."""
        items = "".join(f"{name} {instance}\n" for unit in self.units for name, instance in unit.items)
        return {
            **self.plan.to_json(),
            "looked_at": len(self.units),
            "items_hash": hashlib.sha256(items.encode()).hexdigest(),
            "dropped_at": [int(number) for number in self.race.dropped_at],
            "verdict": self.verdict,
            "decided_at": int(self.race.ended_at),
            "best": list(self.best),
            "interval": None if self.limits is None else list(self.limits),
            "means_at_stop": dict(self.means),
            "problem": self.problem,
        }

    def to_json(self) -> dict[str, Json]:
        """Return the plan, the decision, the scores of each unit, and the evidence after it, as a JSON value."""
        return {
            **self.summary,
            "units": [unit.to_json() for unit in self.units],
            "evidence": [[list(row) for row in look] for look in self.looks],
        }


def decide(plan: DecisionPlan, rows: Iterable[Row]) -> Decision:
    """Return the decision that the rows of a stream lead to.

    Rows of other streams and models are left out. For a model that ran with several settings, those of its last row
    count.
    """
    rows_by_model: dict[str, list[Row]] = {model: [] for model in plan.models}
    for row in rows:
        is_of_stream = row.stream is not None and row.stream.stream == plan.stream
        # Unconfirmed and unfinished attempts hold their place in the stream, without a score.
        if is_of_stream and row.group.model in rows_by_model and row.exclusion_reason in ("", UNCONFIRMED, UNFINISHED):
            rows_by_model[row.group.model].append(row)
    rows_by_unit_of_models: list[dict[int, list[Row]]] = []
    for model_rows in rows_by_model.values():
        by_position = group_by((row for row in model_rows if row.group == model_rows[-1].group), lambda row: row.stream)
        rows_by_unit: dict[int, list[Row]] = {}
        for position, position_rows in by_position.items():
            assert position is not None
            rows_by_unit.setdefault(position.unit, []).extend(position_rows)
        rows_by_unit_of_models.append(rows_by_unit)
    race, units, looks = Race(plan.rule), list[UnitScores](), list[list[list[float]]]()
    while not race.ended_at and race.units < plan.limit:
        unit_rows_of_models = [rows_by_unit.get(race.units, []) for rows_by_unit in rows_by_unit_of_models]
        unit_scores = _unit_scores(unit_rows_of_models, race.live.tolist())
        if unit_scores is None:
            break
        units.append(unit_scores)
        race.add_unit(score_differences(unit_scores.scores))
        looks.append(race.better.tolist())
    tokens = [row.tokens for by_unit in rows_by_unit_of_models for unit_rows in by_unit.values() for row in unit_rows]
    known_tokens = [number for number in tokens if number is not None]
    mean = fsum(known_tokens) / len(tokens) if tokens and len(known_tokens) == len(tokens) else None
    return Decision(plan=plan, units=units, looks=looks, race=race, tokens=mean)


def _unit_scores(unit_rows_of_models: Sequence[Sequence[Row]], live: Sequence[bool]) -> UnitScores | None:
    """Return the scores of a unit; None if a model that is still compared has not finished the unit."""
    instances: dict[str, str] = {}
    rows_by_item_of_models: list[dict[str, list[Row]]] = []
    for rows, is_live in zip(unit_rows_of_models, live, strict=True):
        if not is_live:  # dropped models need not go on
            rows_by_item_of_models.append({})
            continue
        by_item = group_by(rows, lambda row: row.item)
        position = rows[0].stream if rows else None
        if position is None or len(by_item) < position.items:
            return None
        if any(len(attempts) < position.attempts for attempts in by_item.values()):
            return None
        rows_by_item_of_models.append(by_item)
        instances |= {name: attempts[0].instance for name, attempts in by_item.items()}
    names = sorted(instances)
    scores = tuple(
        tuple(_mean_share_of_range(by_item.get(name, [])) for name in names) for by_item in rows_by_item_of_models
    )
    return UnitScores(tuple((name, instances[name]) for name in names), scores)


def _mean_share_of_range(attempts: Sequence[Row]) -> float:
    """Return the mean of attempts as a share of the metric's range; NaN if one has no result."""
    if not attempts or any(not row.is_included for row in attempts):
        return nan
    metric = attempts[0].group.environment.scoring.metrics[0]
    shares = [
        metric.normalized_value(row.metrics[metric.name], row.ranges.get(metric.name, metric.bounds))
        for row in sorted(attempts, key=lambda row: row.attempt)
    ]
    return fsum(shares) / len(shares)


def stored_decisions(rows: Iterable[Row]) -> list[Decision]:
    """Return the decisions of all comparisons with a file beside the logs of some rows.

    A decision whose file does not agree with the logs has a problem that names the unit. Files that are no decisions
    are left out.
    """
    by_folder = group_by((row for row in rows if row.stream is not None and row.log), lambda row: _log_folder(row.log))
    return [decision for folder, in_folder in by_folder.items() for decision in _decisions_in(folder, in_folder)]


def _decisions_in(folder: Path, rows: Sequence[Row]) -> Iterator[Decision]:
    """Yield the decision of each comparison with a file in a folder, from the rows of the folder's logs."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            stored = read_decision(path)
            plan = read_plan(stored)
        except UsageError:
            continue  # not a file of a comparison; scores have no rank without it
        yield compare_with_stored(decide(plan, rows), stored)


def compare_with_stored(decision: Decision, stored: Mapping[str, Any]) -> Decision:
    """Return a decision, with a problem if its stored scores differ from those of the logs.

    A score that was lost when the file was written may be known by now.
    """
    computed = [unit.to_json() for unit in decision.units]
    units: Any = stored.get("units") or []
    stored_units = cast(list[Any], units) if isinstance(units, list) else [None]  # which no scores agree with
    for number, unit in enumerate(stored_units):
        if number >= len(computed):
            # Results in place of lost ones can decide sooner; otherwise logs are missing.
            if decision.race.ended_at:
                break
            return replace(decision, problem=f"unit {number} is in the file, and not in the logs")
        if not _scores_agree(unit, computed[number]):
            return replace(decision, problem=f"unit {number} has other items or scores in the file than in the logs")
    return decision


def _scores_agree(stored: object, computed: Mapping[str, Any]) -> bool:
    """Return whether the stored scores of a unit equal those of the logs, apart from lost ones."""
    if not isinstance(stored, dict):
        return False
    values = cast(Mapping[str, Any], stored)
    try:
        score_pairs = [
            pair
            for stored_scores, computed_scores in zip(values["scores"], computed["scores"], strict=True)
            for pair in zip(stored_scores, computed_scores, strict=True)
        ]
    except (KeyError, TypeError, ValueError):
        return False
    return values.get("items") == computed["items"] and all(old in (None, new) for old, new in score_pairs)


def read_decision(path: Path) -> Mapping[str, Any]:
    """Read the file of a comparison.

    Raises:
        UsageError: If it cannot be read.
    """
    try:
        if path.stat().st_size > _MOST_FILE_SIZE:
            raise UsageError(f"{path.name}: it is too large for the file of a comparison")
        values: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"{path.name}: it cannot be read") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path.name}: it is not the file of a comparison")
    return cast(Mapping[str, Any], values)


def write_decision(folder: Path, values: Mapping[str, Json], name: str) -> None:
    """Write the file of a comparison, in place of an older one."""
    fresh = folder / f".{name}.new"
    fresh.write_text(json.dumps(values) + "\n", "utf-8")
    fresh.replace(folder / name)


def fix_plan(folder: Path, plan: DecisionPlan) -> None:
    """Write a plan beside the logs before the first reply; an existing one must be equal, except for its limit.

    Raises:
        UsageError: If the folder has a comparison of the same models on the same items with another rule, or its file
            cannot be read.
    """
    path = folder / plan.file_name
    stored: Mapping[str, Any] = read_decision(path) if path.is_file() else {}
    values = plan.to_json()
    if isinstance(limit := stored.get("limit"), int):
        values["limit"] = max(limit, plan.limit)
    for name in _FIXED_KEYS:
        if stored and stored.get(name) != values[name]:
            raise UsageError(
                f"{folder} has a comparison of these models with {name} {stored.get(name)}, which is fixed before the "
                f"first reply: give that, or another folder with --out"
            )
    write_decision(folder, {**stored, **values}, plan.file_name)


def update_decisions(folder: Path, rows: Iterable[Row]) -> None:
    """Compute the decisions of the comparisons in a folder from its rows, and write them into the comparisons' files.

    Raises:
        UsageError: If a stored decision does not agree with the logs; the decisions before it are written.
    """
    stream_rows = [row for row in rows if row.stream is not None]
    if not stream_rows:  # nothing that the files could be compared with
        return
    for decision in _decisions_in(folder, stream_rows):
        name = decision.plan.file_name
        if decision.problem:
            raise UsageError(f"{name}: {decision.problem}: one of the two was changed")
        write_decision(folder, decision.to_json(), name)


def _log_folder(log: str) -> Path:
    """Return the folder of a log."""
    parts = urlparse(log)
    return Path(url2pathname(parts.path) if parts.scheme == "file" else log).parent
