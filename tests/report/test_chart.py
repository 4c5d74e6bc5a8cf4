import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.analysis.episodes import SCORE, detour, estimate, failed, item, logged, played
from waybench.core import Metric
from waybench.reporting.charts._chart import NARROW, WIDE, ChartShape, Plot, chart_spec
from waybench.reporting.charts._points import Point, points_by_level
from waybench.reporting.charts._svg import draw_spec, safe_drawing, with_label
from waybench.results import LoggedEpisode
from waybench.results.estimates._measures import HeadlineSpec

EPISODES = [
    *played("heuristic", (5, 7, 9), model="vendor/walker"),
    *played("random", (5, 7), model="other/drifter"),
    *played("oracle", (5, 9)),
    *played("null", (5, 7)),
    logged(failed(detour(item(11), 2)), "vendor/walker"),
]


def points_of(episodes: list[LoggedEpisode]) -> list[Point]:
    return points_by_level(estimate(episodes), HeadlineSpec(SCORE))


def plot_of(episodes: list[LoggedEpisode]) -> Plot:
    return Plot(points_of(episodes), SCORE, "Dimension")


def test_points_are_the_estimates() -> None:
    found = estimate(EPISODES)
    points = points_of(EPISODES)
    known = {(e.group.model.rpartition("/")[2], e.level): e.best for e in found if e.best}
    assert {(point.label, point.at) for point in points} == set(known)
    for point in points:
        assert point.mean == known[point.label, point.at]
    # The level of which nothing is known has no point, and neither have levels that were not run.
    assert ("walker", 11) not in known
    assert ("oracle", 7) not in known
    assert {point.label for point in points if point.reference} == {"oracle", "null"}


@pytest.mark.parametrize("shape", [WIDE, NARROW])
def test_drawing_has_a_mark_at_the_height_of_each_score(shape: ChartShape) -> None:
    points = points_of(EPISODES)
    drawn = ElementTree.fromstring(draw_spec(chart_spec(plot_of(EPISODES), shape), "Score by dimension"))
    marks = {
        mark.findtext("title"): float(mark.get("cy") or re.findall(r"[-.\d]+", mark.get("transform", ""))[1])
        for mark in (*drawn.iter("circle"), *drawn.iter("path"))
        if mark.find("title") is not None
    }
    assert set(marks) == {point.text for point in points}
    for point in points:
        assert marks[point.text] == pytest.approx(shape.height * (1 - point.mean.value / 100), abs=0.6)
    assert drawn.get("aria-label") == "Score by dimension"
    texts = [text.text for text in drawn.iter("text")]
    assert {"walker", "drifter", "oracle", "null", "Dimension", "↑ higher is better"} <= set(texts)


def test_labels_do_not_overlap() -> None:
    episodes = [e for n in range(9) for e in played("oracle", (5, 7), mazes=2, model=f"vendor/model-{n}")]
    spec = chart_spec(plot_of(episodes), WIDE)
    (labels,) = [layer["data"]["values"] for layer in spec["layer"][-1:]]
    heights = sorted(label["score"] * WIDE.height / 100 for label in labels)
    assert len(labels) == 9
    assert all(b - a >= WIDE.font for a, b in pairwise(heights))


def test_only_references_are_coloured_and_beside_models_they_are_grey() -> None:
    def colours(models: bool) -> set[str]:
        episodes = [e for e in EPISODES if models or e.embedded]
        spec = chart_spec(plot_of(episodes), WIDE)
        references = {point.line for point in points_of(episodes) if point.reference}
        return {shown["colour"] for shown in spec["data"]["values"] if shown["series"] in references}

    assert colours(models=True) == {"var(--c-reference)"}
    assert colours(models=False) == {"var(--c0)", "var(--c1)"}


def test_one_point_is_a_chart_too() -> None:
    assert "oracle" in draw_spec(chart_spec(plot_of(played("oracle", (5,), mazes=1)), WIDE), "x")


def test_drawing_keeps_shapes_and_text_only() -> None:
    svg = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10"
    viewBox="0 0 1 1">
    <script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>a</text></a><image xlink:href="http://x"/>
    <foreignObject><text>b</text></foreignObject><style>*{}</style>
    <text onclick="alert(1)" fill="url(http://x)" stroke="red">&lt;b&gt;</text></svg>"""
    assert with_label(safe_drawing(svg), '"<x>') == (
        '<svg class="chart" viewBox="0 0 1 1" role="img" aria-label="&quot;&lt;x&gt;" style="--natural:10px">'
        '<text stroke="red">&lt;b&gt;</text></svg>'
    )


def test_a_point_is_a_circle() -> None:
    point = "M3.808,0A3.808,3.808,0,1,1,-3.808,0A3.808,3.808,0,1,1,3.808,0"
    half = "M3.808,0A3.808,3.808,0,1,1,-3.808,0"
    shapes = "".join(f'<path transform="translate(15,-2.345)" d="{each}" fill="red"/>' for each in (point, half))
    drawn = with_label(
        safe_drawing(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" viewBox="0 0 9 9">{shapes}</svg>'), "x"
    )
    assert '<circle cx="15" cy="-2.34" r="3.80" fill="red" />' in drawn
    assert drawn.count("<path") == 1


def test_axes_of_shares_and_per_cents_have_per_cent_signs() -> None:
    def labels(metric: Metric) -> set[str | None]:
        points = [replace(point, mean=replace(point.mean, value=0.5)) for point in points_of(EPISODES)]
        drawn = ElementTree.fromstring(draw_spec(chart_spec(Plot(points, metric, "Dimension"), WIDE), "Score"))
        return {text.text for text in drawn.iter("text")}

    share = replace(SCORE, low=0, high=1, unit="")
    assert {"0%", "100%"} <= labels(share)
    assert {"0%", "100%"} <= labels(replace(SCORE, low=0, high=100, unit="%"))
    assert {"0", "100"} <= labels(replace(SCORE, low=0, high=100, unit=""))
