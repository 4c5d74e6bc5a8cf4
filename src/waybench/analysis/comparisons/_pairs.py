"""Models two by two, each pair on the questions that both answered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from waybench.analysis._items import ItemKey, at_items, measured
from waybench.analysis._ranges import over
from waybench.analysis._rows import EXAMPLES, Group, Row, grouped
from waybench.analysis.comparisons._comparison import mean_difference
from waybench.core import Json, Metric
from waybench.envs import registry
from waybench.stats import Mean, clustered_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models at the items where a metric is defined for both (MANGO, Tables 1, 9, 11 and 12).

    Attributes:
        first: The one model.
        second: The other one, at the same set of items and with the same options of play.
        metric: The metric's name. Where it is defined for easy questions only, so is the pair.
        first_mean: Mean of the first one's values at these items, what a single attempt gives; clustered as they were
            drawn.
        second_mean: The same of the second one.
        difference: Mean of the first one's values minus the second one's, with an interval for pairs.
    """

    first: Group
    second: Group
    metric: str
    first_mean: Mean
    second_mean: Mean
    difference: Mean

    @property
    def items(self) -> int:
        """Number of items."""
        return self.difference.n

    def to_json(self) -> dict[str, Json]:
        """Return the pair as JSON values."""
        groups = {"first": self.first.to_json(), "second": self.second.to_json()}
        return {**asdict(self), **groups, "items": self.items}


def comparable(groups: Iterable[Group]) -> list[list[Group]]:
    """Return groups that were asked the same: of one environment and version, one set of items, and all options alike.

    How a model was run, its temperature and the like, is the model's own matter, and so is the task's name.
    """
    return list(grouped(groups, asked).values())


def pairs(all_rows: Iterable[Row], names: Sequence[str]) -> list[Pair]:
    """Return all pairs of groups that can be compared, for some metrics, in order of first appearance.

    A pair without a common item is left out. Items are the same if their level, id and instance are, a question about
    another prefix of a walkthrough being another one.

    Args:
        all_rows: The rows.
        names: The metrics; those that an environment does not have are passed over, and so are shares
            (`Metric.per`), for which a single item has no weight of its own.
    """
    own = {group: at_items(some) for group, some in grouped(all_rows, lambda row: row.group).items()}
    found: list[Pair] = []
    for some in comparable(own):
        metrics = registry.load(some[0].env).metrics
        played = [row for group in some for item in own[group].values() for row in item]
        for metric in (over(one, played) for one in metrics if one.name in names and one.per is None):
            values = {group: measured(own[group], metrics[0], metric).values for group in some}
            for first, second in combinations(some, 2):
                pair = _pair(first, second, metric, values)
                if pair is not None:
                    found.append(pair)
    return found


def _pair(first: Group, second: Group, metric: Metric, values: Mapping[Group, Mapping[ItemKey, float]]) -> Pair | None:
    both = [key for key in values[first] if key in values[second]]
    one, other = ({key: values[group][key] for key in both} for group in (first, second))
    difference = mean_difference(one, other, metric)
    means = [
        clustered_mean(list(some.values()), [key.cluster for key in both], *metric.bounds) for some in (one, other)
    ]
    if difference is None or means[0] is None or means[1] is None:
        return None
    return Pair(
        first=first,
        second=second,
        metric=metric.name,
        first_mean=means[0],
        second_mean=means[1],
        difference=difference,
    )


def asked(group: Group) -> tuple[str, int, str, tuple[tuple[str, str], ...]]:
    """Return what a group was asked: environment, version, the set's key, and all options of play and of the set."""
    env = registry.load(group.env)
    names = {option.name for option in (*env.options, *env.source_options)} | {EXAMPLES}
    options = sorted((name, repr(value)) for name, value in group.options if name in names)
    return group.env, group.version, group.key, tuple(options)
