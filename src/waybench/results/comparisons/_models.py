"""Comparisons of models at the same test."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from waybench.envs import registry
from waybench.results.comparisons._comparison import MARGIN, Comparison, compare, with_tests
from waybench.results.comparisons._groups import MODEL, matched
from waybench.results.comparisons._item_scores import ItemScores, values_of
from waybench.results.logs import is_embedded
from waybench.results.results import Row, at_items, grouped, measured, over


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """Scores that could not be compared.

    Attributes:
        scores: The scores.
        first: Whether they are the first side's.
        why: Why.
    """

    scores: ItemScores
    first: bool
    why: str


def compare_sides(
    first: Sequence[ItemScores], second: Sequence[ItemScores], margin: float = MARGIN
) -> tuple[list[Comparison], list[Unpaired]]:
    """Compare two sides at all tests that both were given; all comparisons are one family.

    Where a side has several groups of scores at a test, those belong together that have the same model and settings,
    otherwise the same settings, otherwise the same model, and otherwise those of which there is one left on either
    side.

    Args:
        first: The one side.
        second: The other.
        margin: What counts as a tie, as a share of the metric's range.

    Returns:
        The comparisons, in the first side's order, and what could not be compared.
    """
    found: list[Comparison] = []
    left: list[Unpaired] = []
    mine, theirs = (grouped(side, lambda scores: scores.test) for side in (first, second))
    names = _names([*first, *second])
    for test in dict.fromkeys([*mine, *theirs]):
        pairs, rest = _sides_matched(mine.get(test, []), theirs.get(test, []))
        left += rest
        for one, other in pairs:
            made = compare(one, other, MODEL, name=names[test], margin=margin)
            if made is None:
                left += [Unpaired(scores=one, first=True, why=_nothing(one, other))]
            else:
                found.append(made)
    return with_tests(found), left


def compare_pairs(pairs: Iterable[tuple[ItemScores, ItemScores]]) -> list[Comparison]:
    """Compare pairs of models, each with all its settings.

    All comparisons of models are one family, at whatever test: of many equal models, at most one report in twenty shows
    any of them as better. Comparisons with embedded players are a family of their own, since their number says nothing
    of the models.

    Args:
        pairs: Scores of the same test. Those without an item at which both have a value are left out.
    """
    listed = list(pairs)
    names = _names(one for pair in listed for one in pair)
    return with_tests(
        compare(one, other, MODEL, name=names[one.test], family=_has_embedded(one, other)) for one, other in listed
    )


def pairs(all_rows: Iterable[Row], names: Sequence[str]) -> list[Comparison]:
    """Compare all pairs of groups that can be compared, by some metrics and untested (MANGO, Tables 1, 9, 11 and 12).

    They are in order of first appearance, and a pair without a common item is left out. Items are the same if their
    level, id and instance are; a question about another prefix of a walkthrough is another one.

    Args:
        all_rows: The rows.
        names: The metrics; those that an environment does not have are left out, and so are shares
            (`Metric.per`), for which a single item has no weight of its own.
    """
    own = {group: at_items(some) for group, some in grouped(all_rows, lambda row: row.group).items()}
    found: list[Comparison] = []
    for some in matched(own):
        metrics = registry.load(some[0].env).scoring.metrics
        played = [row for group in some for item in own[group].values() for row in item]
        for metric in (over(one, played) for one in metrics if one.name in names and one.per is None):
            scores = {
                group: values_of(group, metric, measured(own[group], metrics[0], metric).values) for group in some
            }
            for first, second in combinations(some, 2):
                if comparison := compare(scores[first], scores[second], MODEL):
                    found.append(comparison)
    return found


def _names(scores: Iterable[ItemScores]) -> dict[Hashable, str]:
    """Return a name for each test, with what distinguishes it from the others of its title."""
    found: dict[Hashable, str] = {}
    for title, some in grouped(scores, lambda one: one.name).items():
        details = {one.test: one.details for one in some}
        names = dict.fromkeys(name for each in details.values() for name in each)
        differing = [name for name in names if len({each.get(name) for each in details.values()}) > 1]
        for test, each in details.items():
            rest = [f"{name.replace('_', ' ')}: {each[name]}" for name in differing if name in each]
            found[test] = ", ".join([title, *rest])
    return found


def _sides_matched(
    first: Sequence[ItemScores], second: Sequence[ItemScores]
) -> tuple[list[tuple[ItemScores, ItemScores]], list[Unpaired]]:
    """Return the pairs of scores to compare at one test, and the scores without a pair."""
    pairs: list[tuple[ItemScores, ItemScores]] = []
    mine, theirs = list(first), list(second)
    for same in _SAME:
        ours, others = grouped(mine, same), grouped(theirs, same)
        for key, (one, *more) in ours.items():
            if not more and len(others.get(key, ())) == 1:
                pairs.append((one, others[key][0]))
        taken = {id(one) for pair in pairs for one in pair}
        mine = [one for one in mine if id(one) not in taken]
        theirs = [one for one in theirs if id(one) not in taken]
    why = "several match, with different settings: compare models by name, or give --task"
    missing = "the other side has no such task with these settings"
    sides = ((mine, theirs or second, True), (theirs, mine or first, False))
    left = [
        Unpaired(scores=one, first=is_first, why=why if rivals else missing)
        for some, rivals, is_first in sides
        for one in some
    ]
    return pairs, left


def _has_embedded(one: ItemScores, other: ItemScores) -> bool:
    return is_embedded(one.model) or is_embedded(other.model)


_SAME: tuple[Callable[[ItemScores], Hashable], ...] = (
    lambda scores: (scores.model, scores.settings_key),
    lambda scores: scores.settings_key,
    lambda scores: scores.model,
    lambda scores: None,
)


def _nothing(one: ItemScores, other: ItemScores) -> str:
    if not one.item_keys & other.item_keys:
        return "no items in common"
    return "no item at which both have a value"
