"""What a provider's error says, and whether a server has read the whole prompt."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from inspect_ai.model import ChatMessage, ModelUsage
from tenacity import RetryError

from waybench.evaluation._reasoning import reasoning_parts

_LONGEST_SEARCHED = 20_000  # characters of an error that are searched; the engine's own have the whole request
_LONGEST_MESSAGE, _MOST_MESSAGES = 1000, 5  # characters of a message, and messages of a list, in the body of an error
_CODE_DEPTH = 3  # of errors within errors
_REQUEST_PREFIX = "\nRequest:\n"

# Structured codes and types, which are looked at before any text.
_OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, Cerebras, DeepInfra
        "exceed_context_size_error",  # llama.cpp, also with status 500
        "contextwindowexceedederror",  # LiteLLM
        "context_window_exceeded",
        "model_context_window_exceeded",  # Anthropic, Bedrock, Z.ai
        "model_max_prompt_tokens_exceeded",  # GitHub Models, Copilot
        "string_above_max_length",  # OpenAI: a message of more characters than are read at all
        "request_too_large",  # Anthropic, by bytes
        "1261",  # Z.ai
    }
)
_OVERFLOW_TEXTS = (
    # OpenAI, Azure, DeepSeek, OpenRouter, textgen, older vLLM; Bedrock's OpenAI models
    r"maximum context length",
    r"exceeds? the context window",  # OpenAI Responses
    r"exceeds? the configured limit of",  # OpenAI, Azure
    r"your messages resulted in",
    r"prompt is too long",  # Anthropic, Bedrock, Fireworks
    r"input length and `?max_tokens`? exceed context limit",  # Anthropic
    r"(?:input length )?exceeds?(?: your)? context (?:window|limit|size|length)",  # Anthropic, MiniMax
    r"context window exceeds? limit",  # MiniMax
    r"exceeds the maximum number of tokens allowed",  # Gemini
    r"input token count is \d+ but model only supports",  # Vertex
    r"too large for model with \d+ maximum context",  # Mistral
    r"too many tokens: size limit exceeded",  # Cohere
    r"input is too long",  # Bedrock
    r"too many total text bytes",  # Bedrock
    r"expected maxlength:",  # Bedrock
    r"reduce the length of the (?:input )?(?:messages|prompt)",  # Groq, vLLM
    r"longer than (?:the model'?s|the maximum model|the) (?:context )?length",  # Together, SGLang, vLLM, Ollama
    r"tokens \+ `?max_new_tokens`? must be <=",  # Together, TGI
    r"maximum prompt length is \d+",  # xAI
    r"context-compression plugin|\"middle-out\"",  # OpenRouter
    r"model'?s context length is only",  # vLLM
    r"max_tokens must be at least 1, got -",  # older vLLM
    r"exceeds the (?:model'?s )?maximum (?:allowed|context|input) length",  # SGLang, TensorRT-LLM
    r"exceeds maximum input length",  # TensorRT-LLM
    r"should not exceed max_num_tokens",  # TensorRT-LLM
    r"exceeds? (?:the )?(?:available )?context size|context size (?:has been )?exceeded",  # llama.cpp, LM Studio
    r"input length exceeds the context length|exceeded max context length",  # Ollama
    r"context the overflows|greater than the context length|cannot truncate prompt with n_keep",  # LM Studio
    r"must have less than \d+ tokens",  # TGI
    r"contextwindowexceedederror",  # LiteLLM
    r"prompt token count of \d+ exceeds",  # GitHub Copilot
    r"greater than max_seq_len",  # TabbyAPI, ExLlama
    r"input tokens exceeded|exceeds? (?:the )?maximum (?:length|context)",  # Amazon Nova
    r"prompt too long",
    r"context[ _]length[ _]exceeded",
    r"context window (?:was |is )?(?:full|overflow)",
    r"too long to fit into the model",  # vLLM in this process
    r"exceeded model token limit",  # Moonshot
    r"current length is \d+ while limit is",  # Cerebras
    r"prompt exceeds max(?:imum)? length",  # Z.ai
    r"range of input length should be",  # DashScope
    r"input length \d+ exceeds|input length .{0,40}exceed",  # DeepInfra
)
# Errors that read like those above and are none: quotas, prices, and limits on the output alone.
_OTHER_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "tokens", "insufficient_quota"})
_OTHER_TEXTS = (
    r"rate limit|tokens per (?:minute|day|min)\b|\btpm\b|\btpd\b",
    r"too many tokens, please wait",  # Bedrock
    r"extra usage is required for long context",  # Anthropic
    r"can only afford|prompt tokens limit exceeded",  # OpenRouter
    r"max_tokens is too large|max_completion_tokens is too large",  # OpenAI
    r"maximum allowed number of output tokens",  # Anthropic
    r"less than the context_window for this model",  # Groq
    r"maximum tokens you requested exceeds the model limit",  # Bedrock
    r"cannot be greater than max_model_len",  # vLLM
    r"too many tokens: max tokens must be",  # Cohere
)
_NEVER_OVERFLOW_STATUSES = (401, 402, 403, 404, 408, 409, 429)
_OVERFLOW = re.compile("|".join(_OVERFLOW_TEXTS), re.IGNORECASE)
_OTHER_ERROR = re.compile("|".join(_OTHER_TEXTS), re.IGNORECASE)
# A server that refuses the sum of prompt and reply says how many tokens it reads and how many the prompt has: vLLM,
# OpenAI, OpenRouter, DeepSeek, SGLang; Anthropic; TGI, Together.
_PROMPT_AND_CONTEXT = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"context length (?:is|of)(?: only)? (?P<limit>[\d,]+).{0,120}?\(?(?P<prompt>[\d,]+) "
        r"(?:in the messages|in your prompt|in the prompt|of text input|input tokens|prompt tokens)",
        r"exceed context limit: (?P<prompt>[\d,]+) \+ [\d,]+ > (?P<limit>[\d,]+)",
        r"must be <= (?P<limit>[\d,]+).{0,40}given: (?P<prompt>[\d,]+)",
    )
)


class ProviderError(NamedTuple):
    """What a provider's error says.

    Attributes:
        status: The HTTP status; None if no server answered, or it is not known.
        codes: Codes and types of the error, in lower case.
        words: The provider's own words, in one line; the error's class if there are none.
        text: The words and the body of the response, in which patterns are searched.
    """

    status: int | None
    codes: frozenset[str]
    words: str
    text: str

    @property
    def is_overflow(self) -> bool:
        """Whether the conversation was longer than the model's context."""
        if self.status in _NEVER_OVERFLOW_STATUSES or self.codes & _OTHER_CODES:
            return False
        if self.codes & _OVERFLOW_CODES:
            return True
        return _OTHER_ERROR.search(self.text) is None and _OVERFLOW.search(self.text) is not None

    @property
    def fitting_prompt_and_context(self) -> tuple[int, int] | None:
        """Tokens of the prompt and of the context if only prompt and reply together are too long; else None."""
        for pattern in _PROMPT_AND_CONTEXT:
            if match := pattern.search(self.text):
                prompt, limit = (int(match[name].replace(",", "") or 0) for name in ("prompt", "limit"))
                return (prompt, limit) if prompt < limit else None
        return None


