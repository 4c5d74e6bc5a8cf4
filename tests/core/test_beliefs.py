"""Belief probes: hostile answers, records with probes, replay, and that probes change nothing but the record."""

import json
from dataclasses import replace
from typing import Any

import pytest

import waybench
from waybench.core import (
    DataError,
    Episode,
    EpisodeRecord,
    Invalid,
    Item,
    ProbeRecord,
    ReplayError,
    Reply,
    Usage,
    WaybenchError,
    policy,
    read_numbers,
    replay,
)
from waybench.core._questions import read_drawing_rows, read_number_lists

DFS = waybench.load("search/dfs")
EXPLORE = waybench.load("maze/explore")


def played(env: Any = DFS, player: str = "oracle", asks: str | None = "oracle", **options: Any) -> EpisodeRecord:
    """Return the record of an episode with a probe before each turn by another player, or without probes."""
    item: Item[Any] = env.source("beliefs").item(0)
    who = policy(player)
    episode: Episode[Any, Any, Any] = Episode(env, item, options, player=player)
    while not episode.done:
        for belief in episode.beliefs if asks is not None else ():
            episode.probe(belief, Reply(policy(asks).believe(episode, belief), usage=Usage(7, 3)))
        episode.step(who.reply(episode))
    return episode.record()


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"stack": [0, 3, 2]}', [0, 3, 2]),
        ('I think {"stack": [0]} or rather\n```json\n{"stack": [0, 4.0]}\n```', [0, 4]),
        ('<think>{"stack": [1]}</think>{"stack": []}', []),
        ('{"stack": [0, 1], "why": {"deep": [[]]}}', [0, 1]),
    ],
)
def test_answers_are_read(reply: str, answer: list[int]) -> None:
    (belief,) = DFS.probes
    assert belief.parse(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        *("", "0, 3, 2", '{"stack": null}', '{"stack": "0, 3"}', '{"stack": {"0": 1}}', '{"queue": [0]}'),
        *('{"stack": [NaN]}', '{"stack": [Infinity]}', '{"stack": [true]}', '{"stack": [0.5]}', '{"stack": [[0]]}'),
        *('{"stack": [0], "stack": [0]}', '{"stack": [0', '{"stack": [1e400]}', '{"stack": [' + "9" * 5000 + "]}"),
        '{"stack": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"stack": [' + "0, " * 30_000 + "0]}",
        '{"stack": "' + "x" * 1_000_001 + '"}',
        '{"' * 100_000,
    ],
    ids=lambda reply: reply[:24],
)
def test_hostile_answers_are_no_answers(reply: str) -> None:
    episode: Episode[Any, Any, Any] = Episode(DFS, DFS.source("beliefs").item(0))
    (belief,) = episode.beliefs
    probe = episode.probe(belief, reply)
    assert (probe.answer, probe.correct, probe.reply) == (None, False, reply)
    assert probe.reason and len(probe.reason) < 200 and "\n" not in probe.reason
    assert probe.expected == [0]
    record = episode.record()
    assert EpisodeRecord.from_json(json.loads(record.dumps())) == record
    assert replay(DFS, record).record() == record


def test_readers() -> None:
    assert read_numbers([1, 2], 2) == [1, 2]
    assert isinstance(read_numbers([1, 2, 3], 2), Invalid)
    assert isinstance(read_numbers([1e30]), Invalid)
    assert read_number_lists([[2, 1], [], [0]], 3) == [[2, 1], [], [0]]
    for bad in ([[2, 1], []], [1, 2, 3], [[1], ["a"], []], None, {"A": []}):
        assert isinstance(read_number_lists(bad, 3), Invalid)
    assert read_drawing_rows(["#.", ".#"]) == ["#.", ".#"]
    for bad in ("#.", [["#"]], ["#" * 200_001], [""] * 20_001, [None]):
        assert isinstance(read_drawing_rows(bad), Invalid)


def test_share_of_a_map_that_is_partly_right() -> None:
    item = EXPLORE.source("beliefs").item(0)
    episode: Episode[Any, Any, Any] = Episode(EXPLORE, item, {"window": 3})
    belief = next(each for each in episode.beliefs if each.name == "map")
    rows = belief.expected(episode.state)
    other = "." if rows[0][0] != "." else "#"
    wrong = [other + rows[0][1:], *rows[1:-1], "", "#" * 50]
    probe = episode.probe(belief, belief.render(wrong))
    size = len(rows)
    # One cell is wrong and the last row is missing; what lies beyond the map does not count.
    assert probe.share == pytest.approx((size * size - 1 - size) / size**2) and not probe.correct


def test_probes_change_nothing_else() -> None:
    for env in (DFS, EXPLORE):
        for player in ("oracle", "noisy-0.3", "random"):
            without, with_probes = played(env, player, None), played(env, player, "noisy-0.5")
            assert with_probes.probes and not without.probes
            assert replace(with_probes, probes=()) == without
            assert [m.of(with_probes) for m in env.scoring.metrics] == [m.of(without) for m in env.scoring.metrics]
            assert '"probes"' not in without.dumps() and with_probes.head_json() == without.head_json()
            assert with_probes.tokens == (0, 0)  # those of probes are apart


