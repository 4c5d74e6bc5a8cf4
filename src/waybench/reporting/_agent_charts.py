"""Radar charts of agents' capabilities, one by one and overlaid (SmartPlay, Figures 2 and 3)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from waybench.envs.smartplay import BENCHMARK, CAPABILITIES, DEGREE_SCALES, HUMANS, RECORDED, degrees
from waybench.reporting._files import slug
from waybench.reporting.charts import Chart, Web, colour_numbers, drawn, radar_spec
from waybench.results.estimates import Agent
from waybench.results.formatting import one_line

MOST_TOGETHER = 6  # agents in one chart; of more each has a chart of its own
_FEWEST_GAMES = 3  # with fewer there is no line around
_FARTHEST = 1.5  # times what people had; greater values are on the rim, and named
_MOST_NAMED = 2  # axes of an agent
_HIGHEST_DEGREE = max(map(len, DEGREE_SCALES.values()))
_PEOPLE = "Human baseline"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class Overlay:
    """Charts of several agents on the same axes.

    Attributes:
        title: What they show.
        text: How they are read.
        charts: One chart with all agents, or one for each if there are many.
    """

    title: str
    text: str
    charts: list[Chart]


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a kind of chart, and an agent's values on them."""

    title: str
    text: str
    names: tuple[str, ...]
    values: Callable[[Agent], list[float | None]]


_GAMES = _Axes(
    "Normalised scores by game",
    "(score − min) / (human − min) in each recorded setting.",
    tuple(HUMANS[game].name for game in RECORDED),
    lambda agent: [agent.scores[game].value if game in agent.scores else None for game in RECORDED],
)
_CAPABILITIES = _Axes(
    "Capabilities by degree (the paper’s formula)",
    "Means of the games’ normalised scores, weighted by how much each game asks of a capability.",
    CAPABILITIES,
    lambda agent: [each.value for each in agent.capabilities["paper"]],
)


def overlays(found: Sequence[Agent], labels: Sequence[str]) -> list[Overlay]:
    """Return the charts that overlay several agents; none for a single agent.

    Args:
        found: The agents.
        labels: What each is called.
    """
    if len(found) < 2:
        return []
    missing = [[HUMANS[game].name for game in RECORDED if game not in agent.scores] for agent in found]
    colours = colour_numbers([agent.model for agent in found])
    made: list[Overlay] = []
    for axes in (_GAMES, _CAPABILITIES):
        values = [axes.values(agent) for agent in found]
        if axes is _GAMES and max(sum(value is not None for value in each) for each in values) < _FEWEST_GAMES:
            continue
        webs = [
            Web(label, each, colour, shape=_SHAPES[number % MOST_TOGETHER])
            for number, (label, each, colour) in enumerate(zip(labels, values, colours, strict=True))
        ]
        together = [range(len(webs))] if len(webs) <= MOST_TOGETHER else [[number] for number in range(len(webs))]
        charts = [
            _overlay(axes, [webs[number] for number in some], webs, _without([(labels[n], missing[n]) for n in some]))
            for some in together
        ]
        made.append(Overlay(axes.title, axes.text, charts))
    return made


