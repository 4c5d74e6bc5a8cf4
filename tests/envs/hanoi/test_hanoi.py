"""The Tower of Hanoi: its rules, its shortest solutions, and what counts."""

from collections import deque
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

import waybench
from waybench.core import DataError, End, Episode, Outcome, Stream, UsageError, play_to_end, policy
from waybench.envs.hanoi._game import (
    HanoiRules,
    Position,
    Towers,
    best_moves,
    decode,
    expected_random_score,
    move_disk,
    position_of,
    shortest_distance,
    stacks_of_position,
)
from waybench.envs.hanoi._measures import most_steps

ENVIRONMENT = waybench.load("hanoi/rods")
RULES = HanoiRules(published=True)
AB, AC, BA, BC, CA, CB = range(6)
SHORTEST = (AC, AB, CB, AC, BA, BC, AC)  # of three disks


def neighbours(position: Position) -> list[Position]:
    """Return where one move leads, by the rules in words: the top disk of a rod, and never onto a smaller one."""
    found: list[Position] = []
    for disk, rod in enumerate(position):
        above = position[:disk]
        if rod not in above:
            found += [(*above, to, *position[disk + 1 :]) for to in range(3) if to != rod and to not in above]
    return found


def flood(goal: Position) -> dict[Position, int]:
    """Return the distance of every position to a goal, breadth first."""
    far, todo = {goal: 0}, deque([goal])
    while todo:
        here = todo.popleft()
        for there in neighbours(here):
            if there not in far:
                far[there] = far[here] + 1
                todo.append(there)
    return far


def positions(disks: int) -> list[Position]:
    return list(product(range(3), repeat=disks))


def played(*actions: str | int, start: str = "AAA", goal: str = "CCC", **options: Any) -> Episode[Any, Any, Any]:
    """Return an episode of replies to the one question; numbers stand for the names of moves."""
    item = ENVIRONMENT.item({"start": start, "goal": goal})
    episode: Episode[Any, Any, Any] = Episode(ENVIRONMENT, item, {"wording": "one_question", **options})
    names = RULES.actions(item.instance)
    for action in actions:
        episode.step(names[action] if isinstance(action, int) else action)
    return episode


def measured(episode: Episode[Any, Any, Any]) -> dict[str, float | None]:
    return {metric.name: metric.of(episode.record()) for metric in ENVIRONMENT.scoring.metrics}


# Rules


@pytest.mark.parametrize("disks", [1, 2, 3, 4])
def test_moves_are_those_of_the_rules_in_words(disks: int) -> None:
    for position in positions(disks):
        rods = stacks_of_position(position)
        assert position_of(rods) == position
        after = [position_of(there) for action in range(6) if (there := move_disk(rods, action))]
        assert sorted(after) == sorted(neighbours(position))


def test_a_solution() -> None:
    episode = played(*SHORTEST)
    assert episode.end_reason is End.SOLVED
    assert [turn.reward for turn in episode.turns] == [0] * 6 + [100]
    assert [turn.events["score"] for turn in episode.turns] == [1, 1, 0, 1, 1, 2, 3]


def test_a_move_that_is_not_allowed_changes_nothing() -> None:
    episode = played(AB, AB)
    assert (episode.turns[1].outcome, episode.turns[1].reward) == (Outcome.ILLEGAL, -1)
    assert episode.state.world.rods == ((2, 1), (0,), ())
    now = "Current configuration:\n- A: |bottom, [2, 1], top|\n- B: |bottom, [0], top|\n- C: |bottom, [], top|"
    tried = "You tried to move the top disk of rod a to the top of rod b. "
    assert f"observation: {tried}{now}\n" in episode.turns[1].message
    sound = played(AB, AB, protocol="sound").turns
    assert f"observation: {tried}This move is not allowed, so nothing was moved. {now}\n" in sound[1].message
    assert f"observation: {tried}{now}\n" in sound[0].message


def test_the_score_is_what_is_at_its_goal() -> None:
    episode = played(start="BAC", goal="CAB")
    assert episode.state.world.placed == 1
    assert measured(episode)["score"] == 1
    assert [turn.events["score"] for turn in played(BC, AB, start="BAC", goal="CAB").turns] == [2, 1]


