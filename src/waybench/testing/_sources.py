"""Checks of items: where they come from, their identity, and reading them from outside."""

import copy
import json
import re
from collections.abc import Iterable
from typing import Any, cast

from waybench.core import DataError, Item, UsageError, set_hash
from waybench.testing._hostile import BAD_JSON
from waybench.testing._require import AnyEnvironment, ContractError, Message, brief, require, require_frozen
from waybench.testing._walks import actions, items, way_of

_SET = 10  # items of a set that are compared with others
_PLACES = 60  # places of an instance that are spoilt


def check_source(environment: AnyEnvironment, level: int) -> None:
    """An item never depends on another one, and says where it belongs."""
    head = environment.source(level=level).head(_SET)
    backwards = environment.source(level=level)
    for index in reversed(range(_SET)):
        item = head[index]
        alone = environment.source(level=level).item(index)
        require(alone == item, f"item {index} made alone is not item {index} of the first {_SET}")
        require(backwards.item(index) == item, f"item {index} depends on the items that were made before it")
        place = (environment.items.public_key, level, index)
        require(
            (item.key, item.level, item.index) == place, f"item {index} calls itself {item.key, item.level, item.index}"
        )
        require(
            environment.items.level_of(item.instance) == level,
            f"item {index}: level_of does not give its level, {level}",
        )
    require(len({item.id for item in head}) == _SET, f"ids come twice: {[item.id for item in head]}")
    require(environment.source(level=level).head(0) == [], "head(0) is not empty")


def check_keys(environment: AnyEnvironment, level: int) -> None:
    """The same key gives the same set, and another key another one, where the level holds more than one instance."""
    sets = {key: environment.source(key, level).head(_SET) for key in ("key", "key ", "Key", "1", "2")}
    for key, made in sets.items():
        again = environment.source(key, level).head(_SET)
        require(set_hash(made) == set_hash(again), f"key {key!r} gave two different sets")
        require({item.key for item in made} == {key}, f"items of the key {key!r} name another key")
    if len({item.instance.hash for made in sets.values() for item in made}) > 1:
        different = len({set_hash(made) for made in sets.values()})
        require(different == len(sets), f"{len(sets)} keys gave only {different} different sets")


def check_levels(environment: AnyEnvironment, level: int) -> None:
    """A level below the smallest is refused in one line that says what to do."""
    for wrong in (environment.items.smallest_level - 1, -1):
        try:
            environment.source(level=wrong).item(0)
        except UsageError as error:
            require(_is_line(str(error)), f"level {wrong}: the error is not one short line: {str(error)[:80]!r}")
        else:
            raise ContractError(
                f"level {wrong} is below the smallest level {environment.items.smallest_level}: refuse it"
            )


def check_instances(environment: AnyEnvironment, level: int) -> None:
    """Instances are frozen, survive JSON, and are the same instance exactly if their canonical form is."""
    made = items(environment, level, _SET)
    for item in made:
        instance = item.instance
        require_frozen(instance, Message("instance of item {}", item.id))
        require(
            re.fullmatch("[0-9a-f]{64}", instance.hash), f"item {item.id}: the hash is no SHA-256: {instance.hash!r}"
        )
        data = json.loads(json.dumps(instance.to_json(), allow_nan=False))
        back = environment.item(data)
        require(back.instance == instance, f"item {item.id}: the instance changes on its way through JSON")
        require(back.instance.hash == instance.hash, f"item {item.id}: its hash changes on its way through JSON")
        require(back.level == item.level, "item {}: from outside, its level is {}", item.id, back.level)
        require(dict(back.proof) == dict(item.proof), f"item {item.id}: from outside, it has another proof")
        proof = json.loads(json.dumps(dict(item.proof), allow_nan=False))
        require(proof == dict(item.proof), f"item {item.id}: its proof changes on its way through JSON")
        for other in made:
            same = instance == other.instance
            require(
                same == (instance.canonical() == other.instance.canonical()) == (instance.hash == other.instance.hash),
                f"items {item.id} and {other.id}: equality, canonical form and hash do not agree",
            )


def check_bad_data(environment: AnyEnvironment, level: int) -> None:
    """What is no instance or no action is refused with a `DataError` of one line, whatever it is."""
    item = items(environment, level, 1)[0]
    good = json.loads(json.dumps(item.instance.to_json()))
    for bad in [*BAD_JSON, *_spoilt(good)]:
        try:
            found: Any = environment.item(bad)
            require(isinstance(found, Item), "item gave {}", brief(found))
        except DataError as error:
            require(_is_line(str(error)), f"the error is not one short line: {str(error)[:80]!r}")
        except Exception as error:
            raise ContractError(f"item({brief(bad)}) raised {type(error).__name__}: {error}") from error
    game = way_of(environment, {}).game
    state = game.start(item.instance)
    good = json.loads(json.dumps(game.encode(actions(game, state)[0])))
    for bad in [*BAD_JSON, *_spoilt(good)]:
        try:
            action = game.decode(bad)
        except DataError as error:
            require(_is_line(str(error)), f"the error is not one short line: {str(error)[:80]!r}")
            continue
        except Exception as error:
            raise ContractError(f"decode({brief(bad)}) raised {type(error).__name__}: {error}") from error
        require(
            game.decode(game.encode(action)) == action, "decode({}) gave {}, which is none", brief(bad), brief(action)
        )


def _is_line(text: str) -> bool:
    return bool(text) and len(text) <= 1_000 and text.isprintable()


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        inner = enumerate(cast("list[Any]", value))
    return [path, *(place for key, part in inner for place in _places(part, (*path, key)))]


def _spoilt(good: Any) -> list[Any]:
    """Return a JSON value with one part replaced, left out or doubled, in many ways."""
    places = [place for place in _places(good) if place]
    spoilt: list[Any] = []
    for place in places[:: max(1, -(-len(places) // _PLACES))]:
        for bad in (*BAD_JSON, "drop", "double"):
            whole = copy.deepcopy(good)
            outer: Any = whole
            for key in place[:-1]:
                outer = outer[key]
            if bad == "drop":
                del outer[place[-1]]
            elif bad == "double" and isinstance(outer, list):
                cast("list[Any]", outer).append(outer[place[-1]])
            else:
                outer[place[-1]] = bad
            spoilt.append(whole)
    return spoilt
