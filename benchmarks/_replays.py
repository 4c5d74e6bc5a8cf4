"""Records of all environments, checked as `waybench verify` does, against playing their episodes."""

from collections.abc import Iterator
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import EpisodeRecord, Item, play_to_end, policy
from waybench.envs import registry
from waybench.submission._records import RecordChecker, encode_record_line

PLAYERS = ("oracle", "random")
RUN: dict[str, Any] = {"task": "bench", "settings": {}, "file": "bench", "search": {}, "parameters": {}}


def _items() -> Iterator[tuple[str, Item[Any], str]]:
    """Yield two items of each of the first levels of every environment, with each player that it has."""
    for environment in (registry.load(entry.id) for entry in waybench.list_environments()):
        for level in environment.items.sample_levels[:3]:
            for item in environment.source("bench", level).head(2):
                for player in PLAYERS:
                    if player in environment.players.policies:
                        yield environment.id, item, player


def replays() -> Iterator[Comparison]:
    """Check records without their texts, as submissions have them; episodes of each environment weigh alike."""
    items = list(_items())

    def played() -> list[EpisodeRecord]:
        return [play_to_end(registry.load(name), item, policy(player)).record() for name, item, player in items]

    lines = [
        (encode_record_line("1", 1, record, confirmed=True), {**RUN, "model": record.player}) for record in played()
    ]

    def checked() -> None:
        checker = RecordChecker()
        for number, (line, run) in enumerate(lines, start=1):
            assert checker.check_line(number, line, run, False).level is not None

    yield compare(
        f"records of {len(waybench.list_environments())} environments checked, texts written again",
        checked,
        played,
        against="playing the episodes",
        count=len(lines),
        unit="episodes",
        rounds=3,
    )
