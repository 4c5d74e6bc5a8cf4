"""Checks of the rules: states, actions and transitions."""

import copy
import json
import math
from typing import Any

from waybench.core import End, Game, Outcome, Stream, Transition, play_out
from waybench.testing._require import AnyEnvironment, ContractError, Message, brief, require, require_frozen
from waybench.testing._walks import (
    MANY,
    SAMPLE_PLAYERS,
    StumblingPolicy,
    actions,
    items,
    play_name,
    states,
    way_of,
    ways,
)

_DONE = (Outcome.OK, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
_OF_TRANSITIONS = (*_DONE, Outcome.UNPARSED)


def check_start(environment: AnyEnvironment, level: int) -> None:
    """Every item starts in the same legal state each time, and there is something to do."""
    for options in ways(environment):
        game = way_of(environment, options).game
        for item in items(environment, level):
            state = game.start(item.instance)
            again = game.start(item.instance)
            require_frozen(state, Message("item {}: the first state", item.id))
            require(state == again and hash(state) == hash(again), f"item {item.id}: start gave two different states")
            require(game.terminal(state) is None, f"item {item.id}: the game is over before the first turn")
            require(game.legal(state), f"item {item.id}: there is no legal action at the start")


def check_apply(environment: AnyEnvironment, level: int) -> None:
    """`apply` leaves its input as it was, gives the same for the same stream, and takes any action without raising."""
    for options in ways(environment):
        game = way_of(environment, options).game
        for item in items(environment, level):
            met = states(environment, item, game)
            foreign = {action: None for state in met for action in actions(game, state, 2)}  # each once, in order
            for state in met:
                if game.terminal(state):
                    continue
                legal = actions(game, state, MANY)
                require(legal == actions(game, state, MANY), f"item {item.id}: legal gave two different lists")
                require(
                    len(legal) == len(set(legal)), "item {}: legal lists an action twice: {}", item.id, brief(legal)
                )
                before, own = copy.deepcopy(state), dict.fromkeys(actions(game, state))
                for action in own:
                    step = _applied(game, state, action, before)
                    require(
                        step.outcome not in (Outcome.ILLEGAL, Outcome.UNPARSED),
                        "item {}: {} is listed, but {}",
                        item.id,
                        brief(action),
                        step.outcome,
                    )
                for action in (each for each in foreign if each not in own):
                    _applied(game, state, action, before)


def _applied(game: Game[Any, Any, Any], state: Any, action: Any, before: Any) -> Transition[Any]:
    what = Message("apply({}) in {}", brief(action), brief(state))
    number = hash(state)
    require_frozen(action, what)
    try:
        first, again, other = (game.apply(state, action, Stream("contract", draw)) for draw in (1, 1, 2))
    except Exception as error:
        raise ContractError(f"{what} raised {type(error).__name__}: {error}") from error
    require(state == before and hash(state) == number, "{} changed its input", what)
    require(first == again, "{} gave two results for one random stream", what)
    if game.facts.deterministic:
        require(first == other, "{} depends on chance, but facts.deterministic is true", what)
    require_frozen(first.state, Message("{}: the new state", what))
    require(
        first.outcome in _OF_TRANSITIONS,
        "{}: the outcome is {!r}, not ok, illegal, unproductive or unparsed",
        what,
        first.outcome,
    )
    require(math.isfinite(first.reward), "{}: the reward is {}", what, first.reward)
    events = dict(first.events)
    require(json.loads(_dumped(events, what)) == events, "{}: the events change on their way through JSON", what)
    return first


def _dumped(value: object, what: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{what}: this is no JSON value: {brief(value)} ({error})") from None


def check_terminal(environment: AnyEnvironment, level: int) -> None:
    """A state is terminal exactly if it has no legal action, and only the rules' own endings are given."""
    for options in ways(environment):
        game = way_of(environment, options).game
        for item in items(environment, level):
            for state in states(environment, item, game):
                end = game.terminal(state)
                require(end in (None, End.SOLVED, End.FAILED), f"terminal gave {end!r}: solved, failed or None")
                require(
                    bool(game.legal(state)) == (end is None), "terminal is {!r} in {}, against legal", end, brief(state)
                )


def check_action_codec(environment: AnyEnvironment, level: int) -> None:
    """Actions survive encode, JSON and decode, and so do spoilt ones."""
    for options in ways(environment):
        game = way_of(environment, options).game
        for item in items(environment, level):
            for number, state in enumerate(states(environment, item, game)):
                if game.terminal(state):
                    continue
                rng = Stream("contract", "codec", number)
                best = environment.players.policies["oracle"](state, rng)
                require(game.perturb(state, best, 0.0, rng) == best, "perturb changed an action at rate 0")
                spoilt = [game.perturb(state, best, rate, rng) for rate in (0.5, 1.0)]
                for action in [best, *spoilt, *actions(game, state)]:
                    text = _dumped(game.encode(action), Message("encode({})", brief(action)))
                    back = game.decode(json.loads(text))
                    require(back == action, "{} came back from {} as {}", brief(action), text[:100], brief(back))


def check_facts(environment: AnyEnvironment, level: int) -> None:
    """Episodes are no longer, and their rewards sum to no more or less, than the game's facts declare."""
    play = way_of(environment, {})
    facts, limits = play.game.facts, play.limits
    low, high = facts.reward
    require(low <= high, f"facts.reward is {facts.reward}: give the smallest sum first")
    require(facts.turns is None or facts.turns >= 1, f"facts.turns is {facts.turns}")
    require(limits.turns >= 1, f"limits.turns is {limits.turns}")
    require(limits.invalid in ("turn", "retry", "end"), f"limits.invalid is {limits.invalid!r}")
    for item in items(environment, level):
        played = [play_name(environment, item, name) for name in SAMPLE_PLAYERS]
        for episode in [
            *played,
            play_out(environment, item, StumblingPolicy(), dict(environment.playing.check_options)),
        ]:
            counted = sum(limits.invalid == "turn" or turn.outcome in _DONE for turn in episode.turns)
            require(
                facts.turns is None or counted <= facts.turns,
                f"item {item.id}: {episode.player} played {counted} turns; facts.turns is {facts.turns}",
            )
            total = sum(turn.reward for turn in episode.turns)
            require(
                low - 1e-9 <= total <= high + 1e-9,
                f"item {item.id}: {episode.player}'s rewards sum to {total}; facts.reward is {facts.reward}",
            )
