"""The rules: where plans end, what they cost, and what protocols, settings and beings change."""

import pytest

from tests.envs.tilemap.maps import BACK, GTB, RECORD, TO_GATE, after, said, value
from waybench.core import End, Outcome, play_to_end, policy, replay
from waybench.envs.tilemap._protocols import published_worth, ring_worth


def test_a_shortest_tour_is_worth_everything_in_sound() -> None:
    episode = after(said(*TO_GATE), said(*BACK), protocol="sound")
    assert episode.end_reason is End.SOLVED
    assert value(episode.record(), "score") == 100.0
    assert value(episode.record(), "reward") == 2 * 200 - 11


def test_in_paper_it_is_scaled_by_the_record_s_length() -> None:
    record = after(said(*TO_GATE), said(*BACK)).record()
    assert value(record, "score") == pytest.approx(100 * (400 - 11 + 200 + 9) / 600)


def test_only_the_end_of_a_plan_counts() -> None:
    episode = after(said(*TO_GATE, "move_up"), protocol="sound")
    [turn] = episode.turns
    assert turn.events["off"] == [1, 0]
    assert value(episode.record(), "top0") == 0
    assert value(episode.record(), "top1") == 1
    assert "reached it" not in turn.message


def test_moves_into_walls_and_off_the_map_cost_and_lead_nowhere() -> None:
    [turn] = after(said("move_up", "move_left", "move_down", "move_right", "move_right")).turns
    assert (turn.events["blocked"], turn.events["steps"], turn.events["at"]) == (3, 2, [1, 1])
    assert turn.events["actions"] == 5


def test_an_invalid_name_ends_the_plan_but_all_of_it_costs() -> None:
    episode = after(said("move_right", "jump", "move_right", "move_right"))
    [turn] = episode.turns
    assert turn.outcome is Outcome.ILLEGAL
    assert (turn.events["steps"], turn.events["moves"], turn.events["actions"]) == (1, 3, 4)
    assert value(episode.record(), "wrong_actions") == value(episode.record(), "generation_errors") == 1


def test_object_actions_belong_to_paper_alone() -> None:
    beside = {**RECORD, "objectives": {"x": ["a", 3, 4]}, "environment": "@qgga\naawga\naawaa\naaaaa"}
    # Rows and columns are swapped in it, so that it takes what is where it does not look.
    assert after(said("move_down", "pick_object"), record=beside).turns[0].outcome is not Outcome.ILLEGAL
    assert after(said("move_down", "pick_object"), record=beside, protocol="sound").turns[0].outcome is Outcome.ILLEGAL


def test_comments_open_walls_in_paper_alone() -> None:
    commented = {**RECORD, "walkable_tiles": "['g', 'a'] # no wall"}
    through = said("move_down", "move_right", "move_right")
    assert after(through, record=commented).turns[0].events["at"] == [1, 2]
    assert after(through, record=commented, protocol="sound").turns[0].events["at"] == [1, 1]


def test_what_cannot_be_reached_is_asked_for_in_paper_alone() -> None:
    walled = {**RECORD, "environment": "@awga\naawga\naawaa\naawaq"}
    assert after(record=walled).state.board.numbers == (0, 1)
    assert after(record=walled, protocol="sound").state.board.numbers == (1,)


def test_ten_replies_that_cannot_be_read_give_an_objective_up() -> None:
    episode = after(*["no"] * 10)
    assert (episode.state.goal, episode.state.misses) == (1, 0)
    assert value(episode.record(), "reward") == -10 - 100 - 9
    assert "could be read" in episode.turns[-1].message
    assert after(*["no"] * 9, said(), *["no"] * 9).state.goal == 1
    assert after(*["no"] * 20).end_reason is End.FAILED


def test_the_same_prompt_is_shown_again_after_a_reply_that_cannot_be_read() -> None:
    episode = after()
    first = episode.messages
    episode.step("no")
    assert episode.messages == first
    assert [message.role for message in first] == ["system", "user"]


def test_a_value_that_crashed_the_published_program_ends_the_map_in_paper() -> None:
    episode = after(said(*TO_GATE), "{'action': None}")
    assert episode.end_reason is End.FAILED
    assert value(episode.record(), "reward") == 200 - 5
    assert after(said(*TO_GATE), '{"action": null}', protocol="sound").turns[1].outcome is Outcome.UNPARSED


def test_one_shot_asks_once_more_with_what_came_of_it() -> None:
    episode = after(said("move_right"), tries=2)
    assert episode.state.goal == 0
    assert "Your 1 action for this objective ended 1 row and 3 columns away from it." in episode.turns[0].message
    episode.step(said("move_right", "move_right", "move_right", "move_down"))
    assert (episode.state.goal, value(episode.record(), "actions"), value(episode.record(), "top0")) == (1, 5, 1)


def test_rewards_of_sound_fall_with_the_distance_and_those_of_paper_do_not() -> None:
    rings = [ring_worth(far, 0).reward for far in range(12)]
    assert rings == sorted(rings, reverse=True)
    assert all(ring_worth(rows, columns) == ring_worth(columns, rows) for rows in range(12) for columns in range(12))
    assert published_worth(3, 3).reward == 0 < published_worth(4, 4).reward


@pytest.mark.parametrize(
    "crew", [{"walkers": 3}, {"enemies": 2}, {"hazards": 3}, {"walkers": 2, "enemies": 1, "hazards": 2}]
)
def test_beings_play_the_same_again_from_a_record(crew: dict[str, int]) -> None:
    item = GTB.source(level=2).item(0)
    for name in ("oracle", "random", "noisy-0.5"):
        episode = play_to_end(GTB, item, policy(name), crew)
        assert replay(GTB, episode.record()).record() == episode.record()
    assert any(play_to_end(GTB, item, policy("random-rp"), crew, attempt=n).turns for n in (1, 2))


