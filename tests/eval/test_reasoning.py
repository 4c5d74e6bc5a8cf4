"""What a provider returns as reasoning is in the sample's store, apart from the record."""

from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText
from inspect_ai.util import Store

from waybench.evaluation._reasoning import REASONING, store_reasoning
from waybench.results.logs._inspect import REASONING as READ


def test_reasoning_is_stored_by_turn() -> None:
    store = Store()
    store_reasoning(store, 0, ChatMessageAssistant(content="plain"))
    assert store.get(REASONING) is None
    text = ContentText(text="up")
    store_reasoning(store, 1, ChatMessageAssistant(content=[ContentReasoning(reasoning="I think"), text]))
    hidden = ContentReasoning(reasoning="c2lnbmVk", redacted=True, summary="In short")
    store_reasoning(store, 2, ChatMessageAssistant(content=[hidden, text]))
    unsaid = ContentReasoning(reasoning="c2lnbmVk", redacted=True)
    store_reasoning(store, 3, ChatMessageAssistant(content=[unsaid, text]))
    assert store.get(READ) == {"1": "I think", "2": "In short"}
