"""Parts of drawings."""

from tests.drawings import box, parts, read, texts, told
from waybench._svg import path, text
from waybench._svg import texts as group
from waybench.core import Scene


def test_what_is_written_is_no_markup() -> None:
    hostile = '"><script>alert(1)</script>&amp;'
    shapes = [text("b", 1, 2, hostile, 9), group("c", [(1, 2, hostile), (3, 4, 5)], 9)]
    made = Scene("a", hostile, (3, 2.5), shapes).svg()
    assert {element.tag for element in read(made).iter()} == {"svg", "g", "text"}
    assert (told(made), texts(made, "b"), texts(made, "c")) == (hostile, [hostile], [hostile, "5"])
    assert box(made) == "0 0 3 2.5"


def test_what_is_empty_is_left_out() -> None:
    assert path("a", "#000", 1, []) == group("a", [], 9) == ""
    shapes = [path("b", "#000", 1.5, ["M0 0h1", "M1 1v1"], 'opacity="0.5"')]
    (line,) = parts(Scene("a", "", (1, 1), shapes).svg(), "b")
    assert (line.get("d"), line.get("stroke-width"), line.get("opacity")) == ("M0 0h1M1 1v1", "1.5", "0.5")
