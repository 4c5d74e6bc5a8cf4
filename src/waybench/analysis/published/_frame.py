"""Published numbers as a frame, for a report's data folder."""

from collections.abc import Iterable

from waybench.analysis.frames import Fact, Frame, columns
from waybench.papers import Paper, PublishedValue

_FACTS: tuple[Fact[PublishedValue], ...] = (
    Fact("paper", str, lambda value: value.paper, "The paper, as `waybench reproduce` calls it."),
    Fact("table", str, lambda value: value.table, "Its table or figure, likewise."),
    Fact("env", str, lambda value: value.env, "The environment whose metric it is."),
    Fact("level", int, lambda value: value.level, "The level; null for all."),
    Fact("setting", str, lambda value: value.setting, "The setting, in words."),
    Fact("model", str, lambda value: value.model, "The model, as the paper calls it."),
    Fact(
        "versus",
        str,
        lambda value: value.versus or None,
        "The other model of a pair, where the number is of the questions that both answered.",
    ),
    Fact("cluster", str, lambda value: value.cluster or None, "The map, where the number is of one map."),
    Fact("metric", str, lambda value: value.metric, "The metric, series or aggregate, as in the frame of scores."),
    Fact(
        "statistic",
        str,
        lambda value: value.statistic,
        'What the number is: "mean"; or "margin_min" and "margin_max", how far the mean of several runs is from the '
        "least and the greatest of them.",
    ),
    Fact("value", float, lambda value: value.value, "The published number."),
)


def published_frame(papers: Iterable[Paper]) -> Frame:
    """Return the frame of the published numbers of some papers."""
    doc = "One row for each number that a paper publishes. None of them was run here, and none is in any other frame."
    return Frame("published", doc, columns(_FACTS, [value for paper in papers for value in paper.values()]))
