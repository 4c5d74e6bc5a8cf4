"""The same items in two environments that are twins: plainly worded, and in a story (AQA-Bench, Figure 4)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from waybench.analysis.comparisons._comparison import MARGIN, Comparison, compare, tested, with_tests
from waybench.analysis.comparisons._item_scores import ItemScores, headline_scores
from waybench.analysis.frames import Fact, Frame, group_frame, mean_facts
from waybench.analysis.results import Group, Row, grouped
from waybench.core import Json
from waybench.envs import registry

TWIN = "twin"  # what varies: the environment, and with it all words


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinEffect:
    """The results of one model with its settings at one level of an environment, against its twin.

    Attributes:
        level: The level.
        comparison: The comparison on the items of which both have the same instance, the twin being the second side.
    """

    level: int
    comparison: Comparison

    @property
    def group(self) -> Group:
        """The group in the environment."""
        return self.comparison.groups[0]

    @property
    def twin(self) -> Group:
        """The same model with the same settings in the environment that it names as its twin."""
        return self.comparison.groups[1]

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        one = self.comparison
        return {
            "group": self.group.to_json(),
            "twin": self.twin.to_json(),
            "level": self.level,
            "metric": one.metric.name,
            **one.to_json(second="twin_mean"),
            "items": one.items,
            "verdict": str(one.verdict),
        }


def twin_pairs(scores: Iterable[ItemScores]) -> list[tuple[ItemScores, ItemScores]]:
    """Return the scores at environments that have a twin, each with those of the same model and settings at the twin.

    Both are of the same set of items with the same options. Scores without a counterpart are left out.

    Args:
        scores: Scores of any environments; those of other tasks are ignored.
    """
    own = [one for one in scores if one.env]
    known = {one.identity(version=0): one for one in own}
    pairs = ((one, known.get(one.identity(version=0, env=registry.load(one.env).items.twin))) for one in own)
    return [(one, twin) for one, twin in pairs if twin is not None]


def compare_twins(
    scores: Iterable[ItemScores], margin: float = MARGIN, chosen: Callable[[str], bool] = lambda task: True
) -> list[Comparison]:
    """Compare the results of models at environments and at their twins; all comparisons are one family.

    Args:
        scores: Scores of any environments.
        margin: What counts as a tie, as a share of the metric's range.
        chosen: The name of a task -> whether it, or its twin's task, is compared.
    """
    pairs = [(one, twin) for one, twin in twin_pairs(scores) if chosen(one.task) or chosen(twin.task)]
    return with_tests(
        compare(one, twin, TWIN, name=f"{one.name} against {twin.name}", margin=margin) for one, twin in pairs
    )


def twin_effects(all_rows: Iterable[Row]) -> list[TwinEffect]:
    """Return the comparisons of environments with their twins, for each model and level by the headline metric.

    The tests of all models and levels at one environment are one family. Episodes that a teacher has played are left
    out.

    Args:
        all_rows: The rows.
    """
    free = [row for row in all_rows if not row.guided]
    return tested(
        TwinEffect(level=level, comparison=made)
        for level, some in sorted(grouped(free, lambda row: row.level).items())
        for one, twin in twin_pairs(headline_scores(some))
        if (made := compare(one, twin, TWIN, family=one.env))
    )


def twin_frame(found: Sequence[TwinEffect]) -> Frame:
    """Return the frame of twins: a row for each player and level. Undefined values are None."""
    doc = "One row for each player and level of an environment whose items were also given by its twin."
    return group_frame("twins", doc, _FACTS, found, lambda each: each.group)


_FACTS: tuple[Fact[TwinEffect], ...] = (
    Fact("twin", str, lambda each: each.twin.env, "Id of the environment that it is compared with."),
    Fact("level", int, lambda each: each.level, "The level."),
    Fact("metric", str, lambda each: each.comparison.metric.name, "The metric."),
    Fact("items", int, lambda each: each.comparison.items, "Items that were given in both."),
    *mean_facts("mean", lambda each: each.comparison.first_mean, "Mean over these items of what an attempt gives."),
    *mean_facts("twin_mean", lambda each: each.comparison.second_mean, "The same in the twin."),
    *mean_facts("difference", lambda each: each.comparison.difference, "Mean of the items' values less the twin's."),
    Fact("p", float, lambda each: each.comparison.test.p, "P value of the paired test of these differences."),
    Fact(
        "p_adjusted",
        float,
        lambda each: each.comparison.adjusted,
        "The same by Holm's procedure, over all players and levels of the environment.",
    ),
    Fact("verdict", str, lambda each: str(each.comparison.verdict), "The conclusion; first is this environment."),
)
