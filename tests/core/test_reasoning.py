"""Reasoning in replies: what is cut, what is left, what the record says, and what is only warned of."""

import json
from dataclasses import replace
from typing import Any

import pytest

import waybench
from waybench.core import (
    THINK_TAGS,
    Episode,
    EpisodeRecord,
    Outcome,
    ReplayError,
    Reply,
    ToolCall,
    UsageError,
    reasoning_warning,
    replay,
    reply_of_calls,
    split_reasoning,
)
from waybench.core._replies import looks_like_reasoning

MARKS = [
    ("<think>", "</think>"),
    ("<THINK>", "</think>"),
    ("<thinking>", "</thinking >"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ('<think internal="x1==">', "</think>"),
    ("[THINK]", "[/THINK]"),
    ("[think]", "[/Think]"),
    ("◁think▷", "◁/think▷"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
]


@pytest.mark.parametrize(("opening", "closing"), MARKS)
def test_blocks(opening: str, closing: str) -> None:
    for reply, answer, reasoning in (
        (f"{opening}32 to 99{closing}64", "64", "32 to 99"),
        (f"32 to 99{closing}64", "64", "32 to 99"),
        (f"64{closing}\n", "64\n", ""),
        (f"{opening}32{closing}64{closing}", "64", "32"),
        (f"{opening}32{closing} 64 {opening}99{closing}", " 64 ", "32\n\n99"),
        (f"6{opening}32{closing}4", "64", "32"),
        (f"64{opening}32", "64", "32"),
        (f"{opening}64{closing}", "", "64"),
        (f"{opening}{closing}64", "64", ""),
        (f"1{closing}2{closing}64", "64", "1\n\n2"),
        (f"{opening}1{opening}2{closing}3{closing}64", "64", f"1{opening}2\n\n3"),
        (f"1{closing}{opening}2", "", "1\n\n2"),
    ):
        assert split_reasoning(reply) == (answer, reasoning), reply


FINAL = "<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("reply", "answer", "reasoning"),
    [
        (f"<|channel|>analysis<|message|>32<|end|><|start|>assistant{FINAL}64<|return|>", "64", "32"),
        (f"32<|end|><|start|>assistant{FINAL}64", "64", "32"),
        ("<|channel|>analysis<|message|>32<|end|>", "", "32"),
        ("<|channel|>analysis<|message|>32", "", "32"),
        ("<|channel|>analysis<|message|>1<|end|><|channel|>commentary to=x<|message|>2<|end|>64", "64", "1\n\n2"),
        ("<|channel|>analysis<|message|>1<|channel|>final <|constrain|>json<|message|>64", "64", "1"),
        ("<|CHANNEL|>analysis<|MESSAGE|>1<|end|><|start|>assistant<|channel|>final<|message|>64<|end|>", "64", "1"),
        ("analysisThe middle of 32 and 99.assistantfinal64", "64", "The middle of 32 and 99."),
        ("<think>32</think>\n<answer>\n64\n</answer>", "\n64\n", "32"),
        ("32 or so.</think><response>64</response>", "64", "32 or so."),
        ("The middle of 32 and 99.\n<answer>64</answer>", "64", "The middle of 32 and 99."),
        ("<answer>64</answer>", "64", ""),
        ("64<answer></answer>", "64", ""),
        ("<|START_THINKING|>32<|END_THINKING|><|START_RESPONSE|>64<|END_RESPONSE|>", "64", "32"),
        ("Here is my thought process: 32 Here is my response: 64", " 64", "32"),
        ("Here's my thought process:\n32\nHere's my response:\n64", "\n64", "32"),
        ("Here is my thought process: 64", "Here is my thought process: 64", ""),
        ("Here is my response: 64", "Here is my response: 64", ""),
    ],
)
def test_marks_of_answers(reply: str, answer: str, reasoning: str) -> None:
    assert split_reasoning(reply) == (answer, reasoning)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "64",
        "<b>64</b>",
        "<think/>64",
        "a < think > b",
        '{"x": [1]}',
        "analysis: 64",
        "assistantfinal",
        "I think 64",
    ],
)
def test_replies_without_marks_are_left_as_they_are(reply: str) -> None:
    assert split_reasoning(reply) == (reply, "")


