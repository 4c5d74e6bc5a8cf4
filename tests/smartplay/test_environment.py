"""What a game of the agent protocol declares, and what it is given."""

import pytest

from tests.smartplay.stairs import StairsRules, environment, episode
from waybench.envs.smartplay import agent_environment


def test_a_game_gets_options_players_failures_and_typed_numbers() -> None:
    stairs = environment(steps=5, history=2)
    assert {option.name: option.default for option in stairs.playing.options} == {
        "protocol": "paper",
        "wording": "two_questions",
        "history": 2,
        "steps": 5,
    }
    assert [kind.name for kind in stairs.scoring.failures] == ["unnamed"]
    played = episode(wording="one_question", protocol="sound")
    assert stairs.typing.parse is not None
    assert [stairs.typing.parse(text, played.state) for text in ("2", "4", "up")] == [(1, True), None, None]


@pytest.mark.parametrize(("steps", "turns"), [(5, 5), (None, 6)])
def test_steps_are_those_given_or_those_of_the_instance(steps: int | None, turns: int) -> None:
    assert episode(height=3, steps=steps, wording="one_question").limits.turns == turns


def test_a_game_without_a_number_of_steps_is_refused() -> None:
    stairs = environment()
    with pytest.raises(ValueError, match="most_steps"):
        agent_environment(
            items=stairs.items,
            rules=StairsRules,
            history=1,
            steps=None,
            reward=(0, 1),
            scoring=stairs.scoring,
        )
