"""The ranges of metrics."""

from dataclasses import replace
from typing import Any

import waybench
from tests.toys import DIAL
from waybench.core import Metric, play_to_end, policy


def metric(**fields: Any) -> Metric:
    return Metric(name="m", of=lambda record: 0.0, title="M", doc="A number.", **fields)


def test_a_range_is_that_of_the_record() -> None:
    record = play_to_end(DIAL, DIAL.source().item(0), policy("null")).record()
    assert metric(low=0, high=1).range_of(record) == (0, 1)
    sized = metric(low=0, range=lambda record: (0, len(record.opening)))
    assert sized.range_of(record) == (0, len(record.opening))


def test_over_several_records_the_bounds_are_the_widest() -> None:
    ranged = metric(range=lambda record: (0, 1))
    assert ranged.widened_to([(0, 3), (-1, 2)]).bounds == (-1, 3)
    assert ranged.widened_to([(0, 3), (None, 5)]).bounds == (None, 5)
    assert ranged.widened_to([]).bounds == (None, None)
    assert metric(low=0, high=1).widened_to([(0, 3)]).bounds == (0, 1)


def test_ranges_in_words() -> None:
    assert metric(low=0, high=1).range_text == "0 to 1"
    assert metric(low=0, unbounded="plans can be long").range_text == "0 to unbounded, since plans can be long"
    assert metric(range=lambda record: (0, 1)).range_text == "depends on the options and the item"


def test_sums_are_exact_and_so_the_same_on_every_python() -> None:
    # Python 3.11 adds ten times 0.1 up to 0.9999999999999999, later versions to 1.0.
    arms = {"arms": [[0.9, 1.0], [0.85, 1.0]], "drift": 0.0, "draw": 1}
    env = waybench.load("bandit/arms")
    regret = next(metric for metric in env.scoring.metrics if metric.name == "regret")
    episode = play_to_end(env, env.item(arms), policy("null"), {"steps": 10, "wording": "one_question"})
    record = episode.record()
    lost = [float(turn.events["regret"]) for turn in record.turns]
    turns = tuple(turn._replace(events={**turn.events, "regret": 0.1}) for turn in record.turns)
    assert len(lost) == 10
    assert regret.of(replace(record, turns=turns)) == 1.0
