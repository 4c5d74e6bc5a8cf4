"""The same items in two environments that are twins: plainly worded, and in a story (AQA-Bench, Figure 4)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from waybench.envs import registry
from waybench.results.comparisons._comparison import MARGIN, Comparison, compare, tested, with_tests
from waybench.results.comparisons._effect import GROUP, Effect, EffectKind, comparison_columns, metric_and_items
from waybench.results.comparisons._item_scores import ItemScores, headline_scores
from waybench.results.frames import Column
from waybench.results.results import Group, Row, grouped

TWIN = "twin"  # what varies: the environment, and with it all words


_KIND = EffectKind(
    name="twins",
    doc="One row for each player and level of an environment whose items were also given by its twin.",
    columns=(
        GROUP,
        Column("twin", str, "Id of the environment that it is compared with.", "reference.env", only="frame"),
        Column("twin", Group, "The same in the environment’s twin.", "reference", only="json"),
        Column("level", int, "The level.", heading="{Level}", text=lambda effect: str(effect.level)),
        *metric_and_items("Items that were given in both."),
        *comparison_columns(
            ("Mean over these items of what an attempt gives.", "{first}"),
            ("twin_mean", "The same in the twin.", "{twin}"),
            "Mean of the items' values less the twin's.",
            "players and levels of the environment",
            "is this environment",
        ),
    ),
    id="task-twins",
    title="The same {items}, plain and embodied",
    caption="{metric} of the same players with the same settings on the same {items}, with the {interval}. The "
    "difference is this task’s mean minus that of “{twin}”, with its paired interval. p is from a paired test, "
    "adjusted by Holm’s procedure over all rows; a difference is bold where p is below 0.05.",
    table=("level", "items", "twin_mean", "mean", "difference", "p_adjusted"),
    words=lambda effects: {
        name: registry.load(group.env).title
        for name, group in (("first", effects[0].group), ("twin", effects[0].reference))
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinEffect(Effect):
    """The results of one model with its settings at one level of an environment, against its twin.

    Attributes:
        level: The level.
        comparison: The comparison on the items of which both have the same instance, the twin being the second side.
    """

    kind = _KIND
    level: int


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
