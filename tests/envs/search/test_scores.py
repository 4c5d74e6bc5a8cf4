"""What an episode of a search is measured by, by hand and by closed forms (shared/specs/aqa.md, section 5)."""

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.search import cases
from tests.envs.search.cases import (
    EASY,
    NUMBERS,
    PROTOCOLS,
    TREE,
    WALKS,
    Data,
    after,
    data_of,
    depths,
    measured,
    number,
    solved,
    trees,
)
from waybench.core import Reply

EIGHT = number(3, 0, 7)  # the half-open bisection guesses 4, 2, 3; the textbook's 3 at once
QUIT = ["?"] * 4
RANDOM = st.randoms(use_true_random=False)


def near(**expected: float | Fraction) -> Any:
    return pytest.approx({name: float(value) for name, value in expected.items()}, abs=1e-12)


def some(episode: Any, *names: str) -> dict[str, Any]:
    found = measured(episode)
    return {name: found[name] for name in names}


ERRORS = ("err_min", "err_sum", "err_avg")
GAPS = ("g_min", "g_sum")


@pytest.mark.parametrize(("protocol", "unit"), [("paper", 7), ("sound", 8)])
def test_errors_are_shares_of_the_range(protocol: str, unit: int) -> None:
    episode = after("guessnum", EIGHT, "4", "1", "7", protocol=protocol)
    expected = near(err_min=Fraction(1, unit), err_sum=Fraction(7, unit), err_avg=Fraction(7, 3 * unit))
    assert some(episode, *ERRORS) == expected


def test_a_bisection_by_the_other_middle_follows_in_sound_alone() -> None:
    for protocol, acc in (("paper", 0), ("sound", 1)):
        assert some(after("guessnum", EIGHT, "3", protocol=protocol), "acc", "acc_sound") == near(acc=acc, acc_sound=1)


def test_nothing_counts_after_the_first_deviation() -> None:
    episode = after("guessnum", EIGHT, "4", "1", "2", "3")  # 2 would have been the second guess
    assert some(episode, "acc") == near(acc=Fraction(1, 4))
    assert episode.environment.scoring.series[0].of(episode.record()) == [1, 0, 0, 0]


@pytest.mark.parametrize(("protocol", "missing"), [("paper", 1), ("sound", 9)])
def test_what_giving_up_costs_a_guesser(protocol: str, missing: int) -> None:
    unit = {"paper": 7, "sound": 8}[protocol]
    episode = after("guessnum", EIGHT, "4", *QUIT, protocol=protocol, max_steps=10)
    expected = near(
        err_min=Fraction(1, unit),
        err_sum=Fraction(1, unit) + missing,
        err_avg=(Fraction(1, unit) + 1) / 2,
        err_sum_sound=Fraction(1, 8) + 9,
        acc=Fraction(1, 1 + missing),
        acc_sound=Fraction(1, 10),
    )
    assert some(episode, *ERRORS, "err_sum_sound", "acc", "acc_sound") == expected


@pytest.mark.parametrize(("protocol", "missing"), [("paper", 0), ("sound", 9)])
def test_what_giving_up_costs_a_walker(protocol: str, missing: int) -> None:
    for env in WALKS:
        episode = after(env, TREE, "4", *QUIT, protocol=protocol, max_steps=10)
        gap = Fraction(4, 6)
        acc = Fraction(1, 10) if missing else Fraction(1, 2)
        expected = near(g_min=gap, g_sum=gap + missing, g_sum_sound=gap + 9, acc=acc)
        assert some(episode, *GAPS, "g_sum_sound", "acc") == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_any_valid_answer(protocol: str) -> None:
    sound = protocol == "sound"
    for env in NUMBERS:
        episode = after(env, EIGHT, *QUIT, protocol=protocol, max_steps=10)
        expected = near(err_min=1, err_sum=10 if sound else 1, err_avg=1, acc=0, steps=0)
        assert some(episode, *ERRORS, "acc", "steps") == expected
    for env in WALKS:
        episode = after(env, TREE, *QUIT, protocol=protocol, max_steps=10)
        expected = near(g_min=Fraction(5, 6), g_sum=10 if sound else 0, acc=0, steps=0)
        assert some(episode, *GAPS, "acc", "steps") == expected
        floor = episode.environment.scoring.metrics[0].floor
        assert floor(episode.record()) == pytest.approx(5 / 6)


