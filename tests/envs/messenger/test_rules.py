"""The rules, by cases made by hand after shared/specs/smartplay.md, section 6."""

from typing import Any

import pytest

from tests.envs.messenger.games import EAST, KINDS, NORTH, SOUTH, STAY, WEST, First, at, case
from waybench.core import Outcome, Stream
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._world import MessengerWorld, advance_world, collide, start_world

RULES = RoleRules(published=True)
UP, LEFT, DOWN, RIGHT = (0, -1), (-1, 0), (0, 1), (1, 0)


def step(world: MessengerWorld, action: int = STAY) -> MessengerWorld:
    return advance_world(world, action, First())


# Movement


@pytest.mark.parametrize(
    ("action", "agent"), [(NORTH, (10, 8)), (SOUTH, (10, 12)), (WEST, (8, 10)), (EAST, (12, 10)), (STAY, (10, 10))]
)
def test_agent_moves_a_whole_cell(action: int, agent: tuple[int, int]) -> None:
    assert step(start_world(case()), action).agent == agent


@pytest.mark.parametrize(
    ("corner", "actions"), [((0, 0), (NORTH, WEST)), ((18, 18), (SOUTH, EAST)), ((18, 0), (NORTH, EAST))]
)
def test_agent_stays_on_the_board(corner: tuple[int, int], actions: tuple[int, int]) -> None:
    # The actors are elsewhere, so that nothing is met.
    far = {"enemy": (10, 10), "message": (12, 10), "goal": (8, 10)}
    for action in actions:
        world = at(start_world(case()), corner, **far)
        assert step(world, action).agent == corner
        assert RULES.step(world, action, Stream("test")).outcome is Outcome.UNPRODUCTIVE
        assert RULES.step(world, STAY, Stream("test")).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("place", "nearer", "away"),
    [
        ((14, 14), [UP, LEFT], [DOWN, RIGHT]),
        ((6, 14), [UP, RIGHT], [LEFT, DOWN]),
        ((6, 6), [DOWN, RIGHT], [UP, LEFT]),
        ((10, 14), [UP], [LEFT, DOWN, RIGHT]),  # to the side leads away, for there is nothing between
        ((14, 10), [LEFT], [UP, DOWN, RIGHT]),
        ((10, 10), [UP, LEFT, DOWN, RIGHT], [UP, LEFT, DOWN, RIGHT]),  # nothing is nearer than here, so all four
    ],
)
def test_what_movers_choose_from(place: tuple[int, int], nearer: list[Any], away: list[Any]) -> None:
    for kind, options in (("chaser", nearer), ("fleeing", away)):
        world, chance = at(start_world(case(kind, "immovable", "immovable")), (10, 10), enemy=place), First()
        after = advance_world(world, STAY, chance)
        assert chance.asked == [options]
        assert after.places[0] == (place[0] + options[0][0], place[1] + options[0][1])


def test_one_draw_for_each_mover_in_order_and_none_for_what_stands() -> None:
    world, chance = start_world(case("chaser", "immovable", "fleeing", "chaser", "fleeing", stage=3)), First()
    advance_world(world, STAY, chance)
    # Enemy in the north-west chases, goal in the south-west flees, a decoy in the south-east chases, one in the west.
    assert chance.asked == [[DOWN, RIGHT], [LEFT, DOWN], [UP, LEFT], [UP, LEFT, DOWN]]


def test_others_decide_on_where_the_agent_was() -> None:
    world = at(start_world(case("chaser", "immovable", "immovable")), (10, 10), enemy=(10, 16))
    assert step(world, EAST).places[0] == (10, 15)  # straight north, although the agent is east of it by now


def test_who_flees_stays_where_the_board_ends() -> None:
    world = at(start_world(case("fleeing", "immovable", "immovable")), (10, 10), enemy=(0, 0))
    chance = First()
    assert advance_world(world, STAY, chance).places[0] == (0, 0)
    assert chance.asked == [[UP, LEFT]]  # both lead off the board


def test_what_is_gone_draws_nothing() -> None:
    world = start_world(case("immovable", "chaser", "immovable"))
    world = world._replace(places=(world.places[0], None, world.places[2]), carries=True)
    chance = First()
    assert advance_world(world, STAY, chance).places[1] is None
    assert not chance.asked


# Collisions


