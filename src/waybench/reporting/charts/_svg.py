"""Specifications of charts, drawings of them that are fit to stand in a page, and colours."""

import json
import os
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import vl_convert
from markupsafe import Markup

from waybench.core import forbid_copies
from waybench.reporting._cache import ReportCache, content_key
from waybench.results.logs import is_embedded

Spec = dict[str, Any]
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
_CACHES: list[tuple[ReportCache, Path | None]] = [(ReportCache(None), None)]
# Descriptions for screen readers of parts of which `inline` keeps none: to make them takes a tenth of the time.
_UNDESCRIBED: Spec = {name: {"aria": False} for name in ("axis", "legend", "title", "area", "line", "rule", "text")}
_NO_LABEL = 'aria-label=""'
_LONG_FRACTION = re.compile(r"(\.\d\d)\d+")
# How Vega draws a point: a third of a chart of many lines, of which a circle takes a third.
_POINT = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0")
_PLACE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")


def specification(width: int, height: int, **parts: Any) -> Spec:
    """Return a Vega-Lite specification without a background.

    Args:
        width: Of the plot, in pixels.
        height: Of the plot, in pixels.
        **parts: Its other parts: data, mark and encoding, or layers, and the configuration.
    """
    return composed(width=width, height=height, **parts)


def point_layers(mark: Mapping[str, Any], encoding: Spec, *, has_open: bool, own: Sequence[Spec] = ()) -> list[Spec]:
    """Return the layers of a chart's points: with "open" in their data they lack attempts, and are drawn as outlines.

    Args:
        mark: Size and colour of a point.
        encoding: What its place, colour and description are taken from.
        has_open: Whether some point is open.
        own: Transforms of the data before.
    """
    filled = {"type": "point", "filled": True, "opacity": 1, **mark}
    if not has_open:
        return [{**({"transform": list(own)} if own else {}), "mark": filled, "encoding": encoding}]
    outline = {**filled, "filled": False, "fill": "var(--page)", "strokeWidth": 1.8}
    return [
        {"transform": [*own, {"filter": which}], "mark": look, "encoding": dict(encoding)}
        for which, look in (("!datum.open", filled), ("datum.open", outline))
    ]


def composed(**parts: Any) -> Spec:
    """Return a Vega-Lite specification without a background, of parts that may have measures of their own."""
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": "transparent", **parts}


def quantitative(field: str, **more: Any) -> Spec:
    """Return how a number in the data is shown."""
    return {"field": field, "type": "quantitative", **more}


def nominal(field: str, **more: Any) -> Spec:
    """Return how a name in the data is shown."""
    return {"field": field, "type": "nominal", **more}


def drawn(spec: Mapping[str, Any], label: str) -> Markup:
    """Draw a chart for a page.

    Args:
        spec: The chart, as a Vega-Lite specification.
        label: What it shows, for those who cannot see it.
    """
    text = json.dumps(spec)
    kept, others = _CACHES[-1]
    key = content_key("svg", text)
    content = kept.get(key)
    if content is None:
        content = _content(text, others / key.hex() if others else None)
        kept.put(key, content)
    return _labelled(zlib.decompress(content).decode(), label)


@contextmanager
def drawings_in(cache: ReportCache) -> Generator[None, None, None]:
    """Take drawings from a cache, and put new ones into it; copies of this process also take those of each other."""
    with tempfile.TemporaryDirectory(prefix="waybench-charts-") as folder:
        _CACHES.append((cache, Path(folder)))
        try:
            yield
        finally:
            _CACHES.pop()


def _content(spec: str, path: Path | None) -> bytes:
    """Return a drawing without its label, compressed, from a file if another process has written that."""
    with suppress(OSError):
        if path is not None and path.exists():
            return path.read_bytes()
    content = zlib.compress(_shapes(_converted(spec)).encode(), 1)
    with suppress(OSError):  # then the other processes make it again
        if path is not None:
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(content)
            part.replace(path)
    return content


@lru_cache(maxsize=64)
def _converted(spec: str) -> str:
    """Return vl-convert's drawing; some charts of a site are the same."""
    forbid_copies()  # it has threads of its own from now on
    return vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[], config=_UNDESCRIBED)


def inline(svg: str, label: str) -> Markup:
    """Return a drawing for a page, with nothing in it but shapes and text.

    Elements and attributes are those of a short list and everything else is left out, whatever the drawing's maker
    let through. The page's own fonts are used. A mark's description becomes a title, which browsers show on hovering.

    Args:
        svg: The drawing, as vl-convert gives it.
        label: What it shows, for those who cannot see it.
    """
    return _labelled(_shapes(svg), label)


