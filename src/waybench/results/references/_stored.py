"""Reference scores that are stored with the package, and what they are of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from waybench._package_data import read_text
from waybench.core import LANGUAGE, Environment, Json
from waybench.envs import registry
from waybench.results.references._measure import Reference, ReferenceScores

FILE = "reference_scores.json"
_PLAYERS = ("silence", "random", "constant", "ceiling")
_DIGITS = 7  # significant ones of what is stored


@dataclass(frozen=True, slots=True)
class Setting:
    """What reference scores depend on.

    Attributes:
        env: The environment's id; of twins, which have the same items and scores, that of the plain one.
        version: Its version.
        level: The level of the items.
        played: The protocol, and the options of play that are not left to their default.
        drawn: The options of the items that are not left to their default.
    """

    env: str
    version: int
    level: int
    played: Mapping[str, Json]
    drawn: Mapping[str, Json]

    @property
    def name(self) -> str:
        """A unique name of the setting."""
        return json.dumps([self.env, self.version, self.level, self.played, self.drawn], sort_keys=True)


def reference_setting(
    environment: Environment[Any, Any, Any],
    level: int,
    play_options: Mapping[str, Json],
    item_options: Mapping[str, Json],
) -> Setting:
    """Return the setting on which reference scores of a level depend, from options of play and of items.

    Args:
        environment: The environment.
        level: The level.
        play_options: Resolved options of play.
        item_options: Options of the items; others, and those that only say how many items there are, are left out.
    """
    plain = registry.load(environment.items.twin or environment.id)
    protocol = str(play_options["protocol"])
    usual = environment.resolve_options({"protocol": protocol})
    defaults = {option.name: option.default for option in environment.items.options if not option.is_count}
    changed = {name: value for name, value in play_options.items() if name not in usual or value != usual[name]}
    changed.pop(LANGUAGE, None)  # the same actions are read in each, so that floors and ceilings are the same
    return Setting(
        plain.id,
        plain.version,
        level,
        {"protocol": protocol, **changed},
        {name: value for name, value in item_options.items() if name in defaults and value != defaults[name]},
    )


def stored_scores(setting: Setting) -> ReferenceScores | None:
    """Return the stored reference scores of a setting; None without any, as for another version."""
    return _scores_by_setting().get(setting.name)


@cache
def _scores_by_setting() -> Mapping[str, ReferenceScores]:
    """Return the stored reference scores by the setting's name."""
    table: dict[str, ReferenceScores] = {}
    best_random: dict[str, dict[int, Reference]] = {}
    for line in json.loads(read_text(__file__, FILE))["scores"]:
        setting, scores, attempts = _read_line(line)
        if scores.random is not None and "attempts" in line:
            best_random.setdefault(setting.name, {})[attempts] = scores.random
        if attempts == 1:
            table[setting.name] = scores
    return {name: replace(scores, best_random=best_random.get(name, {}), name=name) for name, scores in table.items()}


def stored_line(setting: Setting, scores: ReferenceScores, attempts: int | None = None) -> dict[str, Json]:
    """Return the JSON of a setting with its reference scores, each as mean, standard error and clusters.

    Args:
        setting: The setting.
        scores: The scores.
        attempts: Attempts at an item, where its score is that of the best one; otherwise None.
    """
    players: dict[str, Json] = {
        player: [*(float(f"{number:.{_DIGITS}g}") for number in reference[:2]), reference.clusters]
        for player in _PLAYERS
        if (reference := getattr(scores, player)) is not None
    }
    return {
        **{"env": setting.env, "version": setting.version, "level": setting.level, "played": dict(setting.played)},
        **({"drawn": dict(setting.drawn)} if setting.drawn else {}),
        **({} if attempts is None else {"attempts": attempts}),
        **{"items": scores.items, **players},
        **({"reply": scores.reply} if scores.reply else {}),
    }


def _read_line(line: Mapping[str, Any]) -> tuple[Setting, ReferenceScores, int]:
    """Return the setting, its scores, and the number of attempts at an item, from the JSON of a line."""
    env, version, level, played = (line[name] for name in ("env", "version", "level", "played"))
    silence, random, constant, ceiling = (Reference(*line[player]) if player in line else None for player in _PLAYERS)
    scores = ReferenceScores(
        silence=silence,
        random=random,
        constant=constant,
        reply=line.get("reply", ""),
        ceiling=ceiling,
        items=line["items"],
    )
    return Setting(env, version, level, played, line.get("drawn", {})), scores, line.get("attempts", 1)
