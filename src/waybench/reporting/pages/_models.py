"""The page of one model, and the ledger of tokens, time and cost."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from waybench.core import Environment, Presentation, plural
from waybench.envs import registry
from waybench.reporting._agents import AgentCard
from waybench.reporting._format import amount, money, percent, presentation_of, significant
from waybench.reporting.charts import Chart, level_charts, outcomes, step_charts, undrawn
from waybench.reporting.tables import (
    Cell,
    Note,
    Table,
    TableRow,
    columns_of,
    horizon_table_of_model,
    leader_tables,
    leaders,
    leading_of,
    model_cell,
    notes,
    number_cell,
    parts,
    rows_of,
    setting_table,
)
from waybench.results import Estimate
from waybench.results.comparisons import NO_EFFECT, SettingEffect
from waybench.results.estimates import LedgerEntry
from waybench.results.formatting import NOTHING, one_line
from waybench.results.horizons import SuccessCurve
from waybench.results.results import Group, differing, grouped, model_settings, setting, setting_order
from waybench.results.stats import CONFIDENCE, Mean


@dataclass(frozen=True, slots=True)
class Part:
    """A model's charts for one environment.

    Attributes:
        env: The environment.
        apart: Settings, in words, that keep its scores out of others' charts.
        presentation: Its presentation.
        charts: The charts.
        undrawn: Sentences on what they do not show.
    """

    env: Environment[Any, Any, Any]
    apart: tuple[str, ...]
    presentation: Presentation
    charts: list[Chart]
    undrawn: list[str]


@dataclass(frozen=True, slots=True)
class Model:
    """A model's page.

    Attributes:
        name: The model.
        embedded: Whether it is one of the embedded players.
        leaders: Its rows of the first table.
        agents: What is shown of it as an agent, for each of its settings.
        outcomes: The chart of what its replies came to; None where nothing was said.
        failed: How its attempts failed; None if none did.
        parts: Its charts.
        horizons: Its horizons, task by task and axis by axis; None if there are none.
    """

    name: str
    embedded: bool
    leaders: list[Table]
    agents: list[AgentCard]
    outcomes: Chart | None
    failed: Table | None
    parts: list[Part]
    horizons: Table | None

    @property
    def charts(self) -> list[Chart]:
        """All of its charts but those of agents."""
        return [*([self.outcomes] if self.outcomes else []), *(one for part in self.parts for one in part.charts)]


def model(
    name: str,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    agents: Sequence[AgentCard],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
    curves: Sequence[SuccessCurve],
    failed: Table | None,
    searched: Collection[Group] = (),
) -> Model:
    """Return what a model's page shows.

    Args:
        name: The model.
        estimates: All models' estimates by level.
        totals: Those over all levels.
        agents: What is shown of it as an agent, for each of its settings.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
        curves: How all models' success falls with difficulty.
        failed: How its attempts failed.
        searched: Groups of searches for a horizon, which have no scores.
    """
    own = [each for each in estimates if each.group.model == name]
    parts: list[Part] = []
    for (env_id, apart), some in grouped(own, lambda each: (each.group.env, each.group.apart)).items():
        env, presentation = registry.load(env_id), presentation_of(env_id)
        charts = level_charts(env, presentation, some, name)
        texts = undrawn(env, presentation, some, charts)
        # With one combination of settings, the page of its results has the same curves.
        if len({each.group for each in some}) > 1:
            charts += step_charts(env, presentation, some, name)
        if charts:
            parts.append(Part(env, apart, presentation, charts, texts))
    return Model(
        name=name,
        embedded=own[0].group.embedded,
        leaders=leader_tables(
            leaders(estimates, totals, pages, model_pages, leading_of(curves), name, searched), alone=True
        ),
        agents=list(agents),
        outcomes=outcomes([total for total in totals if total.group.model == name]),
        failed=failed,
        parts=parts,
        horizons=horizon_table_of_model(name, curves, pages),
    )


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """The page.

    Attributes:
        table: A row for each model at each task with its settings.
        effects: A row for two values of a setting; None where there are none.
        total: What all took together, in words.
        priced: Whether some row has a cost.
        unpriced: Models without prices, where others have some.
    """

    table: Table
    effects: Table | None
    total: str
    priced: bool
    unpriced: list[str]


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
    priced = {entry.group.model for entry in own if entry.cost is not None}
    rows = [_row(entry, rivals[entry.group.env], marks, pages, model_pages, bool(priced)) for entry in in_order]
    uncounted = any(entry.known < entry.attempts for entry in own)
    return LedgerPage(
        table=_ledger_table(rows, bool(priced), uncounted),
        effects=setting_table((each for each in effects if not each.first.embedded), pages),
        total=_total(own),
        priced=bool(priced),
        unpriced=list(dict.fromkeys(e.group.model for e in own if e.known and e.group.model not in priced)),
    )


def _place(entry: LedgerEntry) -> tuple[Any, ...]:
    group = entry.group
    values = sorted((name, setting_order(value)) for name, value in model_settings(group).items())
    return presentation_of(group.env).title, group.env, group.model, values


def _marks(effects: Iterable[SettingEffect]) -> dict[Group, list[str]]:
    found: dict[Group, list[str]] = {}
    for each in effects:
        if each.verdict == NO_EFFECT:
            one, other = each.values
            against = one.rpartition(": ")[2]
            found.setdefault(each.second, []).append(f"{other}: {each.text} (against {against})")
    return found


def _ledger_table(rows: Iterable[TableRow], priced: bool, uncounted: bool) -> Table:
    caption = (
        "A row for each model at each task with its settings. Tokens, seconds"
        f"{' and cost' if priced else ''} are sums over all attempts that count. Solved per 1,000 tokens"
        f"{' or dollar' if priced else ''} is the number of solved items divided by the total of all items. Small: the "
        f"{100 * CONFIDENCE:.0f} % interval over independent sampling units. Reasoning is the mean per attempt; "
        "a dash where the provider does not report it. Errors are infrastructure errors, which have no result."
    )
    if uncounted:
        caption += " Attempts whose tokens are not known are not in the sums."
    headings = [
        "Solved",
        "Tokens in",
        "Tokens out",
        "Reasoning per attempt",
        "Seconds",
        *(["Cost"] if priced else []),
        "Solved per 1,000 tokens",
        *(["Solved per dollar"] if priced else []),
    ]
    return Table(
        id="ledger",
        title="Ledger",
        caption=(Note(caption),),
        columns=columns_of("Model", "*Settings", *headings),
        groups=rows_of(rows),
        kind="leaders ledger",
        choose="Family",
    )


def _row(
    entry: LedgerEntry,
    rivals: Sequence[Group],
    marks: Mapping[Group, list[str]],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
    priced: bool,
) -> TableRow:
    group = entry.group
    task = Note(registry.load(group.env).title, link=f"results/{pages[group]}")
    model = model_cell(group.model, order=True)
    head = replace(model, link=f"models/{model_pages[group.model]}", notes=(task,))
    of = [
        f"of {plural(entry.items, 'item')}",
        plural(entry.attempts, "attempt"),
        f"{amount(entry.known)} with tokens" if entry.known < entry.attempts else "",
        plural(entry.errors, "error") if entry.errors else "",
    ]
    cached = (
        entry.cached_tokens and entry.input_tokens and f"{percent(entry.cached_tokens / entry.input_tokens)} % cached"
    )
    cells = [
        _settings(entry, rivals, marks.get(group, [])),
        number_cell(amount(entry.solved), entry.solved, of),
        number_cell(amount(entry.input_tokens), entry.input_tokens, [cached or ""]),
        number_cell(amount(entry.output_tokens), entry.output_tokens),
        _rate(entry.reasoning if entry.reasoning_tokens else None, amount),
        number_cell(amount(entry.seconds), entry.seconds),
        *([number_cell(money(entry.cost), entry.cost)] if priced else []),
        _rate(entry.per_thousand, significant),
        *([_rate(entry.per_dollar, significant)] if priced else []),
    ]
    return TableRow(head, cells, choice=presentation_of(group.env).title)


def _settings(entry: LedgerEntry, rivals: Sequence[Group], marks: Sequence[str]) -> Cell:
    """Return the model's settings, in what else it differs from others at the task, and the notes on it."""
    group = entry.group
    own = [setting(name, value) for name, value in model_settings(group).items() if value is not None]
    lines = (
        *parts(dict.fromkeys([*own, *differing(group, rivals)])),
        *notes([one_line(_answered(entry), 200)], "flag" if len(entry.answered) > 1 else ""),
        *notes([one_line(mark, 200) for mark in marks], "flag"),
        *notes([_lost(entry)]),
    )
    return Cell(notes=lines, order=" ".join(line.text for line in lines), kind="name")


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
    are = "is" if count == 1 else "are"
    return f"{amount(entry.lost_tokens)} more{spent} in {plural(count, 'episode')} that {are} excluded"


def _rate(mean: Mean | None, text: Callable[[float], str]) -> Cell:
    if mean is None:
        return number_cell(NOTHING, None)
    ends = "" if mean.low is None or mean.high is None else f"{text(mean.low)} – {text(mean.high)}"
    return replace(number_cell(text(mean.value), mean.value), notes=notes([ends], "interval"))


def _total(own: Sequence[LedgerEntry]) -> str:
    tokens = sum((e.input_tokens or 0) + (e.output_tokens or 0) + (e.lost_tokens or 0) for e in own)
    dollars = fsum((e.cost or 0) + (e.lost_cost or 0) for e in own)
    hours = fsum(e.seconds or 0 for e in own) / 3600
    parts = [plural(tokens, "token")] if tokens else []
    parts += [money(dollars)] if dollars else []
    parts += [f"{hours:,.1f} hours of replies"] if hours >= 0.1 else []
    return ", ".join(parts)
