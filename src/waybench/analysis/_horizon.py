"""How far a player reaches: the difficulty at which it still solves a share of the items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite

import numpy as np

from waybench.analysis._labels import labels
from waybench.analysis._rows import Group, Row, grouped
from waybench.analysis._table import aligned
from waybench.core import Axis, End, Json
from waybench.envs import registry
from waybench.psychometric import Fit, Shape, fitted

SHARES = (0.5, 0.8)
REACH_CONFIDENCE = 0.9  # of the intervals of horizons
FEWEST = 2  # places on an axis: one alone says nothing of how success falls
# What else could be taken for granted of curves, one thing at a time.
ALTERNATIVES: Mapping[str, Shape] = {
    "link: logistic": Shape(links=("logistic",)),
    "link: probit": Shape(links=("normal",)),
    "link: complementary log-log": Shape(links=("gumbel",)),
    "prior: slopes twice as free": Shape(spread=2.0),
    "lapse: none": Shape(lapse={0.0: 1.0}),
    "axis: linear": Shape(log=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The difficulty at which a player solves a share of the items.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        share: The share.
        value: The difficulty; None where that is not between what was tried (see `side`).
        low: Lower end of its 90 % interval; None where it is not between what was tried.
        high: Upper end, likewise.
        side: "beyond" where the hardest items that were tried are within reach, "below" where not even the easiest
            ones are; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest one.
        trials: Number of attempts.
        clusters: Number of independent clusters that they come from.
        sensitivity: The value under other assumptions (`ALTERNATIVES`), by their names; None where it is not between
            what was tried. Of an environment's first axis alone.
    """

    group: Group
    axis: str
    share: float
    value: float | None
    low: float | None
    high: float | None
    side: str
    easiest: float
    hardest: float
    trials: int
    clusters: int
    sensitivity: Mapping[str, float | None]

    def to_json(self) -> dict[str, Json]:
        """Return the horizon as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


def horizons(all_rows: Iterable[Row]) -> list[Horizon]:
    """Return the horizons of every model, task and settings on every axis of its environment, for `SHARES`.

    Attempts that count are trials, each solved or not, clustered as they were drawn. Left out are episodes with a
    teacher, whose merit it is, and axes of which fewer than two places were tried.
    """
    free = [row for row in all_rows if row.counts and not row.guided]
    return [
        found
        for group, own in grouped(free, lambda row: row.group).items()
        for number, axis in enumerate(registry.load(group.env).axes)
        for found in _on(group, axis, own, {} if number else ALTERNATIVES)
    ]


def _on(group: Group, axis: Axis, own: Sequence[Row], alternatives: Mapping[str, Shape]) -> list[Horizon]:
    known = [(place, row) for row in own if (place := row.axes.get(axis.name)) is not None and place > 0]
    if len({place for place, _ in known}) < FEWEST:
        return []
    at = np.array([place for place, _ in known], dtype=np.float64)
    solved = np.array([row.end == End.SOLVED for _, row in known], dtype=np.float64)
    numbers: dict[object, int] = {}
    clusters = [numbers.setdefault(row.cluster, len(numbers)) for _, row in known]

    def fit(shape: Shape) -> Fit:
        return fitted(shape, at, solved, clusters)

    plain = fit(Shape())
    others = {name: fit(shape) for name, shape in alternatives.items()}
    return [_horizon(group, axis.name, share, plain, others, len(known), len(numbers)) for share in SHARES]


def _horizon(
    group: Group, axis: str, share: float, fit: Fit, others: Mapping[str, Fit], trials: int, clusters: int
) -> Horizon:
    easiest, hardest = float(fit.tried.at[0]), float(fit.tried.at[-1])

    def within(value: float) -> float | None:
        return value if isfinite(value) and easiest <= value <= hardest else None

    value, low, high = fit.reach(share, REACH_CONFIDENCE)
    return Horizon(
        group=group,
        axis=axis,
        share=share,
        value=within(value),
        low=low if easiest <= low <= hardest else None,
        high=high if easiest <= high <= hardest else None,
        side="" if within(value) is not None else "beyond" if value > hardest else "below",
        easiest=easiest,
        hardest=hardest,
        trials=trials,
        clusters=clusters,
        sensitivity={name: within(other.reach(share, REACH_CONFIDENCE)[0]) for name, other in others.items()},
    )


def horizon_table(found: Iterable[Horizon]) -> str:
    """Return the horizons on each environment's first axis as an aligned table of plain text; "" if there are none."""
    listed = [each for each in found if each.axis == registry.load(each.group.env).axes[0].name]
    tables: list[str] = []
    for env_id, some in grouped(listed, lambda each: each.group.env).items():
        env = registry.load(env_id)
        names = labels(each.group for each in some)
        title = f"{env.title}: {env.axes[0].title.lower()} at which a share is still solved"
        lines = [[title, *(f"{100 * share:.0f} %" for share in SHARES)]]
        for group, own in grouped(some, lambda each: each.group).items():
            lines.append([names[group], *(horizon_text(each) for each in own)])
        tables.append(aligned(lines))
    return "\n\n".join(tables)


def horizon_text(horizon: Horizon, number: Callable[[float], str] = "{:.3g}".format) -> str:
    """Return a horizon in words: "23 (19 to 29)", "beyond 41 (over 33)", "below 5 (under 7)".

    Args:
        horizon: The horizon.
        number: Difficulty -> text.
    """
    low = None if horizon.low is None else number(horizon.low)
    high = None if horizon.high is None else number(horizon.high)
    if horizon.side == "beyond":
        return f"beyond {number(horizon.hardest)}" + (f" (over {low})" if low else "")
    if horizon.side == "below":
        return f"below {number(horizon.easiest)}" + (f" (under {high})" if high else "")
    assert horizon.value is not None
    ends = f"{low} to {high}" if low and high else f"over {low}" if low else f"under {high}" if high else "not known"
    return f"{number(horizon.value)} ({ends})"
