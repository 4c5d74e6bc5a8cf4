"""A teacher for the first steps, and then free play."""

from fractions import Fraction

import pytest

import waybench
from tests.envs.search.cases import EASY, TREE, after, measured, number, outcomes
from waybench.core import EpisodeRecord, Outcome, UsageError, replay
from waybench.envs import registry

EIGHT = number(3, 1, 8)


def executed(episode: object) -> list[int | None]:
    return [turn.executed for turn in episode.turns]  # type: ignore[attr-defined]


def test_the_first_steps_are_the_teacher_s_and_the_others_the_player_s() -> None:
    # The teacher would visit 4, 3, 4, 0, 2, 1, 2, 5. A wrong or an unreadable reply to its steps costs nothing.
    episode = after("dfs", TREE, "2", "?", "4", "0", "2", "1", "2", "5", teacher_guided=2)
    assert executed(episode) == [4, 3, *[None] * 6]
    assert outcomes(episode)[1] == Outcome.UNPARSED
    assert [message.text for message in episode.messages if message.role == "assistant"][:2] == ["4", "3"]
    assert episode.end_reason == "solved"


def test_scores_are_of_the_free_steps_after_the_teacher_s() -> None:
    # After 4, 3 three of six nodes are visited; the free steps 4, 0, 2 leave 3, 3 and 2 unvisited.
    episode = after("dfs", TREE, "x", "x", "4", "0", "2", *"????", teacher_guided=2)
    assert episode.end_reason == "invalid_limit"
    found = measured(episode)
    assert found["steps"] == 3
    assert (found["g_min"], found["g_sum"]) == pytest.approx((Fraction(2, 6), Fraction(8, 6)))
    assert found["acc"] == pytest.approx(Fraction(3, 4))
    assert found["psacc"] is None
    (follows,) = episode.environment.scoring.series
    assert list(follows.of(episode.record())) == [1, 1, 1, 0]


def test_the_best_guess_is_the_player_s_own() -> None:
    # The teacher guesses 16416 and 8224 first; the best free guess is 22 away from the number.
    episode = after("guessnum", EASY, "5022", "?", "5000", "40", teacher_guided=2)
    assert executed(episode) == [16416, 8224, None, None]
    assert measured(episode)["err_min"] == pytest.approx(22 / 32768)
    assert measured(episode)["steps"] == 2


def test_guesses_follow_the_algorithm_from_where_the_teacher_stopped() -> None:
    episode = after("guessnum", EASY, "1", "1", "4128", "6176", teacher_guided=2)
    assert measured(episode)["acc"] == 1


def test_steps_of_the_teacher_count_towards_the_limit() -> None:
    episode = after("bfs", TREE, "x", "x", "0", "0", teacher_guided=2, max_steps=4, protocol="sound")
    assert episode.end_reason == "turn_limit"
    assert measured(episode)["steps"] == 2
    # Without an answer both steps that were left are charged, and not those of the teacher.
    given_up = after("bfs", TREE, "x", "x", *"????", teacher_guided=2, max_steps=4, protocol="sound")
    assert measured(given_up)["g_sum"] == 2


def test_the_teacher_never_takes_the_step_to_the_goal_and_never_comes_back() -> None:
    # 3 of 1 to 8 is found by 5, 3. The second guess is the player's, and so is all that follows it.
    episode = after("coin", EIGHT, "7", "8", "3", teacher_guided=5)
    assert executed(episode) == [5, None, None]
    assert episode.end_reason == "solved"


def test_the_goal_not_reached_by_the_player_is_the_gap_that_the_teacher_left() -> None:
    silent = after("cavebfs", TREE, *"??", *"????", teacher_guided=2)
    g_min = next(metric for metric in silent.environment.scoring.metrics if metric.name == "g_min")
    assert measured(silent)["g_min"] == pytest.approx(Fraction(3, 6))
    assert g_min.floor is not None and g_min.floor(silent.record()) == pytest.approx(Fraction(3, 6))


@pytest.mark.parametrize("env", ["guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs"])
@pytest.mark.parametrize("steps", [1, 3])
def test_records_with_a_number_of_steps_replay(env: str, steps: int) -> None:
    data = EASY if env in ("guessnum", "coin") else TREE
    episode = after(env, data, "x", "x", "x", "x", "4", teacher_guided=steps)
    record = EpisodeRecord.from_json(episode.record().to_json())
    assert record.options["teacher_guided"] == steps
    assert replay(registry.load(f"search/{env}"), record).turns == episode.turns


def test_the_option_takes_true_false_and_whole_numbers_from_1() -> None:
    environment = waybench.load("search/dfs")
    given = ["true", True, "false", False, "3", 3, 1]
    values = [environment.resolve_options({"teacher_guided": value})["teacher_guided"] for value in given]
    assert list(map(repr, values)) == ["True", "True", "False", "False", "3", "3", "1"]
    for wrong in (0, -1, 1.5, "often", None):
        with pytest.raises(UsageError, match="teacher_guided"):
            environment.resolve_options({"teacher_guided": wrong})
    with pytest.raises(UsageError, match="give true, false or a whole number"):
        environment.resolve_options({"teacher_guided": "often"})


def test_a_teacher_that_leaves_no_step_of_the_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="teacher_guided=4 leaves the player none of max_steps=4"):
        after("dfs", TREE, teacher_guided=4, max_steps=4)