def test_the_manual_of_other_positions() -> None:
    published = RULES.manual(Towers("AAA", "CCC"))
    assert "stacked on rod A in order" in published
    assert "move the entire stack to rod C, obeying" in published
    other = RULES.manual(Towers("ABC", "CCB"))
    assert "disks on several rods" in other
    assert "bring all disks into the goal configuration, obeying" in other
    assert (
        "starting configuration is:\n- A: |bottom, [0], top|\n- B: |bottom, [1], top|\n- C: |bottom, [2], top|" in other
    )
    assert (
        "goal configuration is:\n- A: |bottom, [], top|\n- B: |bottom, [2], top|\n- C: |bottom, [1, 0], top|" in other
    )
    assert "stacked on rod B in order" in RULES.manual(Towers("BBB", "AAA"))
    assert "entire stack to rod A" in RULES.manual(Towers("BBB", "AAA"))
    half = RULES.manual(Towers("BBB", "ABB"))
    assert "stacked on rod B in order" in half
    assert "bring all disks into" in half


# Shortest solutions


@pytest.mark.parametrize("disks", [1, 2, 3, 4])
def test_distances_between_all_positions(disks: int) -> None:
    for goal in positions(disks):
        far = flood(goal)
        assert len(far) == 3**disks
        for start in positions(disks):
            assert shortest_distance(start, goal) == far[start], (start, goal)


def test_distances_of_more_disks() -> None:
    rng, twice = Stream("hanoi", "distances"), 0
    for disks in (5, 6, 7):
        for _ in range(4):
            goal = tuple(rng.below(3) for _ in range(disks))
            far = flood(goal)
            assert all(shortest_distance(start, goal) == steps for start, steps in far.items())
            # Some pairs are nearer if the largest disk moves twice, so that this case is met.
            twice += sum(largest_moves(start, goal, far) for start in list(far)[::97])
    assert twice > 0
    assert shortest_distance((0,) * 20, (2,) * 20) == 2**20 - 1


def largest_moves(start: Position, goal: Position, far: dict[Position, int]) -> bool:
    """Return whether every shortest way moves the largest disk twice."""
    if start[-1] == goal[-1]:
        return False
    layer = {(start, 0)}
    while True:
        layer = {
            (there, moves + (there[-1] != here[-1]))
            for here, moves in layer
            for there in neighbours(here)
            if far[there] == far[here] - 1
        }
        if any(here == goal for here, _ in layer):
            return min(moves for _, moves in layer) == 2


@pytest.mark.parametrize("disks", [2, 4])
def test_best_moves_are_all_those_that_lead_nearer(disks: int) -> None:
    for goal in positions(disks)[::5]:
        far = flood(goal)
        for start in positions(disks):
            rods = stacks_of_position(start)
            nearer = [
                action
                for action in range(6)
                if (after := move_disk(rods, action)) and far[position_of(after)] == far[start] - 1
            ]
            assert best_moves(rods, goal) == nearer
            assert nearer or start == goal


@pytest.mark.parametrize("level", [3, 4, 5, 8])
def test_the_oracle_needs_the_minimum(level: int) -> None:
    for place in ("published", "free"):
        for item in ENVIRONMENT.source("oracle", level, positions=place).head(3):
            episode = play_to_end(ENVIRONMENT, item, policy("oracle"), {"wording": "one_question"})
            assert episode.end_reason is End.SOLVED
            assert len(episode.turns) == item.proof["minimum"]
            assert measured(episode)["optimal_rate"] == 1
            assert measured(episode)["first_mistake"] is None


# The random player


def by_hand(position: Position, goal: Position, steps: int) -> Fraction:
    """Return the expected score by going through all ways, with fractions."""
    if position == goal or not steps:
        return Fraction(sum(here == there for here, there in zip(position, goal, strict=True)))
    afters = neighbours(position)
    return sum(by_hand(after, goal, steps - 1) for after in afters) / len(afters)


@pytest.mark.parametrize(("start", "goal"), [("AA", "CC"), ("AAA", "CCC"), ("ABC", "CBA"), ("ABB", "CBB")])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_the_random_player_by_hand(start: str, goal: str, steps: int) -> None:
    here, there = Towers(start, goal).positions
    assert expected_random_score(here, there, steps) == pytest.approx(float(by_hand(here, there, steps)))


def test_the_random_player_as_it_plays() -> None:
    (item,) = ENVIRONMENT.source(level=3).head(1)
    expected = expected_random_score(*item.instance.positions, 30)
    scores = [
        measured(play_to_end(ENVIRONMENT, item, policy("random"), {"wording": "one_question"}, attempt=attempt))[
            "score"
        ]
        for attempt in range(1, 301)
    ]
    assert sum(scores) / 300 == pytest.approx(expected, abs=0.25)  # four standard errors


def test_where_the_random_player_is_not_known() -> None:
    assert expected_random_score((0,) * 7, (2,) * 7, 254) is not None
    assert expected_random_score((0,) * 8, (2,) * 8, 510) is None
    assert measured(played(start="A" * 8, goal="C" * 8))["scaled"] is None
    assert measured(played(steps=6))["scaled"] is None  # nobody solves it in six steps
    assert measured(played(*SHORTEST, steps=7))["scaled"] == 1
    assert measured(played(AC, start="A", goal="B", steps=1))["scaled"] == -1  # chance is 1/2


