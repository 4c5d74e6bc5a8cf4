"""Charts of metrics that split one measure: bars of all players, and one player against another by cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.maps import answered, corridor
from tests.report.pages import site
from waybench.envs.textmap._items import MapQuestion
from waybench.results import overall, rows
from waybench.results.estimates._bounds import metric_cluster_values

pytestmark = pytest.mark.slow

MAPS = [corridor(f"m{places}", places, words=20 - places) for places in (3, 4, 5, 6, 7, 9)]


def near(question: MapQuestion) -> str:
    return "oracle" if abs(int(question.source[5:]) - int(question.target[5:])) < 3 else "constant"


def first_room(question: MapQuestion) -> str:
    return "oracle" if "room 0" in (question.source, question.target) else "constant"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("panels")
    episodes = [
        *answered(first_room, MAPS, model="vendor/a"),
        *answered(near, MAPS, model="vendor/b"),
        *answered("random", MAPS, model="waybench/random"),
    ]
    (out / "expected.json").write_text(json.dumps(expected(episodes)))
    site(out, episodes)
    return out


def expected(episodes: Any) -> Any:
    measured = rows(episodes)
    macro = {total.group.model: {name: mean.value for name, mean in total.macro.items()} for total in overall(measured)}
    clusters = {
        model: {
            name: {cluster.name: value.value for cluster, value in found.items()}
            for name, found in metric_cluster_values(
                [row for row in measured if row.group.model == model], ["success_easy", "success_hard"]
            ).items()
        }
        for model in macro
    }
    return {"macro": macro, "clusters": clusters}


def chart(folder: Path, what: str) -> list[Any]:
    """Return the panels of a chart's specification."""
    (path,) = folder.glob(f"charts/textmap-route-{what}-*.json")
    return json.loads(path.read_text())["concat"]


def test_bars_are_the_means_over_maps(folder: Path) -> None:
    known = json.loads((folder / "expected.json").read_text())["macro"]
    panels = chart(folder, "success-bars")
    for panel, name in zip(panels, ("success_easy", "success_hard"), strict=True):
        bars = {bar["player"]: bar for bar in panel["layer"][0]["data"]["values"]}
        assert {player: bar["value"] for player, bar in bars.items()} == pytest.approx(
            {model.partition("/")[2]: values[name] for model, values in known.items()}
        )
        assert all(bar["low"] <= bar["value"] <= bar["high"] for bar in bars.values())
        assert len({bar["colour"] for bar in bars.values()}) == 3
        assert panel["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]


def test_points_are_the_maps_of_two_models(folder: Path) -> None:
    known = json.loads((folder / "expected.json").read_text())["clusters"]
    panels = chart(folder, "success-by-map")
    axes = panels[0]["layer"][1]["encoding"]
    across, up = (axes[axis]["title"].strip("↑→ ") for axis in ("x", "y"))
    assert {across, up} == {"a", "b"}
    for panel, name in zip(panels, ("success_easy", "success_hard"), strict=True):
        points = {point["cluster"]: (point["x"], point["y"]) for point in panel["layer"][1]["data"]["values"]}
        assert set(points) == {place_map.name for place_map in MAPS}
        assert points == {
            cluster: (known[f"vendor/{across}"][name][cluster], known[f"vendor/{up}"][name][cluster])
            for cluster in points
        }
    texts = [point["text"] for point in panels[0]["layer"][1]["data"]["values"]]
    assert any(text.startswith("m3, 3 questions: ") for text in texts)


def test_the_pages_show_them_and_one_player_has_no_points(folder: Path, tmp_path: Path) -> None:
    (page,) = folder.glob("tasks/*.html")
    html = page.read_text()
    assert "Success of each player: the mean over maps, with its 95 % interval over maps." in html
    assert "Each point is one of the maps in which both have a score" in html
    assert "Success weighted by route length of each player" in html
    alone = site(tmp_path, answered(near, MAPS, model="vendor/a"))
    assert "Success of each player" in alone.task.text
    assert "Each point is one of the maps" not in alone.task.text


def test_each_map_has_a_page_with_its_drawing(folder: Path) -> None:
    pages = {path.stem.partition("-")[0]: path for path in folder.glob("clusters/*.html")}
    assert set(pages) == {place_map.name for place_map in MAPS}
    html = pages["m9"].read_text()
    assert "<h1>Map m9</h1>" in html and html.count('class="textmap-box"') == 9
    link = f'href="../clusters/{pages["m9"].name}"'
    assert all(link in path.read_text() for path in folder.glob("results/*a-*.html"))
    shown = [path.read_text() for path in folder.glob("replays/*.html")]
    assert all("The whole map</a>" in text for text in shown)
    assert 0 < sum(link in text for text in shown) < len(shown)
