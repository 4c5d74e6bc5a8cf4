"""The page of one model, and the ledger of tokens, time and cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from waybench.core import Environment, Presentation, Price, Prices, plural
from waybench.envs import registry
from waybench.reporting._agents import AgentCard, agent_cards
from waybench.reporting._format import (
    TaskView,
    count_text,
    dollars_text,
    percent_text,
    presentation_of,
    three_digit_text,
)
from waybench.reporting._site import Analyses, Site, score_key
from waybench.reporting.charts import Chart
from waybench.reporting.charts._bars import outcomes_chart
from waybench.reporting.charts._charts import level_charts, omission_notes, step_charts
from waybench.reporting.tables import Note, Table, TableCell, TableColumn
from waybench.reporting.tables._comparisons import setting_table
from waybench.reporting.tables._horizons import horizon_table_of_model
from waybench.reporting.tables._leaders import leader_tables
from waybench.reporting.tables._table import model_cell, number_cell, setting_notes, value_notes
from waybench.results.comparisons._model_effects import NO_EFFECT, SettingEffect
from waybench.results.estimates._ledger import LedgerEntry
from waybench.results.formatting import NOTHING, known_ends, one_line
from waybench.results.results import RunKey, group_by, model_settings, setting_sort_key, setting_text
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate


@dataclass(frozen=True, slots=True)
class EnvironmentCharts:
    """A model's charts for one environment.

    Attributes:
        apart: The settings, in words, for which the environment has charts of its own.
        undrawn: Sentences on scores that the charts do not show.
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
        embedded: Whether it is one of the embedded players.
        leaders: The table of its scores, a row for each task.
        agents: Its cards as an agent, one for each combination of settings.
        outcomes: The chart of the outcomes of its replies; None without replies.
        failed: The table of its failures; None if no attempt failed.
        parts: Its charts by environment.
        horizons: The table of its horizons; None if there are none.
    """

    name: str
    embedded: bool
    leaders: list[Table]
    agents: list[AgentCard]
    outcomes: Chart | None
    failed: Table | None
    parts: list[EnvironmentCharts]
    horizons: Table | None

    @property
    def charts(self) -> list[Chart]:
        """All of its charts but those of agents."""
        return [*([self.outcomes] if self.outcomes else []), *(chart for part in self.parts for chart in part.charts)]


def write_model_page(site: Site, name: str, analyses: Analyses) -> None:
    """Write the page of a model."""
    by_task = group_by(
        (estimate for estimate in site.estimates if estimate.group.model == name),
        lambda estimate: score_key(estimate.group),
    )
    parts: list[EnvironmentCharts] = []
    for (env_id, apart), estimates in by_task.items():
        view = TaskView(registry.load(env_id), presentation_of(env_id), site.pages)
        charts = level_charts(view, estimates, name)
        texts = omission_notes(view, estimates, charts)
        # With one combination of settings, the page of results has the same curves.
        if len({estimate.group for estimate in estimates}) > 1:
            charts += step_charts(view, estimates, name)
        if charts:
            parts.append(EnvironmentCharts(view.env, apart, view.presentation, charts, texts))
    page = Model(
        name=name,
        embedded=next(iter(by_task.values()))[0].group.embedded,
        leaders=leader_tables(site.leaders(analyses, name), alone=True),
        agents=agent_cards(site.agents, name),
        outcomes=outcomes_chart([total for total in site.totals if total.group.model == name]),
        failed=site.failed.of_model(name, site.pages),
        parts=parts,
        horizons=horizon_table_of_model(name, analyses.curves, site.pages),
    )
    site.write_page(f"models/{site.model_pages[name]}", "model.html", model=page)
    site.write_files(site.charts.files_of(page.charts))


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """The contents of the ledger's page.

    Attributes:
        table: The ledger, with a row for each model at each task with its settings.
        effects: The table of effects of settings, with a row for two values; None if there are none.
        total: The tokens, cost and time of all rows together, as text.
        prices: A note on the source of list prices; "" without list prices.
        unpriced: Models with known tokens but without a price.
    """

    table: Table
    effects: Table | None
    total: str
    prices: str
    priced: bool
    unpriced: list[str]


def ledger_page(
    entries: Sequence[LedgerEntry],
    effects: Sequence[SettingEffect],
    pages: Mapping[RunKey, str],
    model_pages: Mapping[str, str],
    prices: Mapping[str, Price],
) -> LedgerPage | None:
    """Return the contents of the ledger's page; None if only embedded players played, which use no tokens."""
    entries = [entry for entry in entries if not entry.group.embedded]
    if not entries:
        return None
    priced_models = {entry.group.model for entry in entries if entry.cost is not None}
    return LedgerPage(
        table=_ledger_table(entries, effects, pages, model_pages, bool(priced_models)),
        prices=prices.source_note(priced_models) if isinstance(prices, Prices) else "",
        effects=setting_table((effect for effect in effects if not effect.first.embedded), pages),
        total=_total_text(entries),
        priced=bool(priced_models),
        unpriced=list(
            dict.fromkeys(
                entry.group.model for entry in entries if entry.known and entry.group.model not in priced_models
            )
        ),
    )


