"""Options: types, ranges, text from a command line, and one clear line for everything that does not fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toys import DIAL
from waybench.core import Option, UsageError, resolve

WHOLE = Option(name="turns", default=3, low=1, high=10, doc="Turns.")
REAL = Option(name="rate", default=0.5, low=0, high=1, doc="Rate.")
FLAG = Option(name="hint", default=None, kind=bool, doc="Hint.")
NAME = Option(name="wording", default="matrix", choices=("matrix", "ascii"), doc="Wording.")
KEY = Option(name="key", default="", doc="Key.")
OPTIONS = (WHOLE, REAL, FLAG, NAME, KEY)


def test_an_environment_with_one_protocol_and_one_wording_declares_neither() -> None:
    environment = replace(DIAL, playing=replace(DIAL.playing, options=()))
    assert environment.resolve_options({}) == {"protocol": "sound", "wording": "plain"}
    assert [
        option.name
        for option in replace(DIAL, playing=replace(DIAL.playing, options=DIAL.playing.options[1:])).playing.options
    ] == [option.name for option in DIAL.playing.options]


@pytest.mark.parametrize(
    ("option", "given_", "wanted"),
    [
        (WHOLE, 1, 1),
        (WHOLE, "7", 7),
        (WHOLE, " 10 ", 10),
        (REAL, 0.25, 0.25),
        (REAL, 1, 1.0),
        (REAL, "0", 0.0),
        (REAL, "1e-1", 0.1),
        (FLAG, None, None),
        (FLAG, True, True),
        (FLAG, "False", False),
        (NAME, "ascii", "ascii"),
        (KEY, 2026, "2026"),
        (KEY, 1.5, "1.5"),
        (KEY, "true", "true"),
    ],
)
def test_values_that_fit(option: Option, given_: object, wanted: object) -> None:
    found = option.check(given_)
    assert (found, type(found)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    ("option", "given_", "message"),
    [
        (WHOLE, 0, "option turns=0 is out of range: give a number from 1 to 10"),
        (WHOLE, 11, "option turns=11 is out of range: give a number from 1 to 10"),
        (WHOLE, 10**60, f"option turns=1{'0' * 39} is out of range: give a number from 1 to 10"),
        (WHOLE, 2.0, "option turns='2.0': give a whole number"),
        (WHOLE, True, "option turns='True': give a whole number"),
        (WHOLE, "three", "option turns='three': give a whole number"),
        (WHOLE, "9" * 5000, f"option turns='{'9' * 40}': give a whole number"),
        (WHOLE, "[" * 100_000, f"option turns='{'[' * 40}': give a whole number"),
        (WHOLE, None, "option turns='None': give a whole number"),
        (WHOLE, [], "option turns='[]': give a whole number"),
        (REAL, 1.01, "option rate=1.01 is out of range: give a number from 0 to 1"),
        (REAL, float("nan"), "option rate='nan': give a number"),
        (REAL, "NaN", "option rate='NaN': give a number"),
        (REAL, "Infinity", "option rate='Infinity': give a number"),
        (REAL, "1e999", "option rate='inf': give a number"),
        (REAL, False, "option rate='False': give a number"),
        (FLAG, 1, "option hint='1': give true or false"),
        (FLAG, "yes", "option hint='yes': give true or false"),
        (KEY, True, "option key='True': give text"),
        (KEY, {}, "option key='{}': give text"),
        (NAME, "asci", "unknown wording 'asci': did you mean 'ascii'? choose from ascii, matrix"),
        (NAME, 7, "unknown wording '7': choose from ascii, matrix"),
    ],
)
def test_values_that_do_not_fit(option: Option, given_: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        option.check(given_)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(1, None, "from 1 upwards"), (None, 5, "up to 5"), (0.5, 5, "from 0.5 to 5"), (0, 0, "from 0 to 0")],
)
def test_the_range_is_named(low: float | None, high: float | None, wanted: str) -> None:
    option = Option(name="n", default=1, low=low, high=high, doc="N.")
    with pytest.raises(UsageError, match=f"give a number {wanted}$"):
        option.check(-3 if low is not None else 7)


@given(st.sampled_from(OPTIONS), st.text() | st.integers() | st.floats() | st.booleans() | st.lists(st.none()))
def test_a_value_fits_or_is_refused_in_one_line(option: Option, value: object) -> None:
    try:
        found = option.check(value)
    except UsageError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 300
    else:
        assert type(found) is option.type
        assert option.check(found) == found


def test_resolve_fills_in_defaults() -> None:
    assert resolve(OPTIONS, {"turns": "5"}) == {
        "turns": 5,
        "rate": 0.5,
        "hint": None,
        "wording": "matrix",
        "key": "",
    }


def test_resolve_refuses_an_unknown_name() -> None:
    with pytest.raises(UsageError, match="unknown option 'turn': did you mean 'turns'\\? choose from hint, key, rate"):
        resolve(OPTIONS, {"turn": 5})
    with pytest.raises(UsageError, match="unknown source option"):
        resolve(OPTIONS, {"": 5}, "source option")


def test_type_of_an_option() -> None:
    assert [option.type for option in OPTIONS] == [int, float, bool, str, str]
