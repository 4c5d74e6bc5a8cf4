"""How an episode failed, as far as its outcomes and its end say, and what an environment's own kinds add."""

from dataclasses import replace

import pytest

from tests.toys import DIAL
from waybench.core import (
    ILLEGAL,
    NOTHING,
    UNPARSED,
    End,
    EpisodeRecord,
    FailureKind,
    Outcome,
    TurnRecord,
    general_failure_kind,
    most_frequent_kind,
)
from waybench.core._metrics import GENERAL_FAILURES, WRONG


def ended(end: str | None, **outcomes: int) -> EpisodeRecord:
    """Return a record with so many turns of each outcome."""
    turns = [TurnRecord("", Outcome(name)) for name, count in outcomes.items() for _ in range(count)]
    end_ = None if end is None else End(end)
    return EpisodeRecord(
        env="toy/dial",
        env_version=1,
        options=NOTHING,
        instance=[],
        instance_hash="0" * 64,
        turns=tuple(turns),
        end=end_,
    )


@pytest.mark.parametrize(
    ("end", "outcomes", "kind"),
    [
        ("failed", {"ok": 1}, "wrong"),
        ("failed", {"ok": 7, "illegal": 1}, "lost"),
        ("failed", {"unparsed": 1}, "unparsed"),
        ("failed", {"truncated": 1}, "truncated"),
        ("failed", {"refused": 1}, "refused"),
        ("turn_limit", {"ok": 3}, "turn_limit"),
        ("turn_limit", {}, "turn_limit"),
        ("turn_limit", {"ok": 3, "illegal": 3}, "illegal"),
        ("turn_limit", {"ok": 3, "illegal": 2, "unparsed": 2}, "unparsed"),
        ("turn_limit", {"ok": 4, "unproductive": 4}, "unproductive"),
        ("turn_limit", {"ok": 5, "unproductive": 4}, "turn_limit"),
        ("invalid_limit", {"ok": 30, "unparsed": 1, "truncated": 2}, "truncated"),
    ],
)
def test_the_general_kinds(end: str, outcomes: dict[str, int], kind: str) -> None:
    assert general_failure_kind(ended(end, **outcomes)).name == kind
    # An environment that declares nothing has these alone.
    found = DIAL.scoring.failure_of(ended(end, **outcomes))
    assert found is not None
    assert found.name == kind
    assert DIAL.scoring.failure_kinds == GENERAL_FAILURES


def test_only_some_turns_can_be_counted() -> None:
    record = ended("turn_limit", ok=5, illegal=3)
    assert general_failure_kind(record).name == "turn_limit"
    assert general_failure_kind(record, record.turns[4:]) == ILLEGAL


@pytest.mark.parametrize("end", ["solved", "infrastructure_error", None])
def test_what_has_not_failed_has_no_kind(end: str | None) -> None:
    assert DIAL.scoring.failure_of(ended(end, unparsed=3)) is None


def test_an_environment_adds_kinds_and_gives_general_ones_another_title() -> None:
    pit = FailureKind("pit", "falling into the pit", "The dial was turned to 0.")
    illegal = FailureKind("illegal", "turns beyond the end", "Most replies were.")
    env = replace(DIAL, scoring=replace(DIAL.scoring, failures=(pit, illegal), failure=lambda record: pit))
    assert [kind.name for kind in env.scoring.failure_kinds] == [*(kind.name for kind in GENERAL_FAILURES), "pit"]
    assert illegal in env.scoring.failure_kinds
    assert ILLEGAL not in env.scoring.failure_kinds
    assert env.scoring.failure_of(ended("failed", ok=2)) == pit
    assert env.scoring.failure_of(ended("solved", ok=2)) is None


def test_the_main_cause_is_the_most_frequent_and_of_equals_the_first_of_all_kinds() -> None:
    assert most_frequent_kind([WRONG, ILLEGAL, ILLEGAL], GENERAL_FAILURES) == ILLEGAL
    assert most_frequent_kind([WRONG, ILLEGAL, UNPARSED], GENERAL_FAILURES) == UNPARSED
    assert most_frequent_kind([], GENERAL_FAILURES) is None