def _ledger_table(
    entries: Sequence[LedgerEntry],
    effects: Sequence[SettingEffect],
    pages: Mapping[RunKey, str],
    model_pages: Mapping[str, str],
    has_costs: bool,
) -> Table:
    """Return the ledger: solved items, tokens, seconds and cost of each model at each task with its settings."""
    caption = (
        "A row for each model at each task with its settings. Tokens, seconds"
        f"{' and cost' if has_costs else ''} are sums over all attempts that count. Solved per 1,000 tokens"
        f"{' or dollar' if has_costs else ''} is the number of solved items divided by the total of all items. "
        f"Small: the {100 * CONFIDENCE:.0f} % interval over independent sampling units. Reasoning is the mean per "
        "attempt; a dash where the provider does not report it. Errors are infrastructure errors, which have no result."
    )
    if any(entry.known < entry.attempts for entry in entries):
        caption += " Attempts whose tokens are not known are not in the sums."
    no_effect_notes: dict[RunKey, list[str]] = {}
    for effect in effects:
        if effect.verdict == NO_EFFECT:
            first, second = effect.values  # as "setting: value"
            note = f"{second}: {effect.text} (against {first.rpartition(': ')[2]})"
            no_effect_notes.setdefault(effect.second, []).append(note)
    groups_of_env = group_by((entry.group for entry in entries), lambda group: group.env)

    def model_header(entry: LedgerEntry) -> TableCell:
        task = Note(registry.load(entry.group.env).title, link=f"results/{pages[entry.group]}")
        cell = model_cell(entry.group.model, is_sortable=True)
        return replace(cell, link=f"models/{model_pages[entry.group.model]}", notes=(task,))

    def settings_cell(entry: LedgerEntry) -> TableCell:
        """Return the model's settings, what distinguishes it at the task, and notes."""
        group = entry.group
        values = [setting_text(name, value) for name, value in model_settings(group).items() if value is not None]
        lines = (
            *setting_notes(dict.fromkeys([*values, *distinguishing_settings(group, groups_of_env[group.env])])),
            *value_notes([one_line(_answering_models_note(entry), 200)], "flag" if len(entry.answered) > 1 else ""),
            *value_notes([one_line(note, 200) for note in no_effect_notes.get(group, [])], "flag"),
            *value_notes([_returned_reasoning_note(entry), _excluded_tokens_note(entry)]),
        )
        return TableCell(notes=lines, order=" ".join(line.text for line in lines), kind="name")

    def solved_cell(entry: LedgerEntry) -> TableCell:
        lines = [
            f"of {plural(entry.items, 'item')}",
            plural(entry.attempts, "attempt"),
            f"{count_text(entry.known)} with tokens" if entry.known < entry.attempts else "",
            plural(entry.errors, "error") if entry.errors else "",
        ]
        return number_cell(count_text(entry.solved), entry.solved, lines)

    def input_tokens_cell(entry: LedgerEntry) -> TableCell:
        cached = ""
        if entry.cached_tokens and entry.input_tokens:
            cached = f"{percent_text(entry.cached_tokens / entry.input_tokens)} % cached"
        return number_cell(count_text(entry.input_tokens), entry.input_tokens, [cached])

    columns: list[TableColumn[LedgerEntry]] = [
        TableColumn("Model", model_header),
        TableColumn("Settings", settings_cell, "name"),
        TableColumn("Solved", solved_cell),
        TableColumn("Tokens in", input_tokens_cell),
        TableColumn("Tokens out", lambda entry: number_cell(count_text(entry.output_tokens), entry.output_tokens)),
        TableColumn(
            "Reasoning per attempt",
            lambda entry: _rate_cell(entry.reasoning if entry.reasoning_tokens else None, count_text),
        ),
        TableColumn("Seconds", lambda entry: number_cell(count_text(entry.seconds), entry.seconds)),
        TableColumn("Cost", lambda entry: number_cell(dollars_text(entry.cost), entry.cost), is_shown=has_costs),
        TableColumn("Solved per 1,000 tokens", lambda entry: _rate_cell(entry.per_thousand, three_digit_text)),
        TableColumn(
            "Solved per dollar", lambda entry: _rate_cell(entry.per_dollar, three_digit_text), is_shown=has_costs
        ),
    ]

    def sort_key(entry: LedgerEntry) -> tuple[Any, ...]:
        """Sort by task as the first page's table, then by model, then by settings."""
        group = entry.group
        values = sorted((name, setting_sort_key(value)) for name, value in model_settings(group).items())
        return presentation_of(group.env).title, group.env, group.model, values

    return Table.from_columns(
        columns,
        sorted(entries, key=sort_key),
        choice=lambda entry: presentation_of(entry.group.env).title,
        id="ledger",
        title="Ledger",
        caption=(Note(caption),),
        kind="leaders ledger",
        choose="Family",
    )


