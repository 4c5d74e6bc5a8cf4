"""Names that differ in typography alone are the same."""

import pytest

from waybench.core import normalize_name
from waybench.core._replies import fold_typography, is_minus_sign

# shared/specs/providers.md, section 5
TWINS = {
    "'": "2018 2019 201A 201B 2032 02BC 00B4 FF07",
    '"': "201C 201D 201E 201F 2033 FF02",
    "-": "2010 2011 2012 2013 2014 2015 2212 FE58 FE63 FF0D",
    " ": "00A0 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200A 202F 205F 3000",
    "...": "2026",
    "..": "2025",
    "": "00AD 200B 2060 FEFF",
}


@pytest.mark.parametrize(("sign", "codes"), TWINS.items())
def test_twins(sign: str, codes: str) -> None:
    for code in codes.split():
        twin = chr(int(code, 16))
        assert normalize_name(f"Ilse{twin}s wall") == f"ilse{sign}s wall"
        assert fold_typography(f"Ilse{twin}s wall") == f"Ilse{sign}s wall"
        assert is_minus_sign(twin) == (sign == "-")


def test_width_case_and_blanks() -> None:
    wide = "".join(chr(code + 0xFEE0) for code in range(ord("!"), ord("~") + 1))
    assert normalize_name(wide) == "".join(map(chr, range(ord("!"), ord("~") + 1))).lower()
    assert normalize_name(" The\n OLD  hall ") == "the old hall"


@pytest.mark.parametrize("text", ["u\u200cp", "u\u200dp", "u\u200ep", "\u0430bc", "l00k"])
def test_what_is_another_name(text: str) -> None:
    """Joiners belong to scripts and emoji, and letters that look alike are others."""
    assert normalize_name(text) == text


def test_dashes_of_prose_are_left_where_no_name_has_one() -> None:
    assert normalize_name("south\u2014now", dashes=False) == "south\u2014now"
    assert normalize_name("\u2018south\u2019\u2014now", dashes=False) == "'south'\u2014now"


@pytest.mark.usefixtures("watchdog")
def test_a_long_text_takes_moments() -> None:
    marks = "a" + "\u0301\u0323" * 400_000
    assert normalize_name(marks) == marks
    assert normalize_name("\u2019 \u2014" * 250_000).startswith("' -' -")
