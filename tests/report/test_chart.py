import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.analysis.episodes import SCORE, detour, failed, item, logged, played
from waybench.analysis import estimate
from waybench.report._chart import NARROW, WIDE, Shape, chart, chart_data, chart_spec
from waybench.report._svg import inline

EPISODES = [
    *played("heuristic", (5, 7, 9), model="vendor/walker"),
    *played("random", (5, 7), model="other/drifter"),
    *played("oracle", (5, 9)),
    *played("null", (5, 7)),
    logged(failed(detour(item(11), 2)), "vendor/walker"),
]


def test_points_are_the_estimates() -> None:
    found = estimate(EPISODES)
    points = chart_data(found, SCORE)
    known = {(e.group.model.rpartition("/")[2], e.level): e.best for e in found if e.best}
    assert {(p["label"], p["level"]) for p in points} == set(known)
    for point in points:
        best = known[point["label"], point["level"]]
        assert (point["score"], point["low"], point["high"]) == (best.value, best.low, best.high)
    # The level of which nothing is known has no point, and neither have levels that were not run.
    assert ("walker", 11) not in known
    assert ("oracle", 7) not in known
    assert {p["label"] for p in points if p["reference"]} == {"oracle", "null"}


@pytest.mark.parametrize("shape", [WIDE, NARROW])
def test_drawing_has_a_mark_at_the_height_of_each_score(shape: Shape) -> None:
    found = estimate(EPISODES)
    points = chart_data(found, SCORE)
    drawn = ElementTree.fromstring(chart(found, SCORE, "dimension", shape, "Score by dimension"))
    marks = {
        mark.findtext("title"): float(re.findall(r"[-.\d]+", mark.get("transform", ""))[1])
        for mark in drawn.iter("path")
        if mark.find("title") is not None
    }
    assert set(marks) == {point["text"] for point in points}
    for point in points:
        assert marks[point["text"]] == pytest.approx(shape.height * (1 - point["score"] / 100), abs=0.6)
    assert drawn.get("aria-label") == "Score by dimension"
    texts = [text.text for text in drawn.iter("text")]
    assert {"walker", "drifter", "oracle", "null", "Dimension"} <= set(texts)


def test_labels_do_not_overlap() -> None:
    episodes = [e for n in range(9) for e in played("oracle", (5, 7), mazes=2, model=f"vendor/model-{n}")]
    spec = chart_spec(estimate(episodes), SCORE, "dimension", WIDE)
    (labels,) = [layer["data"]["values"] for layer in spec["layer"][-1:]]
    heights = sorted(label["score"] * WIDE.height / 100 for label in labels)
    assert len(labels) == 9
    assert all(b - a >= WIDE.font for a, b in pairwise(heights))


def test_only_references_are_coloured_and_beside_models_they_are_grey() -> None:
    def colours(models: bool) -> set[str]:
        episodes = [e for e in EPISODES if models or e.embedded]
        spec = chart_spec(estimate(episodes), SCORE, "dimension", WIDE)
        return {p["colour"] for p in spec["layer"][1]["data"]["values"] if p["reference"]}

    assert colours(models=True) == {"var(--c-reference)"}
    assert colours(models=False) == {"var(--c0)", "var(--c1)"}


def test_one_point_is_a_chart_too() -> None:
    found = estimate(played("oracle", (5,), mazes=1))
    assert "oracle" in chart(found, SCORE, "dimension", WIDE, "x")


def test_drawing_keeps_shapes_and_text_only() -> None:
    svg = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10"
    viewBox="0 0 1 1">
    <script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>a</text></a><image xlink:href="http://x"/>
    <foreignObject><text>b</text></foreignObject><style>*{}</style>
    <text onclick="alert(1)" fill="url(http://x)" stroke="red">&lt;b&gt;</text></svg>"""
    assert inline(svg, '"<x>') == (
        '<svg class="chart" viewBox="0 0 1 1" role="img" aria-label="&quot;&lt;x&gt;" style="--natural:10px">'
        '<text stroke="red">&lt;b&gt;</text></svg>'
    )
