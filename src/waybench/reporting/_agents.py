"""Models as agents: the table of normalised scores, and the charts of the nine capabilities."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import Metric
from waybench.envs import registry
from waybench.envs.smartplay import (
    CAPABILITIES,
    DEGREE_SCALES,
    DEGREES_SOURCE,
    FORMULAS,
    HUMANS,
    RECORDED,
    Capability,
    degrees,
)
from waybench.reporting._agent_charts import Overlay, agent_chart, degree_charts, overlays
from waybench.reporting.charts import Chart, colour_numbers
from waybench.reporting.tables import (
    BLANK,
    Cell,
    Column,
    Note,
    Table,
    TableRow,
    columns_of,
    mean_cell,
    model_cell,
    name_of,
    notes,
    rows_of,
)
from waybench.results.estimates import Agent
from waybench.results.formatting import mean_text, one_line
from waybench.results.results import Group, setting
from waybench.results.stats import CONFIDENCE

_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"
_FORMULAS = {  # of each its title, and what it means
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
        name: The model.
        differs: Its settings, where agents differ in them.
        missing: Names of the recorded settings that it has not played.
        parts: The table of what each game adds to its capabilities by the paper's formula.
        chart: Its capabilities drawn, by the paper's formula.
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
        games: The table of their normalised scores.
        raw: The table of their scores as they are, a row for each agent (Table 4).
        degrees: The table of what each game asks of each capability (Table 3).
        degree_charts: The same as charts, one for each game (Figure 2).
        overlays: Charts of several agents laid over each other (Figure 3).
        capabilities: By the formula's name, the table of their capabilities.
    """

    cards: list[AgentCard]
    games: Table
    raw: Table
    degrees: Table
    capabilities: Mapping[str, Table]
    degree_charts: Sequence[Chart]
    overlays: Sequence[Overlay]

    @property
    def charts(self) -> list[Chart]:
        """All charts: of each agent, and of several."""
        several = (chart for one in self.overlays for chart in one.charts)
        return [*(card.chart for card in self.cards), *several, *self.degree_charts]


def agent_report(found: Sequence[Agent], pages: Mapping[Group, str]) -> AgentReport | None:
    """Return the report of some agents; None if there are none.

    Args:
        found: The agents.
        pages: File names of the groups' pages.
    """
    if not found:
        return None
    cards = agent_cards(found)
    rows = [
        TableRow(model_cell(agent.model, card.differs), [_game(agent, game, pages) for game in RECORDED], _kind(agent))
        for agent, card in zip(found, cards, strict=True)
    ]
    caption = (
        "(score − min) / (human − min), with the published human scores; above 1 is better than people. Small: "
        f"{_INTERVAL}. Blank: not played, or not with as many steps as published."
    )
    games = Table(
        id="agents-games",
        title="Human-normalised scores",
        caption=(Note(caption),),
        columns=_columns(HUMANS[game].name for game in RECORDED),
        groups=rows_of(rows),
        kind="scores overview",
    )
    capabilities = {formula: _capability_table(formula, found, cards) for formula in FORMULAS}
    labels = [
        ", ".join([name_of(agent.model), *(one_line(part, 60) for part in card.differs)])
        for agent, card in zip(found, cards, strict=True)
    ]
    return AgentReport(
        cards,
        games,
        _raw_table(found, cards, pages),
        _degree_table(),
        capabilities,
        degree_charts(),
        overlays(found, labels),
    )


def agent_cards(found: Sequence[Agent], model: str | None = None) -> list[AgentCard]:
    """Return what pages show of each agent.

    Args:
        found: All agents.
        model: The model of those that are wanted; all agents by default.
    """
    every = [{(name, repr(value)) for name, value in agent.settings} for agent in found]
    common = {pair for pair in every[0] if all(pair in other for other in every)} if every else set[tuple[str, str]]()
    colours = colour_numbers([agent.model for agent in found])
    pairs = zip(colours, found, strict=True)
    return [_card(colour, agent, common) for colour, agent in pairs if model in (None, agent.model)]


def _raw_table(found: Sequence[Agent], cards: Sequence[AgentCard], pages: Mapping[Group, str]) -> Table:
    """Return the table of raw scores with the published human scores."""
    people = [Cell(text=f"{HUMANS[game].human:g}", kind="score") for game in RECORDED]
    rows = [TableRow(Cell(text="Human baseline"), people, "reference")]
    for agent, card in zip(found, cards, strict=True):
        cells = [_raw(agent, game, pages) for game in RECORDED]
        rows.append(TableRow(model_cell(agent.model, card.differs), cells, _kind(agent)))
    caption = (
        "The scores before normalisation, as in Table 4 of the paper, with its human baseline as the first row. Small: "
        f"{_INTERVAL}. Not run: not played, or not with as many steps as published."
    )
    return Table(
        id="agents-raw",
        title="Scores in the recorded settings",
        caption=(Note(caption),),
        columns=_columns(HUMANS[game].name for game in RECORDED),
        groups=rows_of(rows),
        kind="scores overview",
    )


def _raw(agent: Agent, game: str, pages: Mapping[Group, str]) -> Cell:
    mean = agent.raw.get(game)
    if mean is None:
        return Cell(text="not run", kind="score")
    group = agent.groups[game]
    metric = registry.load(group.env).scoring.metrics[0]
    return replace(mean_cell(mean, metric), part=None, link=f"results/{pages[group]}")


