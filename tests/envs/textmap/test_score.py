"""Scores of answers on a small map: similar names and closest moves in `paper`, names for names in `sound`."""

import random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.core import normalize_name
from waybench.envs.textmap._answers import (
    PAPER,
    SOUND,
    Hop,
    MatchingRules,
    MoveIndex,
    answer_success,
    is_reasoning_right,
    move_index,
    path_length_weight,
    possible_destinations,
)
from waybench.envs.textmap._instances import edit_distance, name_similarity
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap


class Ask(NamedTuple):
    source: str
    target: str
    actions: tuple[str, ...] = ()


def edge(source: str, action: str, target: str) -> Edge:
    return Edge(source, target, action, 1, NEVER, 1, NEVER)


EDGES = (
    edge("attic", "down", "kitchen"),
    edge("kitchen", "up", "attic"),
    edge("kitchen", "east", "garden"),
    edge("kitchen", "west", "hall"),
    edge("hall", "enter car", "car"),
    edge("garden", "pray", "forest (dark)"),
    edge("garden", "pray", "forest (light)"),
    edge("forest (light)", "north", "hill"),
)
PLACES = ("attic", "kitchen", "garden", "hall", "car", "forest (dark)", "forest (light)", "hill")
MAP = PlaceMap("house", PLACES, ("down", "up", "east", "west", "enter car", "pray", "north"), EDGES, ())


def answer(*texts: str) -> tuple[Hop, ...]:
    """Return the hops of "place, action, place, action, place"."""
    return tuple(Hop(*texts[number : number + 3]) for number in range(0, len(texts) - 2, 2))


def table(one: str, other: str) -> int:
    """Return the edit distance by the table of the textbook, two rows at a time."""
    row = list(range(len(other) + 1))
    for number, left in enumerate(one, 1):
        above, row = row, [number]
        for place, right in enumerate(other, 1):
            row.append(min(above[place] + 1, row[-1] + 1, above[place - 1] + (left != right)))
    return row[-1]


@given(st.text("abcé]", max_size=90), st.text("abcé]", max_size=20))
def test_distance(one: str, other: str) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == table(one, other)


def test_similarity() -> None:
    assert name_similarity("House", "house") == 1
    assert name_similarity("The House", "house") == 1 - 4 / 9
    assert name_similarity("", "") == name_similarity("", "a") == name_similarity("abc", "xyz") == 0
    assert name_similarity("İ", "i") == 0.5  # in small letters it has two characters
    assert name_similarity("a" * 1_001, "a" * 1_001) == 0
    assert name_similarity("a" * 1_000, "a") == 1 - 999 / 1000


def test_normal() -> None:
    assert normalize_name("  The  HOUSE\n(WEST) ") == normalize_name("Ｔhe house (west)") == "the house (west)"  # noqa: RUF001


def test_marks_of_long_words_are_left_in_their_order() -> None:
    # Putting them in order takes the square of their number, and a reply can have a million.
    long, short = "a" + "\u0301\u0323" * 500, "a" + "\u0301\u0323"
    assert normalize_name(long) == long
    assert normalize_name(short) == normalize_name("a\u0323\u0301") != short


ROUTE = Ask("attic", "garden")


@pytest.mark.parametrize(
    ("hops", "paper", "sound"),
    [
        (answer("attic", "down", "kitchen", "east", "garden"), 1, 1),
        (answer("?", " DOWN ", "?", "East", "?"), 1, 1),  # what was answered of places plays no part
        (answer("attic", "go down", "kitchen", "eaast", "garden"), 1, 0),
        (answer("attic", "down", "kitchen", "up", "attic", "down", "kitchen", "east", "garden"), 1, 1),
        (answer("attic", "down", "kitchen", "open door", "kitchen", "east", "garden"), 0, 0),
        (answer("attic", "down", "kitchen"), 0, 0),
        (answer("attic", "down", "kitchen", "west", "garden"), 0, 0),
        (answer("kitchen", "east", "garden"), 0, 0),
        (answer("attic", "down", "kitchen", "east", "garden", "pray", "garden"), 0, 0),
    ],
)
def test_a_route_is_executed(hops: tuple[Hop, ...], paper: int, sound: int) -> None:
    assert (answer_success(MAP, ROUTE, hops, PAPER), answer_success(MAP, ROUTE, hops, SOUND)) == (paper, sound)


def test_a_route_by_an_ambiguous_move_succeeds_if_it_can() -> None:
    hops = answer("garden", "pray", "?", "north", "hill")
    for rules in (PAPER, SOUND):
        assert answer_success(MAP, Ask("garden", "hill"), hops, rules) == 1
        assert answer_success(MAP, Ask("garden", "forest (dark)"), hops[:1], rules) == 1


