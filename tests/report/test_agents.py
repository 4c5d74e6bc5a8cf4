"""The first page's tables and charts of agents."""

import json
import re
from math import dist
from pathlib import Path

import pytest

from tests.analysis.test_agents import played
from tests.report.pages import site
from waybench.report._radar import Web, radar_spec
from waybench.report._svg import drawn

AXES = ["up", "right", "left"]


def test_values_lie_on_their_axes() -> None:
    spec = radar_spec(AXES, [Web("one", [1.0, 0.5, 7.0])], 100, 10)
    points = spec["layer"][4]["data"]["values"]
    places = [(point["x"], point["y"]) for point in points]
    assert places[0] == (0, 1)
    assert [dist((0, 0), place) for place in places] == pytest.approx([1.0, 0.5, 1.2], abs=1e-3)
    assert places[1][0] > 0 > places[1][1]
    assert [point["text"] for point in points] == ["one: 1.00", "one: 0.50", "one: 7.00"]


def test_a_line_is_broken_where_there_is_no_value() -> None:
    def pieces(*values: float | None) -> int:
        spec = radar_spec(["a", "b", "c", "d"], [Web("one", values)], 100, 10)
        return len({each["piece"] for each in spec["layer"][3]["data"]["values"]})

    assert pieces(1, 1, 1, 1) == 4
    assert pieces(1, None, 1, 1) == 2
    assert pieces(1, None, 1, None) == 0


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
