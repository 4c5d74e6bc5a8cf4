"""Checks of the rules, of items and isomorphic instances, and that another process draws and plays the same."""

import copy
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from types import ModuleType
from typing import Any, cast

from waybench.core import (
    DataError,
    End,
    Game,
    IsomorphicSource,
    Item,
    Outcome,
    Stream,
    Transition,
    UsageError,
    play_to_end,
    policy,
)
from waybench.core._items import item_set_hash
from waybench.testing._hostile import BAD_JSON
from waybench.testing._walks import (
    FOCUS,
    MANY,
    ROUNDING_ERROR,
    SAMPLE_PLAYERS,
    AnyEnvironment,
    Brief,
    ContractError,
    LazyMessage,
    StumblingPolicy,
    episode_of_player,
    first_items,
    first_items_across_levels,
    games_and_items,
    play_with_options,
    report_as_breach,
    require,
    require_distinct,
    require_frozen,
    require_one_line_refusal,
    sample_actions,
    sample_records,
    sample_states,
)

_ACTION_OUTCOMES = (Outcome.OK, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
_TRANSITION_OUTCOMES = (*_ACTION_OUTCOMES, Outcome.UNPARSED)

_SET_SIZE = 10  # items of a set that are compared with others
_DAMAGED_PARTS = 60  # parts of a JSON value that are damaged, at most
_ISOMORPH_NUMBERS = (1, 2)
_HUGE_LEVEL = 10**9


def check_start(environment: AnyEnvironment, level: int) -> None:
    """Every item starts in the same legal state each time, and there is something to do."""
    for game, item in games_and_items(environment, level):
        state, second_state = game.start(item.instance), game.start(item.instance)
        require_frozen(state, LazyMessage("item {}: the first state", item.id))
        is_same = state == second_state and hash(state) == hash(second_state)
        require(is_same, f"item {item.id}: start gave two different states")
        require(game.terminal(state) is None, f"item {item.id}: the game is over before the first turn")
        require(game.legal(state), f"item {item.id}: there is no legal action at the start")


def check_apply(environment: AnyEnvironment, level: int) -> None:
    """`apply` leaves its input as it was, gives the same for the same stream, and takes any action without raising."""
    for game, item in games_and_items(environment, level):
        original = copy.deepcopy(item.instance)
        states = sample_states(environment, item, game)
        require(item.instance == original, "item {}: apply changed its input: the instance is another one", item.id)
        actions_of_states = dict.fromkeys(action for state in states for action in sample_actions(game, state, 2))
        for state in states:
            if game.terminal(state):
                continue
            legal = sample_actions(game, state, MANY)
            FOCUS.look_at(subject=game.legal)
            require(legal == sample_actions(game, state, MANY), f"item {item.id}: legal gave two different lists")
            require(len(legal) == len(set(legal)), "item {}: legal lists an action twice: {}", item.id, Brief(legal))
            state_copy, legal_actions = copy.deepcopy(state), dict.fromkeys(sample_actions(game, state))
            for action in legal_actions:
                transition = _checked_transition(game, state, action, state_copy)
                outcome = transition.outcome
                is_legal = outcome not in (Outcome.ILLEGAL, Outcome.UNPARSED)
                require(is_legal, "item {}: {} is listed, but {}", item.id, Brief(action), outcome)
            for action in actions_of_states:  # legal in another state, perhaps not in this one
                if action not in legal_actions:
                    _checked_transition(game, state, action, state_copy)


def _checked_transition(game: Game[Any, Any, Any], state: Any, action: Any, state_copy: Any) -> Transition[Any]:
    """Apply an action, check that `apply` is pure and its result valid, and return the transition."""
    label = LazyMessage("apply({}) in {}", Brief(action), Brief(state))
    FOCUS.look_at(subject=game.apply)
    hash_before = hash(state)
    require_frozen(action, label)
    with report_as_breach(label):
        first, same_stream, other_stream = (game.apply(state, action, Stream("contract", draw)) for draw in (1, 1, 2))
    require(state == state_copy and hash(state) == hash_before, "{} changed its input", label)
    require(first == same_stream, "{} gave two results for one random stream", label)
    if game.properties.deterministic:
        require(first == other_stream, "{} depends on chance, but properties.deterministic is true", label)
    require_frozen(first.state, LazyMessage("{}: the new state", label))
    wrong_outcome = "{}: the outcome is {!r}, not ok, illegal, unproductive or unparsed"
    require(first.outcome in _TRANSITION_OUTCOMES, wrong_outcome, label, first.outcome)
    require(math.isfinite(first.reward), "{}: the reward is {}", label, first.reward)
    events = dict(first.events)
    parsed_events = json.loads(_strict_json_text(events, label))
    require(parsed_events == events, "{}: the events change on their way through JSON", label)
    return first


def _strict_json_text(value: object, label: object) -> str:
    """Return a value as JSON text; a value that is no JSON breaks the contract."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{label}: this is no JSON value: {Brief(value)} ({error})") from None


def check_terminal(environment: AnyEnvironment, level: int) -> None:
    """A state is terminal exactly if it has no legal action, and only the rules' own endings are given."""
    for game, item in games_and_items(environment, level):
        for state in sample_states(environment, item, game):
            end = game.terminal(state)
            FOCUS.look_at(subject=game.terminal)
            require(end in (None, End.SOLVED, End.FAILED), f"terminal gave {end!r}: solved, failed or None")
            has_legal_action = bool(game.legal(state))
            require(has_legal_action == (end is None), "terminal is {!r} in {}, against legal", end, Brief(state))


def check_action_codec(environment: AnyEnvironment, level: int) -> None:
    """Actions, perturbed ones too, survive encode, JSON and decode."""
    for game, item in games_and_items(environment, level):
        for number, state in enumerate(sample_states(environment, item, game)):
            if game.terminal(state):
                continue
            FOCUS.look_at(subject=game.perturb)
            rng = Stream("contract", "codec", number)
            best = environment.players.policies["oracle"](state, rng)
            require(game.perturb(state, best, 0.0, rng) == best, "perturb changed an action at rate 0")
            perturbed = [game.perturb(state, best, rate, rng) for rate in (0.5, 1.0)]
            for action in [best, *perturbed, *sample_actions(game, state)]:
                FOCUS.look_at(subject=game.decode)
                text = _strict_json_text(game.encode(action), LazyMessage("encode({})", Brief(action)))
                decoded = game.decode(json.loads(text))
                require(decoded == action, "{} came back from {} as {}", Brief(action), text[:100], Brief(decoded))


def check_properties(environment: AnyEnvironment, level: int) -> None:
    """Episodes are no longer, and their rewards sum to no more or less, than the game's properties declare."""
    play = play_with_options(environment, {})
    properties, limits = play.game.properties, play.limits
    low, high = properties.reward
    require(low <= high, f"properties.reward is {properties.reward}: give the smallest sum first")
    require(properties.turns is None or properties.turns >= 1, f"properties.turns is {properties.turns}")
    require(limits.turns >= 1, f"limits.turns is {limits.turns}")
    require(limits.invalid in ("turn", "retry", "end"), f"limits.invalid is {limits.invalid!r}")
    for item in first_items(environment, level):
        for player in (*map(policy, SAMPLE_PLAYERS), StumblingPolicy()):
            episode = play_to_end(environment, item, player, dict(environment.playing.check_options))
            n_turns = sum(limits.invalid == "turn" or turn.outcome in _ACTION_OUTCOMES for turn in episode.turns)
            require(
                properties.turns is None or n_turns <= properties.turns,
                f"item {item.id}: {episode.player} played {n_turns} turns; properties.turns is {properties.turns}",
            )
            total = sum(turn.reward for turn in episode.turns)
            require(
                low - ROUNDING_ERROR <= total <= high + ROUNDING_ERROR,
                f"item {item.id}: {episode.player}'s rewards sum to {total}; properties.reward is {properties.reward}",
            )


def check_source(environment: AnyEnvironment, level: int) -> None:
    """An item never depends on items drawn before it, and has the key, level and index of its place in the source."""
    items = environment.source(level=level).head(_SET_SIZE)
    backwards = environment.source(level=level)
    for index in reversed(range(_SET_SIZE)):
        item = items[index]
        item_of_new_source = environment.source(level=level).item(index)
        require(item_of_new_source == item, f"item {index} made alone is not item {index} of the first {_SET_SIZE}")
        require(backwards.item(index) == item, f"item {index} depends on the items that were made before it")
        identity = item.key, item.level, item.index
        require(identity == (environment.items.public_key, level, index), f"item {index} calls itself {identity}")
        is_of_level = environment.items.level_of(item.instance) == level
        require(is_of_level, f"item {index}: level_of does not give its level, {level}")
    require_distinct([item.id for item in items], "ids")
    require(environment.source(level=level).head(0) == [], "head(0) is not empty")


def check_keys(environment: AnyEnvironment, level: int) -> None:
    """The same key gives the same set, and another key another one, where the level holds more than one instance."""
    sets = {key: environment.source(key, level).head(_SET_SIZE) for key in ("key", "key ", "Key", "1", "2")}
    for key, items in sets.items():
        same_items = environment.source(key, level).head(_SET_SIZE)
        require(item_set_hash(items) == item_set_hash(same_items), f"key {key!r} gave two different sets")
        require({item.key for item in items} == {key}, f"items of the key {key!r} name another key")
    if len({item.instance.hash for items in sets.values() for item in items}) > 1:
        n_different = len(set(map(item_set_hash, sets.values())))
        require(n_different == len(sets), f"{len(sets)} keys gave only {n_different} different sets")


def check_levels(environment: AnyEnvironment, level: int) -> None:
    """Items of the highest declared level and of levels below it can be drawn, unless a level is refused.

    A level below the smallest or above the highest is refused in one line that says what to do. A level that is far
    too large for any environment is refused in the same way, or accepted; the source must not hang or fail.
    """
    smallest = environment.items.smallest_level
    for too_small in (smallest - 1, -1):
        label = f"level {too_small}"
        with require_one_line_refusal(
            UsageError, label, message_if_accepted=f"{label} is below the smallest level {smallest}: refuse it"
        ):
            environment.source(level=too_small).item(0)
    highest = environment.items.highest_level
    if highest is not None:
        with report_as_breach(f"level {highest}, the highest_level,"):
            item = environment.source(level=highest).item(0)
            drawn_level = environment.items.level_of(item.instance)
        wrong_level = f"level {highest}, the highest_level: the item that is drawn has level {drawn_level}"
        require(drawn_level == highest, wrong_level)
        label = f"level {highest + 1}"
        with require_one_line_refusal(
            UsageError, label, message_if_accepted=f"{label} is above the highest_level {highest}: refuse it"
        ):
            environment.source(level=highest + 1).item(0)
    for item in first_items_across_levels(environment):
        drawn_level = environment.items.level_of(item.instance)
        require(drawn_level == item.level, f"level {item.level}: the item that is drawn has level {drawn_level}")
    label = f"level {_HUGE_LEVEL}"
    with report_as_breach(f"{label}, which should be refused or be made,"), require_one_line_refusal(UsageError, label):
        environment.source(level=_HUGE_LEVEL)  # no item is drawn: a source should draw nothing before it is asked


def check_instances(environment: AnyEnvironment, level: int) -> None:
    """Instances are frozen, survive JSON, and are the same instance exactly if their canonical form is."""
    items = first_items(environment, level, _SET_SIZE)
    for item in items:
        instance = item.instance
        FOCUS.look_at(item.id, subject=instance.__class__)
        require_frozen(instance, LazyMessage("instance of item {}", item.id))
        is_digest = re.fullmatch("[0-9a-f]{64}", instance.hash)
        require(is_digest, f"item {item.id}: the hash is no SHA-256: {instance.hash!r}")
        data = json.loads(json.dumps(instance.to_json(), allow_nan=False))
        FOCUS.look_at(subject=environment.items.decode)
        decoded = environment.item(data)
        require(decoded.instance == instance, f"item {item.id}: the instance changes on its way through JSON")
        require(decoded.instance.hash == instance.hash, f"item {item.id}: its hash changes on its way through JSON")
        require(decoded.level == item.level, "item {}: from outside, its level is {}", item.id, decoded.level)
        require(dict(decoded.proof) == dict(item.proof), f"item {item.id}: from outside, it has another proof")
        FOCUS.look_at(subject=environment.items.prove)
        proof = json.loads(json.dumps(dict(item.proof), allow_nan=False))
        require(proof == dict(item.proof), f"item {item.id}: its proof changes on its way through JSON")
        FOCUS.look_at(subject=instance.canonical)
        for other in items:
            is_equal, has_same_hash = instance == other.instance, instance.hash == other.instance.hash
            agree = is_equal == (instance.canonical() == other.instance.canonical()) == has_same_hash
            require(agree, f"items {item.id} and {other.id}: equality, canonical form and hash do not agree")


def check_bad_data(environment: AnyEnvironment, level: int) -> None:
    """Any JSON value that is no instance or no action is refused with a `DataError` of one line."""
    item = first_items(environment, level, 1)[0]
    for bad_value in [*BAD_JSON, *_damaged_json_values(json.loads(json.dumps(item.instance.to_json())))]:
        label = LazyMessage("item({})", Brief(bad_value))
        with report_as_breach(label), require_one_line_refusal(DataError, label):
            result: Any = environment.item(bad_value)  # a damaged value can be another valid instance
            require(isinstance(result, Item), "item gave {}", Brief(result))
    game = play_with_options(environment, {}).game
    FOCUS.look_at(subject=game.decode)
    encoded_action = game.encode(sample_actions(game, game.start(item.instance))[0])
    for bad_value in [*BAD_JSON, *_damaged_json_values(json.loads(json.dumps(encoded_action)))]:
        label = LazyMessage("decode({})", Brief(bad_value))
        with report_as_breach(label), require_one_line_refusal(DataError, label):
            action = game.decode(bad_value)
            require(game.decode(game.encode(action)) == action, "{} gave {}, which is none", label, Brief(action))


def _json_paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of keys to a JSON value and to all values within it."""
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        entries = enumerate(cast("list[Any]", value))
    paths = [path]
    for key, part in entries:
        paths += _json_paths(part, (*path, key))
    return paths


def _damaged_json_values(value: Any) -> list[Any]:
    """Return copies of a JSON value in which one part is replaced, removed or doubled."""
    paths = [path for path in _json_paths(value) if path]
    damaged_values: list[Any] = []
    stride = max(1, math.ceil(len(paths) / _DAMAGED_PARTS))
    for *outer_keys, last_key in paths[::stride]:
        for damage in (*BAD_JSON, "drop", "double"):
            damaged = copy.deepcopy(value)
            container: Any = damaged
            for key in outer_keys:
                container = container[key]
            if damage == "drop":
                del container[last_key]
            elif damage == "double" and isinstance(container, list):
                cast("list[Any]", container).append(container[last_key])
            else:
                container[last_key] = damage
            damaged_values.append(damaged)
    return damaged_values


def check_isomorphs(environment: AnyEnvironment, level: int) -> None:
    """Isomorphic instances are of the same level, are read back from JSON, and give the oracle the same score."""
    if environment.items.isomorph is None:
        return
    headline = environment.scoring.metrics[0]
    originals = first_items(environment, level)
    n_changed = 0
    for number in _ISOMORPH_NUMBERS:
        source = IsomorphicSource(
            environment.source(level=level), environment.items.isomorph, environment.items.prove, number
        )
        for original in originals:
            item, where = source.item(original.index), f"isomorph {number} of item {original.id}"
            instance = item.instance
            require_frozen(instance, LazyMessage(where))
            require(source.item(original.index) == item, f"{where}: two calls gave two instances")
            require(environment.items.level_of(instance) == level, f"{where}: it has another level")
            decoded = environment.item(json.loads(json.dumps(instance.to_json(), allow_nan=False)))
            require(decoded.instance == instance, f"{where}: the instance changes on its way through JSON")
            require(dict(decoded.proof) == dict(item.proof), f"{where}: from outside, it has another proof")
            original_score, score = (
                headline.of(episode_of_player(environment, scored, "oracle").record()) for scored in (original, item)
            )
            require(
                original_score == score, f"{where}: the oracle's score is {score}, and {original_score} at the item"
            )
            n_changed += instance.hash != original.instance.hash
    require(n_changed > 0, "isomorph returns the instances themselves, so that nothing is new")


_NO_ENVIRONMENT_STATUS = 3  # exit status of a process that cannot import the environment from the same file
_SCRIPT = f"""
import contextlib, importlib, json, sys
name, path, attribute, level, levels = json.loads(sys.argv[1])
with contextlib.redirect_stdout(sys.stderr):
    try:
        module = importlib.import_module(name)
    except ImportError:
        sys.exit({_NO_ENVIRONMENT_STATUS})
    if module.__file__ != path:
        sys.exit({_NO_ENVIRONMENT_STATUS})
    from waybench.testing._rules import item_line
    from waybench.testing._walks import sample_records
    environment = getattr(module, attribute)
    records = [*sample_records(environment, level)]
    records += [item_line(environment.source(level=level).item(0)) for level in levels]
print(*records, sep="\\n")
"""


def check_processes(environment: AnyEnvironment, level: int) -> None:
    """Another process, in which sets have another order, draws the same items and plays the same episodes.

    An environment that is no global name of a module is not looked at.
    """
    if (module_attribute := _module_attribute_of(environment)) is None:
        return
    records, levels = [*sample_records(environment, level)], list[int]()
    with suppress(ContractError):  # `check_levels` reports it
        for item in first_items_across_levels(environment):
            records.append(item_line(item))
            levels.append(item.level)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    process = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps([*module_attribute, level, levels])],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    if process.returncode == _NO_ENVIRONMENT_STATUS:
        return
    errors = process.stderr.decode("utf-8", "replace").strip().splitlines()
    require(process.returncode == 0, "another process ended with {}", errors[-1] if errors else process.returncode)
    for line, other_line in zip(records, process.stdout.decode().splitlines(), strict=True):
        if line != other_line:
            record, other_record = json.loads(line), json.loads(other_line)
            item_id = record["item"]["id"]
            FOCUS.look_at(item_id)
            part = next((name for name in record if record[name] != other_record.get(name)), "")
            FOCUS.look_at(subject=environment.items.make_source if part == "instance" else None)
            require(False, "item {}: {} differs in another process, where sets have another order", item_id, part)


def item_line(item: Item[Any]) -> str:
    """Return an item as a JSON line of its id and instance, under the names that they have in a record."""
    return json.dumps({"item": {"id": item.id}, "instance": item.instance.to_json()})


def _module_attribute_of(environment: AnyEnvironment) -> tuple[str, str, str] | None:
    """Return (module, file, name) of an environment that is a global name of a module; None otherwise.

    The module must not be `__main__`, which another process could not import.
    """
    for name, module in sorted(sys.modules.items()):
        path: object = vars(module).get("__file__") if type(module) is ModuleType else None
        if isinstance(path, str) and name != "__main__":
            for attribute, value in vars(module).items():
                if value is environment:
                    return name, path, attribute
    return None
