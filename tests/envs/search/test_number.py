"""Guessing a number, rule by rule (shared/specs/aqa.md, sections 2 to 4 and 6)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import waybench
from tests.envs.search.cases import EASY, NUMBERS, PROTOCOLS, after, measured, number, outcomes
from waybench.core import DataError, End, Stream, play_to_end, policy
from waybench.envs.search._number import GuessGame, Number

GUESSNUM = waybench.load("search/guessnum")
ORACLE, BISECTION, LINEAR = (GUESSNUM.players.policies[name] for name in ("oracle", "bisection", "linear"))


def half_open(target: int, low: int, high: int) -> list[int]:
    """Return the guesses of the published optimal policy."""
    left, right = low, high + 1
    guesses = [(left + right) // 2]
    while guesses[-1] != target:
        left, right = (guesses[-1], right) if guesses[-1] < target else (left, guesses[-1])
        guesses.append((left + right) // 2)
    return guesses


RANGES = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 10**6)).map(
    lambda drawn: number(drawn[0] + drawn[2] % (drawn[1] + 1), drawn[0], drawn[0] + drawn[1])
)


@pytest.mark.parametrize(("env", "thing"), [("guessnum", "number"), ("coin", "number of gold coins")])
def test_each_guess_is_told_bigger_smaller_or_right(env: str, thing: str) -> None:
    episode = after(env, EASY, "40", "5023", "5022")
    assert [turn.message for turn in episode.turns] == [
        f"The true {thing} is bigger than 40.",
        f"The true {thing} is smaller than 5023.",
        f"Right answer. The true {thing} is equal to 5022.",
    ]
    assert episode.end_reason is End.SOLVED
    assert [turn.reward for turn in episode.turns] == [0, 0, 1]


@pytest.mark.parametrize("env", NUMBERS)
def test_the_ends_of_the_range_can_be_guessed_and_nothing_beyond(env: str) -> None:
    episode = after(env, EASY, "31", "32801", "32", "32800")
    assert outcomes(episode) == ["illegal", "illegal", "ok", "ok"]
    wrong = "Invalid reply. You can only reply with a integer number between 32 and 32800. Try again."
    assert [turn.message for turn in episode.turns[:2]] == [wrong, wrong]


def test_a_guess_that_is_excluded_already_is_taken_and_brings_nothing() -> None:
    episode = after("guessnum", EASY, "1000", "1000", "999", "9000", "9001", "1001", "8999")
    assert outcomes(episode) == ["ok", "unproductive", "unproductive", "ok", "unproductive", "ok", "ok"]
    assert (episode.state.low, episode.state.high) == (1002, 8998)
    assert measured(episode)["steps"] == 7


def test_three_invalid_replies_in_a_row_are_forgiven_at_any_step_and_the_fourth_is_not() -> None:
    wrong = ["?", "0", ""]
    episode = after("guessnum", EASY, *wrong, "40", *wrong, "50", *wrong)
    assert not episode.done
    assert episode.turns_left == 18
    episode.step("99999")
    assert episode.end_reason is End.INVALID_LIMIT


@pytest.mark.parametrize(("data", "limit"), [(EASY, 20), (number(40, 32, 33554464), 30), (number(1, 0, 1), 5)])
def test_only_valid_answers_count_towards_the_limit(data: dict[str, int], limit: int) -> None:
    wrong = str(data["min"] + (data["target"] == data["min"]))
    episode = after("guessnum", data, *["?", wrong] * (limit - 1), "?")
    assert not episode.done
    episode.step(wrong)
    assert episode.end_reason is End.TURN_LIMIT


def test_the_limits_can_be_set() -> None:
    assert after("guessnum", EASY, "40", "41", max_steps=2).end_reason is End.TURN_LIMIT
    assert after("guessnum", EASY, "?", max_retries=0).end_reason is End.INVALID_LIMIT


def test_how_many_steps_the_optimal_policy_needs_over_all_targets_of_easy_mode() -> None:
    steps = Counter(GUESSNUM.items.prove(Number(target, 32, 32800))["minimum"] for target in range(32, 32801))
    assert steps == {**{step: 2 ** (step - 1) for step in range(1, 16)}, 16: 2}


def test_the_worst_target_of_hard_mode_needs_26_steps() -> None:
    assert GUESSNUM.items.prove(Number(32, 32, 33554464)) == {"minimum": 26}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=RANGES)
def test_the_oracle_is_the_published_half_open_bisection(protocol: str, data: dict[str, int]) -> None:
    item = GUESSNUM.item(data)
    episode = play_to_end(GUESSNUM, item, policy("oracle"), {"protocol": protocol})
    guesses = [turn.action for turn in episode.turns]
    assert guesses == half_open(data["target"], data["min"], data["max"])
    assert item.proof == {"minimum": len(guesses)}
    assert measured(episode)["acc"] == 1


def test_the_first_guesses_are_the_published_ones() -> None:
    game = GuessGame()
    easy, hard = game.start(Number(40, 32, 32800)), game.start(Number(40, 32, 33554464))
    assert (ORACLE(easy, Stream()), ORACLE(hard, Stream())) == (16416, 16777248)


def test_the_other_players_guess_what_is_still_possible() -> None:
    game = GuessGame()
    state = game.start(Number(13, 10, 21))
    assert [player(state, Stream()) for player in (BISECTION, LINEAR, ORACLE)] == [15, 10, 16]
    state = game.apply(state, 15, Stream()).state
    assert [player(state, Stream()) for player in (BISECTION, LINEAR, ORACLE)] == [12, 10, 12]
    state = game.apply(state, 11, Stream()).state
    assert [player(state, Stream()) for player in (BISECTION, LINEAR, ORACLE)] == [13, 12, 13]


def test_all_of_the_range_is_legal_until_the_number_is_found() -> None:
    game = GuessGame()
    state = game.start(Number(5, 3, 9))
    assert list(game.legal(state)) == [3, 4, 5, 6, 7, 8, 9]
    assert game.terminal(state) is None
    found = game.apply(state, 5, Stream()).state
    assert (list(game.legal(found)), game.terminal(found)) == ([], End.SOLVED)


@pytest.mark.parametrize(("high", "level"), [(1, 0), (2, 1), (3, 1), (4, 2), (32768, 15), (2**25, 25)])
def test_the_level_is_the_logarithm_of_the_range(high: int, level: int) -> None:
    assert GUESSNUM.item(number(0, 0, high)).level == level


def test_an_instance_in_json() -> None:
    instance = Number(777, 32, 32800)
    assert instance.to_json() == {"target": 777, "min": 32, "max": 32800}
    assert GUESSNUM.items.decode(instance.to_json()) == instance


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "whole numbers"),
        ([777, 32, 32800], "whole numbers"),
        ({"target": 777}, "whole numbers"),
        ({"target": "777", "min": 32, "max": 32800}, "whole numbers"),
        ({"target": 777.0, "min": 32, "max": 32800}, "whole numbers"),
        ({"target": True, "min": 0, "max": 1}, "whole numbers"),
        (number(31), "from min to max"),
        (number(32801), "from min to max"),
        (number(5, 5, 5), "differ"),
        (number(5, 9, 1), "from min to max"),
        (number(-1, -5, 5), "from 0 to 2"),
        (number(5, 0, 2**62 + 1), "from 0 to 2"),
    ],
)
def test_what_is_no_number_to_be_guessed(data: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        GUESSNUM.items.decode(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [None, "5", 5.0, True, [5]])
def test_what_is_no_action(action: object) -> None:
    with pytest.raises(DataError, match="give a whole number"):
        GuessGame().decode(action)
