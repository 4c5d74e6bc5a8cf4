"""The first page's tables and charts of agents."""

import json
import re
from collections.abc import Mapping
from math import dist
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_agents import played
from tests.report.pages import site
from waybench.reporting.charts._radar import Web, radar_spec, ring_values
from waybench.reporting.charts._svg import drawn
from waybench.smartplay import CAPABILITIES

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
    shades = re.findall(r"--part:([\d.]+)", made.home.html.split('id="agents"')[1].split("</section>")[0])
    assert shades
    assert max(map(float, shades)) == 1
    line = page.table("Parts of the capabilities.")[1]
    assert line[:4] == ["Long Text Understanding", "1.111", "1.000", "1.11 100 %"]


def test_a_drawing_is_nothing_but_shapes_and_text() -> None:
    found = str(drawn(radar_spec(AXES, [Web("<script>alert(1)</script>", [0.2, 0.4, 0.6])]), 'a "label" <b>'))
    assert set(re.findall(r"<(\w+)", found)) <= {"svg", "g", "path", "line", "rect", "text", "title"}
    assert all(axis in found for axis in AXES)
    assert "script>" not in found


def test_the_first_page(tmp_path: Path) -> None:
    hostile = "vendor/<img src=x onerror=alert(1)>\u202e"
    episodes = [*played("thompson", hostile), *played("random"), *played("oracle", "waybench/oracle")]
    made = site(tmp_path, episodes)
    page = made.home.html
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


def test_without_agents_nothing_is_said_of_them(tmp_path: Path) -> None:
    made = site(tmp_path, played("oracle", steps=10))
    assert not [page for page in made.pages if "Agents (SmartPlay)" in page.text or "Capabilities" in page.text]