def _answering_models_note(entry: LedgerEntry) -> str:
    """Return which models answered, if there were several, or another one than was called; "" otherwise."""
    if len(entry.answered) > 1:
        models = (f"{name} ({plural(count, 'episode')})" for name, count in entry.answered.items())
        return f"several models answered: {', '.join(models)}"
    return f"answered by {entry.stand_ins[0]}" if entry.stand_ins else ""


def _returned_reasoning_note(entry: LedgerEntry) -> str:
    """Return in which form reasoning was returned, and what of it was sent back; "" if none was returned."""
    if not entry.reasoning_returned:
        return ""
    sent_back = f"; sent back in later turns: {entry.reasoning_sent_back}" if entry.reasoning_sent_back else ""
    return f"reasoning returned: {entry.reasoning_returned}{sent_back}"


def _excluded_tokens_note(entry: LedgerEntry) -> str:
    """Return the tokens and the cost of excluded episodes; "" without any tokens."""
    if not entry.lost_tokens:
        return ""
    n_excluded = entry.episodes - entry.attempts
    cost = f", {dollars_text(entry.lost_cost)}" if entry.lost_cost else ""
    verb = "is" if n_excluded == 1 else "are"
    return f"{count_text(entry.lost_tokens)} more{cost} in {plural(n_excluded, 'episode')} that {verb} excluded"


def _rate_cell(mean: IntervalEstimate | None, format_value: Callable[[float], str]) -> TableCell:
    """Return the cell of a mean with its interval; a dash for None."""
    if mean is None:
        return number_cell(NOTHING, None)
    ends = " – ".join(map(format_value, known_ends(mean) or ()))
    return replace(number_cell(format_value(mean.value), mean.value), notes=value_notes([ends], "interval"))


def _total_text(entries: Sequence[LedgerEntry]) -> str:
    """Return the tokens, cost and time of all entries together, as text."""
    tokens = sum((entry.input_tokens or 0) + (entry.output_tokens or 0) + (entry.lost_tokens or 0) for entry in entries)
    dollars = fsum((entry.cost or 0) + (entry.lost_cost or 0) for entry in entries)
    hours = fsum(entry.seconds or 0 for entry in entries) / 3600
    texts = [
        plural(tokens, "token") if tokens else "",
        dollars_text(dollars) if dollars else "",
        f"{hours:,.1f} hours of replies" if hours >= 0.1 else "",  # less would be "0.0"
    ]
    return ", ".join(filter(None, texts))
