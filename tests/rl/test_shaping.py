"""Shaped rewards leave the best policies the same: by dynamic programming over all states of small levels."""

from typing import Any

import pytest

import waybench
from waybench.core import End, Episode, Stream, UsageError, policy
from waybench.core._parts import shaping_reward
from waybench.envs import registry
from waybench.ext.train import Session

DISCOUNT = 0.9
CASES = [
    ("maze/alicia", 5, "distance"),
    ("maze/alicia", 7, "distance"),
    ("hanoi/rods", 3, "distance"),
    ("search/guessnum", 3, "information"),
    ("search/dfs", 5, "visited"),
    ("search/bfs", 5, "visited"),
]
NO_CHANCE = Stream("no chance")


def transitions(env: Any, level: int) -> tuple[Any, dict[Any, list[tuple[Any, float, bool]]]]:
    """Return the start, and state -> (next state, reward, whether the game ends) for each legal action."""
    episode: Episode[Any, Any, Any] = Episode(env, env.source("shaping", level).item(1))
    game = episode.play.game
    found: dict[Any, list[tuple[Any, float, bool]]] = {}
    known: dict[Any, Any] = {}  # what a state is about -> the first such state: histories make states many
    waiting = [episode.state]
    while waiting:
        state = waiting.pop()
        if state in found or game.terminal(state) is not None:
            continue
        found[state] = []
        for action in game.legal(state):
            after = game.apply(state, action, NO_CHANCE)
            following = known.setdefault(position(after.state), after.state)
            found[state].append((following, after.reward, game.terminal(following) is not None))
            waiting.append(following)
        assert len(found) < 60_000
    return episode.state, found


def position(state: Any) -> Any:
    return (state.world.rods, state.thinking) if hasattr(state, "world") else state


def best_actions(found: dict[Any, list[tuple[Any, float, bool]]], shaped: Any) -> dict[Any, set[int]]:
    values = dict.fromkeys(found, 0.0)
    for _ in range(400):
        change = 0.0
        for state, ways in found.items():
            best = max(shaped(state, *way) + DISCOUNT * (0.0 if way[2] else values[way[0]]) for way in ways)
            change = max(change, abs(best - values[state]))
            values[state] = best
        if change < 1e-12:
            break
    else:
        raise AssertionError("no fixed point")
    actions = {}
    for state, ways in found.items():
        each = [shaped(state, *way) + DISCOUNT * (0.0 if way[2] else values[way[0]]) for way in ways]
        actions[state] = {number for number, value in enumerate(each) if value > max(each) - 1e-9}
    return actions


@pytest.mark.parametrize(("name", "level", "shaping"), CASES)
def test_the_best_actions_are_the_same(name: str, level: int, shaping: str) -> None:
    env = registry.load(name)
    (potential,) = env.players.potentials
    assert potential.name == shaping
    start, found = transitions(env, level)
    assert len(found) > 5
    plain = best_actions(found, lambda state, after, reward, ended: reward)
    shaped = best_actions(
        found,
        lambda state, after, reward, ended: reward + shaping_reward(potential, state, after, ended, DISCOUNT),
    )
    assert shaped == plain
    assert any(len(actions) < len(found[state]) for state, actions in plain.items())  # not every action is the best
    # A reward for being near, and not for coming nearer, does change them: what is tested can fail.
    near = best_actions(
        found, lambda state, after, reward, ended: reward + (0.0 if ended else 1000 * potential.of(after))
    )
    assert near != plain
    assert potential.of(start) == pytest.approx(0)
    assert all(potential.of(state) <= 1 for state in found)


@pytest.mark.parametrize(("name", "level", "shaping"), CASES)
def test_a_session_adds_what_the_potential_says(name: str, level: int, shaping: str) -> None:
    plain = Session(name, level=level)
    shaped = Session(name, level=level, shaping=shaping)
    for session in (plain, shaped):
        session.start(3)
    total = 0.0
    while plain.episode is not None and not plain.episode.done:
        reply = policy("oracle").reply(plain.episode)
        own, added = plain.reply(reply), shaped.reply(reply)
        assert added.info["game_reward"] == own.reward
        total += added.reward - own.reward
    assert plain.episode is not None and plain.episode.end_reason is End.SOLVED
    assert total == pytest.approx(0, abs=1e-9)  # from a potential of 0 to the end of the game, whatever the way


def test_an_episode_that_a_limit_ends_keeps_what_it_gained() -> None:
    session = Session("maze/alicia", level=21, shaping="distance", requests=1)
    session.start(0)
    episode = session.episode
    assert episode is not None
    first = episode.play.wording.render(policy_move(episode), episode.state)
    turn = session.reply(first)
    assert turn.truncated and 0 < turn.reward < 1


def policy_move(episode: Any) -> Any:
    """Return the legal plan of one movement that comes nearest to the exit."""
    state, game = episode.state, episode.play.game
    (potential,) = episode.environment.players.potentials
    return max(game.legal(state), key=lambda action: potential.of(game.apply(state, action, NO_CHANCE).state))


def test_an_unknown_potential_is_an_error() -> None:
    with pytest.raises(UsageError, match="potential of maze/alicia"):
        Session("maze/alicia", shaping="distanc")
    assert not waybench.load("rps/rounds").players.potentials
    with pytest.raises(UsageError, match="potential of rps/rounds"):
        Session("rps/rounds", shaping="distance")
