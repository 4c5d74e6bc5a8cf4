"""Effects: what one thing changes on the same items, and how effects of one kind are reported."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from waybench.core import Json
from waybench.results.comparisons._comparison import Comparison, Verdict
from waybench.results.comparisons._text import p_text
from waybench.results.frames import Column, Frame, column_json, group_frame
from waybench.results.results import Group
from waybench.results.stats import Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectKind:
    """How effects of one kind are reported.

    Title, caption, headings and the names in `table` have words in braces: {items}, {Items}, {Level} and {metric} of
    the environment, {interval}, and those of `words`.

    Attributes:
        name: The name of their frame.
        doc: What a row of it is; also the description of an effect in the JSON Schema.
        columns: Their columns in the frame, in JSON and in the report's table.
        id: The id of the table; "" where there is none.
        title: The first words of its caption.
        caption: What the caption says after the title.
        table: Names of the columns that it shows.
        words: The effects of a table -> more words.
    """

    name: str
    doc: str
    columns: Sequence[Column[Any]]
    id: str = ""
    title: str = ""
    caption: str = ""
    table: Sequence[str] = ()
    words: Callable[[Sequence[Any]], Mapping[str, str]] = lambda effects: {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The results of a group against those of a reference on the same items, where one thing differs.

    Attributes:
        kind: How effects of its kind are reported.
        comparison: The comparison; the second side is the reference.
    """

    kind: ClassVar[EffectKind]
    comparison: Comparison

    @property
    def group(self) -> Group:
        """The group."""
        return self.comparison.groups[0]

    @property
    def reference(self) -> Group:
        """The group that it is compared with."""
        return self.comparison.groups[1]

    @property
    def label_group(self) -> Group:
        """The group whose settings tell its row from others."""
        return self.group

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return column_json(self.kind.columns, self)


GROUP: Column[Any] = Column("group", Group, "Model, task and settings.", only="json")


def metric_and_items(items: str, text: Callable[[Any], str] | None = None) -> tuple[Column[Any], ...]:
    """Return the columns of the metric and of the number of items, with its text in tables."""
    return (
        Column("metric", str, "The metric.", "comparison.metric.name"),
        Column("items", int, items, "comparison.items", schema={"minimum": 1}, heading="{Items}", text=text),
    )


def comparison_columns(
    first: tuple[str, str], second: tuple[str, str, str], difference: str, family: str, verdict: str = ""
) -> tuple[Column[Any], ...]:
    """Return the columns that effects of all kinds have: of both means what they are, and their headings."""
    return (
        Column("mean", Mean, first[0], "comparison.first_mean", heading=first[1]),
        Column(second[0], Mean, second[1], "comparison.second_mean", heading=second[2]),
        Column("difference", Mean, difference, "comparison.difference", heading="Difference"),
        Column("p", float, "P value of the paired test of these differences.", "comparison.test.p"),
        Column(
            "p_adjusted",
            float,
            f"The same by Holm's procedure, over all {family}.",
            "comparison.adjusted",
            key="adjusted",
            heading="p",
            text=lambda effect: p_text(effect.comparison.adjusted),
        ),
        *([Column("verdict", Verdict, f"The conclusion; first {verdict}.", "comparison.verdict")] if verdict else []),
    )


def effect_frame(kind: EffectKind, effects: Sequence[Any]) -> Frame:
    """Return the frame of effects: a row for each.

    Args:
        kind: Their kind.
        effects: The effects.
    """
    return group_frame(kind.name, kind.doc, kind.columns, effects, lambda effect: effect.group)
