"""Charts as files that stand alone."""

import json
import re
import struct
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair
import jsonschema
import pytest
import vl_convert

from tests.analysis.episodes import played
from tests.analysis.searches import searched
from tests.report.test_chart import EPISODES, plot_of
from waybench.reporting import write_report
from waybench.reporting.charts._bars import outcomes_spec
from waybench.reporting.charts._chart import WIDE, chart_spec
from waybench.reporting.charts._radar import Web, radar_spec
from waybench.reporting.charts._success import WIDE as PANELS
from waybench.reporting.charts._success import Player, success_spec
from waybench.reporting.charts._svg import (
    FONT,
    SCALE,
    Chart,
    ChartFiles,
    draw_spec,
    palette,
    safe_drawing,
    standalone_svg,
    with_label,
)
from waybench.results import rows
from waybench.results.horizons._horizons import success_curves

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "vendor/<script>alert(1)</script> var(--c0)"
BARS = [
    {"task": "a", "outcome": "ok", "order": 0, "share": 0.75, "colour": "var(--c2)", "text": "a: 75 %"},
    {"task": "a", "outcome": "refused", "order": 5, "share": 0.25, "colour": "var(--c6)", "text": "a: 25 %"},
]
PLAYERS = [
    Player(curve.group.model, False, number, curve)
    for number, curve in enumerate(success_curves(rows(EPISODES)))
    if curve.axis == "dimension"
]
SPECS: dict[str, dict[str, Any]] = {
    "lines": chart_spec(plot_of(EPISODES), WIDE),
    "radar": radar_spec(["a", "b", "c"], [Web("one", [0.2, None, 0.6])]),
    "bars": outcomes_spec(BARS),
    "panels": success_spec(PLAYERS, "Dimension", ("maze", "mazes"), PANELS),
}


@pytest.mark.parametrize("kind", SPECS)
def test_specifications_are_valid(kind: str) -> None:
    # Nothing checks them while a report is made, for that takes as long as drawing.
    whole = {"layer": altair.LayerChart, "concat": altair.ConcatChart}
    kinds = next((made for key, made in whole.items() if key in SPECS[kind]), altair.Chart)
    kinds.from_dict(SPECS[kind])
    with pytest.raises(jsonschema.ValidationError):
        kinds.from_dict({**SPECS[kind], "config": "wide"})


def test_the_palette_is_that_of_a_light_page() -> None:
    sheet = resources.files("waybench.reporting").joinpath("templates/style.css").read_text()
    light, dark = sheet.split("@media (prefers-color-scheme: dark)")[:2]
    for name in ("--c0", "--c6", "--t3", "--soft", "--rule", "--c-reference"):
        assert re.search(rf"{name}: {palette()[name]};", light)
        assert not re.search(rf"{name}: {palette()[name]};", dark.partition("* {")[0])
    assert palette()["--page"] == "#ffffff"
    # Everything that a specification names is there.
    named = set(re.findall(r"var\((--[\w-]+)\)", json.dumps(list(SPECS.values()))))
    assert named <= set(palette())


@pytest.mark.parametrize("kind", SPECS)
def test_a_drawing_alone_is_that_of_the_page_in_colours(kind: str) -> None:
    page = draw_spec(SPECS[kind], "A label")
    root = ElementTree.fromstring(alone := standalone_svg(page))
    assert root.tag == f"{SVG}svg"
    assert "var(" not in alone
    assert (root.get("font-family"), root.get("aria-label"), root.get("role")) == (FONT, "A label", "img")
    paper, *shapes = list(root)
    assert (paper.tag, paper.get("fill")) == (f"{SVG}rect", "#ffffff")
    left, top, width, height = map(float, root.get("viewBox", "").split())
    assert [float(paper.get(name, "nan")) for name in ("x", "y", "width", "height")] == [left, top, width, height]
    assert (root.get("width"), root.get("height")) == (f"{width:g}", f"{height:g}")
    on_page = ElementTree.fromstring(page)
    assert len(list(root.iter())) == len(list(on_page.iter())) + 1
    assert [e.text for e in root.iter(f"{SVG}text")] == [e.text for e in on_page.iter("text")]
    assert len(shapes) == len(list(on_page))


