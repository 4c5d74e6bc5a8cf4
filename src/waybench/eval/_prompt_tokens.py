"""Whether a server has read the whole prompt, by the tokens that it counted.

Some servers cut what does not fit into their context without a word (Ollama by default, OpenRouter's endpoints of up to
8k, SGLang with --allow-auto-truncate). What they count says so.
"""

import re
from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ContentReasoning, ModelUsage

_PIECE = re.compile(r"\w+|[^\w\s]+")  # a tokenizer has about one token for each of these, or more
_PIECES_A_TOKEN = 4  # beyond which no tokenizer joins words and signs
_FEWEST_PIECES = 100


class PromptTokens:
    """The tokens of one conversation's prompts, as its server counts them."""

    def __init__(self) -> None:
        self._before: tuple[list[str | None], int] | None = None  # ids of the last prompt's messages, and its tokens

    def warning(self, messages: Sequence[ChatMessage], usage: ModelUsage | None) -> str:
        """Return a line if the server cannot have read the whole prompt; "" otherwise.

        Args:
            messages: The prompt.
            usage: What the server counted; nothing follows from a count that is missing.
        """
        tokens = _input_tokens(usage)
        if not tokens:
            return ""
        before, ids = self._before, [message.id for message in messages]
        self._before = ids, tokens
        texts = [message.text for message in messages]
        characters = sum(map(len, texts))
        pieces = sum(1 for text in texts for _ in _PIECE.finditer(text))
        counted = f"the server counted {tokens:,} tokens for a prompt of {characters:,} characters"
        advice = "so it has read only a part of it: give the server a longer context (Ollama: num_ctx)"
        if pieces >= _FEWEST_PIECES and pieces > _PIECES_A_TOKEN * tokens:
            return f"{counted}, {advice}"
        if before is None or any(map(_has_reasoning, messages)):  # which a server may leave out of later prompts
            return ""
        ids_before, tokens_before = before
        has_grown = len(ids) > len(ids_before) and ids[: len(ids_before)] == ids_before
        if has_grown and tokens < tokens_before:
            return f"{counted}, and {tokens_before:,} for the shorter one before it, {advice}"
        return ""


def _input_tokens(usage: ModelUsage | None) -> int:
    if usage is None:
        return 0
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _has_reasoning(message: ChatMessage) -> bool:
    is_list = isinstance(message, ChatMessageAssistant) and not isinstance(message.content, str)
    return is_list and any(isinstance(part, ContentReasoning) for part in message.content)
