"""Prints digests of what every environment makes, to compare two versions of Python: lines of JSON.

Usage: python digests.py [--levels N] [--estimates] [ENVIRONMENT...]

It needs waybench alone, and runs in any Python: an environment that needs a package which is missing is named. Of each
level there is a digest of items; of each protocol and wording at it, one of records by every kind of player, and one of
what these are measured by. With --estimates, which need numpy, there is one of each environment's means and intervals.
"""

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import waybench
from waybench.core import EpisodeRecord, Json
from waybench.envs import registry
from waybench.testing._walks import sample_records

ITEMS = 20  # of each level


def digest(values: Iterable[Json]) -> str:
    """Return the first half of the SHA-256 of some values as JSON, in which every float is written in full."""
    sha256 = hashlib.sha256()
    for value in values:
        sha256.update(json.dumps(value, sort_keys=True, default=str).encode("ascii") + b"\n")
    return sha256.hexdigest()[:32]


def items(env: Any, level: int) -> Iterator[Json]:
    """Yield all that is known of some items of a level."""
    for item in env.source(level=level).head(ITEMS):
        yield [item.id, item.level, item.key, item.index, item.instance.to_json(), item.instance.hash, dict(item.proof)]


def measures(env: Any, record: EpisodeRecord) -> Json:
    """Return all that an episode is measured by."""
    kind = env.scoring.failure_of(record)
    values = {
        measure.name: [measure.of(record), measure.range_of(record)]
        for measure in (*env.scoring.metrics, *env.scoring.series)
    }
    return [values, {axis.name: axis.of(record) for axis in env.difficulty.axes}, kind.name if kind else None]


def estimates(env: Any, records: list[EpisodeRecord]) -> list[Json]:
    """Return the means and intervals of each kind of player, over the attempts of each level and over all."""
    from waybench.results import LoggedEpisode, by_level, overall, rows

    result_rows = rows(LoggedEpisode(model=record.player, task=env.id, record=record) for record in records)
    return [estimate.to_json() for estimate in (*by_level(result_rows), *overall(result_rows))]


def lines(env: Any, levels: int | None, estimated: bool) -> Iterator[dict[str, Json]]:
    """Yield the digests of an environment."""
    records: list[EpisodeRecord] = []
    for level in env.items.sample_levels[:levels]:
        yield {"level": level, "items": digest(items(env, level))}
        ways = defaultdict[tuple[str, str], list[str]](list)
        for line in sample_records(env, level):
            record = EpisodeRecord.from_json(json.loads(line))
            ways[str(record.options["protocol"]), str(record.options["wording"])].append(line)
            records.append(record)
        for (protocol, wording), options in ways.items():
            of_way = (EpisodeRecord.from_json(json.loads(line)) for line in options)
            yield {
                **{"level": level, "protocol": protocol, "wording": wording, "episodes": len(options)},
                **{"records": digest(options), "measures": digest(measures(env, record) for record in of_way)},
            }
    if estimated:
        yield {"estimates": digest(estimates(env, records))}


def main() -> None:
    """Print the digests of some or all environments."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("environments", nargs="*", metavar="ENVIRONMENT", help="All by default.")
    arguments.add_argument("--levels", type=int, help="How many sample levels, the smallest first; all by default.")
    arguments.add_argument("--estimates", action="store_true", help="Also of means and intervals, which need numpy.")
    parsed = arguments.parse_args()
    for env_id in parsed.environments or [entry.id for entry in registry.built_in]:
        try:
            data = list(lines(waybench.load(env_id), parsed.levels, parsed.estimates))
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] == "waybench":
                raise
            data = [{"missing": error.name}]
        for line in data:
            print(json.dumps({"environment": env_id, **line}))


if __name__ == "__main__":
    main()
