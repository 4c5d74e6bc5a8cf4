"""Errors of model servers, as their own clients raise them: which of them say that the conversation was too long."""

import json
from typing import Any

import httpx2
import pytest
from openai import APIStatusError, AsyncOpenAI

from waybench.evaluation._provider_errors import parse_provider_error, provider_cause

CLIENT = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9/v1")


def status_error(status: int, body: Any) -> APIStatusError:
    """Return what the client of OpenAI-compatible servers raises for a response."""
    client: Any = CLIENT  # whose own function it is, since nothing else makes the errors that it raises
    response = httpx2.Response(
        status,
        content=body if isinstance(body, str) else json.dumps(body),
        request=httpx2.Request("POST", "http://127.0.0.1:9/v1/chat/completions"),
    )
    return client._make_status_error_from_response(response)


def error(message: Any, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


# The texts are those of shared/specs/providers.md, section 1, with numbers of ours.
OVERFLOWS: list[tuple[str, int, Any]] = [
    ("OpenAI", 400, error("too much", code="context_length_exceeded")),
    ("OpenAI Responses", 400, error("Your input exceeds the context window of this model.")),
    ("Azure", 400, error("Input tokens exceed the configured limit of 272000 tokens.")),
    ("Anthropic", 400, error("prompt is too long: 210000 tokens > 200000 maximum")),
    ("Anthropic sum", 400, error("input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000")),
    ("Anthropic window", 400, error("input length exceeds context window")),
    ("Anthropic your", 400, error("this would exceed your context limit")),
    ("Anthropic bytes", 413, error("Request exceeds the maximum size", type="request_too_large")),
    ("Gemini", 400, error("The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).")),
    ("Vertex", 400, error("The input token count is 40000 but model only supports up to 32768")),
    ("Mistral", 400, {"message": {"detail": [{"msg": "Prompt contains 40000 tokens, too large for model with 32768"
                                                     " maximum context length"}]}}),
    ("Cohere", 400, {"id": "x", "message": "too many tokens: size limit exceeded by 200 tokens"}),
    ("Bedrock", 400, {"message": "Input is too long for requested model."}),
    ("Bedrock text", 400, {"message": "too many total text bytes: 30000000 > 25000000"}),
    ("Bedrock length", 400, {"message": "expected maxLength: 50000, actual: 60000"}),
    ("Groq", 400, error("Please reduce the length of the messages or completion.", code="context_length_exceeded")),
    ("Together", 422, error("Input is longer than the model's context length (8193 tokens).")),
    ("Together sum", 422, error("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 and 512")),
    ("Fireworks", 400, error("The prompt is too long: 9000, model maximum context length: 8191")),
    ("DeepSeek", 400, error("This model's maximum context length is 65536 tokens. However, you requested 70000")),
    ("xAI", 400, {"code": "x", "error": "maximum prompt length is 131072 but the request contains 140000 tokens."}),
    ("OpenRouter", 400, error("This endpoint's maximum context length is 8192 tokens. However, you requested 9000")),
    ("OpenRouter plugin", 400, error("try the context-compression plugin")),
    ("vLLM", 400, error("passed 5000 input tokens. However, the model's context length is only 4096 tokens",
                        param="input_tokens")),
    ("vLLM prompt", 400, error("The prompt (length 5000) is longer than the maximum model length of 4096.")),
    ("vLLM older", 400, error("max_tokens must be at least 1, got -400.")),
    ("vLLM flat", 400, {"object": "error", "message": "This model's maximum context length is 4096 tokens.",
                        "type": "BadRequestError", "code": 400}),
    ("SGLang", 400, {"object": "error", "message": "The input (5000 tokens) is longer than the model's context"
                                                   " length (4096 tokens).", "code": 400}),
    ("SGLang sum", 400, error("Requested token count exceeds the model's maximum context length of 4096 tokens.")),
    ("SGLang allowed", 400, error("Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens).")),
    ("llama.cpp", 400, error("the request exceeds the available context size", type="exceed_context_size_error")),
    ("llama.cpp type alone", 500, error("server error", type="exceed_context_size_error")),
    ("llama.cpp 500", 500, error("context size exceeded", code=500)),
    ("Ollama", 400, error("prompt is longer than the context length currently available")),
    ("Ollama native", 400, {"error": "the input length exceeds the context length"}),
    ("Ollama max", 400, {"error": "exceeded max context length"}),
    ("LM Studio", 400, {"error": "Trying to keep the first 5000 tokens when context the overflows."}),
    ("LM Studio keep", 400, {"error": "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)"}),
    ("LM Studio full", 400, {"error": "Context size has been exceeded."}),
    ("LM Studio greater", 400, {"error": "The number of tokens to keep is greater than the context length."}),
    ("TGI", 422, {"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
                  "error_type": "validation"}),
    ("TensorRT-LLM", 400, error("prompt length (5000) should not exceed max_num_tokens (4096)")),
    ("TensorRT-LLM older", 400, error("Prompt length (5000) exceeds maximum input length (4096).")),
    ("LiteLLM", 400, error("litellm.ContextWindowExceededError: litellm.BadRequestError: x", code="400")),
    ("LiteLLM stream", 503, error("litellm.MidStreamFallbackError: ContextWindowExceededError")),
    ("Moonshot", 400, error("Invalid request: Your request exceeded model token limit: 131072")),
    ("Cerebras", 400, error("Please reduce. Current length is 9000 while limit is 8192")),
    ("MiniMax", 400, error("invalid params, context window exceeds limit (2013)")),
    ("Z.ai", 400, error("Prompt exceeds max length", code="1261")),
    ("Z.ai code alone", 400, error("invalid", code="1261")),
    ("DashScope", 400, error("Range of input length should be [1, 30720]", code="invalid_parameter_error")),
    ("a code beside other words", 400, error("See our page on rate limits.", code="context_length_exceeded")),
    ("not JSON", 400, "the request exceeds the available context size"),
]  # fmt: skip

OTHERS: list[tuple[str, int, Any]] = [
    ("a rate", 429, error("Rate limit reached: context length 8192, tokens per min")),
    ("Groq's rate", 413, error("Request too large for model on tokens per minute (TPM)", code="rate_limit_exceeded")),
    ("OpenAI's rate", 429, error("too much", type="tokens", code="rate_limit_exceeded")),
    ("Bedrock's rate", 400, {"message": "Too many tokens, please wait before trying again."}),
    ("a plan", 400, error("Extra usage is required for long context requests beyond the context window.")),
    ("credits", 402, error("This request requires more credits. You can only afford 300 tokens. prompt is too long")),
    ("credits of a prompt", 402, error("Prompt tokens limit exceeded: 5000 > 4000")),
    ("an output", 400, error("max_tokens is too large: 200000. This model's maximum context length is 128000")),
    ("Anthropic's output", 400, error("max_tokens: 20000 > 8192, the maximum allowed number of output tokens")),
    ("Groq's output", 400, error("`max_completion_tokens` must be less than the context_window for this model")),
    ("Bedrock's output", 400, {"message": "The maximum tokens you requested exceeds the model limit of 8192."}),
    ("vLLM's output", 400, error("max_tokens=9000 cannot be greater than max_model_len=4096.")),
    ("Cohere's output", 400, {"message": "too many tokens: max tokens must be less than or equal to 4096"}),
    ("a key", 401, error("maximum context length")),
    ("a name", 404, error("no model of this context length")),
    ("a schema", 400, error("Invalid schema for tool: too long a description", code="invalid_function_parameters")),
    ("a role", 400, error("System role not supported")),
    ("a bad gateway", 502, "<html><body>Bad gateway</body></html>"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), [case[1:] for case in OVERFLOWS], ids=[case[0] for case in OVERFLOWS])
def test_a_conversation_that_is_too_long(status: int, body: Any) -> None:
    assert parse_provider_error(status_error(status, body)).is_overflow


@pytest.mark.parametrize(("status", "body"), [case[1:] for case in OTHERS], ids=[case[0] for case in OTHERS])
def test_what_only_reads_like_it(status: int, body: Any) -> None:
    assert not parse_provider_error(status_error(status, body)).is_overflow


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "Trying to keep the first 5000 tokens"}, "Trying to keep the first 5000 tokens"),
        ({"message": {"detail": [{"msg": "Prompt contains 5000 tokens"}]}}, "Prompt contains 5000 tokens"),
        ({"error": {"message": "upstream", "metadata": {}}}, "upstream"),
        ({"detail": "Not for you"}, "Not for you"),
    ],
)
def test_the_providers_own_words_are_kept(body: Any, words: str) -> None:
    assert words in parse_provider_error(status_error(400, body)).words


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the "
            "messages, 1000 in the completion).",
            (4000, 4096),
        ),
        (
            "This model's maximum context length is 4,096 tokens. However, you requested 9,000 (8,000 in the messages)",
            None,
        ),
        ("input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000", (197202, 200000)),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000", (4000, 4096)),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
    ],
)
def test_a_prompt_that_fits_without_its_reply(message: str, sizes: tuple[int, int] | None) -> None:
    assert parse_provider_error(status_error(400, error(message))).fitting_prompt_and_context == sizes


def test_errors_of_other_clients() -> None:
    class ClientError(Exception):  # as botocore's, with the status in a dictionary
        def __init__(self, message: str) -> None:
            super().__init__(message)
            self.response = {"Error": {"Code": "ValidationException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}

    bedrock = parse_provider_error(
        ClientError("An error occurred (ValidationException): Input is too long for requested model.")
    )
    assert bedrock.status == 400 and bedrock.is_overflow
    plain = parse_provider_error(ValueError("The prompt (total length 5000) is too long to fit into the model (4096)"))
    assert plain.status is None and plain.is_overflow
    wrapped = RuntimeError("\nRequest:\n{the maximum context length}\n\nValueError('no')")
    wrapped.__cause__ = ValueError("no")
    assert not parse_provider_error(wrapped).is_overflow and str(provider_cause(wrapped)) == "no"


def test_a_body_of_any_depth_and_size_is_read() -> None:
    body: Any = "x"
    for _ in range(500):
        body = {"error": body}
    assert parse_provider_error(status_error(400, body)).status == 400
    assert not parse_provider_error(status_error(400, "a" * 3_000_000)).is_overflow
