"""Parts of drawings."""

from tests.drawings import box, parts, read, texts, told
from waybench._svg import drawing, path, text
from waybench._svg import texts as group


def test_what_is_written_is_no_markup() -> None:
    hostile = '"><script>alert(1)</script>&amp;'
    made = drawing("a", 3, 2.5, hostile, [text("b", 1, 2, hostile, 9), group("c", [(1, 2, hostile), (3, 4, 5)], 9)])
    assert {element.tag for element in read(made).iter()} == {"svg", "g", "text"}
    assert (told(made), texts(made, "b"), texts(made, "c")) == (hostile, [hostile], [hostile, "5"])
    assert box(made) == "0 0 3 2.5"


def test_what_is_empty_is_left_out() -> None:
    assert path("a", "#000", 1, []) == group("a", [], 9) == ""
    (line,) = parts(drawing("a", 1, 1, "", [path("b", "#000", 1.5, ["M0 0h1", "M1 1v1"], 'opacity="0.5"')]), "b")
    assert (line.get("d"), line.get("stroke-width"), line.get("opacity")) == ("M0 0h1M1 1v1", "1.5", "0.5")
