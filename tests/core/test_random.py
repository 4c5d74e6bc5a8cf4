"""The random streams: pinned for ever, uniform, and different for different keys."""

import hashlib
from collections import Counter
from itertools import combinations, islice, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.core import Stream

KEYS = st.lists(st.text() | st.integers(), max_size=4)

# Key -> words number 0, 1 and 8. A change here is a change of every public set: it is never right.
PINNED = {
    ("maze", 1, "alicia-v1", 5): (0xD8E203780DD6CF65, 0x54D41FD18586C46D, 0xE7776677C60F18DE),
    (): (0xC5AD9CB26E342494, 0x335AB04956B7F757, 0x2F283B4119E06A83),
    ("",): (0x46B14D9DC5C356B8, 0x924E242FE2471BF0, 0x3FE9669B146FDBED),
    (0,): (0xFD80767EAF5AF887, 0x92BC50A82A4151F4, 0x28CC4342C8300402),
    ("ключ", "\ud800"): (0x72208654EC04860C, 0x4A36D56133F1B451, 0xB46D6B7026567E53),
    (2**70, -1): (0x7AF9F2643ED177F3, 0xFBC68F633FB03AEB, 0x37B4996566989209),
}


def words(*key: str | int, count: int = 9) -> list[int]:
    stream = Stream(*key)
    return [stream.word() for _ in range(count)]


@pytest.mark.parametrize("key", PINNED, ids=repr)
def test_words_are_pinned(key: tuple[str | int, ...]) -> None:
    drawn = words(*key)
    assert (drawn[0], drawn[1], drawn[8]) == PINNED[key]


def test_words_are_what_the_docstring_says() -> None:
    key = hashlib.sha512(b"s4:maze" + b"i1:7").digest()
    blocks = [hashlib.sha512(key + number.to_bytes(8, "big")).digest() for number in (0, 1)]
    assert words("maze", 7, count=16) == [
        int.from_bytes(block[i : i + 8], "big") for block in blocks for i in range(0, 64, 8)
    ]


def test_draws_are_pinned() -> None:
    stream = Stream("pins")
    bounds = (1, 2, 10, 10**6, 2**64, 2**64 + 1, 10**30)
    drawn = [stream.below(bound) for bound in bounds]
    assert drawn == [0, 0, 1, 763313, 12249096990344901010, 18029622773835661987, 349518663177332367345136885825]
    assert stream.random() == 0.12216442040071784
    numbers = list(range(12))
    stream.shuffle(numbers)
    assert numbers == [2, 8, 3, 11, 10, 9, 0, 7, 6, 5, 4, 1]
    assert [stream.choice("abcdefgh"), stream.choice("abcdefgh")] == ["c", "f"]


@given(KEYS, st.integers(0, 100), st.integers(0, 20))
def test_a_shuffle_draws_one_bound_after_the_other(key: list[str | int], size: int, before: int) -> None:
    stream, same = Stream(*key), Stream(*key)
    assert [stream.word() for _ in range(before)] == [same.word() for _ in range(before)]
    items, expected = list(range(size)), list(range(size))
    stream.shuffle(items)
    for last in range(size - 1, 0, -1):
        chosen = same.below(last + 1)
        expected[last], expected[chosen] = expected[chosen], expected[last]
    assert items == expected
    assert stream.word() == same.word()


def test_type_and_boundaries_are_part_of_the_key() -> None:
    keys = [("1",), (1,), ("1", ""), ("", "1"), ("11",), ("1", "1"), (1, 1), (11,), ("1", 1), (1, "1"), ("i1:1",)]
    keys += [("a", "bc"), ("ab", "c"), ("abc",), ("A", "bc"), ("a s2:bc",), ("é",), ("e\u0301",)]
    for one, other in combinations(keys, 2):
        assert words(*one, count=2) != words(*other, count=2), (one, other)


@given(KEYS, KEYS)
def test_different_keys_give_different_streams(one: list[str | int], other: list[str | int]) -> None:
    same = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (words(*one, count=2) == words(*other, count=2)) == same


@given(KEYS, KEYS)
def test_a_child_is_the_stream_of_the_whole_key(first: list[str | int], more: list[str | int]) -> None:
    parent = Stream(*first)
    child, whole = parent.child(*more), Stream(*first, *more)
    assert [child.word() for _ in range(9)] == [whole.word() for _ in range(9)]
    assert parent.word() == Stream(*first).word()


def test_streams_do_not_share_a_state() -> None:
    first, second = Stream("a"), Stream("a")
    drawn = [first.word() for _ in range(20)]
    assert [second.word() for _ in range(20)] == drawn


@given(KEYS, st.integers(1, 2**200))
def test_below_is_in_range(key: list[str | int], bound: int) -> None:
    stream = Stream(*key)
    assert all(0 <= stream.below(bound) < bound for _ in range(10))


@pytest.mark.parametrize("bound", [0, -1])
def test_below_refuses_an_empty_range(bound: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Stream("a").below(bound)


def chi_squared(counts: Counter[object], cells: int, draws: int) -> float:
    expected = draws / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in counts) + expected * (cells - len(counts))


@pytest.mark.parametrize("bound", [2, 3, 7, 10, 64])
def test_below_is_uniform(bound: int) -> None:
    stream = Stream("uniform", bound)
    counts = Counter(stream.below(bound) for _ in range(20_000))
    # Mean bound - 1, variance twice that: five standard deviations, for one fixed stream.
    assert chi_squared(counts, bound, 20_000) < bound - 1 + 5 * (2 * (bound - 1)) ** 0.5


def test_below_favours_no_remainder_of_a_bound_near_the_word_size() -> None:
    stream = Stream("remainders")
    bound = 2**64 // 3 * 2  # a plain remainder would fall into the lower half two times of three
    low = sum(stream.below(bound) < bound // 2 for _ in range(4000))
    assert 1800 < low < 2200


def test_random_is_uniform_in_the_unit_interval() -> None:
    stream = Stream("unit")
    drawn = [stream.random() for _ in range(20_000)]
    assert all(0 <= number < 1 for number in drawn)
    counts = Counter(int(number * 10) for number in drawn)
    assert chi_squared(counts, 10, 20_000) < 9 + 5 * 18**0.5


def test_shuffle_gives_every_order_alike() -> None:
    orders = Counter[object]()
    stream = Stream("orders")
    for _ in range(12_000):
        items = list("abcd")
        stream.shuffle(items)
        orders["".join(items)] += 1
    assert set(orders) == {"".join(order) for order in permutations("abcd")}
    assert chi_squared(orders, 24, 12_000) < 23 + 5 * 46**0.5


def test_neighbouring_keys_have_nothing_in_common() -> None:
    drawn = [word for index in range(200) for word in islice(words("item", index, count=20), 20)]
    assert len(set(drawn)) == len(drawn)