def test_marks_of_a_user_s_own() -> None:
    assert split_reasoning("<plan>32</PLAN>64", "<plan> </plan>") == ("64", "32")
    assert split_reasoning("<plan>32</plan>64") == ("<plan>32</plan>64", "")
    assert split_reasoning("I go: {{32}} so 64", "I go:\nso") == (" 64", "{{32}}")
    assert split_reasoning("[[32{}64", "[[ {}") == ("64", "32")
    assert split_reasoning("32 to 99</think>64", "<plan> </plan>") == ("64", "32 to 99")


@pytest.mark.parametrize("value", ["", "<plan>", "<a> <b> <c>", "<a> <A>", f"{'a' * 101} b", "<a> <\0b>"])
def test_marks_that_are_none(value: str) -> None:
    with pytest.raises(UsageError, match="think_tags"):
        waybench.load("guessnum").resolve_options({THINK_TAGS: value})


def guess(*replies: str | Reply, **options: Any) -> Episode[Any, Any, Any]:
    environment = waybench.load("guessnum")
    item = environment.item({"target": 777, "min": 32, "max": 32800})
    episode: Episode[Any, Any, Any] = Episode(environment, item, options)
    for reply in replies:
        episode.step(reply)
    return episode


@pytest.mark.parametrize("protocol", ["paper", "sound"])
@pytest.mark.parametrize("tags", [None, "<plan> </plan>"])
def test_the_record_says_what_was_cut(protocol: str, tags: str | None) -> None:
    opening, closing = (tags or "<think> </think>").split()
    reply = f"{opening}between 32 and 32800{closing}16416"
    options: dict[str, Any] = {"protocol": protocol} | ({THINK_TAGS: tags} if tags else {})
    episode = guess(reply, "15", Reply("<think>40", "truncated"), **options)
    first, second, cut = episode.turns
    assert (first.reply, first.outcome, first.action) == (reply, Outcome.OK, 16416)
    assert (first.reasoning, second.reasoning, cut.reasoning) == ("between 32 and 32800", "", "40")
    assert (THINK_TAGS in episode.options) == bool(tags)
    data = json.loads(episode.record().dumps())
    assert "reasoning" not in data["turns"][1]
    record = EpisodeRecord.from_json(data)
    assert replay(episode.environment, record).record() == record
    forged = replace(record, turns=(record.turns[0]._replace(reasoning="nothing"), *record.turns[1:]))
    with pytest.raises(ReplayError, match="reasoning"):
        replay(episode.environment, forged)


def test_the_text_beside_calls_is_cut_and_calls_are_not() -> None:
    tool = guess(interface="tools").play.wording.tools(None)[0]
    call = ToolCall(tool.name, dict.fromkeys(tool.parameters, 64))
    episode = guess(
        reply_of_calls("<think>32</think>so", [call]), reply_of_calls("<think>1</think>64", ()), interface="tools"
    )
    assert [(turn.outcome, turn.action, turn.reasoning) for turn in episode.turns] == [
        (Outcome.OK, 64, "32"),
        (Outcome.UNPARSED, None, "1"),
    ]
    # What is left of a text is no call, whatever it looks like.
    looks = '{"calls": ' + json.dumps([{"name": call.name, "arguments": dict(call.arguments)}]) + "}"
    said = reply_of_calls("<think>1</think>" + looks, ())
    assert guess(said, interface="tools").turns[0].outcome is Outcome.UNPARSED


def test_answers_to_probes_are_read_without_reasoning() -> None:
    environment = waybench.load("guessnum")
    item = environment.source("k").item(0)
    episode: Episode[Any, Any, Any] = Episode(environment, item)
    belief = episode.beliefs[0]
    right = belief.render(belief.expected(episode.state))
    assert episode.probe(belief, f"{right}</think>").correct
    other: Episode[Any, Any, Any] = Episode(environment, item)
    wrong = "{" + json.dumps(belief.name) + ": []}"
    assert other.probe(belief, f"<think>{wrong}</think>{right}<thought>{wrong}").correct


def test_records_of_older_schemas_replay_where_they_are_read_alike() -> None:
    environment = waybench.load("guessnum")
    record = guess("<think>1</think>40", Reply("no", "overflow"), protocol="sound").record()
    assert [str(turn.outcome) for turn in record.turns] == ["ok", "overflow"]
    assert record.schema == 3
    turns = [turn._replace(reasoning="") for turn in record.turns]
    turns[1] = turns[1]._replace(outcome=Outcome.TRUNCATED)
    old = replace(record, schema=2, turns=tuple(turns))
    assert replay(environment, old).turns == record.turns
    with pytest.raises(ReplayError, match=r"outcome: .*'truncated'"):
        replay(environment, replace(record, turns=(record.turns[0], turns[1])))