def _labelled(shapes: str, label: str) -> Markup:
    """Return a drawing for a page with its label."""
    escaped = escape(label, quote=False).replace('"', "&quot;")
    return Markup(shapes.replace(_NO_LABEL, f'aria-label="{escaped}"', 1))


def _shapes(svg: str) -> str:
    """Return a drawing for a page, whose label is empty."""
    root = ElementTree.fromstring(svg)
    kept = _kept(root)
    if kept is None:
        raise ValueError("not an SVG drawing")
    width = root.get("width", "")
    kept.attrib = {"class": "chart", "viewBox": root.get("viewBox", ""), "role": "img", "aria-label": ""}
    kept.attrib["style"] = f"--natural:{float(width or 0):g}px"
    return ElementTree.tostring(kept, encoding="unicode")


def _kept(element: ElementTree.Element) -> ElementTree.Element | None:
    name = str(element.tag).rpartition("}")[2]
    if name not in _ELEMENTS or element.get("display") == "none" or "background" in element.get("class", "").split():
        return None
    attributes = {
        key: _LONG_FRACTION.sub(r"\1", value) if "." in value else value
        for key, value in element.attrib.items()
        if key in _ATTRIBUTES and value != _DEFAULTS.get(key) and _VALUE.fullmatch(value)
    }
    circle = _circle(attributes)
    kept = ElementTree.Element(name, attributes) if circle is None else circle
    kept.text = element.text if name in ("text", "title") else None
    description = element.get("aria-label")
    if description and element.get("aria-roledescription") in ("point", "bar"):
        ElementTree.SubElement(kept, "title").text = description
    kept.extend(shape for found in element if (child := _kept(found)) is not None for shape in _ungrouped(child))
    empty = (kept.tag == "g" and not len(kept)) or (kept.tag == "path" and not kept.get("d"))
    if empty:
        return None
    _inherit(kept)
    return kept


def _circle(attributes: Mapping[str, str]) -> ElementTree.Element | None:
    """Return the circle that a shape is; None if it is none."""
    round_, place = _POINT.fullmatch(attributes.get("d", "")), _PLACE.fullmatch(attributes.get("transform", ""))
    if round_ is None or place is None:
        return None
    look = {key: value for key, value in attributes.items() if key not in ("d", "transform")}
    return ElementTree.Element("circle", {"cx": place[1], "cy": place[2], "r": round_[1], **look})


def _ungrouped(element: ElementTree.Element) -> list[ElementTree.Element]:
    """Return an element, or what is in it if it is a group that says nothing."""
    return list(element) if element.tag == "g" and not element.attrib else [element]


def _inherit(group: ElementTree.Element) -> None:
    """Give a group the attributes that all of its shapes have alike, in their place."""
    if group.tag != "g":
        return
    first, *others = group
    for key, value in tuple(first.attrib.items()) if others else ():
        if key in _INHERITED and key not in group.attrib and all(each.get(key) == value for each in others):
            group.set(key, value)
            for each in group:
                del each.attrib[key]


COLOURS = 7
_NO_MODELS: Mapping[str, int] = {}
_NUMBERS = ContextVar("model colours", default=_NO_MODELS)


@contextmanager
def model_colours(models: Sequence[str]) -> Generator[None, None, None]:
    """Give each model of a report a colour of its own, as far as there are colours.

    Args:
        models: The models, in the order of the colours; one that comes again keeps its first place.
    """
    token = _NUMBERS.set({model: number for number, model in enumerate(dict.fromkeys(models))})
    try:
        yield
    finally:
        _NUMBERS.reset(token)


def colour_number(model: str) -> int | None:
    """Return the place of a model's colour among those of a report; None if it has none."""
    return _NUMBERS.get().get(model)


def colour_numbers(models: Sequence[str]) -> list[int]:
    """Return the number of the colour of each line of a chart, from 0 to `COLOURS` - 1.

    A line has its model's colour. Where several lines would have the same one, because they are of one model or the
    report has more models than colours, the later ones take free colours; reference players come last.
    A line alone has the first colour, so that the pages of a model do not change with the other models.

    Args:
        models: The model of each line.
    """
    if len(models) == 1:
        return [0]
    known, seen = _NUMBERS.get(), Counter[str]()
    order: list[tuple[bool, int, int, int]] = []
    for line, model in enumerate(models):
        order.append((is_embedded(model), seen[model], known.get(model, line), line))
        seen[model] += 1
    found, taken = [0] * len(models), set[int]()
    for _, _, wanted, line in sorted(order):
        if len(taken) == COLOURS:
            taken.clear()
        free = (number % COLOURS for number in range(wanted, wanted + COLOURS))
        found[line] = next(number for number in free if number not in taken)
        taken.add(found[line])
    return found
