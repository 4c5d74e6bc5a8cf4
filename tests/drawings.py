"""Drawings (SVG), read back."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import waybench

Point = tuple[float, float]


def drawer(env_id: str) -> Callable[..., str]:
    """Return what draws the episodes of an environment."""
    draw = waybench.load(env_id).presentation.draw
    assert draw is not None
    return draw


@lru_cache(maxsize=4)  # several things are asked of a drawing one after the other
def read(svg: str) -> Element:
    """Read a drawing."""
    return fromstring(svg)


def parts(svg: str, name: str) -> list[Element]:
    """Return the elements of a class, in the order in which they are drawn."""
    return [element for element in read(svg).iter() if name in element.get("class", "").split()]


def written(svg: str, name: str) -> list[tuple[str, float, float]]:
    """Return what is written in elements of a class, with x and y; letters with places of their own one by one."""
    letters: list[tuple[str, float, float]] = []
    for element in parts(svg, name):
        for part in element if element.tag == "g" else [element]:
            text, y = part.text or "", number(part, "y")
            places = [float(x) for x in part.get("x", "").split()]
            letters += [(letter, x, y) for letter, x in zip(text if len(places) > 1 else [text], places, strict=True)]
    return letters


def texts(svg: str, name: str) -> list[str]:
    """Return what is written in elements of a class."""
    return [text for text, _, _ in written(svg, name)]


def dots(svg: str, name: str) -> list[Point]:
    """Return where the lines of paths of a class begin."""
    drawn = "".join(path.get("d", "") for path in parts(svg, name))
    return [(float(x), float(y)) for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", drawn)]


def number(element: Element, name: str) -> float:
    """Return an attribute that is a number."""
    return float(element.get(name, ""))


def points(element: Element) -> list[Point]:
    """Return where a path's lines begin and end."""
    pairs = re.findall(r"(?:[ML]|Q\S+ \S+ )(-?[\d.]+) (-?[\d.]+)", element.get("d", ""))
    return [(float(x), float(y)) for x, y in pairs]


def box(svg: str) -> str:
    """Return the drawing's size."""
    return read(svg).get("viewBox", "")


def told(svg: str) -> str:
    """Return what is said to those who cannot see it."""
    root = read(svg)
    assert root.get("role") == "img"
    return root.get("aria-label", "")


def steps(draw: Callable[..., str], episode: Any) -> list[str]:
    """Return the drawings after no turn, after one, and so on."""
    return [draw(episode.item.instance, episode.turns[:count]) for count in range(len(episode.turns) + 1)]


def inside(svg: str) -> bool:
    """Whether all that has a place is within the drawing's size."""
    wide, high = map(float, box(svg).split()[2:])
    places = [
        (float(across), float(element.get(y, "0")))
        for element in read(svg).iter()
        for x, y in (("x", "y"), ("cx", "cy"))
        for across in element.get(x, "0").split()
    ]
    places += [point for element in read(svg).iter("path") for point in points(element)]
    return all(0 <= x <= wide and 0 <= y <= high for x, y in places)
