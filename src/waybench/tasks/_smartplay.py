"""SmartPlay's tasks: each setting of the small games, the games with free parameters, and all recorded settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai import Task

from waybench.core import Environment, Item, Json, Source
from waybench.data import locate
from waybench.envs.voxel import PLAINS, recorded_level
from waybench.tasks._declare import Played, declared, played_items
from waybench.tasks._index import SMALL, SMARTPLAY, Small
from waybench.tasks._sources import refuse_for_generated

_TEXTS, _GAMES = "text_test.json", "games.json"


def _task(small: Small) -> Callable[..., Task]:
    def make(**given: Any) -> Task:
        options = {option.name: given[option.name] for option in small.environment.options}
        items, attempts = _items(small, given)
        listed = [(small.environment, options, item) for item in items]
        return played_items(listed, attempts, small.environment.version)

    return make


def _all(**given: Any) -> Task:
    listed: list[Played] = []
    attempts: dict[str, int] = {}
    for name in SMARTPLAY:
        small = SMALL[name]
        asked = {"protocol": given["protocol"], "wording": given["wording"]}
        drawn = dict(given)
        if name == "crafter":
            asked["steps"] = given["crafter_steps"]
        if name == "voxel_find":
            level = recorded_level(given["engine"], given["protocol"])
            drawn.update(level=level, goal=PLAINS[given["engine"]])
        options = small.environment.resolve_options(asked)
        items, times = _items(small, drawn)
        for item in items:
            named = replace(item, id=f"{name}-{item.index}")
            attempts[named.id] = times
            listed.append((small.environment, options, named))
    version = max(SMALL[name].environment.version for name in SMARTPLAY)
    return played_items(listed, lambda item: attempts[item.id], version)


def _items(small: Small, given: Mapping[str, Any]) -> tuple[list[Item[Any]], int]:
    """Return the items of a setting and the attempts at each.

    Where there is one item only, that one is attempted as often as trials are asked for.
    """
    source = _source(small, given)  # once for both: to make one can be to read the published files
    trials = small.trials if given["limit"] is None else int(given["limit"])
    count = trials if source.space is None else min(trials, source.space)
    attempts = int(given["attempts"]) * (trials if source.space == 1 else 1)
    return [source.item(index) for index in range(count)], attempts


def _source(small: Small, given: Mapping[str, Any]) -> Source[Any]:
    environment: Environment[Any, Any, Any] = small.environment
    key = environment.public_key if given["key"] is None else given["key"]
    level = given["level"] if small.level is None else small.level
    style: dict[str, Json] = {
        option.name: small.style.get(option.name, given.get(option.name, option.default))
        for option in environment.source_options
    }
    if given.get("source") == "published" and environment.id == "messenger/roles":
        from waybench.envs.messenger import PublishedGames

        folder = None if given["data_dir"] is None else Path(given["data_dir"])
        texts, games = (locate("smartplay", file, folder) for file in (_TEXTS, _GAMES))
        published = PublishedGames(texts, games, key, level, size=style["size"], decoys=style["decoys"])
        return environment.marked(published, key)
    if "source" in given:
        refuse_for_generated(given)
    return environment.source(key, level, protocol=given["protocol"], **style)


smartplay = declared("smartplay", _all)
bandit_deterministic, bandit_high_low, bandit_high_high, bandit_low_low = (
    declared(name, _task(SMALL[name]))
    for name in ("bandit_deterministic", "bandit_high_low", "bandit_high_high", "bandit_low_low")
)
rps_basic, rps_different_score = (declared(name, _task(SMALL[name])) for name in ("rps_basic", "rps_different_score"))
hanoi_3, hanoi_4 = (declared(name, _task(SMALL[name])) for name in ("hanoi_3", "hanoi_4"))
messenger_l1, messenger_l2, messenger_l3 = (
    declared(name, _task(SMALL[name])) for name in ("messenger_l1", "messenger_l2", "messenger_l3")
)
crafter, voxel_find = (declared(name, _task(SMALL[name])) for name in ("crafter", "voxel_find"))
bandit, rps, hanoi, messenger = (declared(name, _task(SMALL[name])) for name in ("bandit", "rps", "hanoi", "messenger"))
