"""How lives in Crafter end: by what took the last health, or by the limit on steps."""

from dataclasses import replace

import pytest

import waybench
from waybench.core import End, Episode

ENV = waybench.load("crafter/survival")


@pytest.mark.parametrize("cause", ["zombie", "arrow", "lava", "need"])
def test_what_the_player_died_of(cause: str) -> None:
    episode: Episode = Episode(ENV, ENV.source().item(0), {"wording": "one_question", "steps": 2})  # type: ignore[type-arg]
    episode.step("Sleep")
    episode.step("Sleep")
    record = episode.record()
    assert record.end is End.TURN_LIMIT
    found = ENV.scoring.failure_of(record)
    assert found is not None
    assert found.name == "turn_limit"
    last = record.turns[-1]
    died = replace(
        record,
        end=End.FAILED,
        turns=(record.turns[0], last._replace(events={**last.events, "health": 0, "death": cause})),
    )
    found = ENV.scoring.failure_of(died)
    assert found is not None
    assert found.name == cause
