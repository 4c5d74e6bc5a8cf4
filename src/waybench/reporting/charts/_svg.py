"""Charts: drawings of their specifications that are safe for a page, their files, and colours of models."""

import json
import os
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, Self, cast
from xml.etree import ElementTree

import vl_convert
from markupsafe import Markup

from waybench.core import Json
from waybench.core._workers import forbid_forking
from waybench.reporting._cache import ReportCache, content_key
from waybench.reporting.charts._spec import Spec
from waybench.results.logs import is_embedded

_VEGA_LITE = "6.4"
_ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "title"}
_INHERITED = {
    *{"fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"},
    *{"stroke-linejoin", "stroke-miterlimit", "font-size", "font-weight", "text-anchor"},
}
_ATTRIBUTES = {
    *{"d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewBox", "transform", "opacity"},
    *_INHERITED,
}
_DEFAULTS = {"opacity": "1", "transform": "translate(0,0)", **dict.fromkeys(("x1", "x2", "y1", "y2"), "0")}
_VALUE = re.compile(r"[-+\w .,#%()]*")
# Caches, of which the last one is in use, each with the folder in which processes share their drawings.
_CACHES: list[tuple[ReportCache, Path | None]] = [(ReportCache(None), None)]
# No descriptions for screen readers of parts where `safe_drawing` drops them: they take a tenth of the time.
_UNDESCRIBED: Spec = {name: {"aria": False} for name in ("axis", "legend", "title", "area", "line", "rule", "text")}
_NO_LABEL = 'aria-label=""'
_LONG_FRACTION = re.compile(r"(\.\d\d)\d+")
# Vega's path of a point, three times as long as a circle element; such paths are a third of a chart of many lines.
_POINT_PATH = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0")
_TRANSLATION = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        name: Its name as a file, the same in every report.
        wide: The drawing for wide pages.
        narrow: The drawing for narrow pages; None if `wide` serves for both.
        spec: The Vega-Lite specification of `wide` with its data.
    """

    name: str
    wide: Markup
    narrow: Markup | None
    caption: str
    spec: Mapping[str, Any]

    @classmethod
    def from_specs(cls, name: str, label: str, caption: str, spec: Spec, narrow: Spec | None = None) -> Self:
        """Draw a chart from its specifications; `label` describes it for screen readers."""
        return cls(name, draw_spec(spec, label), draw_spec(narrow, label) if narrow else None, caption, spec)


def draw_spec(spec: Mapping[str, Any], label: str) -> Markup:
    """Draw a Vega-Lite specification for a page; `label` describes it for screen readers."""
    text = json.dumps(spec)
    cache, shared_folder = _CACHES[-1]
    key = content_key("svg", text)
    content = cache.get(key)
    if content is None:
        content = _compressed_drawing(text, shared_folder / key.hex() if shared_folder else None)
        cache.put(key, content)
    return with_label(zlib.decompress(content).decode(), label)


@contextmanager
def use_drawing_cache(cache: ReportCache) -> Generator[None, None, None]:
    """Take drawings from a cache, and add new ones; forked processes also share theirs with each other."""
    with tempfile.TemporaryDirectory(prefix="waybench-charts-") as folder:
        _CACHES.append((cache, Path(folder)))
        try:
            yield
        finally:
            _CACHES.pop()


def _compressed_drawing(spec: str, path: Path | None) -> bytes:
    """Return a drawing without its label, compressed, from a file if another process has written it."""
    with suppress(OSError):
        if path is not None and path.exists():
            return path.read_bytes()
    content = zlib.compress(safe_drawing(_vega_svg(spec)).encode(), 1)
    with suppress(OSError):  # other processes then draw it again
        if path is not None:
            temporary = path.with_suffix(f".{os.getpid()}")
            temporary.write_bytes(content)
            temporary.replace(path)
    return content


@lru_cache(maxsize=64)
def _vega_svg(spec: str) -> str:
    """Return vl-convert's drawing of a specification; recent ones are remembered."""
    forbid_forking()  # it has threads of its own from now on
    return vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[], config=_UNDESCRIBED)


def with_label(shapes: str, label: str) -> Markup:
    """Return a drawing with its label for screen readers."""
    escaped = escape(label, quote=False).replace('"', "&quot;")
    return Markup(shapes.replace(_NO_LABEL, f'aria-label="{escaped}"', 1))


def safe_drawing(svg: str) -> str:
    """Return a drawing with only shapes and text, for a page; its label is empty.

    All elements and attributes but those of a short list are left out, so that nothing in the data can be active.
    The text has the page's fonts. A mark's description becomes a title, which browsers show on hovering.
    """
    root = ElementTree.fromstring(svg)
    shapes = _allowed_element(root)
    if shapes is None:
        raise ValueError("not an SVG drawing")
    width = root.get("width", "")
    shapes.attrib = {"class": "chart", "viewBox": root.get("viewBox", ""), "role": "img", "aria-label": ""}
    shapes.attrib["style"] = f"--natural:{float(width or 0):g}px"
    return ElementTree.tostring(shapes, encoding="unicode")