def test_hazards_end_the_map_and_the_oracle_goes_round_them() -> None:
    item = GTB.source(level=3).item(1)
    best = play_to_end(GTB, item, policy("oracle"), {"hazards": 40})
    assert best.end_reason is End.SOLVED
    state = best.environment.playing.play(best.options).game.start(item.instance)
    assert len(state.board.hazards) == 40
    lost = [play_to_end(GTB, item, policy("random-rp"), {"hazards": 40}, attempt=n) for n in range(1, 6)]
    dead = [episode for episode in lost if any(turn.events.get("death") == "hazard" for turn in episode.turns)]
    assert dead
    for episode in dead:
        assert episode.end_reason is End.FAILED
        score = value(episode.record(), "score")
        assert score is not None and score < 40


def test_enemies_hunt() -> None:
    item = GTB.source(level=1).item(0)
    met = [play_to_end(GTB, item, policy("random-rp"), {"enemies": 6}, attempt=n) for n in range(1, 6)]
    assert any(turn.events.get("death") == "enemy" for episode in met for turn in episode.turns)


def test_single_moves_end_an_objective_on_it_or_when_they_are_used_up() -> None:
    import waybench

    stepwise = waybench.load("tilemap/stepwise")
    episode = after(*(said(name) for name in TO_GATE), env=stepwise, protocol="sound")
    assert episode.state.goal == 1
    late = after(*[said("move_up")] * 15, env=stepwise, protocol="sound")
    assert late.state.goal == 1 and late.turns[13].events["final"] is False and late.turns[14].events["final"] is True
    assert after(said("move_up", "move_up"), env=stepwise).turns[0].outcome is Outcome.UNPARSED


def test_a_drawing_is_compared_cell_by_cell() -> None:
    import waybench

    foresee = waybench.load("tilemap/state")
    right = '{"action": ["move_right"], "map": ["a@gga", "aawga", "aawaa", "aaaaq"]}'
    stale = '{"action": ["move_right"], "map": "@agga\\naawga\\naawaa\\naaaaq"}'
    short = '{"action": ["move_right"], "map": "a@"}'
    shares = {}
    for name, reply in (("right", right), ("stale", stale), ("short", short)):
        record = after(reply, env=foresee).record()
        shares[name] = (value(record, "cells", foresee), value(record, "moved", foresee))
    assert shares == {"right": (1.0, 1.0), "stale": (0.9, 0.0), "short": (0.1, 1.0)}
    assert after(said("move_right"), env=foresee).turns[0].outcome is Outcome.UNPARSED


def test_a_budget_that_ends_a_map_pays_for_what_was_not_asked_for() -> None:
    for protocol in ("paper", "sound"):
        cut = after(said(*TO_GATE), protocol=protocol)
        cut.end(End.TURN_LIMIT, "the token limit of 10 was reached")
        silent = after(said(*TO_GATE), *["no"] * 10, protocol=protocol)
        there = value(cut.record(), "reward"), value(silent.record(), "reward")
        assert there[0] == (there[1] or 0) + 10  # but for the ten replies that were not made
        assert (value(cut.record(), "score") or 0) < (
            value(after(said(*TO_GATE), said(), protocol=protocol).record(), "score") or 0
        )


def test_who_dies_pays_for_the_objectives_that_are_left_and_for_no_other() -> None:
    item = GTB.source(level=3).item(1)
    goals = len(item.instance.objectives)
    length = item.proof["minimum"]
    for given_up in (0, 1, 2):
        episode = after(*["no"] * 10 * given_up, record=item.instance.to_json(), hazards=200)
        steps = sorted(
            cell
            for cell in episode.state.board.hazards
            if abs(cell // (item.instance.width + 2) - 1 - episode.state.row) < 30
        )
        assert steps
        trap = steps[0]
        while not episode.done and "death" not in (episode.turns[-1].events if episode.turns else {}):
            names = _towards(episode, trap)
            episode.step(said(*names))
        actions = value(episode.record(), "actions") or 0
        done = sum(bool(turn.events.get("final")) for turn in episode.turns) - 1 + given_up
        ends = sum(
            published_worth(*turn.events["off"]).reward
            for turn in episode.turns
            if turn.events.get("final") and "death" not in turn.events
        )
        expected = ends - actions - given_up * (10 + 100 + length) - 100 * (goals - done)
        assert value(episode.record(), "reward") == expected


def _towards(episode: object, cell: int) -> list[str]:
    """Return the moves of a way onto a trap; hazards on the way do as well."""
    state = episode.state  # type: ignore[attr-defined]
    case = state.board.case
    width = case.width
    floor = case.floor(state.board.walkable)
    goal = (cell // (width + 2) - 1) * width + cell % (width + 2) - 1
    names, at = [], (state.row, state.column)
    for step in floor.shortest_path(state.row * width + state.column, goal) or []:
        row, column = divmod(step, width)
        names.append(
            {(-1, 0): "move_up", (1, 0): "move_down", (0, -1): "move_left", (0, 1): "move_right"}[
                row - at[0], column - at[1]
            ]
        )
        at = (row, column)
    return names


def test_standing_still_is_a_single_action_too() -> None:
    import waybench

    stepwise = waybench.load("tilemap/stepwise")
    here = {**RECORD, "objectives": {"here": ["@", 0, 0], "gate": ["a", 1, 4]}}
    episode = play_to_end(stepwise, stepwise.item(here), policy("oracle"), {"protocol": "sound"})
    assert value(episode.record(), "score", stepwise) == 100.0
