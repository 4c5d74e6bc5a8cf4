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
_FIXED = ("rule", "task", "stream", "over", "models", "margin", "tasks", "bets")
_MOST_FILE = 1 << 28  # bytes


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

    def _ahead(self, first: int, second: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the difference of two models' scores at each unit."""
        return np.array([score_differences(unit.scores)[first, second] for unit in self.units])

    @cached_property
    def limits(self) -> ConfidenceLimits | None:
        """The confidence sequence of two models' difference, 95 % (90 % for a tie); None for more models."""
        if len(self.plan.models) > 2:
            return None
        rule = self.plan.rule
        threshold = rule.tie_threshold if self.verdict == TIED else rule.better_threshold
        return confidence_sequence(self._ahead(0, 1), self._ahead(1, 0), rule.bets, threshold)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of units that the first of two models won, lost and tied."""
        ahead = self._ahead(0, 1)
        won, lost = int((ahead > 0).sum()), int((ahead < 0).sum())
        return won, lost, len(ahead) - won - lost

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
        limits = self.limits
        looked = [item for unit in self.units for item in unit.items]
        digest = hashlib.sha256("".join(f"{name} {instance}\n" for name, instance in looked).encode()).hexdigest()
        return {
            **self.plan.to_json(),
            "looked_at": len(self.units),
            "items_hash": digest,
            "dropped_at": [int(number) for number in self.race.dropped_at],
            "verdict": self.verdict,
            "decided_at": int(self.race.ended_at),
            "best": list(self.best),
            "interval": None if limits is None else list(limits),
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
    possible = ("", UNCONFIRMED, UNFINISHED)
    own = [
        row
        for row in rows
        if row.stream is not None and row.stream.stream == plan.stream and row.exclusion_reason in possible
    ]
    by_model = {
        model: group_by([row for row in of_model if row.group == of_model[-1].group], lambda row: row.stream)
        for model, of_model in group_by(own, lambda row: row.group.model).items()
        if model in plan.models
    }
    by_unit: list[dict[int, list[Row]]] = []
    for model in plan.models:
        units: dict[int, list[Row]] = {}
        for place, of_place in by_model.get(model, {}).items():
            assert place is not None
            units.setdefault(place.unit, []).extend(of_place)
        by_unit.append(units)
    race, seen, looks = Race(plan.rule), list[UnitScores](), list[list[list[float]]]()
    while not race.ended_at and race.units < plan.limit:
        of_unit = [units.get(race.units, []) for units in by_unit]
        scores = _unit_scores(of_unit, race.live.tolist())
        if scores is None:
            break
        seen.append(scores)
        race.add_unit(score_differences(scores.scores))
        looks.append(race.better.tolist())
    counted = [row for units in by_unit for rows_of_unit in units.values() for row in rows_of_unit]
    tokens = [row.tokens for row in counted if row.tokens is not None]
    mean = fsum(tokens) / len(tokens) if tokens and len(tokens) == len(counted) else None
    return Decision(plan=plan, units=seen, looks=looks, race=race, tokens=mean)


def _unit_scores(of_unit: Sequence[Sequence[Row]], live: Sequence[bool]) -> UnitScores | None:
    """Return the scores of a unit; None if a model that is still compared has not finished it."""
    items: dict[str, str] = {}
    by_model: list[dict[str, list[Row]]] = []
    for rows, is_live in zip(of_unit, live, strict=True):
        by_item = group_by(rows, lambda row: row.item)
        place = rows[0].stream if rows else None
        if is_live and (
            place is None
            or len(by_item) < place.items
            or any(len(attempts) < place.attempts for attempts in by_item.values())
        ):
            return None
        by_model.append(by_item if is_live else {})
        if is_live:
            items |= {name: attempts[0].instance for name, attempts in by_item.items()}
    names = sorted(items)
    scores = tuple(tuple(_mean_share_of_range(by_item.get(name, [])) for name in names) for by_item in by_model)
    return UnitScores(tuple((name, items[name]) for name in names), scores)


def _mean_share_of_range(attempts: Sequence[Row]) -> float:
    """Return the mean of attempts as a share of the metric's range; NaN if one has no result."""
    if not attempts or any(not row.is_included for row in attempts):
        return nan
    head = attempts[0].group.environment.scoring.metrics[0]
    ordered = sorted(attempts, key=lambda row: row.attempt)
    shares = [head.normalized_value(row.metrics[head.name], row.ranges.get(head.name, head.bounds)) for row in ordered]
    return fsum(shares) / len(shares)


def stored_decisions(rows: Iterable[Row]) -> list[Decision]:
    """Return the decisions of all comparisons with a file beside the logs of some rows.

    A decision whose file does not agree with the logs has a problem that names the unit. Files that are no decisions
    are left out.
    """
    by_folder = group_by((row for row in rows if row.stream is not None and row.log), lambda row: _log_folder(row.log))
    return [decision for folder, in_folder in by_folder.items() for decision in _decisions_in(folder, in_folder)]


def _decisions_in(folder: Path, rows: Sequence[Row]) -> Iterator[Decision]:
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            stored = read_decision(path)
            plan = read_plan(stored)
        except UsageError:
            continue  # what is no file of ours decides nothing, and the scores have no rank without it
        yield compare_with_stored(decide(plan, rows), stored)


def compare_with_stored(decision: Decision, stored: Mapping[str, Any]) -> Decision:
    """Return a decision, with a problem if its stored scores differ from those of the logs.

    A score that was lost when the file was written may be known by now.
    """
    computed = [unit.to_json() for unit in decision.units]
    units: Any = stored.get("units") or []
    stored_units = cast(list[Any], units) if isinstance(units, list) else [None]
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
        pairs = [
            pair
            for first, second in zip(values["scores"], computed["scores"], strict=True)
            for pair in zip(first, second, strict=True)
        ]
    except (KeyError, TypeError, ValueError):
        return False
    return values.get("items") == computed["items"] and all(first in (None, second) for first, second in pairs)


def read_decision(path: Path) -> Mapping[str, Any]:
    """Read the file of a comparison.

    Raises:
        UsageError: If it cannot be read.
    """
    try:
        if path.stat().st_size > _MOST_FILE:
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
    for name in _FIXED if stored else ():
        if stored.get(name) != values[name]:
            raise UsageError(
                f"{folder} has a comparison of these models with {name} {stored.get(name)}, which is fixed before the "
                f"first reply: give that, or another folder with --out"
            )
    write_decision(folder, {**stored, **values}, plan.file_name)


def update_decisions(folder: Path, rows: Iterable[Row]) -> None:
    """Compute the decisions of a folder from its logs and write them into their files.

    Raises:
        UsageError: If a file does not agree with the logs.
    """
    streamed = [row for row in rows if row.stream is not None]
    for decision in _decisions_in(folder, streamed) if streamed else ():
        name = decision.plan.file_name
        if decision.problem:
            raise UsageError(f"{name}: {decision.problem}: one of the two was changed")
        write_decision(folder, decision.to_json(), name)


def _log_folder(log: str) -> Path:
    """Return the folder of a log."""
    parts = urlparse(log)
    return Path(url2pathname(parts.path) if parts.scheme == "file" else log).parent