def test_words_are_no_colours() -> None:
    spec = {**SPECS["bars"], "data": {"values": [{**piece, "task": HOSTILE, "text": HOSTILE} for piece in BARS]}}
    alone = standalone_svg(draw_spec(spec, HOSTILE))
    root = ElementTree.fromstring(alone)
    assert root.get("aria-label") == HOSTILE
    assert HOSTILE in {element.text for element in root.iter(f"{SVG}text")}
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "g", "path", "circle", "line", "rect", "text", "title")
    }
    colours = {value for element in root.iter() for key, value in element.attrib.items() if key in ("fill", "stroke")}
    assert colours <= {"none", "transparent", *palette().values(), "#000", "#000000", "#ddd", "#888"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    write_report(
        [
            *played("random", (5, 7), model=HOSTILE),
            *played("oracle", (5, 7)),
            *searched("random", "dfs", model=HOSTILE),
            *searched("random", "dfs", model=HOSTILE, examples=2),
            *searched("oracle", "dfs"),
        ],
        out,
        png=True,
    )
    return out


def svgs_of(page: Path) -> int:
    """Return how many charts a page has; one that is drawn twice, for wide and narrow pages, is one."""
    html = page.read_text(encoding="utf-8")
    return html.count('<svg class="chart"') - html.count('<div class="narrow">')


def test_every_chart_of_the_pages_is_a_file(site: Path) -> None:
    listed = json.loads((site / "charts" / "index.json").read_text())
    names = [each["name"] for each in listed]
    assert len(names) == len(set(names))
    # The page of a task has the curves of the pages of results, as lines of its own charts.
    pages = [path for folder in ("models", "tasks") for path in (site / folder).iterdir()]
    # The first page's charts are those of the tasks' pages, too.
    assert len(names) == sum(map(svgs_of, pages)) > 5
    assert {path.name for path in (site / "charts").iterdir()} == {
        "index.json",
        *(f"{name}.{suffix}" for name in names for suffix in ("svg", "png", "json")),
    }
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", name) for name in names)
    assert all(each["caption"] for each in listed)


def test_files_are_what_their_names_say(site: Path) -> None:
    for each in json.loads((site / "charts" / "index.json").read_text()):
        svg, png = (site / "charts" / f"{each['name']}.{suffix}" for suffix in ("svg", "png"))
        root = ElementTree.fromstring(svg.read_text(encoding="utf-8"))
        assert not [value for element in list(root.iter())[1:] for value in element.attrib.values() if "var(" in value]
        content = png.read_bytes()
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert content[12:16] == b"IHDR"
        size = struct.unpack(">II", content[16:24])
        assert size == tuple(round(SCALE * float(root.get(name, "nan"))) for name in ("width", "height"))


def marks(svg: str) -> list[str]:
    """Return the points of a chart: their shapes and places."""
    names = "d", "transform", "cx", "cy", "r"
    found = (each for each in ElementTree.fromstring(svg).iter() if each.find(f"{SVG}title") is not None)
    return sorted(str([each.tag, *map(each.get, names)]) for each in found)


def test_a_chart_can_be_drawn_again_from_its_file(site: Path) -> None:
    (name,) = [path.stem for path in (site / "charts").glob("maze-alicia-score-by-dimension-*.json")]
    spec = json.loads((site / "charts" / f"{name}.json").read_text())
    assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v6.json"
    assert spec["background"] == "#ffffff"
    assert spec["description"].startswith("Score, %, by dimension")
    assert '"var(' not in json.dumps(spec)
    points = spec["data"]["values"]
    assert [(each["level"], each["score"]) for each in points if each["label"] == "oracle"] == [(5, 100), (7, 100)]
    again = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version="6.4", allowed_base_urls=[])
    here = marks((site / "charts" / f"{name}.svg").read_text())
    assert marks(standalone_svg(with_label(safe_drawing(again), "x"))) == here
    assert len(here) == 4


def test_names_are_the_same_in_every_report(site: Path, tmp_path: Path) -> None:
    write_report([*played("null", (5, 7)), *played("oracle", (5, 7), model="another/one")], tmp_path)
    here, there = ({path.name for path in (folder / "charts").glob("maze-*.svg")} for folder in (site, tmp_path))
    assert here == there
    assert sorted(name.rpartition("-")[0] for name in here) == [
        *("maze-alicia-dimension-reached-by-tokens", "maze-alicia-score-by-dimension"),
        "maze-alicia-success-by-dimension",
        *("maze-alicia-success-by-junctions", "maze-alicia-success-by-minimum"),
    ]


def test_a_picture_is_made_again_only_where_its_drawing_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = draw_spec(SPECS["radar"], "x")
    figure = Chart("web", page, None, "A web.", SPECS["radar"])

    def write(figure: Chart) -> bytes:
        for name, content in ChartFiles(tmp_path, png=True).files_of([figure]):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return (tmp_path / "charts" / "web.png").read_bytes()

    first = write(figure)
    made: list[str] = []
    real = vl_convert.svg_to_png

    def counted(svg: str, **more: Any) -> bytes:
        made.append(svg)
        return real(svg, **more)

    monkeypatch.setattr(vl_convert, "svg_to_png", counted)
    assert write(figure) == first
    assert made == []
    other = radar_spec(["a", "b", "c"], [Web("one", [0.9, 0.2, 0.6])])
    assert write(Chart("web", draw_spec(other, "x"), None, "A web.", other)) != first
    assert len(made) == 1
    (tmp_path / "charts" / "web.png").unlink()
    assert write(figure) == first
    assert len(made) == 2


def test_a_chart_of_a_page_is_not_changed_by_its_file() -> None:
    page = draw_spec(chart_spec(plot_of(EPISODES), WIDE), "x")
    before = str(page)
    standalone_svg(page)
    assert str(page) == before
    assert "var(--c0)" in before


def test_charts_are_written_as_png_on_request_alone(tmp_path: Path) -> None:
    figure = Chart("web", draw_spec(SPECS["radar"], "x"), None, "A web.", SPECS["radar"])
    assert [name for name, _ in ChartFiles(tmp_path).files_of([figure])] == ["charts/web.svg", "charts/web.json"]
    with_png = [name for name, _ in ChartFiles(tmp_path, png=True).files_of([figure])]
    assert with_png == ["charts/web.png", "charts/web.svg", "charts/web.json"]
