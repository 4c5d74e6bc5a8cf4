"""What prompts begin with, found while they come one at a time."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.episodes import detour, item
from waybench.core import Message
from waybench.reporting import _episode_store
from waybench.reporting._episode_store import PrefixFinder, SharedPrefix, prompt_messages

Prompt = tuple[Message, ...]
LEAST = 2
# Few roles and letters, so that many prompts begin alike.
MESSAGES = st.builds(Message, st.sampled_from(["system", "user"]), st.text("ab\n", max_size=7), picture=st.none())
PROMPTS = st.lists(st.lists(MESSAGES, max_size=4).map(tuple), max_size=5)
ALIKE = st.builds(
    lambda first, rest: [(*first, *other) for other in rest],
    st.lists(MESSAGES, max_size=3),
    st.lists(st.lists(MESSAGES, min_size=1, max_size=2), min_size=1, max_size=4),
)


def common_prefix(prompts: Sequence[Prompt]) -> SharedPrefix:
    common = PrefixFinder()
    for prompt in prompts:
        common.add_prompt(prompt)
    return common.shared_prefix()


def by_definition(prompts: Sequence[Prompt]) -> SharedPrefix:
    """Return what prompts begin with, by looking at all of them at once."""
    alike = 0
    while prompts and all(len(each) > alike + 1 and each[alike] == prompts[0][alike] for each in prompts):
        alike += 1
    messages = prompts[0][:alike] if prompts else ()
    if not all(len(each) > alike for each in prompts):
        return SharedPrefix(messages)
    after = [each[alike] for each in prompts]
    if len(set(after)) < 2 or len({message.role for message in after}) > 1:
        return SharedPrefix(messages)
    shortest = min((message.text for message in after), key=len)
    lines = [n for n in range(len(shortest) + 1) if all(each.text.startswith(shortest[:n]) for each in after)]
    ends = [n for n in lines if n == 0 or shortest[n - 1] == "\n"]
    text = shortest[: max(ends)]
    return SharedPrefix(messages, Message(after[0].role, text) if len(text) >= LEAST else None)


@given(st.one_of(PROMPTS, ALIKE))
def test_one_at_a_time_is_the_same_as_all_at_once(prompts: list[Prompt]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_episode_store, "LEAST", LEAST)
        found = common_prefix(prompts)
        assert found == by_definition(prompts)
        assert common_prefix(prompts[::-1]) == found
    # So that each prompt is what all have in common, and the rest of it.
    for prompt in prompts:
        rest = found.remaining_messages(prompt)
        assert rest or not prompt
        if found.beginning is not None:
            rest[0] = rest[0]._replace(text=found.beginning.text + rest[0].text)
        assert (*found.messages, *rest) == prompt


@given(PROMPTS)
def test_it_can_be_asked_at_any_time(prompts: list[Prompt]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_episode_store, "LEAST", LEAST)
        common = PrefixFinder()
        for number, prompt in enumerate(prompts, start=1):
            common.add_prompt(prompt)
            assert common.shared_prefix() == by_definition(prompts[:number])


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_what_two_texts_both_begin_with(first: str, second: str) -> None:
    found = _episode_store._common_prefix(first, second)
    assert first.startswith(found)
    assert second.startswith(found)
    longer = len(found) + 1
    assert first[:longer] != second[:longer] or found in (first, second)


def test_what_prompts_begin_with() -> None:
    def user(text: str) -> Message:
        return Message("user", text)

    system, long = Message("system", "Be brief."), "A line of a walkthrough.\n" * 40
    assert common_prefix([]) == SharedPrefix()
    assert common_prefix([(), (user(long),)]) == SharedPrefix()
    assert common_prefix([(user(long),)]) == SharedPrefix()
    assert common_prefix([(user(long + "a"),), (user(long + "a"),)]) == SharedPrefix()
    assert common_prefix([(system, user("a")), (system, user("b"))]) == SharedPrefix((system,))
    shared = common_prefix([(system, user(long + "ab")), (system, user(long + "ac"))])
    assert shared == SharedPrefix((system,), user(long))
    assert shared.remaining_messages((system, user(long + "ab"), user("c"))) == [user("ab"), user("c")]
    assert [said.text.text for said in shared.page_messages(100_000)] == ["Be brief.", long]
    assert common_prefix([(user("short\na"),), (user("short\nb"),)]) == SharedPrefix()
    assert common_prefix([(user(long + "a"),), (Message("system", long + "b"),)]) == SharedPrefix()
    # Of a text that is all of another one's beginning nothing is left.
    assert common_prefix([(user(long),), (user(long + "b"),)]) == SharedPrefix((), user(long))


def test_an_episodes_prompt_is_what_is_not_shown_elsewhere() -> None:
    record = detour(item(), 2)
    told = "".join(message.text for message in record.opening)
    assert "".join(each.text.text for each in prompt_messages(record, SharedPrefix(), 100_000)) == told
    (message, *_) = record.opening
    shared = SharedPrefix((), Message(message.role, message.text[:100]))
    first, *_ = prompt_messages(record, shared, 100_000)
    assert first.text.text == message.text[100:]
    cut = prompt_messages(record, SharedPrefix(), 60)[0].text
    assert (cut.text, cut.end, cut.length) == (message.text[:50], message.text[-10:], len(message.text))
    assert {each.title for each in prompt_messages(record, SharedPrefix(), 60)} <= {"Prompt", "System prompt"}