@pytest.mark.parametrize(("protocol", "total"), [("paper", 1), ("sound", 0)])
def test_before_the_first_reply(protocol: str, total: int) -> None:
    expected = near(err_min=1, err_sum=total, err_avg=1, acc=0)
    assert some(after("guessnum", EIGHT, protocol=protocol), *ERRORS, "acc") == expected
    assert some(after("dfs", TREE, protocol=protocol), *GAPS, "acc") == near(g_min=Fraction(5, 6), g_sum=0, acc=0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_limit_that_is_reached_and_a_goal_that_is_reached_early_cost_nothing_more(protocol: str) -> None:
    episode = after("guessnum", EIGHT, "5", "4", protocol=protocol, max_steps=2)
    assert episode.done
    assert measured(episode)["err_sum_sound"] == pytest.approx(3 / 8)
    episode = after("guessnum", EIGHT, "5", "3", protocol=protocol, max_steps=10)
    assert episode.done
    assert measured(episode)["err_sum_sound"] == pytest.approx(2 / 8)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_forgiven_replies_count_nowhere_but_in_their_own_numbers(protocol: str) -> None:
    wrong = ["?", "99", Reply("", "refused")]
    one, other = (
        measured(after("dfs", TREE, *forgiven, "4", *forgiven, "3", "4", *QUIT, protocol=protocol))
        for forgiven in ([], wrong)
    )
    assert (one.pop("unparsed"), one.pop("illegal")) == (4, 0)
    assert (other.pop("unparsed"), other.pop("illegal")) == (6, 2)
    assert one == other
    assert (one["steps"], one["minimum"]) == (3, 8)


def test_depth_first_any_new_neighbour_follows_and_the_way_back_comes_after_the_last() -> None:
    for walk, right in (("2521", 4), ("2520", 3), ("434021", 6), ("40", 1), ("4340402", 4)):
        assert measured(solved("dfs", TREE, [int(node) for node in walk]))["acc"] == pytest.approx(right / len(walk))


def test_breadth_first_any_order_within_a_level_follows() -> None:
    for walk, right in (("24513", 5), ("42135", 5), ("43", 1), ("4203", 2), ("04", 0)):
        assert measured(solved("bfs", TREE, [int(node) for node in walk]))["acc"] == pytest.approx(right / len(walk))


# With a teacher


@pytest.mark.parametrize(("protocol", "unit"), [("paper", 7), ("sound", 8)])
def test_with_a_teacher_every_guess_is_judged_by_itself(protocol: str, unit: int) -> None:
    episode = after("coin", EIGHT, "5", "?", "3", protocol=protocol, teacher_guided=True)
    assert episode.done
    expected = near(
        err_min=0, err_sum=1 + Fraction(2, unit), err_avg=(1 + Fraction(2, unit)) / 3, acc=Fraction(1, 3), steps=2
    )
    assert some(episode, *ERRORS, "acc", "steps") == expected
    assert episode.environment.scoring.series[0].of(episode.record()) == [0, 0, 1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_with_a_teacher_a_gap_is_that_of_the_teacher_s_nodes_and_the_answer_s(protocol: str) -> None:
    # The teacher visits 4, 3, 4, 0, 2, 1, 2, 5. The fourth reply would stand still.
    replies = ["2", "3", "?", "4", "2", "x", "x", "x"]
    episode = after("cavedfs", TREE, *replies, protocol=protocol, teacher_guided=True, max_steps=1, max_retries=0)
    assert [turn.executed for turn in episode.turns] == [4, 3, 4, 0, 2, 1, 2, 5]
    assert episode.environment.scoring.series[0].of(episode.record()) == [1, 1, 0, 0, 1, 0, 0, 0]
    share = Fraction(3, 8)
    assert some(episode, *GAPS, "acc", "psacc") == near(
        g_min=Fraction(2, 6), g_sum=Fraction(21, 6), acc=share, psacc=share
    )


def test_with_a_teacher_the_gap_before_the_first_valid_answer_is_all_but_the_start() -> None:
    episode = after("bfs", TREE, *"?????", teacher_guided=True)
    assert some(episode, *GAPS, "acc") == near(g_min=Fraction(5, 6), g_sum=Fraction(25, 6), acc=0)


def test_per_step_accuracy_is_not_defined_without_a_teacher() -> None:
    assert measured(after("dfs", TREE, "4"))["psacc"] is None


# Closed forms, and what holds of any play


@given(trees(), RANDOM)
def test_any_breadth_first_search_has_the_same_sum_of_gaps(data: Data, rng: random.Random) -> None:
    size = len(data["nodes"])
    for protocol in PROTOCOLS:
        episode = solved("bfs", data, list(cases.breadth_first(data, rng.choice)), protocol=protocol)
        total = Fraction((size - 1) * (size - 2), 2 * size)
        assert some(episode, *GAPS, "acc", "steps") == near(g_min=0, g_sum=total, acc=1, steps=size - 1)


@given(trees(), RANDOM)
def test_any_depth_first_search_has_the_sum_of_gaps_of_the_depths(data: Data, rng: random.Random) -> None:
    size = len(data["nodes"])
    for protocol in PROTOCOLS:
        episode = solved("dfs", data, list(cases.depth_first(data, rng.choice)), protocol=protocol)
        total = Fraction((size - 1) ** 2 - sum(depths(data)), size)
        assert some(episode, *GAPS, "acc") == near(g_min=0, g_sum=total, acc=1)


@given(trees(extra=5), RANDOM)
def test_any_search_of_a_graph_with_cycles_follows(data: Data, rng: random.Random) -> None:
    for env, search in (("cavedfs", cases.depth_first), ("cavebfs", cases.breadth_first)):
        assert measured(solved(env, data, list(search(data, rng.choice))))["acc"] == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(rng=RANDOM, quit_after=st.integers(0, 19))
def test_giving_up_never_lowers_the_sound_sums(protocol: str, rng: random.Random, quit_after: int) -> None:
    for env, name in (("guessnum", "err_sum_sound"), ("dfs", "g_sum_sound"), ("bfs", "g_sum_sound")):
        episode = after(env, data_of(env), protocol=protocol, max_steps=20)
        said: list[str] = []
        while not episode.done:
            said.append(str(rng.choice(episode.play.game.legal(episode.state))))
            episode.step(said[-1])
        if quit_after >= len(said):
            continue
        left = after(env, data_of(env), *said[:quit_after], *QUIT, protocol=protocol, max_steps=20)
        assert measured(left)[name] > measured(episode)[name]
        assert measured(left)["acc_sound"] <= measured(episode)["acc_sound"]


def test_giving_up_lowers_the_published_sum_of_gaps() -> None:
    assert measured(after("dfs", TREE, *QUIT))["g_sum"] < measured(after("dfs", TREE, *"43402125"))["g_sum"]
    assert measured(after("guessnum", EASY, *QUIT))["err_sum"] == 1
