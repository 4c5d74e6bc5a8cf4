"""The same items in several wordings: what the words alone change, and how bad it can get."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from waybench.analysis._frames import Fact, Frame, columns, group_columns, mean_facts
from waybench.analysis._items import ItemKey, at_items, count_items, measured
from waybench.analysis._labels import LONGEST, labels, rest
from waybench.analysis._numbers import NOTHING, better_text, change_text, mean_text
from waybench.analysis._ranges import over
from waybench.analysis._rows import Group, Row, declared, grouped
from waybench.analysis._table import aligned
from waybench.analysis._text import one_line
from waybench.analysis.comparisons._comparison import mean_difference
from waybench.core import Json, Metric
from waybench.envs import registry
from waybench.stats import Mean, clustered_mean, holm, sign_flipped

WORDING = "wording"  # the option that says in what words an item is put


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """What a player comes to in one wording, at the items that it was asked in all of them.

    Attributes:
        group: Model, task and settings, the wording among them.
        name: The wording.
        mean: Mean of the items' values, what a single attempt gives.
        difference: Mean of these less those in the wording that others are compared with, with an interval for pairs;
            None of that one itself.
        p: P value of a sign-flip permutation test of these differences; None likewise.
        adjusted: The same, adjusted by Holm's procedure for all wordings that were compared.
        errors: Infrastructure errors in this wording, in no other number.
    """

    group: Group
    name: str
    mean: Mean
    difference: Mean | None
    p: float | None
    adjusted: float | None
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """What a player comes to in several wordings of the same items.

    Attributes:
        metric: Name of the headline metric.
        wordings: Each of them, in the order in which the environment lists them.
        reference: The one that the others are compared with: the environment's default, or the first that was run.
        worst: The one with the worst mean.
        spread: By how much the best mean is better than the worst one. It has no interval, for which ones these are was
            seen in the same data: where words make no difference at all, it is above 0 by chance.
        worst_of_items: Mean over items of the worst value among an item's wordings: what can be relied on whatever the
            words are. Chance in the replies lowers it too, for the worst of several attempts in the same words would
            also be below their mean.
        items: Items with an attempt in all wordings.
        left_out: Items with an attempt in some of them alone, as where a ladder ended in one or for infrastructure
            errors; they are in no number.
    """

    metric: str
    wordings: tuple[Worded, ...]
    reference: str
    worst: str
    spread: float
    worst_of_items: Mean
    items: int
    left_out: int

    @property
    def group(self) -> Group:
        """The group in the wording that others are compared with."""
        return next(each.group for each in self.wordings if each.name == self.reference)

    def to_json(self) -> dict[str, Json]:
        """Return the wordings as JSON values."""
        each = [{**asdict(one), "group": one.group.to_json()} for one in self.wordings]
        return {**asdict(self), "wordings": each}


def wordings(all_rows: Iterable[Row]) -> list[Wordings]:
    """Return what each player comes to in the wordings in which it was asked the same items, where there are several.

    Compared are groups that differ in nothing but the wording, at the items that were asked in all of these. Each
    wording is compared with one that was chosen before the results were known, for the gap between the best and the
    worst of them is greatest by selection. Episodes with a teacher are left out, and environments whose headline is a
    share of something (`Metric.per`), for which a single item has no weight of its own.
    """
    free = [row for row in all_rows if not row.guided]
    own = grouped((row for row in free if WORDING in dict(row.group.options)), lambda row: row.group)
    found: list[Wordings] = []
    for some in grouped(own, lambda group: rest(group, WORDING)).values():
        metric = over(registry.load(some[0].env).metrics[0], (row for group in some for row in own[group]))
        if len(some) > 1 and metric.per is None:
            made = _wordings(metric, {_wording(group): group for group in some}, own)
            found += [made] if made else []
    return found


def _wording(group: Group) -> str:
    return str(dict(group.options)[WORDING])


def _wordings(metric: Metric, groups: Mapping[str, Group], own: Mapping[Group, Sequence[Row]]) -> Wordings | None:
    found = {name: measured(at_items(own[group]), metric, metric).values for name, group in groups.items()}
    listed = next(option for option in declared(next(iter(groups.values())).env) if option.name == WORDING)
    known = [name for name in listed.choices if found.get(name)]
    names = [*known, *sorted(name for name in found if found[name] and name not in known)]
    if len(names) < 2:
        return None
    reference = str(listed.default) if listed.default in names else names[0]
    each = [found[name] for name in names]
    both = sorted(key for key in each[0] if all(key in values for values in each))
    if not both:
        return None
    paired = {name: {key: found[name][key] for key in both} for name in names}
    worded = _compared(metric, paired, reference, groups, own)
    means = [one.mean.value for one in worded]
    lower = metric.better == "lower"
    worst = (max if lower else min)(worded, key=lambda one: one.mean.value)
    worst_of = [(max if lower else min)(paired[name][key] for name in names) for key in both]
    of_items = clustered_mean(worst_of, [key.cluster for key in both], *metric.bounds)
    assert of_items is not None
    return Wordings(
        metric=metric.name,
        wordings=tuple(worded),
        reference=reference,
        worst=worst.name,
        spread=max(means) - min(means),
        worst_of_items=of_items,
        items=count_items(both),
        left_out=count_items(key for values in each for key in values) - count_items(both),
    )


def _compared(
    metric: Metric,
    paired: Mapping[str, Mapping[ItemKey, float]],
    reference: str,
    groups: Mapping[str, Group],
    own: Mapping[Group, Sequence[Row]],
) -> list[Worded]:
    base = paired[reference]
    clusters = [key.cluster for key in base]
    others = [name for name in paired if name != reference]
    p_values = [sign_flipped([paired[name][key] - base[key] for key in base], clusters) for name in others]
    tested = dict(zip(others, zip(p_values, holm(p_values), strict=True), strict=True))
    found: list[Worded] = []
    for name, values in paired.items():
        mean = clustered_mean(list(values.values()), clusters, *metric.bounds)
        assert mean is not None
        p, adjusted = tested.get(name, (None, None))
        found.append(
            Worded(
                group=groups[name],
                name=name,
                mean=mean,
                difference=None if name == reference else mean_difference(values, base, metric),
                p=p,
                adjusted=adjusted,
                errors=sum(row.error and not row.aside for row in own[groups[name]]),
            )
        )
    return found


def wording_table(all_rows: Iterable[Row]) -> str:
    """Return what wordings change as aligned tables of plain text, one for each environment; "" if there is one alone.

    Args:
        all_rows: The rows.
    """
    found = wordings(all_rows)
    return "\n\n".join(
        aligned(*_lines(env_id, some)) for env_id, some in grouped(found, lambda each: each.group.env).items()
    )


def _lines(env_id: str, some: Sequence[Wordings]) -> tuple[list[list[str]], list[str]]:
    env = registry.load(env_id)
    metric = env.metrics[0]
    what = ", ".join(part for part in (metric.title, better_text(metric)) if part)
    references = {each.reference for each in some}
    against = f"against {one_line(references.pop(), LONGEST)}" if len(references) == 1 else "against the first"
    lines = [[f"{env.title}: the same items in several wordings", "items", what, against, "p (Holm)"]]
    names = labels(each.group for each in some) if len({each.group for each in some}) > 1 else {}
    marks = [""]
    for number, each in enumerate(some):
        name = names.get(each.group) or one_line(each.group.model, LONGEST)
        for one in each.wordings:
            lines.append(
                [
                    f"{name}, {one_line(one.name, LONGEST)}",
                    str(each.items),
                    mean_text(one.mean.value, metric),
                    *_against(one),
                ]
            )
        worst = mean_text(each.worst_of_items.value, metric)
        lines.append([f"{name}, worst of each item", str(each.items), worst, "", ""])
        marks += [str(number)] * (len(each.wordings) + 1)
    return lines, marks


def _against(one: Worded) -> tuple[str, str]:
    if one.difference is None:
        return "", ""
    metric = registry.load(one.group.env).metrics[0]
    return difference_text(one.difference, metric), p_text(one.adjusted)


def difference_text(difference: Mean, metric: Metric) -> str:
    """Return a difference with its interval: "−12.5 (−20.1 to −4.9)"."""
    shown = change_text(difference.value, metric)
    if difference.low is None or difference.high is None:
        return shown
    return f"{shown} ({change_text(difference.low, metric)} to {change_text(difference.high, metric)})"


def p_text(p: float | None) -> str:
    """Return a p value with two digits that count: "0.012", "< 0.001"."""
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


class _Line(NamedTuple):
    all: Wordings
    one: Worded


def wording_frame(found: Sequence[Wordings]) -> Frame:
    """Return the frame of wordings: a row for each wording of each player. None stands for what is not defined."""
    lines = [_Line(each, one) for each in found for one in each.wordings]
    who, options = group_columns(line.one.group for line in lines)
    doc = "One row for each wording in which a player was asked the same items as in others; the headline metric."
    return Frame("wordings", doc, (*who, *columns(_FACTS, lines), *options))


_FACTS: tuple[Fact[_Line], ...] = (
    Fact("wording", str, lambda line: line.one.name, "The wording."),
    Fact("reference", str, lambda line: line.all.reference, "The wording that it is compared with."),
    Fact("items", int, lambda line: line.all.items, "Items with an attempt that counts in all wordings."),
    Fact("left_out", int, lambda line: line.all.left_out, "Items with one in some wordings alone, in no number."),
    Fact("errors", int, lambda line: line.one.errors, "Infrastructure errors in this wording, in no number."),
    *mean_facts("mean", lambda line: line.one.mean, "Mean over these items of what a single attempt gives."),
    *mean_facts(
        "difference",
        lambda line: line.one.difference,
        "Mean of the items' values less those in the reference; null of the reference itself.",
    ),
    Fact("p", float, lambda line: line.one.p, "P value of these, by flipping signs of clusters; null likewise."),
    Fact("p_adjusted", float, lambda line: line.one.adjusted, "The same by Holm's procedure, over all wordings."),
    Fact("worst", bool, lambda line: line.one.name == line.all.worst, "Whether it has the worst mean."),
    Fact(
        "spread",
        float,
        lambda line: line.all.spread,
        "By how much the best mean is better than the worst one; above 0 by chance alone, too.",
    ),
    *mean_facts(
        "worst_of_items",
        lambda line: line.all.worst_of_items,
        "Mean over items of the worst value among an item's wordings, the same for all wordings of a player.",
    ),
)