def parse_provider_error(error: BaseException) -> ProviderError:
    """Return status, codes and text of a provider's error, unwrapped from the engine's errors."""
    cause = provider_cause(error)
    body: Any = getattr(cause, "body", None) or response_text(cause)
    messages = [*_error_messages(body)]
    words = " ".join((str(cause) or type(cause).__name__).split())
    if messages and not any(message in words for message in messages):
        words = f"{words}: {'; '.join(messages)}"
    details = json.dumps(body, default=str) if not isinstance(body, str) else body
    return ProviderError(
        http_status(cause),
        frozenset(_error_codes(cause, body)),
        words,
        f"{words[:_LONGEST_SEARCHED]}\n{(details or '')[:_LONGEST_SEARCHED]}",
    )


def is_context_overflow(text: str, body: Any) -> bool:
    """Return whether an error that the engine takes for a full context is one, by its text and its JSON body."""
    if frozenset(_error_codes(None, body)) & _OVERFLOW_CODES:
        return True
    # The words "input length", which the engine looks for among others, stand in other errors, too.
    return _OTHER_ERROR.search(text) is None and (
        _OVERFLOW.search(text) is not None or "input length" not in text.lower()
    )


def provider_cause(error: BaseException) -> BaseException:
    """Return the provider's error inside an error of retries or of the engine."""
    if isinstance(error, RetryError):
        error = error.last_attempt.exception() or error
    # The engine puts the whole request before the provider's error.
    if isinstance(error, RuntimeError) and str(error).startswith(_REQUEST_PREFIX) and error.__cause__ is not None:
        error = error.__cause__
    return error


