"""Limits on JSON that are checked before it is parsed."""

import json

import pytest

from waybench.core import DataError, Stream, check_json_bounds, shorten_long_words
from waybench.core._json import JsonBounds


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "text",
    [
        nested(100),
        '"' + "[" * 1000 + '"',
        json.dumps({'a"[': ['\\"' * 500 + "[" * 500, "\\", "]" * 500]}),
        "[" + ",".join([nested(50)] * 15) + "]",
        "",
        "nonsense",
    ],
)
def test_what_is_within_the_limits(text: str) -> None:
    check_json_bounds(text, max_values=1000, max_depth=100)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (nested(101), "brackets"),
        ('{"a":' * 101, "brackets"),
        (r'["\\", "\\\"", ' + nested(100) + "]", "brackets"),
        ("[" * 10_000_000 + "]" * 10_000_000, "values"),
        ("[" + "0," * 1000 + "0]", "values"),
        (json.dumps([{}] * 501), "values"),
    ],
)
def test_what_is_beyond_them(text: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        check_json_bounds(text, max_values=1000, max_depth=100)


def test_a_text_in_parts_is_as_deep_as_the_whole() -> None:
    data = json.dumps({"a\\": ['"[' * 20, {"b": [[[['\\"']]]]}]} | {str(n): [n] for n in range(30)}).encode()
    for case in range(200):
        rng, at = Stream("parts", case), 0
        for depth, fits in ((7, True), (3, False)):
            bounds = JsonBounds(1000, depth)
            try:
                while at < len(data):
                    size = 1 + rng.below(9)
                    bounds.check_next_part(data[at : at + size])
                    at += size
            except DataError:
                assert not fits
            else:
                assert fits
            at = 0


def test_long_words_are_cut_in_the_middle() -> None:
    told = shorten_long_words(f"no folder {'x' * 200} {'a' * 5000}z: give another")
    assert told.startswith(f"no folder {'x' * 200} aaa")
    assert told.endswith("aaz: give another")
    assert max(map(len, told.split())) == 200
