"""Charts as files that stand alone: the SVG of each, on request a PNG, and the specification with its data."""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import vl_convert

from waybench.core import Json
from waybench.reporting.charts._svg import Chart

SCALE = 2  # pixels of a PNG to one of the drawing
# The first one comes with what draws the PNGs, and the others have the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_PAPER = "#ffffff"
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_COLOURED_TAG = re.compile(r"<[^>]*var\([^>]*>")
_DATA = {"values", "datasets"}  # keys of data in a specification
_COLOURED = {"colour", "ink"}  # keys of the data whose values are colours


class ChartFiles:
    """The files of charts, as far as they have been drawn.

    Attributes:
        listed: Names and captions of the charts.
    """

    def __init__(self, folder: Path, *, png: bool = False) -> None:
        """Begin.

        Args:
            folder: The site's folder, which an earlier report may have written to.
            png: Whether each chart is also written as a PNG, which takes as long as the chart itself and most room.
        """
        self._folder, self._png = folder, png
        self.listed: list[dict[str, Json]] = []

    def of(self, charts: Iterable[Chart]) -> Iterator[tuple[str, str | bytes]]:
        """Yield names and contents of the files of some charts.

        The SVG is the page's own drawing in the colours of a light page, on white. Beside it is the Vega-Lite
        specification with all of its data, and on request the SVG as a PNG.
        """
        for chart in charts:
            svg, place = standalone(chart.wide), f"charts/{chart.name}"
            if self._png:
                # First the picture: a drawing that is there tells the next report that its picture is there, too.
                yield f"{place}.png", self._before(place, svg) or vl_convert.svg_to_png(svg, scale=SCALE)
            yield f"{place}.svg", svg
            yield f"{place}.json", json.dumps(_specification(chart), allow_nan=False, separators=(",", ":")) + "\n"
            self.listed.append({"name": chart.name, "caption": chart.caption})

    def _before(self, place: str, svg: str) -> bytes:
        """Return the picture that an earlier report made of the same drawing; b"" if there is none."""
        try:
            if (self._folder / f"{place}.svg").read_text(encoding="utf-8") == svg:
                return (self._folder / f"{place}.png").read_bytes()
        except (OSError, ValueError):
            pass
        return b""

    def index(self) -> tuple[str, str]:
        """Return name and content of the list of them all, with their captions."""
        return "charts/index.json", json.dumps(self.listed, indent=1) + "\n"


@cache
def palette() -> Mapping[str, str]:
    """Return the colours of a light page by their names in the style sheet, with white paper."""
    sheet = resources.files("waybench.reporting").joinpath("templates/style.css").read_text(encoding="utf-8")
    block = sheet[sheet.index(":root {") : sheet.index("}")]
    return {**dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block)), "--page": _PAPER}


def standalone(drawing: str) -> str:
    """Return a drawing of a page as a file of its own.

    Args:
        drawing: The drawing, as `waybench.reporting.charts._svg.inline` gives it.
    """
    head, end, shapes = drawing.partition(">")
    svg = ElementTree.fromstring(f"{head}/>")
    box = svg.get("viewBox", "")
    left, top, width, height = box.split()
    svg.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": height,
        "viewBox": box,
        "role": "img",
        "aria-label": svg.get("aria-label", ""),
        "font-family": FONT,
    }
    paper = ElementTree.Element("rect", {"x": left, "y": top, "width": width, "height": height, "fill": _PAPER})
    opening = ElementTree.tostring(svg, encoding="unicode").removesuffix(" />")
    # Values of attributes have no ">" (ElementTree writes "&gt;"), so a tag ends with the first one.
    coloured = _COLOURED_TAG.sub(lambda tag: _coloured(tag[0]), shapes)
    return f"{opening}{end}{ElementTree.tostring(paper, encoding='unicode')}{coloured}\n"


def _coloured(value: str) -> str:
    return _VARIABLE.sub(lambda found: palette()[found[1]], value)


def _specification(chart: Chart) -> dict[str, Json]:
    made = _resolved(chart.spec)
    config = {**made.get("config", {}), "font": FONT}
    about = {"description": chart.caption, "background": _PAPER, "config": config}
    return {**made, **about}


def _resolved(value: Json, keys: Container[str] | None = None) -> Any:
    """Return a part of a specification with colours in place of their names; of its data, only where there are any."""
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Json], value).items()
        return {
            key: _resolved(one, _COLOURED if key in _DATA else None) if keys is None or key in keys else one
            for key, one in items
        }
    if isinstance(value, list):
        return [_resolved(one, keys) for one in cast(list[Json], value)]
    return _coloured(value) if isinstance(value, str) else value