def all_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and the members of exception groups, each once."""
    remaining_errors: list[BaseException | None] = [error]
    seen_ids: set[int] = set()
    while remaining_errors:
        cause = remaining_errors.pop()
        if cause is not None and id(cause) not in seen_ids:
            seen_ids.add(id(cause))
            yield cause
            remaining_errors += [cause.__cause__, cause.__context__, *getattr(cause, "exceptions", ())]


def http_status(error: BaseException) -> int | None:
    """Return the HTTP status of a provider's error; None if no server answered, or it is not known."""
    response = getattr(error, "response", None)
    for owner in (error, response):
        for name in ("status_code", "code", "status", "http_status"):
            value = getattr(owner, name, None)
            if isinstance(value, int) and 100 <= value < 600:
                return value
    if isinstance(response, Mapping):  # Bedrock's
        metadata: Any = cast("Mapping[str, Any]", response).get("ResponseMetadata") or {}
        value: Any = metadata.get("HTTPStatusCode")
        return value if isinstance(value, int) else None
    return None


def response_text(error: BaseException) -> str:
    """Return the text of the response that an error is about; "" if it has none."""
    try:
        text = getattr(getattr(error, "response", None), "text", None)
    except Exception:  # a body that has not been read
        return ""
    return text if isinstance(text, str) else ""


def _error_messages(body: Any, depth: int = 4) -> Iterator[str]:
    """Yield the messages in the body of an error response, in the form of any provider."""
    if isinstance(body, str):
        try:
            parsed_body = json.loads(body) if body.lstrip().startswith(("{", "[")) else None
        except (ValueError, RecursionError):
            parsed_body = None
        if parsed_body is None:
            yield " ".join(body.split())[:_LONGEST_MESSAGE]
        else:
            yield from _error_messages(parsed_body, depth)
    elif isinstance(body, Mapping) and depth:
        fields = cast("Mapping[str, Any]", body)
        for name in ("message", "error", "msg", "detail", "error_message", "errorMessage"):
            if fields.get(name):
                yield from _error_messages(fields[name], depth - 1)
    elif isinstance(body, list) and depth:
        for part in cast("list[Any]", body)[:_MOST_MESSAGES]:
            yield from _error_messages(part, depth - 1)


def _error_codes(error: BaseException | None, body: Any) -> Iterator[str]:
    """Yield the codes and types that an error and its response body name, in lower case."""
    for name in ("code", "type"):
        yield str(getattr(error, name, "") or "").lower()
    for _ in range(_CODE_DEPTH):
        if not isinstance(body, Mapping):
            return
        fields = cast("Mapping[str, Any]", body)
        for name in ("code", "type", "__type", "status"):
            yield str(fields.get(name) or "").lower()
        body = fields.get("error")


_WORD_OR_SIGNS = re.compile(r"\w+|[^\w\s]+")  # a tokenizer has about one token for each of these, or more
_PIECES_PER_TOKEN = 4  # beyond which no tokenizer joins words and signs
_FEWEST_PIECES = 100


class PromptTokens:
    """The tokens of one conversation's prompts, as its server counts them."""

    def __init__(self) -> None:
        self._last_prompt: tuple[list[str | None], int] | None = None  # ids of its messages, and its tokens

    def truncation_warning(self, messages: Sequence[ChatMessage], usage: ModelUsage | None) -> str:
        """Return a warning if the server cannot have read the whole prompt, by the tokens it counted; else ""."""
        if usage is None:
            return ""
        n_cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        n_tokens = usage.input_tokens + n_cached
        if not n_tokens:
            return ""
        last_prompt, ids = self._last_prompt, [message.id for message in messages]
        self._last_prompt = ids, n_tokens
        texts = [message.text for message in messages]
        n_characters = sum(map(len, texts))
        n_pieces = sum(1 for text in texts for _ in _WORD_OR_SIGNS.finditer(text))
        count_text = f"the server counted {n_tokens:,} tokens for a prompt of {n_characters:,} characters"
        advice = "so it has read only a part of it: give the server a longer context (Ollama: num_ctx)"
        if n_pieces >= _FEWEST_PIECES and n_pieces > _PIECES_PER_TOKEN * n_tokens:
            return f"{count_text}, {advice}"
        if last_prompt is None or any(map(reasoning_parts, messages)):  # which a server may leave out of later prompts
            return ""
        last_ids, last_tokens = last_prompt
        has_grown = len(ids) > len(last_ids) and ids[: len(last_ids)] == last_ids
        if has_grown and n_tokens < last_tokens:
            return f"{count_text}, and {last_tokens:,} for the shorter one before it, {advice}"
        return ""
