"""The form in which conversations are sent: the same player has the same score behind servers that take other forms."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall

from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL, records, scripted, waybench_
from tests.eval.test_provider_errors import error, status_error
from waybench.evaluation._provider_errors import PromptTokens
from waybench.evaluation._sent_form import BLANK_REPLY, SentForm, sendable_reply
from waybench.results import read_logs

Messages = list[ChatMessage]
REPLY = ChatMessageAssistant(content=[ContentReasoning(reasoning="hm"), ContentText(text="north ")])
CHAT: Messages = [
    ChatMessageSystem(content="Rules."),
    ChatMessageUser(content="Example."),
    ChatMessageUser(content="Where to?"),
    REPLY,
    ChatMessageUser(content="No way."),
]


def refused(status: int, message: str) -> Exception:
    return status_error(status, error(message))


def server(refuses: Callable[[Messages], Exception | None], *, returns: bool = False) -> tuple[Any, list[Messages]]:
    """Return a function that sends messages to a server that refuses some, and a list of what it was sent."""
    sent: list[Messages] = []

    async def send(messages: Messages) -> Any:
        sent.append(messages)
        fault = refuses(messages)
        if fault is not None and not returns:
            raise fault
        return fault or ModelOutput.from_content("m", "south"), ModelCall.create({}, {})

    return send, sent


def answered(form: SentForm, send: Any, messages: Messages = CHAT) -> ModelOutput:
    match asyncio.run(form.send(send, messages)):
        case (ModelOutput() as output, ModelCall()):
            return output
        case ModelOutput() as output:
            return output
        case other:
            raise AssertionError(other)


def has_reasoning(messages: Messages) -> bool:
    return any("hm" in str(message.content) for message in messages)


@pytest.mark.parametrize("returns", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        "reasoning_content is not allowed in the input messages",
        "Extra inputs are not permitted",
        "property 'messages.3.reasoning_content' is unsupported",
        "invalid request",
    ],
)
def test_reasoning_that_a_server_refuses_is_left_out_from_then_on(words: str, returns: bool) -> None:
    lines: list[str] = []
    form = SentForm("a/b", lines.append)
    send, sent = server(lambda messages: refused(422, words) if has_reasoning(messages) else None, returns=returns)
    assert answered(form, send).completion == "south"
    assert answered(form, send).completion == "south"
    assert [has_reasoning(messages) for messages in sent] == [True, False, False]
    assert form.settings == {"reasoning_history": "none"}
    [line] = lines
    assert line.startswith("a/b: its server refused a conversation (Error code: 422") and words in line
    assert "reasoning_history=none" in line


def test_reasoning_that_has_to_be_sent_back_stays() -> None:
    form = SentForm("m")
    send, sent = server(lambda messages: refused(400, "The reasoning_content must be passed back to the API."))
    with pytest.raises(Exception, match="must be passed back"):
        answered(form, send)
    assert len(sent) == 1 and form.settings == {}


def test_the_users_word_on_reasoning_counts() -> None:
    form = SentForm("m", keeps_reasoning=True)
    send, sent = server(lambda messages: refused(400, "no reasoning_content") if has_reasoning(messages) else None)
    with pytest.raises(Exception, match="no reasoning_content"):
        answered(form, send)
    assert len(sent) == 1


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("words", ["System role not supported", "unknown variant `system`, expected `user`"])
def test_rules_go_into_the_first_message_where_there_is_no_system_role(status: int, words: str) -> None:
    form = SentForm("m")
    send, sent = server(lambda messages: refused(status, words) if messages[0].role == "system" else None)
    assert answered(form, send).completion == "south"
    assert [message.role for message in sent[-1]] == ["user", "assistant", "user"]
    assert sent[-1][0].text == "Rules.\n\nExample.\n\nWhere to?"
    assert form.settings == {"system_role": "user"}


def test_messages_of_one_role_are_joined_where_roles_have_to_alternate() -> None:
    def refuses(messages: Messages) -> Exception | None:
        roles = [message.role for message in messages if message.role != "system"]
        is_strict = all(role != after for role, after in pairwise(roles))
        return None if is_strict else refused(400, "Conversation roles must alternate user/assistant/...")

    form = SentForm("m")
    send, sent = server(refuses)
    assert answered(form, send).completion == "south"
    assert [message.role for message in sent[-1]] == ["system", "user", "assistant", "user"]
    assert form.settings == {"consecutive_messages": "joined"}


def test_blanks_at_the_end_of_a_reply() -> None:
    form = SentForm("m")
    send, sent = server(
        lambda messages: (
            refused(400, "final assistant content cannot end with trailing whitespace")
            if messages[3].text.endswith(" ")
            else None
        )
    )
    assert answered(form, send).completion == "south"
    assert sent[-1][3].text == "north" and has_reasoning(sent[-1])
    assert form.settings == {"reply_blanks": "trimmed"}


def test_a_server_that_refuses_every_form_is_asked_no_more_than_once_for_each() -> None:
    form = SentForm("m")
    send, sent = server(lambda messages: refused(400, "the role system, trailing whitespace or reasoning: something"))
    with pytest.raises(Exception, match="something"):
        answered(form, send)
    assert len(sent) == 5 and form.settings == {}


@pytest.mark.parametrize("status", [401, 403, 404, 429, 503])
def test_what_is_no_refusal_of_a_conversation_is_sent_once(status: int) -> None:
    form = SentForm("m")
    send, sent = server(lambda messages: refused(status, "system role, reasoning"))
    with pytest.raises(Exception, match="system role"):
        answered(form, send)
    assert len(sent) == 1


def needs_two_changes(messages: Messages) -> Exception | None:
    if messages[0].role == "system":
        return refused(400, "System role not supported")
    return refused(400, "no reasoning_content, please") if has_reasoning(messages) else None


def test_a_server_that_needs_two_changes() -> None:
    form = SentForm("m")
    send, sent = server(needs_two_changes)
    assert answered(form, send).completion == "south"
    assert form.settings == {"reasoning_history": "none", "system_role": "user"}
    assert len(sent) <= 5


def test_refusals_of_requests_that_were_under_way_together() -> None:
    form = SentForm("m")
    both_sent = asyncio.Event()
    refusals: list[Exception] = []

    async def send(messages: Messages) -> Any:
        fault = needs_two_changes(messages)
        if fault is None:
            return ModelOutput.from_content("m", "south")
        refusals.append(fault)
        if len(refusals) == 2:
            both_sent.set()
        await both_sent.wait()
        raise fault

    async def both() -> tuple[Any, Any]:
        return await asyncio.gather(form.send(send, CHAT), form.send(send, CHAT[:3]))

    assert [output.completion for output in asyncio.run(both())] == ["south", "south"]


def test_an_error_that_may_pass_is_left_to_the_engine() -> None:
    form = SentForm("m")
    send, sent = server(
        lambda messages: refused(400, "System role not supported") if messages[0].role == "system" else refused(429, "")
    )
    with pytest.raises(Exception, match="429"):
        answered(form, send)
    assert sent[-1][0].role == "user" and form.settings == {}


def test_the_settings_of_a_conversation_are_those_that_change_it() -> None:
    form = SentForm("m", settings={"system_role": "user", "reasoning_history": "none"})
    assert form.form_settings(CHAT) == form.settings
    assert form.form_settings([ChatMessageUser(content="Go.")]) == {}


def test_no_message_of_a_conversation_is_changed() -> None:
    before = [message.model_dump() for message in CHAT]
    form = SentForm("m", settings={"reasoning_history": "none", "system_role": "user", "reply_blanks": "trimmed"})
    send, sent = server(lambda messages: None)
    answered(form, send)
    assert [message.model_dump() for message in CHAT] == before
    assert sent[0][1].text == "north" and not has_reasoning(sent[0])


def test_calls_and_their_results_are_never_joined() -> None:
    call = ToolCall("1", "move", {})
    chat: Messages = [
        ChatMessageSystem(content="Rules."),
        ChatMessageUser(content="Go."),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="a", tool_call_id="1"),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="b", tool_call_id="1"),
    ]
    form = SentForm("m", settings={"system_role": "user", "consecutive_messages": "joined"})
    send, sent = server(lambda messages: None)
    answered(form, send, chat)
    assert [message.role for message in sent[0]] == ["user", "assistant", "tool", "assistant", "tool"]


def test_a_conversation_that_is_too_long_is_a_reply_with_that_reason() -> None:
    for returns in (False, True):
        form = SentForm("m")
        send, sent = server(lambda messages: refused(400, "prompt is too long: 9 > 8"), returns=returns)
        output = answered(form, send)
        assert (output.stop_reason, output.usage) == ("model_length", ModelUsage())
        assert "prompt is too long" in output.completion and len(sent) == 1


def test_errors_that_a_provider_returns_as_an_output() -> None:
    async def send(messages: Messages) -> Any:
        text = "error code: 400 - input length and `max_tokens` exceed context limit: 199 + 8 > 200"
        return ModelOutput(model="m", error=text), ModelCall.create({}, {})

    lines: list[str] = []
    assert answered(SentForm("m", lines.append), send).stop_reason == "model_length"
    assert "give a lower --max-tokens" in lines[0]


def test_messages_of_agents_without_text() -> None:
    form = SentForm("m")
    blank: Messages = [*CHAT[:3], ChatMessageAssistant(content=""), ChatMessageUser(content="No.")]
    send, sent = server(
        lambda messages: None if messages[3].text else refused(400, "text content blocks must be non-empty")
    )
    assert answered(form, send, blank).completion == "south"
    assert sent[-1][3].text == BLANK_REPLY and form.settings == {"blank_reply": BLANK_REPLY}


def test_a_setting_that_the_engine_takes_for_a_long_conversation() -> None:
    async def send(messages: Messages) -> Any:
        text = "invalid stop sequence: input length of stop is 0"
        return ModelOutput.from_content("m", text, stop_reason="model_length"), ModelCall.create({}, {})

    with pytest.raises(RuntimeError, match="refuses the settings of the run"):
        answered(SentForm("m"), send)


def test_a_reply_without_text_is_sent_back_as_a_placeholder() -> None:
    for blank in ("", " \n"):
        assert sendable_reply(ChatMessageAssistant(content=blank)).text == BLANK_REPLY
    reasoning = sendable_reply(ChatMessageAssistant(content=[ContentReasoning(reasoning="hm"), ContentText(text="")]))
    assert reasoning.text == BLANK_REPLY and len(reasoning.content) == 2
    for message in (REPLY, ChatMessageAssistant(content="", tool_calls=[ToolCall("1", "move", {})])):
        assert sendable_reply(message) is message


def usage(tokens: int, **more: int) -> ModelUsage:
    return ModelUsage(input_tokens=tokens, **more)


def test_a_prompt_that_its_server_has_cut() -> None:
    long: Messages = [ChatMessageUser(content="1,0,1,1," * 100)]
    assert "counted 16 tokens for a prompt of 800 characters" in PromptTokens().truncation_warning(long, usage(16))
    for count in (usage(800), usage(250), usage(16, input_tokens_cache_read=784), usage(0), None):
        assert PromptTokens().truncation_warning(long, count) == ""
    assert (
        PromptTokens().truncation_warning([ChatMessageUser(content="." * 4000)], usage(40)) == ""
    )  # a row of one sign is few


def test_a_longer_prompt_with_fewer_tokens() -> None:
    first: Messages = [ChatMessageUser(content="word " * 4000)]
    longer: Messages = [*first, ChatMessageAssistant(content="no"), ChatMessageUser(content="word " * 400)]
    watch = PromptTokens()
    assert watch.truncation_warning(first, usage(4000)) == ""
    assert "counted 2,050 tokens" in watch.truncation_warning(longer, usage(2050))
    watch = PromptTokens()
    assert watch.truncation_warning(first, usage(4000)) == "" and watch.truncation_warning(longer, usage(4500)) == ""
    watch = PromptTokens()  # another conversation, as where only the present observation is shown
    assert (
        watch.truncation_warning(longer, usage(4500)) == "" and watch.truncation_warning([longer[2]], usage(400)) == ""
    )
    thought: Messages = [*longer, REPLY, ChatMessageUser(content="go on")]
    watch = PromptTokens()  # reasoning that is not sent back
    assert watch.truncation_warning(longer, usage(4500)) == "" and watch.truncation_warning(thought, usage(4400)) == ""


def run(script: Any, out: Path, task: str, *arguments: str) -> tuple[Any, Any]:
    """Run a task against a scripted server, and return the server and the command."""
    with model_server(script) as running:
        command = waybench_(
            *("run", task, "--model", MODEL, "--model-base-url", running.url, "--out", str(out)),
            *("--max-retries", "0", "--rerun", "0", "--display", "plain", *arguments),
        )
    return running, command


@pytest.mark.slow
def test_a_server_without_a_system_role(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        roles = [message["role"] for message in messages]
        if "system" in roles:
            return Answer("System role not supported", status=400)
        return Answer("16416")

    running, command = run(script, tmp_path, "guessnum", "--limit", "1")
    assert command.returncode == 0, command.stderr
    assert command.stderr.count("System role not supported") == 1  # and that before the first request of the run
    assert "The rules go into the first user message (system_role=user)" in command.stderr
    refusals = [body for body in running.bodies if body["messages"][0]["role"] == "system"]
    assert len(refusals) == 1 and "check of a connection" in str(refusals[0])
    [episode] = read_logs(tmp_path)
    assert episode.settings["system_role"] == "user"
    assert [str(turn.outcome) for turn in episode.record.turns[:1]] == ["ok"]


@pytest.mark.slow
def test_a_conversation_that_is_refused_after_a_reply_is_named_as_that(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer("something is wrong", status=400) if len(messages) > 1 else Answer("no idea")

    _, command = run(script, tmp_path, "alicia", "-T", "max_dimension=5", "--limit", "1", "-T", "attempts=1")
    assert "the server refuses this conversation after 1 reply: BadRequestError" in command.stderr
    [record] = records(tmp_path).values()
    assert str(record.end) == "infrastructure_error" and "something is wrong" in str(record.error)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_examples_have_no_message_without_text(tmp_path: Path, protocol: str) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        if not all(str(message["content"]).strip() for message in messages):
            return Answer("messages: text content blocks must be non-empty", status=400)
        return Answer("100")

    running, command = run(
        script, tmp_path, "guessnum", "--limit", "1", "-T", "icl=2", "-T", f"protocol={protocol}", "--attempts", "1"
    )
    assert command.returncode == 0, command.stderr
    assert any(message["content"] == BLANK_REPLY for message in running.bodies[-1]["messages"]) == (protocol == "paper")
    assert len(records(tmp_path)) == 1


@pytest.mark.slow
def test_a_prompt_that_is_read_as_a_whole_gets_no_warning(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer("What?")

    running, command = run(script, tmp_path, "alicia", "--limit", "1")
    assert "so it has read only a part of it" not in command.stderr
    assert running.asked.total() > 1


@pytest.mark.slow
def test_reasoning_without_marks_is_warned_of_once_with_an_example(tmp_path: Path) -> None:
    thought = "Okay, let me think about the range. " + "It is between the two numbers that I was given. " * 8

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer(f"{thought}\n16416")

    _, command = run(script, tmp_path, "guessnum", "--limit", "2")
    assert command.stderr.count("may be reasoning without marks") == 1
    assert f"{MODEL}: 1 of the first 1 reply looked at may be reasoning without marks" in command.stderr
    assert "Okay, let me think about the range." in command.stderr and "--think-tags OPEN CLOSE" in command.stderr


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_marks_in_a_reply_are_read_in_a_run(tmp_path: Path, protocol: str) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer("<plan>between 32 and 32800</plan>16416" if before or len(messages) < 4 else "[THINK]32[/THINK]7")

    _, command = run(
        script, tmp_path, "guessnum", "--limit", "1", "-T", f"protocol={protocol}", "--think-tags", "<plan>", "</plan>"
    )
    assert command.returncode == 0, command.stderr
    [record] = records(tmp_path).values()
    assert [(str(turn.outcome), turn.action, turn.reasoning) for turn in record.turns[:2]] == [
        ("ok", 16416, "between 32 and 32800"),
        ("illegal", 7, "32"),
    ]
    assert record.options["think_tags"] == "<plan> </plan>"


def refuses_blanks(messages: list[dict[str, Any]]) -> str:
    blank = any(message["role"] == "assistant" and not str(message["content"]).strip() for message in messages)
    return "Assistant message must have either content or tool_calls, but not none." if blank else ""


def refuses_second_turns(messages: list[dict[str, Any]]) -> str:
    return "This model's maximum context length is 512 tokens." if len(messages) > 1 else ""


def refuses_reasoning(messages: list[dict[str, Any]]) -> str:
    has_field = any("reasoning_content" in message for message in messages)
    return "reasoning_content is not allowed in the input messages" if has_field else ""


SERVERS: dict[str, tuple[Callable[[list[dict[str, Any]]], str], str]] = {
    "plain": (lambda messages: "", ""),
    "blanks": (refuses_blanks, ""),
    "context": (refuses_second_turns, "I do not know."),
    "reasoning": (refuses_reasoning, "I do not know."),
}


@pytest.mark.slow
def test_the_same_player_has_the_same_score_behind_each_server(tmp_path: Path) -> None:
    def with_reasoning(body: dict[str, Any], completion: dict[str, Any]) -> dict[str, Any]:
        completion["choices"][0]["message"]["reasoning_content"] = "hm"
        return completion

    results: dict[str, dict[str, Any]] = {}
    for name, (refusal, otherwise) in SERVERS.items():
        solves = scripted((5,), lambda item, turn, before: None)

        def script(messages: list[dict[str, Any]], before: int) -> Answer:
            if words := refusal(messages):  # noqa: B023  the server ends before the next one starts
                return Answer(words, status=400)
            is_easy = hashlib.sha256(messages[0]["content"].encode()).digest()[0] % 2 == 0
            answer = solves(messages[:1], 0) if is_easy else Answer(otherwise)  # noqa: B023
            return replace(answer, form=with_reasoning) if refusal is refuses_reasoning else answer  # noqa: B023

        _, command = run(script, tmp_path / name, "alicia", "-T", "max_dimension=5", "-T", "attempts=1", "--no-check")
        assert command.returncode == 0, command.stderr
        results[name] = {sample: str(record.end) for sample, record in records(tmp_path / name).items()}
    plain = {sample: end == "solved" for sample, end in results["plain"].items()}
    assert len(plain) == 10 and 0 < sum(plain.values()) < 10
    for ends in results.values():
        assert {sample: end == "solved" for sample, end in ends.items()} == plain
        assert "infrastructure_error" not in ends.values()


@pytest.mark.parametrize(
    ("name", "sent"),
    [("functions.move:0", "functions_move_0"), ("move down", "move_down"), ("", "unknown"), ("m" * 90, "m" * 64)],
)
def test_names_of_tools_are_sent_back_as_servers_take_them(name: str, sent: str) -> None:
    message = ChatMessageAssistant(content="", tool_calls=[ToolCall("1", name, {"a": 1})])
    [call] = sendable_reply(message).tool_calls or ()
    assert (call.function, call.arguments) == (sent, {"a": 1})
    assert message.tool_calls is not None and message.tool_calls[0].function == name
