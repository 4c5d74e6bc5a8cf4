"""The first page's tables and charts of agents."""

import json
import re
from collections.abc import Mapping, Sequence
from math import dist
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_agents import played
from tests.report.pages import site
from waybench.envs.smartplay import FORMULAS, RECORDED
from waybench.envs.smartplay._capabilities import CAPABILITIES, capability_scores
from waybench.reporting.charts._radar import Web, overlay_charts, radar_spec, ring_values
from waybench.reporting.charts._svg import draw_spec
from waybench.results.estimates._agents import Agent
from waybench.results.stats import clustered_mean

AXES = ["up", "right", "left"]


def layers(spec: Mapping[str, Any], mark: str) -> list[list[dict[str, Any]]]:
    """Return the values of the layers of one kind of mark."""
    return [layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == mark]


def words(spec: Mapping[str, Any]) -> list[str]:
    return [each["text"] for values in layers(spec, "text") for each in values]


def test_values_lie_on_their_axes() -> None:
    spec = radar_spec(AXES, [Web("one", [1.0, 0.5, 7.0])], 100, 10)
    (points,) = layers(spec, "point")
    places = [(point["x"], point["y"]) for point in points]
    assert places[0] == (0, 0.125)
    # The outermost of the rings 2, 4, 6, 8 is as far from the centre as the axes reach, and nothing is cut off.
    assert [dist((0, 0), place) for place in places] == pytest.approx([1 / 8, 0.5 / 8, 7 / 8], abs=1e-3)
    assert places[1][0] > 0 > places[1][1]
    assert [point["text"] for point in points] == ["one: 1.00", "one: 0.50", "one: 7.00"]
    assert {"2", "4", "6", "8", "1.00", "0.50", "7.00", *AXES} == set(words(spec))
    rings = layers(spec, "line")[0]
    assert {each["ring"] for each in rings} == {2, 4, 6, 8, 1}
    assert max(dist((0, 0), (each["x"], each["y"])) for each in rings) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("values", "rings"),
    [
        ([], [0.25, 0.5, 0.75, 1]),
        ([0.2, -3.0], [0.25, 0.5, 0.75, 1]),
        ([1.02], [0.25, 0.5, 0.75, 1, 1.25]),
        ([2.92], [1, 2, 3]),
        ([20.7], [5, 10, 15, 20, 25]),
        ([53.3], [20, 40, 60]),
    ],
)
def test_rings_reach_what_is_shown(values: list[float], rings: list[float]) -> None:
    assert ring_values(values) == pytest.approx(rings)


def test_a_value_below_0_is_said() -> None:
    spec = radar_spec(AXES, [Web("one", [-0.25, 0.5, None])])
    (points,) = layers(spec, "point")
    assert (points[0]["x"], points[0]["y"]) == (0, 0)
    assert {"−0.25", "0.50", "–"} <= set(words(spec))


def test_a_line_is_broken_where_there_is_no_value() -> None:
    def pieces(*values: float | None) -> int:
        spec = radar_spec(["a", "b", "c", "d"], [Web("one", values)], 100, 10)
        return len({each["piece"] for some in layers(spec, "line")[3:] for each in some})

    assert pieces(1, 1, 1, 1) == 4
    assert pieces(1, None, 1, 1) == 2
    assert pieces(1, None, 1, None) == 0


def test_a_chart_says_what_it_is(tmp_path: Path) -> None:
    """In its files, too: whose it is, of which games it is not, and what its rings are."""
    made = site(tmp_path, played("oracle", "vendor/model"))
    (drawing,) = (tmp_path / "charts").glob("capabilities-vendor-model-*.svg")
    written = re.findall(r"<text[^>]*>([^<]*)</text>", drawing.read_text(encoding="utf-8"))
    told = " ".join(written)
    assert written.count("vendor/model") == 1
    assert "without RPS, Hanoi, Messenger L1, Messenger L2, Crafter, Minecraft" in told
    assert {"0.25", "0.5", "0.75", "1", "1.25"} <= set(written)  # the oracle has 50 of the 45 that people had
    assert written.count("1.11 / 1.00") == len(CAPABILITIES)
    assert "capped" in told
    captions = json.loads((tmp_path / "charts/index.json").read_text(encoding="utf-8"))
    assert any("without RPS" in each["caption"] for each in captions)
    (page,) = made.models
    # Beyond what people had a cell gets no darker, so that it can still be read.
    shades = re.findall(r"--part:([\d.]+)", made.agents.html.split("<main")[1])
    assert shades
    assert max(map(float, shades)) == 1
    line = page.table("Parts of the capabilities.")[1]
    assert line[:4] == ["Long Text Understanding", "1.111", "1.000", "1.11 100 %"]