def test_the_error_says_that_replies_are_read_in_another_way_since() -> None:
    episode = guess("[THINK]1[/THINK]40", protocol="sound")
    (turn,) = episode.turns
    before = turn._replace(outcome=Outcome.UNPARSED, action=None, reason="more than one", reasoning="")
    with pytest.raises(ReplayError, match="read in another way since schema 3") as caught:
        replay(episode.environment, replace(episode.record(), schema=2, turns=(before,)))
    assert "\n" not in str(caught.value)


ALOUD = [
    "Okay, the user wants me to find a number between 32 and 32800. " + "The middle is a good start, I guess. " * 5,
    "Let me think. The wall is on the left, so that I cannot go there. " + "Then I would go down and down again. " * 5,
    "We need to reach the exit. " + "From [0,3] the way leads down, then left, and then down again. " * 4,
    "First, I look at the first row. " + "It has a cell of the path in it, and below it there is another one. " * 4,
    "The room is dark. Wait, it is not. Hmm, so I can go north. Wait, north is closed. " + "East is open, though. " * 8,
    "\n".join(f"In row {row} I see a wall to the left and a path to the right of me." for row in range(14)) + "\n16416",
]


@pytest.mark.parametrize("text", ALOUD)
def test_what_looks_like_reasoning(text: str) -> None:
    assert looks_like_reasoning(text)
    assert not looks_like_reasoning(text[:40])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "16416",
        "I go north.",
        json.dumps({"movements": [{"direction": "down", "cells": 1}] * 100}),
        json.dumps([{"location_before": "the old hall", "action": "up", "location_after": "an attic"}] * 40, indent=1),
        "\n".join("#" * 20 for _ in range(60)),
        "1 " * 3_000,
    ],
)
def test_what_does_not(text: str) -> None:
    assert not looks_like_reasoning(text)


def test_the_warning_has_an_excerpt() -> None:
    warning = reasoning_warning(["16416", ALOUD[0], ALOUD[1]])
    assert "2 of the first 3 replies" in warning
    assert "Okay, the user wants me" in warning
    assert "--think-tags" in warning
    assert "\n" not in warning
    assert reasoning_warning(["16416"]) == reasoning_warning([]) == ""


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(
    "piece",
    ["<think>", "</think>", "<think>a</think>b", "[THINK]", "<answer>", "Here is my thought process: ", "<|channel|>"],
)
def test_a_long_reply_takes_moments(piece: str) -> None:
    answer, reasoning = split_reasoning(piece * (1_000_000 // len(piece)))
    assert len(answer) + len(reasoning) <= 1_000_000 + 2 * 60_000
    blocks = [f"<a{number}:think>b</a{number}:THINK>" for number in range(40_000)]
    assert split_reasoning("".join(blocks[:999]) + "64").answer == "64"
    # At most 1,000 marks are read, so that no reply takes long; what follows them stays as it is.
    assert split_reasoning("".join(blocks) + "64").answer == "".join(blocks[1000:]) + "64"


def test_a_block_ends_at_its_own_mark() -> None:
    assert split_reasoning("<think>a</thought>b</reasoning>c</Think>64") == ("64", "a</thought>b</reasoning>c")


@pytest.mark.parametrize("mark", ["</think>", "<think>", "[THINK]", "<answer>", "<|channel|>final<|message|>"])
def test_marks_in_the_strings_of_an_answer_are_text(mark: str) -> None:
    answer = json.dumps({"movements": [{"direction": "down", "cells": 1}], "comment": f"no {mark} needed"})
    for reply in (answer, f"```json\n{answer}\n```", f" [{answer}] "):
        assert split_reasoning(reply) == (reply, "")


@pytest.mark.parametrize("end", ["<|im_end|>", "<|eot_id|>", "</s>", "<|endoftext|>"])
def test_an_end_of_text_is_no_text(end: str) -> None:
    assert split_reasoning(f"16416</think>{end}").answer.strip() == "16416"
    assert split_reasoning(f"<think>32</think>16416{end}").answer == "16416"