def _without(missing: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a note on games not played: first by any agent, then by each; "" if there are none."""
    several = len(missing) > 1
    common = [name for name in missing[0][1] if several and all(name in names for _, names in missing)]
    texts = [f"all without {', '.join(common)}"] if common else []
    for label, names in missing:
        more = [name for name in names if name not in common]
        texts += [f"{one_line(label, 40)}{' also' * bool(common)} without {', '.join(more)}"] if more else []
    return "; ".join(texts)


def _beyond(axes: Sequence[str], web: Web) -> str:
    """Return a note on an agent's values that are cut off at the rim; "" if there are none."""
    far = {name: value for name, value in zip(axes, web.values, strict=True) if value and value > _FARTHEST}
    if len(far) <= _MOST_NAMED:
        text = ", ".join(f"{name} {value:.2f}" for name, value in far.items())
    else:
        text = f"{len(far)} axes, up to {max(far.values()):.2f}"
    return f"{one_line(web.label, 40)} {text}" if far else ""


def _overlay(axes: _Axes, webs: Sequence[Web], every: Sequence[Web], missing: str) -> Chart:
    """Return a chart of some agents, on the scale of all of them.

    Args:
        axes: The axes.
        webs: The agents of the chart.
        every: All agents.
        missing: What agents of the chart have not played, in words.
    """
    people = Web(_PEOPLE, [1.0] * len(axes.names), dashed=True, reference=True)
    most = max((value for web in every for value in web.values if value is not None), default=1.0)
    beyond = "; ".join(filter(None, (_beyond(axes.names, web) for web in webs)))
    subtitle = [
        "0: the minimum score; 1: the human score (Table 4)",
        *([f"on the rim, and beyond: {beyond}"] if beyond else []),
        *([missing] if missing else []),
    ]
    spec = radar_spec(
        axes.names,
        [people, *webs],
        title=axes.title,
        subtitle=subtitle,
        most=min(most, _FARTHEST),
        legend=True,
    )
    text = "; ".join(
        f"{web.label}: "
        + ", ".join(
            f"{name} {'not run' if value is None else f'{value:.2f}'}"
            for name, value in zip(axes.names, web.values, strict=True)
        )
        for web in webs
    )
    label = f"{axes.title}, with people at 1. {text}"
    identity = json.dumps([axes.title, [web.label for web in webs]])
    caption = f"{axes.title}: {', '.join(web.label for web in webs)}" + (f"; {missing}" if missing else "")
    return Chart(slug(f"agents {axes.title}", identity), drawn(spec, label), None, caption, spec)


def degree_charts() -> list[Chart]:
    """Return a chart for each game of the capabilities that it requires (Figure 2)."""
    charts: list[Chart] = []
    for game in RECORDED:
        name, required = HUMANS[game].name, degrees(game)
        web = Web(name, [float(required[each]) for each in CAPABILITIES])
        spec = radar_spec(CAPABILITIES, [web], 200, title=name, most=_HIGHEST_DEGREE, values=False)
        text = f"Degrees of the challenges in {name}: {', '.join(f'{each} {required[each]}' for each in CAPABILITIES)}"
        charts.append(Chart(slug(f"degrees {name}", game), drawn(spec, text), None, text, spec))
    return charts


def agent_chart(colour: int, agent: Agent, differs: Sequence[str], missing: Sequence[str]) -> Chart:
    """Return the chart of an agent, which can be read by itself.

    Args:
        colour: Number of the agent's colour.
        agent: The agent.
        differs: The settings in which agents differ, in words.
        missing: Names of the recorded settings that it has not played.
    """
    name = one_line(agent.model, 80) or "(no name)"
    published, capped = ([each.value for each in agent.capabilities[one]] for one in ("paper", "paper_capped"))
    webs, notes = [Web(name, published, colour)], [", ".join(one_line(part, 60) for part in differs)]
    if missing:
        notes.append(f"without {', '.join(missing)}")
    notes.append(f"{BENCHMARK}’s capabilities, weighted by degree (the paper’s formula)")
    notes.append("0: the minimum score; 1: the human score")
    if capped != published:
        webs.append(Web(f"{name}, capped", capped, colour, dashed=True))
        notes.append("dashed and second numbers: capped, games’ scores first clipped to 0–1")
    values = ", ".join(
        f"{axis} {'none' if value is None else f'{value:.2f}'}"
        for axis, value in zip(CAPABILITIES, published, strict=True)
    )
    label = f"Capabilities of {name}: {values}" + (f"; without {', '.join(missing)}" if missing else "")
    spec = radar_spec(CAPABILITIES, webs, title=name, subtitle=[note for note in notes if note])
    identity = json.dumps([agent.model, agent.settings, "capabilities"], default=str)
    return Chart(slug(f"capabilities {agent.model}", identity), drawn(spec, label), None, label, spec)
