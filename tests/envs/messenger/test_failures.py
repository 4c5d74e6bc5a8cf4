"""How deliveries fail: by what was met, or by what was not done in time."""

import pytest

from tests.envs.messenger.games import CORNERS, ENV, case, played
from waybench.core import EpisodeRecord


def kind(record: EpisodeRecord) -> str | None:
    found = ENV.scoring.failure_of(record)
    return found and found.name


EAST, STAY, NORTH = "Move East", "Do Nothing", "Move North"


def beside(number: int, **more: object) -> object:
    """Return a game in which one actor stands in the cell to the east of the agent, and the others are far away."""
    cells = list(CORNERS)
    cells[number] = (6, 5)
    return case(cells=cells, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("game", "wanted"),
    [
        (beside(0), "enemy"),
        (beside(2), "goal"),
        (beside(3, stage=3), "decoy"),
        (beside(2, carries=True), None),
        (beside(1, stage=1, carries=True), "message"),
    ],
)
def test_what_was_met(game: object, wanted: str | None) -> None:
    assert kind(played(game, EAST)) == wanted


def test_what_was_not_done_in_time() -> None:
    assert kind(played(case(), *[STAY] * 3, steps=3)) == "not_found"
    assert kind(played(beside(1), EAST, STAY, STAY, steps=3)) == "undelivered"
    assert kind(played(case(carries=True), *[STAY] * 3, steps=3)) == "undelivered"
    assert kind(played(case(at=(5, 0)), *[NORTH] * 3, steps=3)) == "unproductive"


def test_replies_that_name_no_action() -> None:
    # "paper" takes the first action of the list, and "sound" none.
    assert kind(played(case(), *["?"] * 3, steps=3)) == "unnamed"
    assert kind(played(case(), *["?"] * 3, steps=3, protocol="sound")) == "unparsed"
    assert kind(played(case(), "?", STAY, STAY, steps=3)) == "not_found"


def test_thoughts_count_in_nothing() -> None:
    record = played(case(at=(5, 0)), *["Let us see.", NORTH] * 3, steps=3, wording="two_questions")
    assert [turn.outcome for turn in record.turns] == ["ok", "unproductive"] * 3
    assert kind(record) == "unproductive"
