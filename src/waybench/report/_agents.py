"""Models as agents: the table of normalised scores, and the charts of the nine capabilities."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waybench.analysis import Agent, Group, mean_text, one_line, setting
from waybench.core import Metric
from waybench.envs import registry
from waybench.report._files import slug
from waybench.report._format import interval_text
from waybench.report.charts import Figure, Web, drawn, radar_spec
from waybench.smartplay import CAPABILITIES, FORMULAS, HUMANS, RECORDED, Capability

_CAPABILITY = Metric(
    name="capability", of=lambda record: None, title="Capability", low=0, high=1, doc="See section 4.2 of the paper."
)


@dataclass(frozen=True, slots=True)
class Score:
    """One number.

    Attributes:
        value: As text.
        interval: Its interval, as text.
        part: How good it is, from 0 to 1.
        page: File name of the page of its episodes; "" for a capability.
        most: Of a capability, the game with the largest share in it and that share, as text; "" if there is none.
    """

    value: str
    interval: str
    part: float | None
    page: str = ""
    most: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a capability is made of.

    Attributes:
        name: The capability.
        value: It, as text.
        capped: Its capped form, as text.
        games: For each recorded setting what it adds, and its share of the value, as texts; None where it is not in it.
    """

    name: str
    value: str
    capped: str
    games: list[tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One row.

    Attributes:
        name: The model.
        differs: How it was asked, where agents differ in that.
        games: A score for each recorded setting; None where it was not played.
        capabilities: By the formula's name a score for each capability; None where no game counts.
        missing: Names of the recorded settings that it has not played.
        parts: Of each capability by the paper's formula what each game adds to it.
        chart: Its capabilities drawn, by the paper's formula.
        reference: Whether it is one of the embedded players.
    """

    name: str
    differs: list[str]
    games: list[Score | None]
    capabilities: Mapping[str, list[Score | None]]
    missing: list[str]
    parts: list[Parts]
    chart: Figure
    reference: bool


@dataclass(frozen=True, slots=True)
class AgentTables:
    """What the pages show of agents.

    Attributes:
        games: Names of the recorded settings.
        capabilities: Names of the capabilities.
        formulas: Names of the formulas.
        lines: The rows, models before embedded players.
    """

    games: list[str]
    capabilities: Sequence[str]
    formulas: list[str]
    lines: list[AgentLine]


def agent_tables(found: Sequence[Agent], pages: Mapping[Group, str]) -> AgentTables | None:
    """Return the tables of some agents; None if there are none.

    Args:
        found: The agents.
        pages: File names of the groups' pages.
    """
    if not found:
        return None
    every = [{(name, repr(value)) for name, value in agent.settings} for agent in found]
    common = {pair for pair in every[0] if all(pair in other for other in every)}
    lines = [_line(number, agent, common, pages) for number, agent in enumerate(found)]
    return AgentTables([HUMANS[game].name for game in RECORDED], CAPABILITIES, list(FORMULAS), lines)


def _line(number: int, agent: Agent, common: set[tuple[str, str]], pages: Mapping[Group, str]) -> AgentLine:
    games = [_game(agent, game, pages) for game in RECORDED]
    capabilities: dict[str, list[Score | None]] = {}
    for formula, nine in agent.capabilities.items():
        capabilities[formula] = [
            None
            if each.value is None
            else Score(
                mean_text(each.value, _CAPABILITY),
                "" if ends is None else f"{ends[0]:.3f} – {ends[1]:.3f}",
                min(max(each.value, 0.0), 1.0),
                most=_most(each),
            )
            for each, ends in zip(nine, agent.ranges[formula], strict=True)
        ]
    missing = [HUMANS[game].name for game in RECORDED if game not in agent.scores]
    differs = [setting(name, value) for name, value in agent.settings if (name, repr(value)) not in common]
    chart = _chart(number, agent, differs, missing)
    return AgentLine(agent.model, differs, games, capabilities, missing, _parts(agent), chart, agent.embedded)


def _most(capability: Capability) -> str:
    """Return which game gives most of a capability, and how much of it."""
    if capability.shares is None:
        return ""
    game, share = max(capability.shares.items(), key=lambda pair: pair[1])
    return f"{HUMANS[game].name if game in HUMANS else game} {100 * share:.0f} %"


def _parts(agent: Agent) -> list[Parts]:
    found: list[Parts] = []
    for each, capped in zip(agent.capabilities["paper"], agent.capabilities["paper_capped"], strict=True):
        shares = each.shares
        games = [
            (f"{each.parts[game]:.2f}".replace("-", "−"), "" if shares is None else f"{100 * shares[game]:.0f} %")
            if game in each.parts
            else None
            for game in RECORDED
        ]
        value, cut = (mean_text(one.value, _CAPABILITY) for one in (each, capped))
        found.append(Parts(each.name, value, cut, games))
    return found


def _chart(number: int, agent: Agent, differs: Sequence[str], missing: Sequence[str]) -> Figure:
    """Return the chart of an agent, with all in it that one has to know who sees nothing else."""
    name = one_line(agent.model, 80) or "(no name)"
    published, capped = ([each.value for each in agent.capabilities[one]] for one in ("paper", "paper_capped"))
    webs, notes = [Web(name, published, number)], [", ".join(one_line(part, 60) for part in differs)]
    if missing:
        notes.append(f"without {', '.join(missing)}")
    notes.append("SmartPlay’s capabilities, weighted by degree (the paper’s formula)")
    notes.append("0: the least score possible; 1: what people had")
    if capped != published:
        webs.append(Web(f"{name}, capped", capped, number, dashed=True))
        notes.append("dashed and second numbers: capped, games’ scores first cut to 0–1")
    told = ", ".join(
        f"{axis} {'none' if value is None else f'{value:.2f}'}"
        for axis, value in zip(CAPABILITIES, published, strict=True)
    )
    label = f"Capabilities of {name}: {told}" + (f"; without {', '.join(missing)}" if missing else "")
    spec = radar_spec(CAPABILITIES, webs, title=name, subtitle=[note for note in notes if note])
    identity = json.dumps([agent.model, agent.settings, "capabilities"], default=str)
    return Figure(slug(f"capabilities {agent.model}", identity), drawn(spec, label), None, label, spec)


def _game(agent: Agent, game: str, pages: Mapping[Group, str]) -> Score | None:
    mean = agent.scores.get(game)
    if mean is None:
        return None
    group = agent.groups[game]
    metric = next(metric for metric in registry.load(group.env).metrics if metric.name == "human")
    shown = min(max(mean.value, 0.0), 1.0)  # beyond what people had a cell gets no darker
    return Score(mean_text(mean.value, metric), interval_text(mean, metric), shown, pages[group])
