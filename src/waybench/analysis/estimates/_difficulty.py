"""How hard single items are: what explanatory variables of items add to the level."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from waybench.analysis.results import Cluster, Group, Row, at_items, grouped, perfections, telling
from waybench.core import DIFFICULTY_INDEX, Axis, ItemIndex, Json, plural
from waybench.envs import registry
from waybench.stats import Array, IndexGain, index_gain


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifficulty:
    """The difficulty index of an environment's items (see `IndexGain`).

    Attributes:
        env: The environment.
        apart: Settings, in words, that keep its results out of others' tables.
        axis: Name of the environment's first axis, the level of the index.
        variables: Names of the other variables.
        gain: The index, and what it explains beyond the level; None if there is none.
        why: Why there is none; "" otherwise.
    """

    env: str
    apart: tuple[str, ...]
    axis: str
    variables: tuple[str, ...]
    gain: IndexGain | None
    why: str = ""

    @property
    def index(self) -> ItemIndex | None:
        """The index, as a search for a horizon takes it; None if there is none."""
        if self.gain is None:
            return None
        index = self.gain.index
        terms: list[list[float]] = np.stack([index.starts, index.rises, index.weights], axis=1).round(4).tolist()
        named = zip(self.variables, terms, strict=True)
        return ItemIndex({name: (start, rise, weight) for name, (start, rise, weight) in named if weight})

    @property
    def weights(self) -> dict[str, float]:
        """What a doubling of each variable is worth, in doublings of the level; none without an index."""
        weights: list[float] = self.gain.index.weights.tolist() if self.gain else []
        return dict(zip(self.variables, weights, strict=False))

    def equivalent_level(self, row: Row) -> float | None:
        """Return the level at which an average item is as hard as the item of a row; None if that is not known."""
        level, index = row.axes.get(self.axis), self.index
        return None if index is None or level is None or level <= 0 else index.equivalent_level(level, row.variables)

    def to_json(self) -> dict[str, Json]:
        """Return the index and its gain as JSON values; null where there is none."""
        names = ("marginal", "conditional", "ratio", "low", "high", "marginal_loss", "conditional_loss")
        counts = ("attempts", "players", "clusters")
        return {
            "env": self.env,
            "apart": list(self.apart),
            "axis": self.axis,
            "why": self.why,
            **{name: getattr(self.gain, name) if self.gain else None for name in (*names, *counts)},
            "weights": self.weights,
            "index": None if self.index is None else self.index.to_json(),
        }


class _Result(NamedTuple):
    """A group's result at an item: its cluster, level, other variables, and the share of attempts that succeeded."""

    group: Group
    cluster: Cluster
    level: float
    values: list[float]
    solved: float


def item_difficulties(all_rows: Iterable[Row]) -> list[ItemDifficulty]:
    """Return the difficulty index of each environment that declares explanatory variables of items.

    Results of all models with all their settings count, those of searches for a horizon too, but not those with a
    teacher, and not those of searches by such an index, which have no levels. An item's result is the share of single
    attempts that succeed, as for horizons.
    """
    free = [
        row
        for row in all_rows
        if row.is_included and not row.guided and DIFFICULTY_INDEX not in dict(row.group.options)
    ]
    found: list[ItemDifficulty] = []
    for (env, apart), own in grouped(free, lambda row: (row.group.env, row.group.apart)).items():
        declared = registry.load(env)
        if declared.difficulty.item_variables and declared.difficulty.axes:
            found.append(_difficulty(env, apart, declared.difficulty.axes[0], own))
    return found


def _difficulty(env: str, apart: tuple[str, ...], axis: Axis, own: Sequence[Row]) -> ItemDifficulty:
    variables = tuple(each.name for each in registry.load(env).difficulty.item_variables)
    results = [
        result
        for group, rows in grouped(own, lambda row: row.group).items()
        for result in _results(group, rows, axis, variables)
    ]
    groups = {group: number for number, group in enumerate(dict.fromkeys(result.group for result in results))}
    clusters = {cluster: number for number, cluster in enumerate(sorted({result.cluster for result in results}))}
    values: Array = np.array([result.values for result in results], dtype=np.float64)
    gain = (
        index_gain(
            [result.solved for result in results],
            [groups[result.group] for result in results],
            [result.level for result in results],
            values,
            [clusters[result.cluster] for result in results],
        )
        if results
        else "no item has a level"
    )
    is_known = isinstance(gain, IndexGain)
    return ItemDifficulty(
        env=env,
        apart=apart,
        axis=axis.name,
        variables=variables,
        gain=gain if is_known else None,
        why="" if is_known else gain,
    )


def _results(group: Group, rows: Sequence[Row], axis: Axis, variables: Sequence[str]) -> Iterable[_Result]:
    head = registry.load(group.env).scoring.metrics[0]
    for key, attempts in at_items(rows).items():
        level = attempts[0].axes.get(axis.name)
        if level is not None and level > 0:
            counted = telling(attempts, perfections(attempts, head))
            solved = sum(row.succeeded for row in counted) / len(counted)
            yield _Result(group, key.cluster, level, _values(attempts[0], variables), solved)


def _values(row: Row, variables: Sequence[str]) -> list[float]:
    known = (row.variables.get(name) for name in variables)
    return [np.nan if value is None else value for value in known]


def difficulty_text(found: Iterable[ItemDifficulty]) -> str:
    """Return what the indices add to levels, a line for each environment that has one; "" without any."""
    lines: list[str] = []
    for each in found:
        if each.gain is not None:
            env = registry.load(each.env)
            title = next(axis.title for axis in env.difficulty.axes if axis.name == each.axis).lower()
            counted = plural(each.gain.clusters, env.presentation.cluster or env.presentation.item or "item")
            lines.append(
                f"{env.title}: success falls {each.gain.ratio:.2f} times as steeply with the difficulty of single "
                f"items as with {title} alone (95 % interval {each.gain.low:.2f} to {each.gain.high:.2f}, "
                f"{counted}){'' if each.gain.low > 1 else ': no gain is shown'}"
            )
    return "\n".join(lines)
