"""Divides scores into charts, so that each chart compares the same items at each level."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import Presentation
from waybench.results import Estimate
from waybench.results.formatting import one_line
from waybench.results.results import Group, grouped

_LONGEST = 40  # characters of a key


@dataclass(frozen=True, slots=True)
class ChartSet:
    """Estimates that may be drawn together.

    Attributes:
        name: "" for the first chart of an environment; of a further one, the keys of its sets.
        keys: Level -> the key of the items that all estimates of this level are of.
        estimates: The estimates, each group without its key: sets of different levels make one line.
    """

    name: str
    keys: Mapping[int, str]
    estimates: list[Estimate]

    def caption(self, presentation: Presentation) -> str:
        """Return a sentence on which sets are drawn, with a space before it; "" for the only set of an environment.

        Args:
            presentation: The environment's presentation.
        """
        if not self.name and len(set(self.keys.values())) < 2:
            return ""
        return f" The {presentation.items} are from {_listed(self.keys.items(), presentation)}."


@dataclass(frozen=True, slots=True)
class ChartSets:
    """Estimates as charts show them.

    Attributes:
        sets: What is drawn together, one chart for each.
        left_out: What no chart shows: further sets that a model was given at the same level.
    """

    sets: list[ChartSet]
    left_out: list[Estimate]

    def note(self, presentation: Presentation) -> str:
        """Return a sentence on what is left out; "" if everything is drawn.

        Args:
            presentation: The environment's presentation.
        """
        if not self.left_out:
            return ""
        missing = sorted({(each.level or 0, each.group.key) for each in self.left_out})
        return (
            f"Not shown: {_listed(missing, presentation)}. Where a model was given several sets of "
            f"{presentation.items} at one level, charts show one; the tables have all."
        )


def chart_sets(estimates: Iterable[Estimate], public_key: str) -> ChartSets:
    """Divide the estimates of an environment into charts, so that all marks at a level are of the same items.

    The first chart has at each level the public set, or else the one that most models were given. A model that was
    given another set there is in a further chart.

    Args:
        estimates: The estimates by level.
        public_key: The key of the environment's public set.
    """
    given = list(estimates)
    pending: list[Estimate] = given
    sets: list[ChartSet] = []
    shown: set[tuple[Group, int]] = set()
    drawn: set[tuple[Group, int]] = set()
    while pending:
        keys = {level: _most_common(some, public_key) for level, some in grouped(pending, _level).items()}
        chosen = [each for each in pending if each.group.key == keys[_level(each)]]
        name = " ".join(dict.fromkeys(keys[level] for level in sorted(keys))) if sets else ""
        sets.append(
            ChartSet(name, dict(sorted(keys.items())), [replace(e, group=e.group.without_key()) for e in chosen])
        )
        shown |= {(each.group, _level(each)) for each in chosen}
        drawn |= {(each.group.without_key(), _level(each)) for each in chosen}
        pending = [each for each in pending if (each.group.without_key(), _level(each)) not in drawn]
    return ChartSets(sets, [each for each in given if (each.group, _level(each)) not in shown])


def _level(estimate: Estimate) -> int:
    return estimate.level or 0


def _most_common(some: Sequence[Estimate], public_key: str) -> str:
    groups = {key: len({each.group for each in own}) for key, own in grouped(some, lambda e: e.group.key).items()}
    # The last part keeps the choice independent of the order of the logs.
    return min(groups, key=lambda key: (key != public_key, -groups[key], key))


def _listed(levels: Iterable[tuple[int, str]], presentation: Presentation) -> str:
    """Return sets with their levels: "set a at levels 5 and 7; set b at level 9"."""
    by_key = grouped(sorted(levels), lambda pair: pair[1])
    parts: list[str] = []
    for key, pairs in by_key.items():
        *others, last = (str(level) for level, _ in pairs)
        numbers = f"{presentation.levels} {', '.join(others)} and {last}" if others else f"{presentation.level} {last}"
        parts.append(f"set {one_line(key, _LONGEST) or '(no name)'} at {numbers}")
    return "; ".join(parts)
