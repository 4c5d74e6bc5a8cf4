"""Published numbers as a frame, for a report's data folder."""

from collections.abc import Iterable

from waybench.analysis.frames import Column, Frame, column_data
from waybench.papers import Paper, PublishedValue

_FACTS: tuple[Column[PublishedValue], ...] = (
    Column("paper", str, "The paper, as `waybench reproduce` calls it."),
    Column("table", str, "Its table or figure, likewise."),
    Column("env", str, "The environment whose metric it is."),
    Column("level", int, "The level; null for all."),
    Column("setting", str, "The setting, in words."),
    Column("model", str, "The model, as the paper calls it."),
    Column(
        "versus",
        str,
        "The other model of a pair, where the number is of the questions that both answered.",
        lambda value: value.versus or None,
    ),
    Column("cluster", str, "The map, where the number is of one map.", lambda value: value.cluster or None),
    Column("metric", str, "The metric, series or aggregate, as in the frame of scores."),
    Column(
        "statistic",
        str,
        'What the number is: "mean"; or "margin_min" and "margin_max", how far the mean of several runs is from the '
        "least and the greatest of them.",
    ),
    Column("value", float, "The published number."),
)


def published_frame(papers: Iterable[Paper]) -> Frame:
    """Return the frame of the published numbers of some papers."""
    doc = "One row for each number that a paper publishes. None of them was run here, and none is in any other frame."
    return Frame("published", doc, column_data(_FACTS, [value for paper in papers for value in paper.values()]))