@pytest.mark.parametrize(
    ("place", "hit"),
    [((10, 10), True), ((11, 10), True), ((9, 11), True), ((11, 9), True), ((12, 10), False), ((10, 8), False)],
)
def test_half_a_cell_is_a_collision(place: tuple[int, int], hit: bool) -> None:
    assert collide(place, (10, 10)) is hit
    after = step(at(start_world(case()), (10, 10), enemy=place))
    assert (after.reward, after.fate) == ((-1.0, "enemy") if hit else (0.0, ""))


def test_nothing_is_met_in_passing() -> None:
    """Agent and chaser change sides: only where they end counts."""
    world = at(start_world(case("chaser", "immovable", "immovable")), (10, 10), enemy=(12, 10))
    after = step(world, EAST)
    assert (after.agent, after.places[0], after.fate) == ((12, 10), (11, 10), "enemy")  # half a cell over it
    world = at(start_world(case()), (10, 10), enemy=(12, 10))
    assert step(step(world, NORTH), EAST).fate == ""


def test_message_and_goal() -> None:
    world = at(start_world(case()), (10, 10), message=(12, 10), goal=(16, 10))
    took = step(world, EAST)
    assert (took.reward, took.carries, took.places[1], took.fate) == (0.5, True, None, "")
    between = step(took, EAST)
    assert (between.reward, between.fate) == (0.0, "")
    won = step(between, EAST)
    assert (won.reward, won.fate, won.places[2], won.touched) == (1.0, "won", None, 2)
    assert RULES.ending(won) == "solved"


def test_goal_without_the_message_kills_even_where_the_message_is() -> None:
    after = step(at(start_world(case()), (10, 10), message=(12, 10), goal=(13, 10)), EAST)
    assert (after.reward, after.fate, after.carries) == (-1.0, "goal", False)
    assert RULES.ending(after) == "failed"


def test_enemy_comes_before_everything() -> None:
    both = step(at(start_world(case()), (10, 10), message=(12, 10), enemy=(12, 11)), EAST)
    assert (both.reward, both.fate, both.places[1] is None) == (-1.0, "enemy", False)
    carrier = at(start_world(case(carries=True)), (10, 10), goal=(12, 10), enemy=(11, 10))
    assert (step(carrier, EAST).reward, step(carrier, EAST).fate) == (-1.0, "enemy")


def test_several_enemies_at_once_cost_several() -> None:
    start = start_world(case(stage=3))
    for places, reward, fate in (
        ({"enemy": (12, 10), "decoy_goal": (12, 11)}, -2.0, "enemy"),
        ({"enemy": (12, 10), "decoy_message": (11, 10), "decoy_goal": (12, 11)}, -3.0, "enemy"),
        ({"decoy_message": (11, 10), "decoy_goal": (12, 11)}, -2.0, "decoy"),
        ({"decoy_goal": (12, 11)}, -1.0, "decoy"),
        # The goal counts only for those who live.
        ({"enemy": (12, 10), "goal": (12, 10)}, -1.0, "enemy"),
    ):
        after = step(at(start, (10, 10), **places), EAST)
        assert (after.reward, after.fate) == (reward, fate)


def test_who_has_the_message_makes_another_disappear() -> None:
    after = step(at(start_world(case(carries=True)), (10, 10), message=(12, 10)), EAST)
    assert (after.reward, after.carries, after.places[1], after.fate) == (0.0, True, None, "")


@pytest.mark.parametrize(
    ("carries", "role", "reward", "fate"),
    [
        (False, "enemy", -1.0, "enemy"),
        (False, "message", 1.0, "won"),
        (False, "goal", -1.0, "goal"),
        (True, "enemy", -1.0, "enemy"),
        (True, "message", -1.0, "message"),
        (True, "goal", 1.0, "won"),
    ],
)
def test_first_touch_decides_stage_1(carries: bool, role: str, reward: float, fate: str) -> None:
    after = step(at(start_world(case(stage=1, carries=carries)), (10, 10), **{role: (12, 10)}), EAST)
    assert (after.reward, after.fate, after.carries) == (reward, fate, carries)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_movement_keeps_to_a_board_of_any_size(kind: str) -> None:
    cells = ((7, 7), (0, 0), (0, 7))
    world = start_world(case(kind, "immovable", "immovable", cells=cells, at=(4, 4), size=8))
    for number in range(200):
        world = advance_world(world, number % 4, Stream("walk", kind, number))
        x, y = world.places[0] or (-1, -1)
        assert 0 <= x <= 14 and 0 <= y <= 14
        assert 0 <= min(world.agent) <= max(world.agent) <= 14
        world = world._replace(fate="", places=(world.places[0], (0, 0), (0, 14)), carries=False)
