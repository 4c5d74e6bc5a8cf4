"""How far people agree: the mean square error over the items that several of them answered (MANGO, Table 13)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from tests.analysis.episodes import logged
from tests.cli.conftest import command
from tests.cli.support import Command
from waybench.core import EpisodeRecord, play_to_end, policy
from waybench.results import LoggedEpisode
from waybench.results.comparisons._agreement import agreements
from waybench.results.results import rows

__all__ = ["command"]
SOKOBAN = waybench.load("sokoban/rooms")
# Who solves which of eight items: Ada all, Ben every second one, Cem the first four alone.
SOLVED = {"human/Ada": [1] * 8, "human/Ben": [1, 0] * 4, "human/Cem": [1, 1, 0, 0]}


def episodes() -> Iterator[LoggedEpisode]:
    for name, marks in {**SOLVED, "vendor/model": [0] * 8}.items():
        for item, mark in zip(SOKOBAN.source(level=2).head(8), marks, strict=False):
            record: EpisodeRecord = play_to_end(SOKOBAN, item, policy("oracle" if mark else "null")).record()
            yield logged(record, name, "sokoban")


def test_the_error_is_over_items_that_several_answered() -> None:
    [error] = [a for a in agreements(rows(episodes())) if a.metric.name == "solved"]
    # Items 1 to 4 have three pairs of people, the others one: Ada with Ben.
    by_item = [0, 2 / 3, 2 / 3, 2 / 3, 0, 1, 0, 1]
    assert (error.people, error.error.n) == (3, 8)
    assert error.error.value == pytest.approx(sum(by_item) / 8)
    low, high = error.error.low, error.error.high
    assert low is not None and high is not None and 0 <= low < error.error.value < high <= 1


def test_records_of_two_people_are_compared(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    items = SOKOBAN.source(level=2).head(2)
    records = [
        replace(play_to_end(SOKOBAN, item, policy(player)).record(), player=name)
        for name, player in (("human/Ada", "oracle"), ("human/Ben", "null"))
        for item in items
    ]
    file.write_text("".join(json.dumps(record.to_json()) + "\n" for record in records), encoding="utf-8")
    text = command("compare", file, "--people").stdout
    [line] = [line for line in text.splitlines() if line.startswith("sokoban/rooms: Solved ") or ": Solved " in line]
    assert line.split()[-4:-1] == ["2", "2", "1.0000"]
    assert "leave out" in command("compare", file, file, "--people").stderr
