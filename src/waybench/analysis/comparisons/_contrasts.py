"""Two players at the same items: the difference at each test, whether there is one, and how each fails."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from waybench.analysis._items import ItemKey, count_items
from waybench.analysis._rows import grouped
from waybench.analysis.comparisons._answers import Answers
from waybench.core import FailureKind, Metric
from waybench.stats import ALPHA, Mean, PairedTest, clustered_mean, holm, paired_difference, paired_test

MARGIN = 0.05
_FEWEST_ITEMS = 3  # over the margin, for a tie: see `contrasts`


class Verdict(StrEnum):
    """What a comparison comes to."""

    FIRST = "first"
    SECOND = "second"
    TIED = "tied"
    NOT_SHOWN = "not_shown"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two players at one test, at the items where both have a value.

    Attributes:
        first: The one player's answers.
        second: The other's.
        name: The test, with what tells it from other tests of the same name.
        metric: What a value is.
        keys: The items.
        first_mean: The one's mean at these items.
        second_mean: The other's.
        difference: The one's mean minus the other's, with its 95 % interval for pairs.
        narrow: The same with its 90 % interval, by which ties are told.
        test: Whether there is a difference.
        adjusted: Its p value after Holm's procedure over all contrasts that were made together.
        together: Number of these.
        margin: What the difference is at most in a tie; None where the metric is unbounded and has none.
        verdict: What it comes to.
    """

    first: Answers
    second: Answers
    name: str
    metric: Metric
    keys: tuple[ItemKey, ...]
    first_mean: Mean
    second_mean: Mean
    difference: Mean
    narrow: Mean
    test: PairedTest
    adjusted: float = 1.0
    together: int = 1
    margin: float | None
    verdict: Verdict = Verdict.NOT_SHOWN

    @property
    def common(self) -> set[ItemKey]:
        """The items that both were asked."""
        return self.first.asked & self.second.asked

    @property
    def items(self) -> int:
        """Number of the items at which both have a value."""
        return count_items(self.keys)

    @property
    def nearly_tied(self) -> bool:
        """Whether the 90 % interval is within the margin, whatever the number of items."""
        low, high = self.narrow.low, self.narrow.high
        return (
            self.margin is not None
            and low is not None
            and high is not None
            and -self.margin <= low
            and high <= self.margin
        )

    @property
    def needed(self) -> int:
        """Number of items that a tie takes; 0 where the metric is unbounded and has none."""
        if self.margin is None or self.metric.low is None or self.metric.high is None:
            return 0
        return math.ceil(_FEWEST_ITEMS * (self.metric.high - self.metric.low) / self.margin - 1e-9)

    @property
    def other_words(self) -> int:
        """Number of items of which one was shown other words than the other."""
        return sum(self.first.inputs.get(key) != self.second.inputs.get(key) for key in self.keys)

    @property
    def turned(self) -> "Contrast":
        """The same with the two sides exchanged."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            first_mean=self.second_mean,
            second_mean=self.first_mean,
            difference=_negative(self.difference),
            narrow=_negative(self.narrow),
            verdict={Verdict.FIRST: Verdict.SECOND, Verdict.SECOND: Verdict.FIRST}.get(self.verdict, self.verdict),
        )

    def failures(self, side: Answers) -> tuple[Counter[FailureKind], int]:
        """Return how one of the two fails at these items, and at how many attempts at them there were."""
        kinds = Counter(kind for key in self.keys for kind in side.failures.get(key, ()))
        return kinds, sum(side.attempts.get(key, 0) for key in self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """Answers that could not be compared.

    Attributes:
        answers: The answers.
        first: Whether they are the first side's.
        why: Why.
    """

    answers: Answers
    first: bool
    why: str


def contrasts(
    first: Sequence[Answers], second: Sequence[Answers], margin: float = MARGIN
) -> tuple[list[Contrast], list[Unpaired]]:
    """Compare two sides at all tests that both were given, item by item.

    Where a side has several answers to a test, those belong together that have the same model and settings, otherwise
    the same settings, otherwise the same model, and otherwise those of which there is one left on either side.

    A difference is shown if the test's p value is below 5 % after Holm's procedure over all contrasts. If it is not, a
    tie is shown if the difference's 90 % interval is within the margin, which is two one-sided tests at 5 %
    (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), and if there are at least 3 items over the margin:
    what happens to none of n items may still happen to 3 / n of all (Hanley and Lippman-Hand, JAMA 249, 1983), and an
    interval from items that are nearly alike does not know that. From fewer than six clusters no test at 5 % can
    show a difference, for all that they could come to has a chance of 1 in 16 or more.

    Args:
        first: The one side.
        second: The other.
        margin: What counts as a tie, as a share of the metric's range.

    Returns:
        The contrasts, in the first side's order, and what could not be compared.
    """
    found: list[Contrast] = []
    left: list[Unpaired] = []
    theirs = grouped(second, lambda answers: answers.test)
    mine = grouped(first, lambda answers: answers.test)
    names = _names([*first, *second])
    for test in dict.fromkeys([*mine, *theirs]):
        pairs, rest = _matched(mine.get(test, []), theirs.get(test, []))
        left += rest
        for one, other in pairs:
            made = _contrast(one, other, names[test], margin)
            if made is None:
                left += [Unpaired(answers=one, first=True, why=_nothing(one, other))]
            else:
                found.append(made)
    return _judged(found), left


def versus(pairs: Sequence[tuple[Answers, Answers]], margin: float = MARGIN) -> list[Contrast]:
    """Compare answers two by two, as `contrasts` does, Holm's procedure being over the tests of each two players.

    A player is a model with all settings that are not the test's.

    Args:
        pairs: Answers to the same test.
        margin: What counts as a tie, as a share of the metric's range.

    Returns:
        The contrasts; there is none of two without an item at which both have a value.
    """
    names = _names(one for pair in pairs for one in pair)
    made = [_contrast(one, other, names[one.test], margin) for one, other in pairs]
    found = [one for one in made if one is not None]
    together = grouped(found, lambda one: frozenset((_player(one.first), _player(one.second))))
    return [one for some in together.values() for one in _judged(some)]


def _names(answers: Iterable[Answers]) -> dict[Hashable, str]:
    """Return a name for each test, with what tells it from the others of its title."""
    found: dict[Hashable, str] = {}
    for title, some in grouped(answers, lambda one: one.name).items():
        told = {one.test: one.told for one in some}
        names = dict.fromkeys(name for each in told.values() for name in each)
        differing = [name for name in names if len({each.get(name) for each in told.values()}) > 1]
        for test, each in told.items():
            rest = [f"{name.replace('_', ' ')}: {each[name]}" for name in differing if name in each]
            found[test] = ", ".join([title, *rest])
    return found


def _matched(
    first: Sequence[Answers], second: Sequence[Answers]
) -> tuple[list[tuple[Answers, Answers]], list[Unpaired]]:
    """Return which answers to one test are compared with which, and those that are left."""
    pairs: list[tuple[Answers, Answers]] = []
    mine, theirs = list(first), list(second)
    for same in _SAME:
        ours, others = grouped(mine, same), grouped(theirs, same)
        for key, (one, *more) in ours.items():
            if not more and len(others.get(key, ())) == 1:
                pairs.append((one, others[key][0]))
        taken = {id(one) for pair in pairs for one in pair}
        mine = [one for one in mine if id(one) not in taken]
        theirs = [one for one in theirs if id(one) not in taken]
    why = "there are several with other settings: compare models by name, or give --task"
    missing = "the other side has nothing like it"
    sides = ((mine, theirs or second, True), (theirs, mine or first, False))
    left = [
        Unpaired(answers=one, first=is_first, why=why if rivals else missing)
        for some, rivals, is_first in sides
        for one in some
    ]
    return pairs, left


def _settings(answers: Answers) -> str:
    return repr(sorted((name, repr(value)) for name, value in answers.settings.items()))


def _player(answers: Answers) -> tuple[str, str]:
    return answers.model, _settings(answers)


_SAME: tuple[Callable[[Answers], Hashable], ...] = (
    _player,
    _settings,
    lambda answers: answers.model,
    lambda answers: None,
)


def _nothing(one: Answers, other: Answers) -> str:
    if not one.asked & other.asked:
        return "they were asked no item in common"
    return "there is no item at which both have a value"


def _contrast(one: Answers, other: Answers, name: str, margin: float) -> Contrast | None:
    keys = tuple(sorted(key for key in one.values if key in other.values))
    values, others = ([side.values[key] for key in keys] for side in (one, other))
    metric = bounded((one, other))
    clusters = [key.cluster for key in keys]
    bounds = metric.low, metric.high
    means = [clustered_mean(some, clusters, *bounds) for some in (values, others)]
    apart = paired_difference(values, others, clusters, *bounds)
    narrow = paired_difference(values, others, clusters, *bounds, confidence=1 - 2 * ALPHA)
    if means[0] is None or means[1] is None or apart is None or narrow is None:
        return None
    return Contrast(
        first=one,
        second=other,
        name=name,
        metric=metric,
        keys=keys,
        first_mean=means[0],
        second_mean=means[1],
        difference=apart,
        narrow=narrow,
        test=paired_test(values, others, clusters),
        margin=None if metric.low is None or metric.high is None else margin * (metric.high - metric.low),
    )


def bounded(some: Sequence[Answers]) -> Metric:
    """Return the metric of answers to one test, with bounds that are inferred where they are not known."""
    share = all(one.inferred and all(0 <= value <= 1 for value in one.values.values()) for one in some)
    return replace(some[0].metric, low=0, high=1) if share else some[0].metric


def _negative(mean: Mean) -> Mean:
    low, high = (None if end is None else -end for end in (mean.high, mean.low))
    return replace(mean, value=-mean.value, low=low, high=high)


def _judged(some: Sequence[Contrast]) -> list[Contrast]:
    """Return contrasts that were made together with what they come to."""
    adjusted = holm([each.test.p for each in some])
    return [
        replace(each, adjusted=p, together=len(some), verdict=_verdict(each, p))
        for each, p in zip(some, adjusted, strict=True)
    ]


def _verdict(contrast: Contrast, adjusted: float) -> Verdict:
    if adjusted < ALPHA:
        higher = contrast.difference.value > 0
        return Verdict.FIRST if higher != (contrast.metric.better == "lower") else Verdict.SECOND
    if contrast.nearly_tied and contrast.difference.n >= contrast.needed:
        return Verdict.TIED
    return Verdict.TOO_FEW if 2.0 ** (1 - contrast.difference.clusters) >= ALPHA else Verdict.NOT_SHOWN
