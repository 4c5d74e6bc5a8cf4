"""Models as agents: the table of normalised scores, and the charts of the nine capabilities."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from waybench.core import Metric
from waybench.envs import registry
from waybench.envs.smartplay import FORMULAS, HUMANS, RECORDED, Capability
from waybench.envs.smartplay._capabilities import CAPABILITIES, DEGREE_SCALES, DEGREES_SOURCE, capability_degrees
from waybench.reporting.charts import Chart, colour_numbers
from waybench.reporting.charts._radar import RadarOverlay, agent_chart, degree_charts, overlay_charts
from waybench.reporting.tables import Note, Table, TableCell, TableColumn, TableRow, model_label, single_group
from waybench.reporting.tables._table import BLANK, mean_cell, model_cell, value_notes
from waybench.results.estimates._agents import Agent
from waybench.results.formatting import mean_text, one_line
from waybench.results.results import RunKey, setting_text
from waybench.results.stats import CONFIDENCE

_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"
_FORMULAS = {  # formula -> the title and the meaning of its capabilities
    "paper": ("Capabilities, weighted by degree", "The formula of the paper."),
    "paper_capped": (
        "Capabilities, weighted by degree, capped",
        "Not in the paper: every game’s score is clipped to between 0 and 1 before the paper’s formula, so that no "
        "game counts for more than the human score.",
    ),
    "code": (
        "Capabilities, weighted by degree less 1",
        "The weights of the published program: games of degree 1 in a capability have no weight in it.",
    ),
    "code_capped": (
        "Capabilities, weighted by degree less 1, capped",
        "Not in the paper: the program’s weights, with every game’s score first clipped to between 0 and 1.",
    ),
}
_CAPABILITY = Metric(
    name="capability", of=lambda record: None, title="Capability", low=0, high=1, doc="See section 4.2 of the paper."
)


@dataclass(frozen=True, slots=True)
class AgentCard:
    """One agent on the report's pages.

    Attributes:
        differs: The settings that distinguish it from other agents, in words.
        missing: Names of the recorded settings that it has not played.
        parts: The table of what each game adds to its capabilities by the paper's formula.
        chart: The chart of its capabilities by the paper's formula.
    """

    name: str
    differs: list[str]
    missing: list[str]
    parts: Table
    chart: Chart


@dataclass(frozen=True, slots=True)
class AgentReport:
    """All agents on the report's pages.

    Attributes:
        cards: The agents, models before embedded players.
        games: The table of the agents' normalised scores.
        raw: The table of the agents' scores before normalisation (Table 4).
        degrees: The table of how much each game needs each capability (Table 3).
        capabilities: Formula -> the table of the agents' capabilities.
        degree_charts: The charts of how much each game needs each capability (Figure 2).
    """

    cards: list[AgentCard]
    games: Table
    raw: Table
    degrees: Table
    capabilities: Mapping[str, Table]
    degree_charts: Sequence[Chart]
    overlays: Sequence[RadarOverlay]

    @property
    def charts(self) -> list[Chart]:
        """All charts: of each agent, of several agents, and of degrees."""
        overlay_charts = (chart for overlay in self.overlays for chart in overlay.charts)
        return [*(card.chart for card in self.cards), *overlay_charts, *self.degree_charts]


def agent_report(agents: Sequence[Agent], pages: Mapping[RunKey, str]) -> AgentReport | None:
    """Return the cards, tables and charts of all agents; None without agents."""
    if not agents:
        return None
    cards = agent_cards(agents)
    rows = list(zip(agents, cards, strict=True))

    def normalised_score_cell(agent: Agent, game: str) -> TableCell:
        mean = agent.scores.get(game)
        if mean is None:
            return BLANK
        group = agent.groups[game]
        metric = next(metric for metric in registry.load(group.env).scoring.metrics if metric.name == "human")
        shade = min(max(mean.value, 0.0), 1.0)  # above the human score, a cell gets no darker
        return replace(mean_cell(mean, metric), part=shade, link=f"results/{pages[group]}")

    def raw_score_cell(agent: Agent, game: str) -> TableCell:
        mean = agent.raw.get(game)
        if mean is None:
            return TableCell("not run", kind="score")
        group = agent.groups[game]
        metric = registry.load(group.env).scoring.metrics[0]
        return replace(mean_cell(mean, metric), part=None, link=f"results/{pages[group]}")

    games = _agent_table(
        rows,
        [(HUMANS[game].name, lambda agent, game=game: normalised_score_cell(agent, game)) for game in RECORDED],
        id="agents-games",
        title="Human-normalised scores",
        caption=(
            "(score − min) / (human − min), with the published human scores; above 1 is better than people. Small: "
            f"{_INTERVAL}. Blank: not played, or not with as many steps as published."
        ),
    )
    raw_scores = _agent_table(
        rows,
        [(HUMANS[game].name, lambda agent, game=game: raw_score_cell(agent, game)) for game in RECORDED],
        id="agents-raw",
        title="Scores in the recorded settings",
        caption=(
            "The scores before normalisation, as in Table 4 of the paper, with its human baseline as the first row. "
            f"Small: {_INTERVAL}. Not run: not played, or not with as many steps as published."
        ),
    )
    human_scores = [TableCell(f"{HUMANS[game].human:g}", kind="score") for game in RECORDED]
    groups = single_group([TableRow(TableCell("Human baseline"), human_scores, "reference"), *raw_scores.rows])
    labels = [
        ", ".join([model_label(agent.model), *(one_line(part, 60) for part in card.differs)]) for agent, card in rows
    ]
    return AgentReport(
        cards,
        games,
        replace(raw_scores, groups=groups),
        _degree_table(),
        {formula: _capability_table(formula, rows) for formula in FORMULAS},
        degree_charts(),
        overlay_charts(agents, labels),
    )


def agent_cards(agents: Sequence[Agent], model: str | None = None) -> list[AgentCard]:
    """Return the cards of all agents, or of the agents of one model; settings are compared among all agents."""
    if not agents:
        return []
    common = set[tuple[str, str]].intersection(
        *({(name, repr(value)) for name, value in agent.settings} for agent in agents)
    )
    cards: list[AgentCard] = []
    for colour, agent in zip(colour_numbers([agent.model for agent in agents]), agents, strict=True):
        if model in (None, agent.model):
            missing = [HUMANS[game].name for game in RECORDED if game not in agent.scores]
            differs = [setting_text(name, value) for name, value in agent.settings if (name, repr(value)) not in common]
            chart = agent_chart(colour, agent, differs, missing)
            cards.append(AgentCard(agent.model, differs, missing, _capability_parts_table(agent, differs), chart))
    return cards


def _agent_table(
    rows: Iterable[tuple[Agent, AgentCard]],
    columns: Iterable[tuple[str, Callable[[Agent], TableCell]]],
    *,
    caption: str,
    show_missing: bool = False,
    **attributes: Any,
) -> Table:
    """Return a table with a row for each agent; `columns` are headings and functions that return the cells.

    `show_missing` adds the games that an agent has not played to its header.
    """

    def model_header(row: tuple[Agent, AgentCard]) -> TableCell:
        agent, card = row
        cell = model_cell(agent.model, card.differs)
        missing = f"without {', '.join(card.missing)}" if show_missing and card.missing else ""
        return replace(cell, notes=(*cell.notes, *value_notes([missing])))

    def agent_column(heading: str, cell: Callable[[Agent], TableCell]) -> TableColumn[tuple[Agent, AgentCard]]:
        return TableColumn(heading, lambda row: cell(row[0]), better="higher")

    return Table.from_columns(
        [TableColumn("Model", model_header), *(agent_column(*pair) for pair in columns)],
        rows,
        row_kind=lambda row: "reference" if row[0].embedded else "",
        caption=(Note(caption),),
        kind="scores overview",
        **attributes,
    )


def _degree_table() -> Table:
    """Return the table of how much each game needs each capability (Table 3)."""

    def capability_header(name: str) -> TableCell:
        meaning = "; ".join(f"{degree}: {text}" for degree, text in enumerate(DEGREE_SCALES[name], start=1))
        return TableCell(name, notes=value_notes([meaning]))

    columns: list[TableColumn[str]] = [
        TableColumn("Capability", capability_header),
        *(
            TableColumn(HUMANS[game].name, lambda name, game=game: str(capability_degrees(game)[name]))
            for game in RECORDED
        ),
    ]
    caption = f"How much each game needs each capability, from 1 up; these are the weights. {DEGREES_SOURCE}"
    return Table.from_columns(
        columns,
        DEGREE_SCALES,
        id="agents-degrees",
        title="Degrees of the challenges",
        caption=(Note(caption),),
        kind="scores overview",
    )


def _capability_table(formula: str, rows: Iterable[tuple[Agent, AgentCard]]) -> Table:
    """Return the table of the agents' capabilities by one of the formulas."""
    title, meaning = _FORMULAS[formula]
    other_shares = "; the shares of all games are on the models’ pages" if formula == "paper" else ""
    caption = (
        f"{meaning} Small: {_INTERVAL}, where every game has one; the game that contributes most, with its "
        f"share{other_shares}. The games that a model has not played are listed below its name: its numbers are means "
        f"of the other games and cannot be compared with those of models that played all."
    )

    def capability_cell(agent: Agent, capability_index: int) -> TableCell:
        capability, interval = agent.capabilities[formula][capability_index], agent.ranges[formula][capability_index]
        if capability.value is None:
            return BLANK
        greatest_share = ""
        if capability.shares is not None:
            game, share = max(capability.shares.items(), key=lambda item: item[1])
            greatest_share = f"{HUMANS[game].name if game in HUMANS else game} {100 * share:.0f} %"
        interval_text = "" if interval is None else "{:.3f} – {:.3f}".format(*interval)
        return TableCell(
            mean_text(capability.value, _CAPABILITY),
            bold=True,
            notes=(*value_notes([interval_text], "interval"), *value_notes([greatest_share])),
            part=min(max(capability.value, 0.0), 1.0),
            kind="score",
        )

    columns: list[tuple[str, Callable[[Agent], TableCell]]] = [
        (name, lambda agent, number=number: capability_cell(agent, number)) for number, name in enumerate(CAPABILITIES)
    ]
    return _agent_table(rows, columns, caption=caption, show_missing=True, id=f"agents-{formula}", title=title)