def _allowed_element(element: ElementTree.Element) -> ElementTree.Element | None:
    """Return the allowed parts of an element; None if it is not allowed, or draws nothing."""
    name = str(element.tag).rpartition("}")[2]
    if name not in _ELEMENTS or element.get("display") == "none" or "background" in element.get("class", "").split():
        return None
    attributes = {
        key: _LONG_FRACTION.sub(r"\1", value) if "." in value else value
        for key, value in element.attrib.items()
        if key in _ATTRIBUTES and value != _DEFAULTS.get(key) and _VALUE.fullmatch(value)
    }
    circle = _as_circle(attributes)
    allowed = ElementTree.Element(name, attributes) if circle is None else circle
    allowed.text = element.text if name in ("text", "title") else None
    description = element.get("aria-label")
    if description and element.get("aria-roledescription") in ("point", "bar"):
        ElementTree.SubElement(allowed, "title").text = description
    for inner in element:
        child = _allowed_element(inner)
        if child is not None:  # the children of a group without attributes take its place
            allowed.extend(list(child) if child.tag == "g" and not child.attrib else [child])
    is_empty_group = allowed.tag == "g" and not len(allowed)
    if is_empty_group or (allowed.tag == "path" and not allowed.get("d")):
        return None
    _move_common_attributes(allowed)
    return allowed


def _as_circle(attributes: Mapping[str, str]) -> ElementTree.Element | None:
    """Return the circle element of a path's attributes; None if the path is no circle."""
    path = _POINT_PATH.fullmatch(attributes.get("d", ""))
    position = _TRANSLATION.fullmatch(attributes.get("transform", ""))
    if path is None or position is None:
        return None
    other_attributes = {key: value for key, value in attributes.items() if key not in ("d", "transform")}
    return ElementTree.Element("circle", {"cx": position[1], "cy": position[2], "r": path[1], **other_attributes})


def _move_common_attributes(group: ElementTree.Element) -> None:
    """Move the attributes that all shapes of a group share to the group."""
    if group.tag != "g":
        return
    first, *others = group
    if not others:  # a single shape keeps its attributes
        return
    for key, value in tuple(first.attrib.items()):
        if key in _INHERITED and key not in group.attrib and all(other.get(key) == value for other in others):
            group.set(key, value)
            for child in group:
                del child.attrib[key]


COLOURS = 7
_NO_MODELS: Mapping[str, int] = {}
_COLOUR_NUMBERS = ContextVar("model colours", default=_NO_MODELS)  # model -> number, which can exceed `COLOURS`


@contextmanager
def model_colours(models: Sequence[str]) -> Generator[None, None, None]:
    """Give each model of a report its own colour within the block, in their order, while there are colours."""
    token = _COLOUR_NUMBERS.set({model: number for number, model in enumerate(dict.fromkeys(models))})
    try:
        yield
    finally:
        _COLOUR_NUMBERS.reset(token)


def colour_number(model: str) -> int | None:
    """Return the number of a model in the order of `model_colours`; None if the model is not in the report."""
    return _COLOUR_NUMBERS.get().get(model)


def colour_numbers(models: Sequence[str]) -> list[int]:
    """Return the number of the colour of each line of a chart, from 0 to `COLOURS` - 1.

    A line has its model's colour. If several lines would have the same colour, because they are of one model or the
    report has more models than colours, later lines take unused colours; lines of reference players come last.
    A single line has the first colour, so that the pages of a model do not change with the other models.
    """
    if len(models) == 1:
        return [0]
    number_of_model, n_lines = _COLOUR_NUMBERS.get(), Counter[str]()
    order: list[tuple[bool, int, int, int]] = []
    for line, model in enumerate(models):
        order.append((is_embedded(model), n_lines[model], number_of_model.get(model, line), line))
        n_lines[model] += 1
    colours, used_colours = [0] * len(models), set[int]()
    for _, _, number, line in sorted(order):
        if len(used_colours) == COLOURS:
            used_colours.clear()
        candidates = (candidate % COLOURS for candidate in range(number, number + COLOURS))
        colours[line] = next(candidate for candidate in candidates if candidate not in used_colours)
        used_colours.add(colours[line])
    return colours


SCALE = 2  # pixels of a PNG to one of the drawing
# The first font comes with vl-convert, which draws the PNGs; the others have the same widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_PAPER = "#ffffff"
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_COLOURED_TAG = re.compile(r"<[^>]*var\([^>]*>")
_DATA_KEYS = {"values", "datasets"}  # keys of data in a specification
_COLOUR_KEYS = {"colour", "ink"}  # keys of the data whose values are colours