def _degree_table() -> Table:
    rows: list[TableRow] = []
    for name, scale in DEGREE_SCALES.items():
        meaning = "; ".join(f"{degree}: {text}" for degree, text in enumerate(scale, start=1))
        cells = [Cell(text=str(degrees(game)[name])) for game in RECORDED]
        rows.append(TableRow(Cell(text=name, notes=notes([meaning])), cells))
    caption = f"How much each game needs each capability, from 1 up; these are the weights. {DEGREES_SOURCE}"
    return Table(
        id="agents-degrees",
        title="Degrees of the challenges",
        caption=(Note(caption),),
        columns=columns_of("Capability", *(HUMANS[game].name for game in RECORDED)),
        groups=rows_of(rows),
        kind="scores overview",
    )


def _columns(names: Iterable[str]) -> list[Column]:
    return [Column(heading="Model"), *(Column(heading=name, better="higher") for name in names)]


def _kind(agent: Agent) -> str:
    return "reference" if agent.embedded else ""


def _card(colour: int, agent: Agent, common: set[tuple[str, str]]) -> AgentCard:
    missing = [HUMANS[game].name for game in RECORDED if game not in agent.scores]
    differs = [setting(name, value) for name, value in agent.settings if (name, repr(value)) not in common]
    return AgentCard(
        agent.model, differs, missing, _parts(agent, differs), agent_chart(colour, agent, differs, missing)
    )


def _capability_table(formula: str, found: Sequence[Agent], cards: Sequence[AgentCard]) -> Table:
    title, meaning = _FORMULAS[formula]
    more = "; the shares of all games are on the models’ pages" if formula == "paper" else ""
    caption = (
        f"{meaning} Small: {_INTERVAL}, where every game has one; the game that contributes most, with its "
        f"share{more}. The games that a model has not played are listed below its name: its numbers are means of the "
        f"other games and cannot be compared with those of models that played all."
    )
    rows: list[TableRow] = []
    for agent, card in zip(found, cards, strict=True):
        head = model_cell(agent.model, card.differs)
        without = notes([f"without {', '.join(card.missing)}" if card.missing else ""])
        each = zip(agent.capabilities[formula], agent.ranges[formula], strict=True)
        cells = [_capability(capability, ends) for capability, ends in each]
        rows.append(TableRow(replace(head, notes=(*head.notes, *without)), cells, _kind(agent)))
    return Table(
        id=f"agents-{formula}",
        title=title,
        caption=(Note(caption),),
        columns=_columns(CAPABILITIES),
        groups=rows_of(rows),
        kind="scores overview",
    )


def _capability(one: Capability, ends: tuple[float, float] | None) -> Cell:
    if one.value is None:
        return BLANK
    interval = "" if ends is None else f"{ends[0]:.3f} – {ends[1]:.3f}"
    return Cell(
        text=mean_text(one.value, _CAPABILITY),
        bold=True,
        notes=(*notes([interval], "interval"), *notes([_most(one)])),
        part=min(max(one.value, 0.0), 1.0),
        kind="score",
    )


def _most(capability: Capability) -> str:
    """Return the game with the largest weight in a capability, and the weight."""
    if capability.shares is None:
        return ""
    game, share = max(capability.shares.items(), key=lambda pair: pair[1])
    return f"{HUMANS[game].name if game in HUMANS else game} {100 * share:.0f} %"


def _parts(agent: Agent, differs: Sequence[str]) -> Table:
    rows: list[TableRow] = []
    for each, capped in zip(agent.capabilities["paper"], agent.capabilities["paper_capped"], strict=True):
        value, cut = (mean_text(one.value, _CAPABILITY) for one in (each, capped))
        games = [
            Cell(
                text=f"{each.parts[game]:.2f}".replace("-", "−"),
                notes=notes(["" if each.shares is None else f"{100 * each.shares[game]:.0f} %"]),
            )
            if game in each.parts
            else BLANK
            for game in RECORDED
        ]
        rows.append(TableRow(Cell(text=each.name), [Cell(text=value, bold=True), Cell(text=cut), *games]))
    caption = (
        "What each game adds to a capability by the paper’s formula; small, its share of the value, where no part is "
        "negative. Capped: every game’s score is first clipped to between 0 and 1 (not in the paper). Blank: not "
        "played."
    )
    headings = "Capability", "Published", "Capped", *(HUMANS[game].name for game in RECORDED)
    return Table(
        title=", ".join(["Parts of the capabilities", *(one_line(each, 60) for each in differs)]),
        caption=(Note(caption),),
        columns=columns_of(*headings),
        groups=rows_of(rows),
        kind="scores overview",
    )


def _game(agent: Agent, game: str, pages: Mapping[Group, str]) -> Cell:
    mean = agent.scores.get(game)
    if mean is None:
        return BLANK
    group = agent.groups[game]
    metric = next(metric for metric in registry.load(group.env).scoring.metrics if metric.name == "human")
    shade = min(max(mean.value, 0.0), 1.0)  # beyond what people had a cell gets no darker
    return replace(mean_cell(mean, metric), part=shade, link=f"results/{pages[group]}")
