"""How searches for a biome fail: by getting stuck, by walking away, or by their steps."""

from dataclasses import replace

import pytest

from waybench.core import End, EpisodeRecord, Outcome, play_to_end, policy
from waybench.envs.voxel import FIND


def played() -> EpisodeRecord:
    """Return a search that ends before the goal is found."""
    item = FIND.source("far", 3).item(0)
    record = play_to_end(FIND, item, policy("random"), {"wording": "one_question", "steps": 4}).record()
    assert record.end is End.TURN_LIMIT
    return record


@pytest.mark.parametrize(
    ("left", "stuck", "wanted"),
    [(0.5, 0, "turn_limit"), (1.0, 0, "astray"), (1.5, 1, "astray"), (0.5, 2, "unproductive")],
)
def test_where_the_walk_led(left: float, stuck: int, wanted: str) -> None:
    record = played()
    away = left * record.proof["distance"]
    turns = [
        turn._replace(
            events={**turn.events, "left": away}, outcome=Outcome.UNPRODUCTIVE if number < stuck else Outcome.OK
        )
        for number, turn in enumerate(record.turns)
    ]
    found = FIND.scoring.failure_of(replace(record, turns=tuple(turns)))
    assert found is not None
    assert found.name == wanted