def test_a_drawing_is_nothing_but_shapes_and_text() -> None:
    found = str(draw_spec(radar_spec(AXES, [Web("<script>alert(1)</script>", [0.2, 0.4, 0.6])]), 'a "label" <b>'))
    assert set(re.findall(r"<(\w+)", found)) <= {"svg", "g", "path", "circle", "line", "rect", "text", "title"}
    assert all(axis in found for axis in AXES)
    assert "script>" not in found


def test_the_first_page(tmp_path: Path) -> None:
    hostile = "vendor/<img src=x onerror=alert(1)>\u202e"
    episodes = [*played("thompson", hostile), *played("random"), *played("oracle", "waybench/oracle")]
    made = site(tmp_path, episodes)
    page = made.agents.html
    assert "<img" not in page
    assert "\u202e" not in page
    assert page.count("Human-normalised scores.") == 1
    assert page.count('class="chart"') >= 3
    assert "without RPS, Hanoi, Messenger L1, Messenger L2, Crafter, Minecraft" in page
    # Each model's page has its own chart and nobody else's.
    charts = [re.findall(r'aria-label="Capabilities of ([^:]*):', each.html) for each in made.models]
    assert sorted(charts) == [
        ["vendor/&lt;img src=x onerror=alert(1)&gt;⟨U+202E⟩"],
        ["vendor/model"],
        ["waybench/oracle"],
    ]
    assert all("Without RPS, Hanoi, Messenger L1" in each.text for each in made.models)
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [agent["embedded"] for agent in summary["agents"]] == [False, False, True]


# Table 2 of the paper, in the order of RECORDED.
GPT_4_0613 = (1.00, 0.91, 0.83, 0.90, 0.93, 0.26, 0.61)
VICUNA_13B = (0.64, 0.17, 0.07, 0.00, 0.12, 0.02, 0.43)


def agent(model: str, scores: Sequence[float]) -> Agent:
    """Return an agent with human-normalised scores in the first of the recorded settings."""
    by_setting = dict(zip(RECORDED, scores, strict=False))
    means = {setting: mean for setting, score in by_setting.items() if (mean := clustered_mean([score], ["a"]))}
    nine = {formula: capability_scores(by_setting, formula) for formula in FORMULAS}
    return Agent(model, False, (), {}, means, means, nine, {formula: [None] * 9 for formula in FORMULAS})


def lines_of(spec: Mapping[str, Any], colour: str) -> set[tuple[float, float]]:
    """Return where the lines of a colour go around, without the legend's below the rings."""
    values = [each for some in layers(spec, "line") for each in some if each.get("colour") == colour]
    return {(each["x"], each["y"]) for each in values if "piece" in each}


def test_two_agents_are_laid_over_each_other_and_over_people() -> None:
    labels = ["GPT-4-0613", "vicuna-13b"]
    agents = [agent(label, scores) for label, scores in zip(labels, (GPT_4_0613, VICUNA_13B), strict=True)]
    games, capabilities = overlay_charts(agents, labels)
    (chart,) = games.charts
    assert {"Bandit", "RPS", "Hanoi", "Messenger L1", "Messenger L2", "Crafter", "Minecraft"} <= set(words(chart.spec))
    assert [text for text in words(chart.spec) if text in {"Human baseline", *labels}] == ["Human baseline", *labels]
    # People are at 1 on all axes, which is the outermost ring here; Bandit is the axis upwards.
    people = lines_of(chart.spec, "var(--c-reference)")
    assert len(people) == 7
    assert [dist((0, 0), place) for place in people] == pytest.approx([1] * 7, abs=1e-3)
    assert {(0, 1)} < lines_of(chart.spec, "var(--c0)")
    assert (0, 0.64) in lines_of(chart.spec, "var(--c1)")
    assert sorted(dist((0, 0), place) for place in lines_of(chart.spec, "var(--c0)")) == pytest.approx(
        sorted(GPT_4_0613), abs=1e-3
    )
    # By hand: the degrees are 1 2 2 3 3 4 1 and 1 1 3 1 2 3 1 (Table 3), so (1 + 1.82 + 1.66 + 2.7 + 2.79 + 1.04 + .61)
    # / 16 and (1 + .91 + 2.49 + .9 + 1.86 + .78 + .61) / 12.
    assert "GPT-4-0613: Long Text Understanding 0.73, Reasoning 0.71," in str(capabilities.charts[0].wide)