def _capability_parts_table(agent: Agent, differing_settings: Sequence[str]) -> Table:
    """Return the table of what each game adds to an agent's capabilities by the paper's formula."""

    def game_part_cell(capability: Capability, game: str) -> TableCell:
        if game not in capability.parts:
            return BLANK
        share = "" if capability.shares is None else f"{100 * capability.shares[game]:.0f} %"
        return TableCell(f"{capability.parts[game]:.2f}".replace("-", "−"), notes=value_notes([share]))

    columns: list[TableColumn[tuple[Capability, Capability]]] = [
        TableColumn("Capability", lambda row: row[0].name),
        TableColumn("Published", lambda row: TableCell(mean_text(row[0].value, _CAPABILITY), bold=True)),
        TableColumn("Capped", lambda row: mean_text(row[1].value, _CAPABILITY)),
        *(TableColumn(HUMANS[game].name, lambda row, game=game: game_part_cell(row[0], game)) for game in RECORDED),
    ]
    caption = (
        "What each game adds to a capability by the paper’s formula; small, its share of the value, where no part is "
        "negative. Capped: every game’s score is first clipped to between 0 and 1 (not in the paper). Blank: not "
        "played."
    )
    return Table.from_columns(
        columns,
        zip(agent.capabilities["paper"], agent.capabilities["paper_capped"], strict=True),
        title=", ".join(["Parts of the capabilities", *(one_line(text, 60) for text in differing_settings)]),
        caption=(Note(caption),),
        kind="scores overview",
    )
