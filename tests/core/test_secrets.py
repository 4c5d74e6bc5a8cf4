"""What of settings may be a secret."""

import pytest

from waybench.core import credentials_in_address, find_secrets, redact_address, redact_secrets


@pytest.mark.parametrize(
    ("address", "shown", "hidden"),
    [
        ("https://host/v1", "https://host/v1", []),
        ("host:80/v1", "host:80/v1", []),
        ("https://user:pass%40word@host:80/v1", "https://***@host:80/v1", ["pass%40word", "pass@word"]),
        ("https://token@host", "https://***@host", ["token"]),
        ("user:word@host:80/v1", "***@host:80/v1", ["word"]),
        ("https://a:b@c@host/v1", "https://***@host/v1", ["b@c"]),
        ("https://host/v1?token=x&y&z=#f", "https://host/v1?token=***&***&z=***#***", ["x", "y", "z=", "f"]),
        ("https://[::1]:80/v1?k=v", "https://[::1]:80/v1?k=***", ["v"]),
        ("https://[::1", "***", ["https://[::1"]),
    ],
)
def test_addresses(address: str, shown: str, hidden: list[str]) -> None:
    assert redact_address(address) == shown
    assert list(credentials_in_address(address)) == hidden


def test_settings_are_hidden_by_name_and_their_form_stays() -> None:
    settings = {
        "default_headers": {"Authorization": "Bearer a", "X": ["b", 1]},
        "client": {"api_key": "c", "hosted": "see https://d:e@host/v1?f=g"},
        "max_tokens": 5,
        "tokenizer": "h",
        "stop": ["i", None, True],
    }
    assert redact_secrets(settings) == {
        "default_headers": {"Authorization": "***", "X": ["***", "***"]},
        "client": {"api_key": "***", "hosted": "see https://***@host/v1?f=***"},
        "max_tokens": 5,
        "tokenizer": "h",
        "stop": ["i", None, True],
    }
    assert sorted(find_secrets(settings)) == ["Bearer a", "b", "c", "e", "g"]