def test_a_legend_ends_within_its_chart_however_long_names_are() -> None:
    labels = ["vendor/" + "a-very-long-name-" * 9 + str(number) for number in range(6)]
    games, _ = overlay_charts([agent(label, GPT_4_0613) for label in labels], labels)
    (chart,) = games.charts
    written = [text for text in words(chart.spec) if text.startswith("vendor/")]
    assert len(written) == len(set(written)) == 6
    assert max(map(len, written)) <= 60
    height, domain = chart.spec["height"], chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    lowest = min(each["y"] for values in layers(chart.spec, "text") for each in values)
    assert domain[0] < lowest
    assert height == pytest.approx((domain[1] - domain[0]) * 300 / 2 / 1.45, abs=1)


def test_more_than_six_agents_have_charts_of_their_own_on_one_scale() -> None:
    labels = [f"m{number}" for number in range(7)]
    scores = [GPT_4_0613] * 6 + [(1.2, *VICUNA_13B[1:])]
    for overlay in overlay_charts([agent(*pair) for pair in zip(labels, scores, strict=True)], labels):
        assert len(overlay.charts) == 7
        rings = [{each["ring"] for each in layers(chart.spec, "line")[0]} for chart in overlay.charts]
        assert rings == [rings[0]] * 7
        assert all("Human baseline" in words(chart.spec) for chart in overlay.charts)
        shown = [[text for text in words(chart.spec) if text in labels] for chart in overlay.charts]
        assert shown == [[label] for label in labels]


def test_what_is_far_beyond_people_is_named_and_squeezes_nothing() -> None:
    scores = (*GPT_4_0613[:5], 20.7, 0.6)
    games, _ = overlay_charts([agent("a", scores), agent("b", GPT_4_0613[:5])], ["a", "b"])
    (chart,) = games.charts
    assert "on the rim, and beyond: a Crafter 20.70" in words(chart.spec)
    assert "b without Crafter, Minecraft" in words(chart.spec)
    assert max(each["ring"] for each in layers(chart.spec, "line")[0]) == 1.5
    assert max(dist((0, 0), place) for place in lines_of(chart.spec, "var(--c0)")) == pytest.approx(1, abs=1e-3)
    assert "a: Bandit 1.00, RPS 0.91, Hanoi 0.83, Messenger L1 0.90, Messenger L2 0.93, Crafter 20.70" in str(
        chart.wide
    )


def test_raw_scores_and_degrees_are_tables(tmp_path: Path) -> None:
    made = site(tmp_path, [*played("oracle", "vendor/model"), *played("random", "waybench/random")])
    rows = made.agents.table("Scores in the recorded settings.")
    # Table 4: the human baseline.
    assert rows[1] == ["Human baseline", "45", "43", "3", "1", "1", "2680", "1"]
    assert rows[2][0] == "vendor/ model"  # where the name may be broken
    assert rows[2][1].startswith("50.00")
    assert rows[2][2:] == ["not run"] * 6
    degree_rows = made.agents.table("Degrees of the challenges.")
    # Table 3, with the program's MessengerL1 before MessengerL2+.
    assert degree_rows[2] == ["Reasoning 1: 0–1-hop; 2: 2–3-hop; 3: multi-hop", "1", "1", "3", "1", "2", "3", "1"]
    assert len(degree_rows) == 10
    assert made.agents.html.count('aria-label="Degrees of the challenges in ') == 7
    (first, _) = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["agents"]
    assert first["raw"]["BanditTwoArmedHighLowFixed"]["value"] == 50


def test_without_agents_nothing_is_said_of_them(tmp_path: Path) -> None:
    made = site(tmp_path, played("oracle", steps=10))
    assert not [page for page in made.pages if "Agents (SmartPlay)" in page.text or "Capabilities" in page.text]