def test_of_equally_close_moves_the_one_that_leads_on_is_taken() -> None:
    index = move_index(MAP)
    actions = ("down", "east", "enter car", "up")
    assert set(actions) <= set(index.actions)
    # An "n" is in two of them, and nearest to the shorter one.
    assert index.resolve_action("n", ["attic"], PAPER) == "down"
    assert index.resolve_action("enter car", ["attic"], PAPER) == "enter car"  # said as it is, though it leads nowhere
    assert index.resolve_action("n", ["attic"], SOUND) is None
    # What has nothing in common with any action is none, wherever one is.
    for said in ("", "xx"):
        assert all(name_similarity(said, action) == 0 for action in index.actions)
        assert all(index.resolve_action(said, [place], PAPER) is None for place in PLACES)
    shuffled = list(EDGES)
    random.Random(5).shuffle(shuffled)
    assert MoveIndex(PlaceMap("house", PLACES, (), tuple(shuffled), ())).actions == index.actions


def test_a_map_without_moves() -> None:
    empty = PlaceMap("house", PLACES, (), (), ())
    for rules in (PAPER, SOUND):
        assert answer_success(empty, ROUTE, answer("attic", "down", "garden"), rules) == 0
        assert not is_reasoning_right(empty, ROUTE, answer("attic", "down", "garden"), rules)
    assert path_length_weight(empty, ROUTE, answer("attic", "down", "garden")) == 0


DOWN_EAST = Ask("attic", "garden", ("down", "east"))


@pytest.mark.parametrize(
    ("after", "paper", "sound"),
    [("Garden", 1, 1), (" garden", 6 / 7, 1), ("the garden", 0.6, 0), ("xyz", 0, 0), ("", 0, 0)],
)
def test_of_a_destination_the_last_place_counts(after: str, paper: float, sound: float) -> None:
    hops = answer("?", "?", "?", "?", after)
    assert answer_success(MAP, DOWN_EAST, hops, PAPER) == pytest.approx(paper)
    assert answer_success(MAP, DOWN_EAST, hops, SOUND) == sound


def test_every_place_that_the_moves_can_lead_to_is_right() -> None:
    question = Ask("kitchen", "forest (dark)", ("east", "pray"))
    assert possible_destinations(MAP, question) == {"forest (dark)", "forest (light)"}
    hops = answer("?", "?", "forest (light)")
    for rules in (PAPER, SOUND):
        assert answer_success(MAP, question, hops, rules) == 1
    assert answer_success(MAP, question, hops, PAPER, any_reached=False) == name_similarity(
        "forest (dark)", "forest (light)"
    )
    assert answer_success(MAP, question, hops, SOUND, any_reached=False) == 0


def test_the_weight_is_the_shortest_length_by_the_answered_one() -> None:
    way = answer("attic", "down", "kitchen", "east", "garden")
    assert path_length_weight(MAP, ROUTE, way) == path_length_weight(MAP, DOWN_EAST, way) == 1
    assert path_length_weight(MAP, ROUTE, way[:1]) == 1
    assert path_length_weight(MAP, ROUTE, way * 2) == path_length_weight(MAP, DOWN_EAST, way * 2) == 0.5
    assert path_length_weight(MAP, Ask("hill", "attic"), way) == 0


BOTH, PAPER_ONLY, SOUND_ONLY, NEITHER = (True, True), (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("question", "hops", "expected"),
    [
        (ROUTE, answer("attic", "down", "kitchen", "east", "garden"), BOTH),
        (ROUTE, answer("Attic", "DOWN", "kitchen ", "east", "garden"), SOUND_ONLY),
        (ROUTE, answer("attic", "go down", "kitchen", "east", "garden"), NEITHER),
        (ROUTE, answer("attic", "down", "kitchen"), NEITHER),
        (ROUTE, answer("kitchen", "east", "garden"), NEITHER),
        (ROUTE, (Hop("attic", "down", "kitchen"), Hop("hall", "east", "garden")), NEITHER),
        (ROUTE, answer("attic", "down", "hall", "east", "garden"), NEITHER),
        (DOWN_EAST, answer("attic", "down", "kitchen", "east", "garden"), BOTH),
        (DOWN_EAST, answer("attic", "go down", "kitchen", "eest", "garden"), PAPER_ONLY),
        (DOWN_EAST, answer("attic", "down", "kitchen", "west", "hall"), NEITHER),  # a way, but not by these moves
        (DOWN_EAST, answer("attic", "down", "kitchen"), NEITHER),
        (DOWN_EAST, answer("attic", "down", "kitchen", "east", "garden", "pray", "forest (dark)"), NEITHER),
        (Ask("garden", "forest (dark)", ("pray",)), answer("garden", "pray", "forest (light)"), BOTH),
    ],
)
def test_reasoning(question: Ask, hops: tuple[Hop, ...], expected: tuple[bool, bool]) -> None:
    assert (is_reasoning_right(MAP, question, hops, PAPER), is_reasoning_right(MAP, question, hops, SOUND)) == expected


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("rules", [PAPER, SOUND])
def test_long_answers(rules: MatchingRules) -> None:
    hops = tuple(Hop("x" * 1_000, f"{number:1000}", "]" * 1_000) for number in range(1_000))
    for question in (ROUTE, DOWN_EAST):
        assert answer_success(MAP, question, hops, rules) == 0
        assert not is_reasoning_right(MAP, question, hops, rules)
