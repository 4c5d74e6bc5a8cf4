"""How maps fail, with replies whose kind is evident from the specification (shared/specs/gtb.md, sections 3 and 5)."""

from typing import Any

import pytest

import waybench
from tests.envs.tilemap.maps import BACK, RECORD, TO_GATE, after, said
from waybench.core import End, Reply

# A third target, so that one kind can be more frequent than another.
THREE = {**RECORD, "objectives": {**RECORD["objectives"], "gate again": ["a", 1, 4]}}
# Nothing but ground: any cell is reached by walking down and then right.
OPEN = {
    **RECORD,
    "environment": "@aaa\naaaa\naaaa\naaag",
    "walkable_tiles": "['a', 'g']",
    "objectives": {"far": ["a", 3, 3], "near": ["a", 0, 1]},
}


def kind(episode: Any) -> str | None:
    """Return the name of the kind in which a finished episode failed."""
    assert episode.done
    found = episode.environment.scoring.failure_of(episode.record())
    return found and found.name


NOTHING_READ = ["I cannot answer."] * 10  # then the objective is given up
SHORT = said("move_right")  # ends elsewhere, and all of it can be done
UNNAMED = said("move_right", "jump")
AGAINST = said("move_up")  # off the map from the first row


@pytest.mark.parametrize(
    ("replies", "wanted"),
    [
        ([said(*TO_GATE), said(*BACK)], None),
        ([SHORT, SHORT], "strategic"),
        ([said(), said()], "strategic"),
        ([AGAINST, AGAINST], "blocked"),
        # Straight to the gate through the wall; and on to where the well would be, from where that has led.
        ([said("move_right", "move_right", "move_down", "move_right", "move_right"), AGAINST], "blocked"),
        # Two steps, and one into the wall: the gate is not at the end of that way, wall or not.
        ([said("move_right", "move_right", "move_down"), said()], "strategic"),
        ([UNNAMED, UNNAMED], "wrong_name"),
        ([said("move_up", "Move_Up"), said("move_up", "north")], "wrong_name"),  # blocked, too: a name is worse
        ([*NOTHING_READ, *NOTHING_READ], "unparsed"),
        # One of two objectives is missed.
        ([said(*TO_GATE), said("move_down")], "strategic"),
        ([said(*TO_GATE), said("move_right")], "blocked"),  # the gate is in the last column
        ([said(*TO_GATE), said(*["move_down"] * 2, *["move_left"] * 4)], "blocked"),  # the corner is a chest
        ([said(*TO_GATE), said("dig")], "wrong_name"),
        ([said(*TO_GATE), *NOTHING_READ], "unparsed"),
        # Replies that could not be read are forgiven where one of the same objective is.
        ([*NOTHING_READ[1:], said(*TO_GATE), *NOTHING_READ[1:], said("move_down")], "strategic"),
    ],
)
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_what_objectives_are_missed_by(replies: list[str], wanted: str | None, protocol: str) -> None:
    assert kind(after(*replies, protocol=protocol)) == wanted


def test_what_most_objectives_are_missed_by_counts_and_not_most_replies() -> None:
    episode = after(*NOTHING_READ, SHORT, SHORT, record=THREE)
    assert sum(turn.outcome == "unparsed" for turn in episode.turns) == 10
    assert kind(episode) == "strategic"
    assert kind(after(*NOTHING_READ, *NOTHING_READ, SHORT, record=THREE)) == "unparsed"


def test_replies_that_were_cut_off_or_refused_are_told_apart() -> None:
    cut, no = Reply("x", "truncated"), Reply("x", "refused")
    assert kind(after(*[cut] * 6, *[no] * 4, *NOTHING_READ)) == "truncated"  # one objective each
    assert kind(after(*[no] * 20)) == "refused"


def test_what_ended_the_published_program_takes_all_objectives_that_are_left() -> None:
    assert kind(after(SHORT, "{'action': None}", record=THREE)) == "crashed"
    assert kind(after(*["{'action': None}"] * 20, protocol="sound")) == "unparsed"


def test_stepping_on_a_hazard() -> None:
    episode = after(record=OPEN, hazards=1)
    (cell,) = episode.state.board.hazards
    row, column = (number - 1 for number in divmod(cell, 4 + 2))
    episode.step(said(*["move_down"] * row, *["move_right"] * column))
    assert kind(episode) == "hazard"


def test_meeting_an_enemy() -> None:
    env = waybench.load("tilemap/gtb")
    for number in range(20):
        episode: Any = waybench.core.Episode(env, env.item(OPEN), {"enemies": 3}, attempt=number + 1)
        while not episode.done:
            episode.step(said(*["move_right", "move_down"] * 10))
        if "death" in episode.turns[0].events:
            break
    assert len(episode.turns) == 1
    assert kind(episode) == "enemy"


def test_a_budget_that_ran_out() -> None:
    episode = after(said(*TO_GATE))
    episode.end(End.TURN_LIMIT, "token budget")
    assert kind(episode) == "turn_limit"


def test_of_single_actions_most_count() -> None:
    stepwise = waybench.load("tilemap/stepwise")

    def played(*names: str) -> Any:
        episode = after(env=stepwise)
        while not episode.done:
            for name in names:
                if not episode.done:
                    episode.step(said(name))
        return episode

    assert kind(played("move_up")) == "blocked"
    assert kind(played("jump")) == "wrong_name"
    assert kind(played("move_right", "move_left")) == "strategic"
