"""Measure the horizons of players that know nothing of an item: `python docs/reference_horizons.py` (minutes).

With `scores`, their mean scores and the oracle's are measured instead (docs/reference_scores.py), of all environments
or of those that are named: `python docs/reference_horizons.py scores rps/rounds`.

A random player, and the best of the replies that are the same in every turn of every item, play each environment that
has axes of difficulty, with the default options of each protocol and from the easiest level on, until neither of them
succeeds any more. Of twins, which have the same items and scores, the plain one is played. The results stand beside
every horizon (`waybench.results.horizons`); a test measures some of them again.
"""

import json
import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import reference_scores

from waybench.core import Environment, EpisodeRecord, Policy, policy
from waybench.envs import registry
from waybench.results import LoggedEpisode, rows
from waybench.results.horizons import SHARES, Horizon, _references, horizons
from waybench.testing._players import constant_players, play_items

PATH = Path(_references.__file__).with_name(_references.FILE)
ITEMS = 100
FEWEST_LEVELS = 2

AnyEnvironment = Environment[Any, Any, Any]


def measured_environments() -> list[AnyEnvironment]:
    """Return the environments that are played."""
    built_in = [registry.load(entry.id) for entry in registry.built_in]
    return [env for env in built_in if env.difficulty.axes and not env.items.twin]


def protocols(env: AnyEnvironment) -> Sequence[str]:
    """Return an environment's protocols."""
    return next(option for option in env.playing.options if option.name == "protocol").choices


def measured(env: AnyEnvironment, protocol: str) -> list[dict[str, Any]]:
    """Return the horizons of both players on all axes of an environment."""
    options = {**env.playing.check_options, "protocol": protocol}
    drawn = dict(env.difficulty.horizon.source_options) if env.difficulty.horizon is not None else {}
    levels = env.difficulty.horizon.levels if env.difficulty.horizon is not None else env.items.sample_levels
    played: dict[str, list[EpisodeRecord]] = {}
    players: dict[str, list[Policy]] = {}
    for number, level in enumerate(levels):
        items = env.source(level=level, protocol=protocol, **drawn).head(ITEMS)
        if not number:  # the reply that is best on the easiest level is played on the others
            players = {"random": [policy("random")], "constant": constant_players(env, items, options)}
        found = {
            name: max(
                ((play_items(env, items, player, options), player) for player in some),
                key=lambda pair: sum(map(env.difficulty.is_success, pair[0])),
            )
            for name, some in players.items()
        }
        players = {name: [player] for name, (_, player) in found.items()}
        for name, (records, _) in found.items():
            played.setdefault(name, []).extend(records)
        if number + 1 >= FEWEST_LEVELS and not any(
            env.difficulty.is_success(each) for own, _ in found.values() for each in own
        ):
            break
    episodes = [
        LoggedEpisode(model=name, task=env.id, record=record) for name, records in played.items() for record in records
    ]
    return [_line(env, protocol, horizon) for horizon in horizons(rows(episodes)) if horizon.share in SHARES]


def _line(env: AnyEnvironment, protocol: str, horizon: Horizon) -> dict[str, Any]:
    return {
        **{"env": env.id, "version": env.version, "protocol": protocol, "axis": horizon.axis},
        **{"player": horizon.group.model, "share": horizon.share},
        **{"value": None if horizon.value is None else round(horizon.value, 4), "side": horizon.side},
        **{"easiest": horizon.easiest, "hardest": horizon.hardest},
    }


def main() -> None:
    """Measure what the command line says."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("horizons", "scores"), default="horizons")
    parser.add_argument("env", nargs="*", help="environments whose scores are measured; by default all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=3600, help="that all measurements may take together")
    parser.add_argument("--items", type=int, default=reference_scores.MOST_ITEMS, help="at most, of each setting")
    parser.add_argument("--output", type=Path, default=reference_scores.PATH)
    given = parser.parse_args()
    if given.what == "scores":
        reference_scores.main(given.env, given.processes, given.seconds, given.items, given.output)
    else:
        write_horizons()


def write_horizons() -> None:
    """Write the file of horizons, a line for each."""
    lines: list[str] = []
    for env in measured_environments():
        for protocol in protocols(env):
            lines += [json.dumps(line) for line in measured(env, protocol)]
            print(env.id, protocol, flush=True)
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