class ChartFiles:
    """The files of charts.

    Attributes:
        listed: Names and captions of the charts whose files were made.
    """

    def __init__(self, folder: Path, *, png: bool = False) -> None:
        """Take the site's folder, which an earlier report may have written to, and whether charts have PNGs, too."""
        self._folder, self._png = folder, png
        self.listed: list[dict[str, Json]] = []

    def files_of(self, charts: Iterable[Chart]) -> Iterator[tuple[str, str | bytes]]:
        """Yield names and contents of the files of some charts.

        The SVG is the page's own drawing in the colours of a light page, on white. Beside it is the Vega-Lite
        specification with all of its data, and on request the SVG as a PNG.
        """
        for chart in charts:
            svg, path = standalone_svg(chart.wide), f"charts/{chart.name}"
            if self._png:
                # The PNG comes first, so that the next report can infer it from the SVG (`_earlier_picture`).
                yield f"{path}.png", self._earlier_picture(path, svg) or vl_convert.svg_to_png(svg, scale=SCALE)
            yield f"{path}.svg", svg
            yield f"{path}.json", json.dumps(_standalone_spec(chart), allow_nan=False, separators=(",", ":")) + "\n"
            self.listed.append({"name": chart.name, "caption": chart.caption})

    def _earlier_picture(self, path: str, svg: str) -> bytes:
        """Return the PNG that an earlier report made of the same SVG; b"" if there is none."""
        try:
            if (self._folder / f"{path}.svg").read_text(encoding="utf-8") == svg:
                return (self._folder / f"{path}.png").read_bytes()
        except (OSError, ValueError):
            pass
        return b""

    def index_file(self) -> tuple[str, str]:
        """Return the name and content of the list of all charts with their captions."""
        return "charts/index.json", json.dumps(self.listed, indent=1) + "\n"


@cache
def palette() -> Mapping[str, str]:
    """Return the colours of a light page by their names in the style sheet, with white paper."""
    sheet = resources.files("waybench.reporting").joinpath("templates/style.css").read_text(encoding="utf-8")
    block = sheet[sheet.index(":root {") : sheet.index("}")]
    return {**dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block)), "--page": _PAPER}


def standalone_svg(drawing: str) -> str:
    """Return a page's drawing as an SVG file, in the colours of a light page on white."""
    opening_tag, end_of_tag, shapes = drawing.partition(">")
    svg = ElementTree.fromstring(f"{opening_tag}/>")
    view_box = svg.get("viewBox", "")
    left, top, width, height = view_box.split()
    svg.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": height,
        "viewBox": view_box,
        "role": "img",
        "aria-label": svg.get("aria-label", ""),
        "font-family": FONT,
    }
    paper = ElementTree.Element("rect", {"x": left, "y": top, "width": width, "height": height, "fill": _PAPER})
    opening = ElementTree.tostring(svg, encoding="unicode").removesuffix(" />")
    # Values of attributes have no ">" (ElementTree writes "&gt;"), so a tag ends with the first one.
    coloured = _COLOURED_TAG.sub(lambda tag: _resolve_colours(tag[0]), shapes)
    return f"{opening}{end_of_tag}{ElementTree.tostring(paper, encoding='unicode')}{coloured}\n"


def _resolve_colours(value: str) -> str:
    """Return a text with the colours of a light page in place of variables of the style sheet."""
    return _VARIABLE.sub(lambda match: palette()[match[1]], value)


def _standalone_spec(chart: Chart) -> dict[str, Json]:
    """Return a chart's specification in the colours of a light page on white, with its caption."""
    spec = _resolve_spec_colours(chart.spec)
    config = {**spec.get("config", {}), "font": FONT}
    return {**spec, "description": chart.caption, "background": _PAPER, "config": config}


def _resolve_spec_colours(value: Json, keys: Container[str] | None = None) -> Any:
    """Return a part of a specification with its variables of colours resolved, in data only at `_COLOUR_KEYS`.

    `keys` are the keys of a mapping whose values are resolved; None for all keys.
    """
    if isinstance(value, Mapping):
        resolved: dict[str, Any] = {}
        for key, part in cast(Mapping[str, Json], value).items():
            part_keys = _COLOUR_KEYS if key in _DATA_KEYS else None
            resolved[key] = _resolve_spec_colours(part, part_keys) if keys is None or key in keys else part
        return resolved
    if isinstance(value, list):
        return [_resolve_spec_colours(part, keys) for part in cast(list[Json], value)]
    return _resolve_colours(value) if isinstance(value, str) else value
