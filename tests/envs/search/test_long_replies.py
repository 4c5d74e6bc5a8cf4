"""Long replies are read as short ones are, and in linear time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.envs.search import _wording
from waybench.envs.search._wording import read_number

TOKENS = st.sampled_from(
    ["7", "8", "-7", "7.", "7.5", "a7", "cave-7", "(7)", "7,", ",7", "word", "7\u2009", "\u0667", "1" * 30]
)
SPACES = st.sampled_from([" ", "\n", "\t ", "\u2003"])


@given(st.lists(st.tuples(TOKENS, SPACES), max_size=12))
def test_repetitions_change_nothing(parts: list[tuple[str, str]]) -> None:
    text = "".join(token + space for token, space in parts)
    plain = read_number(text, takes_first=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wording, "LONG", 0)
        assert read_number(text, takes_first=False) == plain


def test_a_number_that_is_said_often_is_one_number() -> None:
    assert read_number("7 " * 50_000, takes_first=False) == 7
    assert "more than one number" in str(read_number("7 " * 50_000 + "8", takes_first=False))


def test_repetitions_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = _wording._read_whole_number

    def counted(text: str, found: object) -> object:
        read.append(text)
        return whole(text, found)  # type: ignore[arg-type]

    monkeypatch.setattr(_wording, "_read_whole_number", counted)
    assert read_number("7 " * 500_000, takes_first=False) == 7
    assert len(read) == 1
