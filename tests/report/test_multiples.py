"""Charts of many models: a panel for each, with the whole name above it."""

from xml.etree import ElementTree

import pytest

from tests.analysis.episodes import SCORE
from waybench.reporting.charts._chart import (
    MOST_LINES,
    NARROW_GRID,
    WIDE,
    WIDE_GRID,
    ChartShape,
    Grid,
    Plot,
    chart_spec,
    is_crowded,
    panels_spec,
    wrap_label,
)
from waybench.reporting.charts._points import Point
from waybench.reporting.charts._svg import draw_spec
from waybench.results.stats import IntervalEstimate

NAMES = [f"model-{number}-instruct-preview-2025-09-{number:02}-long-context" for number in range(11)]


def plot(names: list[str], levels: int = 49) -> Plot:
    points = [
        Point(
            line=line,
            colour=line % 7,
            label=name,
            reference=name == "random",
            at=5 + 2 * level,
            mean=IntervalEstimate(100.0 - level, 90.0 - level, 100.0, 5, 5),
            text=f"{name}, {5 + 2 * level}",
        )
        for line, name in enumerate(names)
        for level in range(levels)
    ]
    return Plot(points, SCORE, "Dimension")


@pytest.mark.parametrize(("grid", "letters"), [(WIDE_GRID, 25), (NARROW_GRID, 19)])
def test_a_panel_for_each_of_twelve_models_with_its_whole_name(grid: Grid, letters: int) -> None:
    spec = panels_spec(plot(["random", *NAMES]), grid)
    headings = [
        "".join(layer["data"]["values"][0]["text"] for layer in panel["layer"] if "data" in layer)
        for panel in spec["concat"]
    ]
    assert headings == [*NAMES, "random"]  # a reference player comes last
    texts = [text.text or "" for text in ElementTree.fromstring(draw_spec(spec, "x")).iter("text")]
    assert all(len(text) <= letters for text in texts if "-" in text) and not any("…" in text for text in texts)
    for panel in spec["concat"]:
        # Of 49 levels, as many have a number as there is room for.
        shown = panel["layer"][0]["encoding"]["x"]["axis"]["values"]
        assert 2 <= len(shown) <= grid.width / 34


def test_every_point_has_its_words() -> None:
    some = plot(NAMES, levels=3)
    titles = {
        title.text for title in ElementTree.fromstring(draw_spec(panels_spec(some, WIDE_GRID), "x")).iter("title")
    }
    assert titles == {point.text for point in some.points}


def test_few_lines_are_in_one_plot() -> None:
    assert not is_crowded(plot(NAMES[:MOST_LINES]))
    assert is_crowded(plot(NAMES[: MOST_LINES + 1]))


def test_a_label_at_the_end_of_a_line_is_whole() -> None:
    texts = [
        text.text or ""
        for text in ElementTree.fromstring(draw_spec(chart_spec(plot(NAMES[:2]), WIDE), "x")).iter("text")
    ]
    for name in NAMES[:2]:
        first, second = wrap_label(name, WIDE.letters)
        assert first in texts and second in texts and first + second == name
    narrow = ChartShape(250, 300, 12, 8)
    assert "…" not in draw_spec(chart_spec(plot(["averyveryverylongname"]), narrow), "x")


def test_where_names_are_broken() -> None:
    assert wrap_label("gpt-5-mini", 20) == ["gpt-5-mini"]
    assert wrap_label("llama-3.1-nemotron-ultra-253b-v1", 19) == ["llama-3.1-nemotron-", "ultra-253b-v1"]
    assert wrap_label("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap_label("qwen, temperature: 0", 14) == ["qwen,", "temperature: 0"]