# Scores


def test_optimal_moves_and_the_first_mistake() -> None:
    episode = played(AC, AB, BA, AB, AB, CB)  # the third takes the second back, the fifth is not allowed
    found = measured(episode)
    assert ENVIRONMENT.scoring.series[0].of(episode.record()) == [1, 1, 0, 1, 0, 1]
    assert ENVIRONMENT.scoring.series[1].of(episode.record()) == [6, 5, 6, 5, 5, 4]
    assert found["optimal_rate"] == pytest.approx(4 / 6)
    assert (found["first_mistake"], found["left"], found["illegal"]) == (3, 4, 1)


def test_before_the_first_move() -> None:
    found = measured(played())
    assert (found["score"], found["optimal_rate"], found["first_mistake"], found["left"]) == (0, None, None, 7)


def test_lost_steps_are_no_moves() -> None:
    episode = played("?", AC, "no", protocol="sound")
    found = measured(episode)
    assert (found["played"], found["unparsed"], found["optimal_rate"], found["left"]) == (1, 2, 1, 6)
    assert len(episode.turns) == 3


@pytest.mark.parametrize(("start", "goal", "published"), [("AAA", "CCC", True), ("AAA", "BBB", False)])
def test_people_were_measured_on_the_published_puzzle(start: str, goal: str, published: bool) -> None:
    assert measured(played(AC, start=start, goal=goal))["human"] == (pytest.approx(1 / 3) if published else None)
    assert measured(played(AC, start=start, goal=goal, steps=40))["human"] is None


@pytest.mark.parametrize(
    ("start", "goal", "paper", "sound"),
    [("AAA", "CCC", 0, 0), ("AAB", "BAC", 2, 1), ("BAA", "BCC", 1, 1), ("ACC", "ABB", 0, 1)],
)
def test_what_saying_nothing_comes_to(start: str, goal: str, paper: int, sound: int) -> None:
    score = ENVIRONMENT.scoring.metrics[0]
    for protocol, expected in (("paper", paper), ("sound", sound)):
        item = ENVIRONMENT.item({"start": start, "goal": goal})
        record = play_to_end(ENVIRONMENT, item, policy("null"), {"protocol": protocol}).record()
        assert score.floor is not None
        assert score.of(record) == score.floor(record) == expected


@pytest.mark.parametrize(("disks", "steps"), [(1, 30), (3, 30), (4, 30), (5, 62), (8, 510)])
def test_most_steps(disks: int, steps: int) -> None:
    assert most_steps(Towers("A" * disks, "C" * disks)) == steps
    assert played(start="A" * disks, goal="C" * disks).limits.turns == steps


# Items


def test_free_positions_are_far_apart_and_any() -> None:
    items = ENVIRONMENT.source("free", 4, positions="free").head(300)
    assert len({item.instance.hash for item in items}) > 250
    assert {item.proof["minimum"] for item in items} == set(range(8, 16))
    assert {item.instance.setting for item in items} == {None}
    assert ENVIRONMENT.source("free", 4, positions="free").space is None


def test_the_published_puzzle_is_one() -> None:
    source = ENVIRONMENT.source("any", 3)
    assert source.space == 1
    assert {item.instance for item in source.head(3)} == {Towers("AAA", "CCC")}
    for level in (2, 21):
        with pytest.raises(UsageError, match="from 3 to 20"):
            ENVIRONMENT.source(level=level)


@pytest.mark.parametrize(
    "bad",
    [
        {"start": "AAA"},
        {"start": "AAA", "goal": "AAA"},
        {"start": "AAA", "goal": "CC"},
        {"start": "", "goal": ""},
        {"start": "AAD", "goal": "CCC"},
        {"start": "aaa", "goal": "ccc"},
        {"start": "A" * 21, "goal": "C" * 21},
        {"start": ["A"], "goal": "C"},
        {"start": "AAA", "goal": "CCC", "more": 1},
        ["AAA", "CCC"],
    ],
)
def test_what_is_no_instance(bad: Any) -> None:
    with pytest.raises(DataError, match="instance: "):
        decode(bad)


def test_the_heuristic_does_not_take_moves_back() -> None:
    (item,) = ENVIRONMENT.source(level=4).head(1)
    episode = play_to_end(ENVIRONMENT, item, policy("heuristic"), {"wording": "one_question"})
    actions = [turn.action[0] for turn in episode.turns]
    back = {AB: BA, AC: CA, BC: CB, BA: AB, CA: AC, CB: BC}
    assert all(back[before] != after for before, after in pairwise(actions))
