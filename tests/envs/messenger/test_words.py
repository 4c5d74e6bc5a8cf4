"""What the player reads, and what becomes of its replies."""

import pytest

from tests.envs.messenger.games import CORNERS, EAST, ENV, STAY, at, case, played
from waybench.core import Episode
from waybench.envs.messenger._game import RoleRules, observation_text
from waybench.envs.messenger._world import advance_world, decode, start_world

PAPER, SOUND = RoleRules(published=True), RoleRules(published=False)
NONE = "You (agent) don't have the message."


def test_entities_are_listed_by_their_numbers() -> None:
    # bird 5, ship 9, robot 11
    assert PAPER.observe(start_world(case())).split("\n")[3:] == [
        "- bird 9 steps to your north-east",
        "- ship 10 steps to your north-west",
        "- robot 9 steps to your south-west",
    ]


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((10, 4), "- ship 3 steps to your north"),
        ((4, 10), "- ship 3 steps to your west"),
        ((13, 10), "- ship 1 steps to your east"),  # half a cell counts as none
        ((10, 13), "- ship 1 steps to your south"),
        ((11, 11), "- ship 0 steps with you"),
        ((9, 9), "- ship 2 steps to your north-west"),
    ],
)
def test_distances_are_of_whole_cells(place: tuple[int, int], line: str) -> None:
    assert line in PAPER.observe(at(start_world(case()), (10, 10), enemy=place)).split("\n")


def test_of_those_that_look_alike_paper_names_the_nearest_and_sound_all() -> None:
    world = at(
        start_world(case(stage=3)), (10, 10), message=(10, 4), decoy_message=(10, 14), goal=(2, 10), decoy_goal=(10, 2)
    )
    assert PAPER.observe(world).split("\n")[3:] == [
        "- bird 2 steps to your south",
        "- ship 10 steps to your north-west",
        "- robot 4 steps to your north",  # as far as the other one, and further in the north
    ]
    assert SOUND.observe(world).split("\n")[3:] == [
        "- bird 2 steps to your south",
        "- bird 3 steps to your north",
        "- ship 10 steps to your north-west",
        "- robot 4 steps to your north",
        "- robot 4 steps to your west",
    ]


def test_death_is_an_error_in_paper_and_told_in_sound() -> None:
    dead = advance_world(at(start_world(case()), (10, 10), enemy=(12, 10)), EAST, None)  # type: ignore[arg-type]
    assert PAPER.observe(dead) == "Environment Error."
    assert SOUND.observe(dead).startswith(
        f"You took action Move East.\n\nYou met the enemy, the ship, and lost the game.\n\n{NONE}\n\nYou see:\n"
    )


def test_death_in_stage_1_shows_the_board() -> None:
    dead = advance_world(at(start_world(case(stage=1)), (10, 10), goal=(12, 10)), EAST, None)  # type: ignore[arg-type]
    assert PAPER.observe(dead).startswith(f"You took action Move East.\n\n{NONE}\n\nYou see:\n")
    assert "- robot 0 steps with you" in PAPER.observe(dead)
    assert "without the message, and lost the game" in SOUND.observe(dead)


@pytest.mark.parametrize(("carries", "role"), [(True, "goal"), (True, "message"), (False, "message"), (False, "enemy")])
def test_sound_tells_every_end(carries: bool, role: str) -> None:
    over = advance_world(at(start_world(case(stage=1, carries=carries)), (10, 10), **{role: (12, 10)}), EAST, None)  # type: ignore[arg-type]
    won = role == ("goal" if carries else "message")
    assert ("won the game" in SOUND.observe(over), "lost the game" in SOUND.observe(over)) == (won, not won)


def test_decoys_are_told_apart_in_the_end() -> None:
    over = advance_world(at(start_world(case(stage=3)), (10, 10), decoy_goal=(12, 10)), EAST, None)  # type: ignore[arg-type]
    assert "You met the robot that is an enemy, and lost the game." in SOUND.observe(over)


def test_nothing_left_to_see() -> None:
    world = start_world(case())._replace(places=(None, None, None), carries=True)
    assert observation_text(world, published=True) == (
        "You (agent) already have the message.\n\nYou see nothing away from you."
    )


def test_manual_has_the_sentences_in_their_order() -> None:
    game = ENV.source(level=3).item(0).instance
    manual = SOUND.manual(game)
    assert manual == PAPER.manual(game)
    assert manual.split("\n\n")[1].split("\n") == list(game.sentences)
    opening = Episode(ENV, ENV.source(level=3).item(0)).messages[0].text
    assert opening.endswith("5. Do Nothing") and manual in opening


def test_a_reply_that_names_nothing_goes_north_in_paper_and_nowhere_in_sound() -> None:
    for protocol, action, events in (("paper", [0, False], True), ("sound", None, False)):
        (turn,) = played(case(), "who knows", protocol=protocol).turns
        assert (turn.action, "at" in turn.events) == (action, events)


def test_steps_end_the_game() -> None:
    item = ENV.source(level=1).item(0)
    record = played(item, *["Do Nothing"] * 4)
    assert (record.end, len(record.turns)) == ("turn_limit", 4)
    assert played(item, "Do Nothing", steps=1).end == "turn_limit"


def test_larger_boards_have_more_steps() -> None:
    assert [case(stage=stage, size=size).steps for stage in (1, 2, 3) for size in (8, 10, 25)] == [
        4, 4, 4, 64, 64, 160, 128, 128, 320,
    ]  # fmt: skip


def test_instances_survive_json() -> None:
    for stage in (1, 2, 3):
        game = case(stage=stage, cells=CORNERS)
        assert decode(game.to_json()) == game


def test_rest_is_the_last_action() -> None:
    assert PAPER.actions(case())[STAY] == "Do Nothing"
