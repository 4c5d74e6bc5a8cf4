"""Reasoning: what a provider returns is stored apart from the record, which says what became of it between turns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from inspect_ai import Task, eval
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.util import Store

import waybench
from waybench.evaluation._reasoning import (
    REASONING,
    ReasoningWatch,
    forced_history_warning,
    reasoning_forms,
    store_reasoning,
    without_reasoning,
    without_unsent_reasoning,
)
from waybench.evaluation._sample import stored_record, to_sample
from waybench.evaluation._scores import episode
from waybench.evaluation._solver import play
from waybench.evaluation.tasks import find_task, task_prompts
from waybench.results.logs._inspect import REASONING as READ

UP = ContentText(text="up")
THOUGHT = ContentReasoning(reasoning="I think")
SUMMARISED = ContentReasoning(reasoning="c2lnbmVk", redacted=True, summary="In short")
ENCRYPTED = ContentReasoning(reasoning="c2lnbmVk", redacted=True)
GUESS = waybench.load("search/guessnum")


def said(*content: Content | str) -> ChatMessageAssistant:
    [text] = content if isinstance(content[0], str) else [cast(list[Content], list(content))]
    return ChatMessageAssistant(content=cast(Any, text))


def test_reasoning_is_stored_by_turn() -> None:
    store = Store()
    store_reasoning(store, 0, said("plain"))
    assert store.get(REASONING) is None
    for turn, part in enumerate((THOUGHT, SUMMARISED, ENCRYPTED), 1):
        store_reasoning(store, turn, said(part, UP))
    assert store.get(READ) == {"1": "I think", "2": "In short"}


@pytest.mark.parametrize(
    ("message", "forms"),
    [
        (said("up"), set[str]()),
        (said(UP), set[str]()),
        (said("<think>so</think>up"), {"text"}),
        (said("◁think▷so◁/think▷up"), {"text"}),
        (said(THOUGHT, UP), {"text"}),
        (said(ContentReasoning(reasoning="I think", summary="In short"), UP), {"text"}),
        (said(SUMMARISED, UP), {"summary"}),
        (said(ENCRYPTED, UP), {"encrypted"}),
        (said(ContentReasoning(reasoning="", signature="rs_1"), UP), {"encrypted"}),  # kept by the server
        (said(ContentReasoning(reasoning=""), UP), set[str]()),
        (said(ENCRYPTED, THOUGHT, UP), {"text", "encrypted"}),
    ],
)
def test_the_form_of_reasoning_is_told_by_the_message(message: ChatMessageAssistant, forms: set[str]) -> None:
    assert reasoning_forms(message) == forms
    bare = without_reasoning(message)
    assert bare.text == "up" and not reasoning_forms(bare)
    assert (bare is message) == (message.content in ("up", [UP]))


def test_marks_of_the_user_s_own_are_reasoning_too() -> None:
    message = said("<plan>so</plan>up")
    assert not reasoning_forms(message) and reasoning_forms(message, "<plan> </plan>") == {"text"}
    assert without_reasoning(message, "<plan> </plan>").text == "up"


CHAT: list[ChatMessage] = [
    ChatMessageUser(content="<think>of the user's</think>"),
    said("<think>one</think>up"),
    said("down"),
    said(ContentText(text="[THINK]two[/THINK]left")),
    said("right"),
]


@pytest.mark.parametrize(("history", "kept"), [("all", [1, 3]), ("last", [3]), ("none", list[int]())])
def test_reasoning_in_texts_is_sent_back_as_the_setting_says(history: str, kept: list[int]) -> None:
    sent = without_unsent_reasoning(CHAT, history, None)
    assert [place for place, message in enumerate(sent) if reasoning_forms(message)] == kept
    assert sent[0].text == CHAT[0].text and [message.text for message in sent[4:]] == ["right"]


@pytest.mark.parametrize(
    ("requests", "sent_back"),
    [
        ([], ""),
        ([[]], "none"),
        ([[THOUGHT]], "all"),
        ([[THOUGHT], [THOUGHT, THOUGHT]], "all"),
        ([[THOUGHT], [THOUGHT]], "last"),
        ([[THOUGHT], []], "some"),
        ([[], []], "none"),
    ],
)
def test_what_is_sent_back_is_seen_in_the_requests(requests: Sequence[Sequence[Content]], sent_back: str) -> None:
    watch = ReasoningWatch()
    watch.add_request([ChatMessageUser(content="Go.")])  # before any reasoning there is nothing to repeat
    watch.add_reply(said(THOUGHT, UP))
    for parts in requests:
        watch.add_request([said(part, UP) for part in parts])
        watch.add_reply(said(SUMMARISED, UP))
    assert watch.sent_back == sent_back
    assert watch.returned_forms == ("text+summary" if requests else "text")


def test_a_provider_that_sends_all_back_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    api = get_model("mockllm/model", memoize=False).api
    assert not forced_history_warning(api, {"reasoning_history": "none"})
    monkeypatch.setattr(api, "force_reasoning_history", lambda: "all")
    assert "reasoning_history=all" in forced_history_warning(api, {"reasoning_history": "none"})
    assert not forced_history_warning(api, {"reasoning_history": "all"}) and not forced_history_warning(api, {})


def test_a_run_says_which_prompts_repeat_no_replies() -> None:
    [note] = task_prompts(find_task("gtb_stepwise"), {}).notes
    assert note.startswith("tilemap/stepwise: ") and "-T wording=chat repeats them" in note
    assert not task_prompts(find_task("gtb_stepwise"), {"wording": "chat"}).notes
    [note] = task_prompts(find_task("guessnum"), {}).notes
    assert "-T protocol=sound repeats them" in note
    assert not task_prompts(find_task("alicia"), {}).notes


@pytest.mark.parametrize(
    ("protocol", "history", "sent_back"),
    [("sound", None, "all"), ("sound", "none", "none"), ("sound", "last", "last"), ("paper", "all", "none")],
)
@pytest.mark.parametrize("marked", [True, False])
def test_the_record_has_what_happened(
    tmp_path: Path, protocol: str, history: Any, sent_back: str, marked: bool
) -> None:
    """In `paper` the number that was read stands in the place of the reply, whatever the setting is."""
    prompts: list[list[ChatMessage]] = []

    def outputs(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        prompts.append(list(messages))
        output = ModelOutput.from_content("m", "◁think▷It is 40◁/think▷40")
        if not marked:
            output.choices[0].message.content = [ContentReasoning(reasoning="It is 40"), ContentText(text="40")]
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    options = GUESS.resolve_options({"protocol": protocol, "max_steps": 3})
    sample = to_sample(GUESS, GUESS.source(level=10).item(0), options, 1)
    model = get_model("mockllm/model", custom_outputs=outputs, config=GenerateConfig(), memoize=False)
    settings = {} if history is None else {"reasoning_history": history}
    task = Task(dataset=[sample], solver=play(), scorer=episode())
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none", **settings)
    assert log.samples is not None
    record = stored_record(log.samples[0].metadata, log.samples[0].store)
    assert len(record.turns) == 3
    assert (record.reasoning_returned, record.reasoning_sent_back) == ("text", sent_back)
    repeated = [sum(bool(reasoning_forms(message)) for message in prompt) for prompt in prompts]
    assert repeated == {"all": [0, 1, 2], "last": [0, 1, 1], "none": [0, 0, 0]}[sent_back]
