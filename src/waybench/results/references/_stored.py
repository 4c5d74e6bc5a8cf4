"""Reference scores that are stored with the package, and what they are of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from waybench._package_data import read_text
from waybench.core import Environment, Json
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
        attempts: Attempts at an item, where its score is that of the best one; otherwise 1.
    """

    env: str
    version: int
    level: int
    played: Mapping[str, Json]
    drawn: Mapping[str, Json]
    attempts: int = 1

    @property
    def name(self) -> str:
        """A name that no other setting has."""
        return json.dumps([self.env, self.version, self.level, self.played, self.drawn, self.attempts], sort_keys=True)


def setting_of(
    environment: Environment[Any, Any, Any],
    level: int,
    played: Mapping[str, Json],
    drawn: Mapping[str, Json],
    attempts: int = 1,
) -> Setting:
    """Return the setting of items and options of play.

    Args:
        environment: The environment.
        level: The level.
        played: Resolved options of play.
        drawn: Options of the items; those of other things, and those that only say how many items there are, are left
            out.
        attempts: Attempts at an item.
    """
    plain = registry.load(environment.items.twin or environment.id)
    protocol = str(played["protocol"])
    usual = environment.resolve_options({"protocol": protocol})
    defaults = {option.name: option.default for option in environment.items.options if not option.is_count}
    changed = {name: value for name, value in played.items() if name not in usual or value != usual[name]}
    return Setting(
        plain.id,
        plain.version,
        level,
        {"protocol": protocol, **changed},
        {name: value for name, value in drawn.items() if name in defaults and value != defaults[name]},
        attempts if environment.scoring.best_of else 1,
    )


def stored_scores(setting: Setting) -> ReferenceScores | None:
    """Return the reference scores that are stored of a setting; None without any, as for another version."""
    return _table().get(setting.name)


@cache
def _table() -> Mapping[str, ReferenceScores]:
    return dict(map(_read, json.loads(read_text(__file__, FILE))["scores"]))


def to_line(setting: Setting, scores: ReferenceScores) -> dict[str, Json]:
    """Return a line of the file: a setting and its reference scores, each as mean, standard error and clusters."""
    players: dict[str, Json] = {
        player: [*(float(f"{number:.{_DIGITS}g}") for number in reference[:2]), reference.clusters]
        for player in _PLAYERS
        if (reference := getattr(scores, player)) is not None
    }
    return {
        **{"env": setting.env, "version": setting.version, "level": setting.level, "played": dict(setting.played)},
        **({"drawn": dict(setting.drawn)} if setting.drawn else {}),
        **({"attempts": setting.attempts} if setting.attempts > 1 else {}),
        **{"items": scores.items, **players},
        **({"reply": scores.reply} if scores.reply else {}),
    }


def _read(line: Mapping[str, Any]) -> tuple[str, ReferenceScores]:
    setting = Setting(
        *(line[name] for name in ("env", "version", "level", "played")), line.get("drawn", {}), line.get("attempts", 1)
    )
    players = {player: Reference(*line[player]) if player in line else None for player in _PLAYERS}
    scores = ReferenceScores(**players, reply=line.get("reply", ""), items=line["items"])
    return setting.name, replace(scores, name=setting.name)
