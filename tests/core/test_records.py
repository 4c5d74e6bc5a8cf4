"""Records: their way through JSON, and replay that believes nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.toys import DIAL, ITEM, through_json
from waybench.core import (
    DataError,
    End,
    Episode,
    EpisodeRecord,
    Outcome,
    ReplayError,
    Reply,
    TurnRecord,
    Usage,
    UsageError,
    WaybenchError,
    ineffective_turns_text,
    replay,
)
from waybench.core._metrics import count_of_outcome
from waybench.core._record import SCHEMA


def played(*replies: Reply | str, end: End | None = None, **options: object) -> EpisodeRecord:
    episode = Episode(DIAL, ITEM, options, attempt=2, player="someone")
    for reply in replies:
        episode.step(reply)
    if end:
        episode.end(end, "token limit exceeded" if end is End.TURN_LIMIT else "the provider did not answer")
    return episode.record()


def guided() -> EpisodeRecord:
    episode = Episode(DIAL, ITEM)
    episode.step("?", execute=1)
    episode.step("down", execute=1)
    episode.step("up")
    return episode.record()


RECORDS: dict[str, Callable[[], EpisodeRecord]] = {
    "nothing yet": played,
    "unfinished": lambda: played("up", "?"),
    "solved": lambda: played("up", Reply("up", usage=Usage(5, 3, 1, 2, 0.1)), "up"),
    "failed": lambda: played(*["down"] * 5),
    "turn limit": lambda: played("up", "down", turns=2),
    "invalid limit": lambda: played("", invalid="end"),
    "cut off": lambda: played(Reply("u", "truncated"), Reply("no", "refused"), "\ud800\0"),
    "infrastructure": lambda: played("up", end=End.INFRASTRUCTURE),
    "infrastructure before the first turn": lambda: played(end=End.INFRASTRUCTURE),
    "budget of the caller's": lambda: played("up", end=End.TURN_LIMIT),
    "guided": guided,
    "with reasoning": lambda: replace(played("up"), reasoning_returned="text+summary", reasoning_sent_back="last"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_survives_json_and_replays(name: str) -> None:
    record = RECORDS[name]()
    back = through_json(record)
    assert back == record
    assert back.dumps() == record.dumps()
    again = replay(DIAL, back, by_hand=name == "guided")
    assert again.record() == record
    assert again.end_reason is record.end


def test_a_replayed_episode_can_go_on() -> None:
    episode = replay(DIAL, through_json(played("up", "?", "up")))
    assert not episode.done
    episode.step("up")
    assert episode.end_reason is End.SOLVED
    assert len(episode.turns) == 4


def test_a_line_is_ascii_and_sorted() -> None:
    line = played("ä\ud800\n\u2028").dumps()
    assert line.isascii()
    assert line.isprintable()
    assert list(json.loads(line)) == sorted(json.loads(line))
    assert through_json(played("ä\ud800\n\u2028")).turns[0].reply == "ä\ud800\n\u2028"


def test_unknown_fields_of_later_versions_are_passed_over() -> None:
    data = json.loads(played("up").dumps())
    data["mood"] = data["turns"][0]["mood"] = "good"
    assert EpisodeRecord.from_json(data) == played("up")


def with_field(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    data = json.loads(played(Reply("up", usage=Usage())).dumps())
    outer: Any = data
    for key in path[:-1]:
        outer = outer[key]
    outer[path[-1]] = value
    return data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "record",
        {},
        {"schema": SCHEMA},
        with_field(("schema",), "1"),
        with_field(("schema",), None),
        with_field(("env",), 1),
        with_field(("turns",), None),
        with_field(("turns",), {}),
        with_field(("turns",), ["up"]),
        with_field(("turns", 0), None),
        with_field(("turns", 0, "outcome"), "splendid"),
        with_field(("turns", 0, "outcome"), []),
        with_field(("turns", 0, "reply"), None),
        with_field(("turns", 0, "events"), []),
        with_field(("turns", 0, "usage"), {"cost": 1}),
        with_field(("turns", 0, "usage"), [1]),
        with_field(("turns", 0, "usage", "seconds"), "long"),
        with_field(("opening",), [{"role": "user"}]),
        with_field(("opening",), "hello"),
        with_field(("end",), "won"),
        with_field(("reasoning_returned",), "text+shouted"),
        with_field(("reasoning_returned",), None),
        with_field(("reasoning_sent_back",), "most"),
        with_field(("end",), {}),
        with_field(("options",), []),
        with_field(("item",), None),
        with_field(("item", "level"), "5"),
        with_field(("proof",), 3),
        with_field(("attempt",), "first"),
    ],
)
def test_what_is_no_record(data: object) -> None:
    with pytest.raises(DataError, match="not an episode record") as caught:
        EpisodeRecord.from_json(data)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("missing", ["env", "schema", "options", "instance", "turns", "end", "opening"])
def test_a_record_that_lacks_something(missing: str) -> None:
    data = json.loads(played("up").dumps())
    del data[missing]
    with pytest.raises(DataError, match="not an episode record"):
        EpisodeRecord.from_json(data)


def test_a_record_of_a_newer_schema() -> None:
    with pytest.raises(DataError, match=f"record of schema {SCHEMA + 1}: this waybench reads up to {SCHEMA}; update"):
        EpisodeRecord.from_json(with_field(("schema",), SCHEMA + 1))


def with_turn(record: EpisodeRecord, number: int, **changes: object) -> EpisodeRecord:
    turns = list(record.turns)
    turns[number] = turns[number]._replace(**changes)
    return replace(record, turns=tuple(turns))


SOLVED = played("up", "up", "up")
TAMPERED = {
    "environment": (replace(SOLVED, env="toy/other"), "cannot be replayed by toy/dial@1"),
    "version": (replace(SOLVED, env_version=2), "cannot be replayed by toy/dial@1"),
    "hash": (replace(SOLVED, instance_hash="0" * 64), "instance_hash: the record has"),
    "instance": (replace(SOLVED, instance=[5, 7, 10]), "instance_hash: the record has"),
    "level": (replace(SOLVED, item={**SOLVED.item, "level": 9}), "level: the record has '9', the simulation '10'"),
    "item": (replace(SOLVED, item={**SOLVED.item, "mood": 9}), "item: the record has the unknown field 'mood'"),
    "proof": (replace(SOLVED, proof={"minimum": 4}), "proof: the record has"),
    "opening": (replace(SOLVED, opening=(SOLVED.opening[0]._replace(text="Hello"),)), "opening: the record has"),
    "options": (replace(SOLVED, options={**SOLVED.options, "rules_role": "system"}), "opening: the record has"),
    "reply": (with_turn(SOLVED, 1, reply="down"), "turn 1: outcome: the record has 'ok', the simulation 'unprod"),
    "outcome": (with_turn(SOLVED, 1, outcome=Outcome.UNPRODUCTIVE), "turn 1: outcome: the record has 'unproductive'"),
    "truncated": (with_turn(SOLVED, 2, outcome=Outcome.TRUNCATED), "turn 2: reason: the record has 'None'"),
    "reason": (with_turn(SOLVED, 0, reason="why not"), "turn 0: reason: the record has 'why not'"),
    "action": (with_turn(SOLVED, 0, action=-1), "turn 0: action: the record has '-1', the simulation '1'"),
    "an option as text": (replace(SOLVED, options={**SOLVED.options, "turns": "30"}), "options: the record has"),
    "another option": (replace(SOLVED, options={**SOLVED.options, "turns": 2}), "the record continues after turn 2"),
    "a number of another type": (with_turn(SOLVED, 0, action=1.0), "turn 0: action: the record has '1.0'"),
    "executed": (with_turn(SOLVED, 0, executed=-1), "no teacher is named"),
    "reward": (with_turn(SOLVED, 0, reward=0.5), "turn 0: reward: the record has '0.5'"),
    "events": (with_turn(SOLVED, 0, events={"at": 7}), "turn 0: events: the record has"),
    "message": (with_turn(SOLVED, 0, message="Well done."), "turn 0: message: the record has 'Well done.'"),
    "end": (replace(SOLVED, end=End.FAILED), "end: the record has 'failed', the simulation 'solved'"),
    "no end": (replace(SOLVED, end=None), "end: the record has 'None', the simulation 'solved'"),
    "end too early": (replace(SOLVED, turns=SOLVED.turns[:2]), "end: the record has 'solved', the simulation 'None'"),
    "failed too early": (replace(played("up"), end=End.FAILED), "end: the record has 'failed'"),
    "turn too many": (replace(SOLVED, turns=SOLVED.turns + SOLVED.turns[:1]), "the record continues after turn 3"),
    "turn limit for a solved one": (replace(SOLVED, end=End.TURN_LIMIT), "end: the record has 'turn_limit'"),
    "error for a solved one": (
        replace(SOLVED, end=End.INFRASTRUCTURE, error="no answer"),
        "end: the record has 'infrastructure_error', the simulation 'solved'",
    ),
    "budget for a solved one": (
        replace(SOLVED, end=End.TURN_LIMIT, error="tokens"),
        "end: the record has 'turn_limit'",
    ),
    "solved, with an error": (replace(SOLVED, error="no answer"), "error: the record has 'no answer'"),
    "infrastructure without an error": (
        replace(SOLVED, turns=(), end=End.INFRASTRUCTURE),
        "end: the record has 'infra",
    ),
    "turn limit out of nothing": (replace(SOLVED, turns=(), end=End.TURN_LIMIT), "end: the record has 'turn_limit'"),
    "invalid limit out of nothing": (
        replace(SOLVED, turns=(), end=End.INVALID_LIMIT, error="too many"),
        "end: the record has 'invalid_limit', the simulation 'None'",
    ),
    "attempt": (replace(SOLVED, attempt=-5), "attempt -5 at index 0: attempts count from 1"),
    "attempt 0": (replace(SOLVED, attempt=0), "attempt 0 at index 0: attempts count from 1"),
    "index": (replace(SOLVED, item={**SOLVED.item, "index": -1}), "attempt 2 at index -1"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_record_does_not_replay(name: str) -> None:
    record, message = TAMPERED[name]
    with pytest.raises(ReplayError) as caught:
        replay(DIAL, through_json(record))
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_record_from_before_an_option_was_played_with_its_default() -> None:
    older = {name: value for name, value in SOLVED.options.items() if name != "turns"}
    replay(DIAL, through_json(replace(SOLVED, options=older)))
    short = played("up", "up", turns=2)
    with pytest.raises(ReplayError, match="end: the record has"):
        replay(DIAL, through_json(replace(short, options=older)))


def test_only_a_tampered_record_does_not_replay() -> None:
    assert replay(DIAL, through_json(SOLVED)).record() == SOLVED


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (replace(SOLVED, instance=["?"]), DataError),
        (replace(SOLVED, instance={}), DataError),
        (with_turn(SOLVED, 0, executed="?"), DataError),
        (with_turn(SOLVED, 0, executed={"a": []}), DataError),
        (replace(SOLVED, options={"turns": -1}), UsageError),
        (replace(SOLVED, options={"speed": 1}), UsageError),
    ],
)
def test_a_record_of_nonsense_raises_an_error_of_ours(record: EpisodeRecord, error: type[WaybenchError]) -> None:
    with pytest.raises(error):
        replay(DIAL, through_json(record))


def test_outcome_count() -> None:
    record = played("up", "?", Reply("", "truncated"), "down", "?")
    counts = {str(outcome): count_of_outcome(outcome)(record) for outcome in Outcome}
    assert counts == {
        "ok": 1,
        "unparsed": 2,
        "illegal": 0,
        "unproductive": 1,
        "truncated": 1,
        "overflow": 0,
        "refused": 0,
    }


def test_lost_turns_are_told_by_their_outcomes() -> None:
    outcomes = [Outcome.UNPARSED, Outcome.OK, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE, Outcome.UNPARSED, Outcome.REFUSED]
    turns = [TurnRecord("<b>", outcome) for outcome in outcomes]
    assert ineffective_turns_text(turns) == "1 illegal, 1 refused, 2 unparsed"
    assert ineffective_turns_text(turns[1:2]) == ineffective_turns_text([]) == ""


def test_a_turn_alone_survives_json() -> None:
    turn = played(Reply("up", usage=Usage(1, 2, 3, 4, 0.5))).turns[0]
    assert TurnRecord.from_json(json.loads(json.dumps(turn.to_json()))) == turn


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf"), 10**400])
def test_a_number_of_tokens_or_seconds_that_cannot_be_is_not_written(number: float) -> None:
    for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "seconds"):
        told: dict[str, Any] = {"model": "m", "input_tokens": 3, name: number}
        with pytest.raises(DataError, match="tokens or seconds"):
            Usage(**told)
        reported = Usage.from_provider(**told)
        assert getattr(reported, name) == 0
        again = EpisodeRecord.from_json(json.loads(played(Reply("up", usage=reported)).dumps()))
        assert again.turns[0].usage == reported


def test_a_head_is_a_text_or_the_one_text_of_a_list() -> None:
    head = played("up").head_json()
    assert EpisodeRecord.from_parts([head]) == EpisodeRecord.from_parts(head)
    for wrong in ([], [head, head], [[head]], {}):
        with pytest.raises(DataError, match="not an episode record"):
            EpisodeRecord.from_parts(wrong)  # pyright: ignore[reportArgumentType]  logs are from outside


def test_a_record_is_bounded_before_it_is_parsed() -> None:
    record = played("up")
    deep = "[" * 100_000 + "]" * 100_000
    for text in (deep, '{"x": "]", "y": ' + deep + "}"):
        with pytest.raises(DataError, match="too many nested brackets"):
            EpisodeRecord.from_parts(text)
        with pytest.raises(DataError, match="too many nested brackets"):
            EpisodeRecord.from_parts(record.head_json(), {"turns": [text], "end": None})