def test_a_question_is_asked_once_and_only_where_the_answer_was_shown() -> None:
    item = EXPLORE.source("beliefs").item(0)
    fresh: Episode[Any, Any, Any] = Episode(EXPLORE, item, {"memory": "fresh"})
    assert [belief.name for belief in fresh.beliefs] == ["position"]
    chat: Episode[Any, Any, Any] = Episode(EXPLORE, item)
    position, drawn = chat.beliefs
    chat.probe(position, "")
    with pytest.raises(WaybenchError, match="asked before"):
        chat.probe(position, "")
    with pytest.raises(WaybenchError, match="not asked in this state"):
        fresh.probe(drawn, "")
    chat.step(policy("oracle").reply(chat))
    assert chat.probe(position, "").turn == 1
    bfs = waybench.load("search/bfs")
    some = bfs.source("beliefs").item(0)
    asked = {wording: Episode(bfs, some, {"wording": wording}).beliefs for wording in ("code", "image", "image+text")}
    assert {wording: len(beliefs) for wording, beliefs in asked.items()} == {"code": 1, "image": 0, "image+text": 1}


def test_nothing_is_asked_with_a_template(tmp_path: Any) -> None:
    from waybench.core import TEMPLATE

    path = tmp_path / "plain.toml"
    path.write_text('base = "appendix"\nobservation = "You are at {current}."\n', encoding="utf-8")
    episode: Episode[Any, Any, Any] = Episode(DFS, DFS.source("beliefs").item(0), {"wording": f"file:{path}"})
    assert TEMPLATE in episode.options and episode.beliefs == ()


def test_records_with_probes_replay() -> None:
    for env in (DFS, EXPLORE):
        record = played(env, "noisy-0.2", "noisy-0.5")
        back = EpisodeRecord.from_json(json.loads(record.dumps()))
        assert back == record and replay(env, back).record() == record
        head, turns = record.head_json(), [turn.dumps() for turn in record.turns]
        progress = {"player": record.player, "turns": turns, "end": str(record.end), "error": None}
        probes = [probe.dumps() for probe in record.probes]
        assert EpisodeRecord.from_parts(head, {**progress, "probes": probes}) == record
        assert EpisodeRecord.from_parts(head, progress) == replace(record, probes=())


TAMPERED: dict[str, dict[str, Any]] = {
    "a right answer that was wrong": {"correct": True},
    "another answer": {"answer": [0]},
    "another expectation": {"expected": [0, 1, 2]},
    "another reply": {"reply": '{"stack": [0, 99]}'},
    "another question": {"question": "What is the stack?"},
    "another reason": {"reason": None},
    "another share": {"share": 1.0},
    "another name": {"name": "queue"},
    "another turn": {"turn": 5},
    "no turn of the episode": {"turn": 10_000},
    "a turn before the first": {"turn": -1},
}


@pytest.mark.parametrize("changes", TAMPERED.values(), ids=TAMPERED.keys())
def test_tampered_probes_are_found(changes: dict[str, Any]) -> None:
    record = played(DFS, "oracle", "null")
    probe = record.probes[3]
    probes = (*record.probes[:3], probe._replace(**changes), *record.probes[4:])
    with pytest.raises(ReplayError, match="probe"):
        replay(DFS, replace(record, probes=probes))


def test_probes_twice_in_disorder_and_after_the_end_are_found() -> None:
    record = played()
    first, second, *others = record.probes
    for probes in (
        (first, first, second, *others),
        (second, first, *others),
        (*record.probes, others[-1]._replace(turn=len(record.turns))),
    ):
        with pytest.raises(ReplayError, match="probe"):
            replay(DFS, replace(record, probes=probes))
    assert replay(DFS, replace(record, probes=(second,))).done  # each turn can be without


@pytest.mark.parametrize(
    "bad",
    [
        *([1], "probe", {}, [{}], [{"turn": 0}]),
        [{"turn": "0", "name": "stack", "question": "", "reply": ""}],
        [{"turn": 0, "name": "stack", "question": "", "reply": "", "correct": 1}],
        [{"turn": 0, "name": "stack", "question": "", "reply": "", "usage": {"input_tokens": -1}}],
    ],
    ids=str,
)
def test_what_is_no_list_of_probes_is_refused(bad: Any) -> None:
    data = {**played().to_json(), "probes": bad}
    with pytest.raises(DataError):
        EpisodeRecord.from_json(data)


def test_players_answer_from_the_state() -> None:
    assert all(probe.correct for probe in played(DFS, "oracle", "oracle").probes)
    silent = played(DFS, "oracle", "null").probes
    assert all((probe.reply, probe.reason is None) == ("", False) for probe in silent)
    item = DFS.source("beliefs", 40).item(0)
    noisy, episode = policy("noisy-0.3"), Episode[Any, Any, Any](DFS, item)
    while not episode.done:
        (belief,) = episode.beliefs
        episode.probe(belief, noisy.believe(episode, belief))
        episode.step(policy("oracle").reply(episode))
    wrong = [probe for probe in episode.probes if not probe.correct]
    assert all(probe.reply == '{"stack": null}' for probe in wrong)
    assert 0.1 < len(wrong) / len(episode.probes) < 0.5  # of more than 40, at a rate of 0.3


def test_a_probe_has_the_usage_of_its_own_request() -> None:
    probe = ProbeRecord.from_json(json.loads(played().probes[0].dumps()))
    assert probe.usage == Usage(7, 3)
