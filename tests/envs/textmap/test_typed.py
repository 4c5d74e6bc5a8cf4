"""What a person types in place of a list of objects."""

import pytest

import waybench
from tests.envs.textmap.test_route_and_destination import FROM_ATTIC, RIGHT, TO_GARDEN, item
from waybench.core import Episode
from waybench.people._play import parse_typed_line


@pytest.mark.parametrize("text", ["down, out", " DOWN ,Out "])
@pytest.mark.parametrize("wording", ["chat", "completion", "examples", "plain"])
def test_actions_of_a_route(text: str, wording: str) -> None:
    episode = Episode(waybench.load("textmap/route"), item(TO_GARDEN), {"protocol": "sound", "wording": wording})
    assert "actions of a route" in episode.environment.typing.help
    reply = parse_typed_line(text, episode)
    assert reply is not None
    turn = episode.step(reply)
    assert [[before, action.strip().lower(), after] for before, action, after in turn.action] == [
        list(h) for h in RIGHT
    ]
    assert str(episode.end_reason) == "solved"


def test_the_place_of_a_destination() -> None:
    for text, solved in (("garden", True), ("attic", False)):
        episode = Episode(waybench.load("textmap/destination"), item(FROM_ATTIC))
        reply = parse_typed_line(text, episode)
        assert reply is not None
        turn = episode.step(reply)
        assert turn.action == [["?", "down", "?"], ["?", "out", text]]
        assert turn.events["reasoning"] is False
        assert (str(episode.end_reason) == "solved") == solved


def test_what_is_not_understood_costs_nothing() -> None:
    for environment, question, text in (
        ("textmap/route", TO_GARDEN, "down,,out"),
        ("textmap/route", TO_GARDEN, "x" * 2_000),
        ("textmap/route", TO_GARDEN, "down," * 2_000 + "out"),
        ("textmap/destination", FROM_ATTIC, "x" * 2_000),
        # It is the only answer: a slip of the keys, or a number of a list that has none, is not taken for a name.
        ("textmap/route", TO_GARDEN, "2"),
        ("textmap/route", TO_GARDEN, "down, uot"),
        ("textmap/destination", FROM_ATTIC, "2"),
    ):
        assert parse_typed_line(text, Episode(waybench.load(environment), item(question))) is None
