"""The page of the ledger: what each model with its settings took, and settings that changed nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

from waybench.analysis import (
    NO_EFFECT,
    NOTHING,
    Group,
    LedgerEntry,
    SettingEffect,
    asked,
    differing,
    grouped,
    setting,
    setting_order,
)
from waybench.core import plural
from waybench.envs import registry
from waybench.report._families import family
from waybench.report._format import amount, money, percent, significant
from waybench.report.tables import ComparisonTable, Number, setting_table
from waybench.stats import Mean


class Rate(NamedTuple):
    """A cell with a number and its interval.

    Attributes:
        text: As it is shown.
        order: What it is sorted by; None where there is none.
        interval: Its interval, as text; "" where there is none.
    """

    text: str
    order: float | None
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """A row of the ledger.

    Attributes:
        group: Model, task and settings.
        model_page: File name of the model's page.
        page: File name of the page of its results.
        title: The task.
        family: The family's name.
        settings: How the model was asked, and in what else it differs from others at the task, in words.
        answered: What is to be said of who answered, in words; "" for nothing.
        changed: Whether several models answered.
        marks: Settings of it that changed nothing, in words.
        entry: The entry.
        solved: Solved items.
        input: Tokens of requests.
        output: Tokens of replies.
        cached: Share of the requests' tokens that was cached, in per cent; "" if none.
        reasoning: Mean reasoning tokens of an attempt.
        seconds: Time.
        cost: Dollars.
        lost: What episodes that do not count took besides, in words; "" for nothing.
        per_thousand: Solved items for 1,000 tokens.
        per_dollar: Solved items for a dollar.
    """

    group: Group
    model_page: str
    page: str
    title: str
    family: str
    settings: list[str]
    answered: str
    changed: bool
    marks: list[str]
    entry: LedgerEntry
    solved: Number
    input: Number
    output: Number
    cached: str
    reasoning: Rate
    seconds: Number
    cost: Number
    lost: str
    per_thousand: Rate
    per_dollar: Rate


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """The page.

    Attributes:
        lines: A row for each model at each task with its settings.
        effects: The effects of settings; None if there are none.
        total: What all took together, in words.
        priced: Whether some row has a cost.
        unpriced: Models without prices, where others have some.
        uncounted: Whether tokens of some rows are not known.
    """

    lines: list[LedgerLine]
    effects: ComparisonTable | None
    total: str
    priced: bool
    unpriced: list[str]
    uncounted: bool


def ledger_page(
    entries: Sequence[LedgerEntry],
    effects: Sequence[SettingEffect],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
) -> LedgerPage | None:
    """Return what the page of the ledger shows; None where only embedded players played, who take nothing.

    Args:
        entries: All entries.
        effects: All effects of settings.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
    """
    own = [entry for entry in entries if not entry.group.embedded]
    if not own:
        return None
    # In the order of the first page's table, and each task's models with their settings side by side.
    in_order = sorted(own, key=_place)
    marks = _marks(effects)
    rivals = grouped((entry.group for entry in own), lambda group: group.env)
    lines = [_line(entry, rivals[entry.group.env], marks, pages, model_pages) for entry in in_order]
    priced = {entry.group.model for entry in own if entry.cost is not None}
    return LedgerPage(
        lines=lines,
        effects=setting_table((each for each in effects if not each.first.embedded), pages),
        total=_total(own),
        priced=bool(priced),
        unpriced=list(dict.fromkeys(e.group.model for e in own if e.known and e.group.model not in priced)),
        uncounted=any(entry.known < entry.attempts for entry in own),
    )


def _place(entry: LedgerEntry) -> tuple[Any, ...]:
    group = entry.group
    values = sorted((name, setting_order(value)) for name, value in asked(group).items())
    return family(group.env).name, group.env, group.model, values


def _marks(effects: Iterable[SettingEffect]) -> dict[Group, list[str]]:
    found: dict[Group, list[str]] = {}
    for each in effects:
        if each.verdict == NO_EFFECT:
            one, other = each.values
            against = one.rpartition(": ")[2]
            found.setdefault(each.second, []).append(f"{other}: {each.text} (against {against})")
    return found


def _line(
    entry: LedgerEntry,
    rivals: Sequence[Group],
    marks: Mapping[Group, list[str]],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
) -> LedgerLine:
    group = entry.group
    own = [setting(name, value) for name, value in asked(group).items() if value is not None]
    return LedgerLine(
        group=group,
        model_page=model_pages[group.model],
        page=pages[group],
        title=registry.load(group.env).title,
        family=family(group.env).name,
        settings=list(dict.fromkeys([*own, *differing(group, rivals)])),
        answered=_answered(entry),
        changed=len(entry.answered) > 1,
        marks=marks.get(group, []),
        entry=entry,
        solved=_number(entry.solved),
        input=_number(entry.input_tokens),
        output=_number(entry.output_tokens),
        cached=percent(entry.cached_tokens / entry.input_tokens) if entry.cached_tokens and entry.input_tokens else "",
        reasoning=_rate(entry.reasoning if entry.reasoning_tokens else None, amount),
        seconds=_number(entry.seconds),
        cost=Number(money(entry.cost), entry.cost),
        lost=_lost(entry),
        per_thousand=_rate(entry.per_thousand, significant),
        per_dollar=_rate(entry.per_dollar, significant),
    )


def _answered(entry: LedgerEntry) -> str:
    if len(entry.answered) > 1:
        each = (f"{name} ({plural(count, 'episode')})" for name, count in entry.answered.items())
        return f"several models answered: {', '.join(each)}"
    return f"answered by {entry.stand_ins[0]}" if entry.stand_ins else ""


def _lost(entry: LedgerEntry) -> str:
    if not entry.lost_tokens:
        return ""
    count = entry.episodes - entry.attempts
    spent = f", {money(entry.lost_cost)}" if entry.lost_cost else ""
    return f"besides, {amount(entry.lost_tokens)}{spent} in {plural(count, 'episode')} that count in nothing"


def _number(value: float | None) -> Number:
    return Number(amount(value), value)


def _rate(mean: Mean | None, text: Callable[[float], str]) -> Rate:
    if mean is None:
        return Rate(NOTHING, None, "")
    ends = "" if mean.low is None or mean.high is None else f"{text(mean.low)} – {text(mean.high)}"
    return Rate(text(mean.value), mean.value, ends)


def _total(own: Sequence[LedgerEntry]) -> str:
    tokens = sum((e.input_tokens or 0) + (e.output_tokens or 0) + (e.lost_tokens or 0) for e in own)
    dollars = fsum((e.cost or 0) + (e.lost_cost or 0) for e in own)
    hours = fsum(e.seconds or 0 for e in own) / 3600
    told = [plural(tokens, "token")] if tokens else []
    told += [money(dollars)] if dollars else []
    told += [f"{hours:,.1f} hours of replies"] if hours >= 0.1 else []
    return ", ".join(told)
