"""How searches fail: by answers that cannot be taken, by answers that bring nothing, or by their number."""

import pytest

from tests.envs.search.cases import TREE, Data, after, number

EIGHT = number(3, 0, 7)


def kind(env: str, data: Data, *replies: str, **options: int) -> str | None:
    episode = after(env, data, *replies, **options)
    assert episode.done
    found = episode.environment.scoring.failure_of(episode.record())
    return found and found.name


@pytest.mark.parametrize(
    ("env", "data", "replies", "wanted"),
    [
        ("guessnum", EIGHT, ["4", "3"], None),
        ("guessnum", EIGHT, ["?"] * 4, "unparsed"),
        ("coin", EIGHT, ["99"] * 4, "illegal"),
        # 0 - 4 - 3 and 0 - 2 - (1, 5)
        ("dfs", TREE, ["1"] * 4, "not_beside"),
        ("dfs", TREE, ["4", "4", "4", "4", "4"], "not_beside"),  # nobody is beside himself
        ("dfs", TREE, ["99"] * 4, "no_node"),
        ("bfs", TREE, ["3"] * 4, "not_beside"),
        ("bfs", TREE, ["3", "99", "99", "99"], "no_node"),
        ("cavebfs", TREE, ["-"] * 4, "unparsed"),
    ],
)
def test_answers_that_cannot_be_taken(env: str, data: Data, replies: list[str], wanted: str | None) -> None:
    assert kind(env, data, *replies) == wanted


def test_answers_that_bring_nothing() -> None:
    # 4 is too large, so that 5 was excluded.
    assert kind("guessnum", EIGHT, "4", "5", "5", max_steps=3) == "unproductive"
    assert kind("guessnum", EIGHT, "0", "1", "2", max_steps=3) == "turn_limit"
    # Back to 0 and forth, though 4 leads on.
    assert kind("dfs", TREE, "4", "0", "4", "0", max_steps=4) == "unproductive"
    assert kind("bfs", TREE, "4", "2", "3", max_steps=3) == "turn_limit"


def test_what_a_coach_refused_counts_in_nothing() -> None:
    # The algorithm begins with 4; what it refuses is no guess that was made.
    episode = after("guessnum", EIGHT, "0", "0", "0", "4", "2", max_steps=2, weak_tg_chances=5)
    assert [turn.outcome for turn in episode.turns] == ["unproductive"] * 3 + ["ok"] * 2
    assert episode.environment.scoring.failure_of(episode.record()).name == "turn_limit"
