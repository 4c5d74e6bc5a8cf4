"""What wordings change, as a task's page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import Group, WordingEffect, difference_text, differing, mean_text, p_text
from waybench.core import Environment
from waybench.report._format import interval_text, part


@dataclass(frozen=True, slots=True)
class WordingLine:
    """A player in one wording.

    Attributes:
        name: The wording, or what else the line is of.
        page: File name of the page of its results; "" if there is none.
        mean: Mean over the items, as text.
        interval: Its interval, as text.
        part: How good it is between the metric's bounds, from 0 to 1; None if it has none.
        difference: How far it is from the wording that others are compared with, as text.
        p: The adjusted p value of that, as text.
        certain: Whether the difference is shown.
        errors: Infrastructure errors.
    """

    name: str
    page: str
    mean: str
    interval: str
    part: float | None
    difference: str
    p: str
    certain: bool
    errors: int


@dataclass(frozen=True, slots=True)
class WordingTable:
    """A player in all of its wordings.

    Attributes:
        name: The player.
        differs: The settings in which it differs from others, in words.
        all: What is known of it.
        lines: Its wordings.
        worst: The line of the items' worst wordings.
        spread: By how much the best mean is better than the worst one, as text.
    """

    name: str
    differs: list[str]
    all: WordingEffect
    lines: list[WordingLine]
    worst: WordingLine
    spread: str


def wording_tables(
    env: Environment[Any, Any, Any], found: Sequence[WordingEffect], pages: Mapping[Group, str]
) -> list[WordingTable]:
    """Return what a task's page shows of wordings, models before embedded players.

    Args:
        env: The environment.
        found: What is known of its players in several wordings.
        pages: File names of the groups' pages.
    """
    metric = env.metrics[0]
    groups = [each.group for each in found]
    tables: list[WordingTable] = []
    for each in sorted(found, key=lambda each: each.group.embedded):
        lines = [
            WordingLine(
                name=one.name,
                page=pages[one.group],
                mean=mean_text(one.mean.value, metric),
                interval=interval_text(one.mean, metric),
                part=part(one.mean.value, metric),
                difference=difference_text(one.difference, metric) if one.difference else "",
                p=p_text(one.adjusted) if one.difference else "",
                certain=one.adjusted is not None and one.adjusted < 0.05,
                errors=one.errors,
            )
            for one in each.wordings
        ]
        worst = each.worst_of_items
        last = WordingLine(
            name="the worst at each item",
            page="",
            mean=mean_text(worst.value, metric),
            interval=interval_text(worst, metric),
            part=part(worst.value, metric),
            difference="",
            p="",
            certain=False,
            errors=0,
        )
        differs = differing(each.group, groups)
        tables.append(WordingTable(each.group.model, differs, each, lines, last, mean_text(each.spread, metric)))
    return tables
