"""Secrets: keys of private sets and credentials of model servers. They are kept out of logs and pages."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import SplitResult, unquote, urlsplit

HIDDEN = "***"
LABEL = re.compile(r"private-[0-9a-f]{8}")
# "max_tokens" and "tokenizer" are none.
_NAME = re.compile(
    r"(^|[_-])(key|token|secret|password|passwd|credentials?|auth|authorization|cookie|query)$|api_?keys?|headers",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>]*", re.IGNORECASE)


def key_label(key: str) -> str:
    """Return what stands for a private set's key wherever it would be seen: "private-" and 8 digits of a hash."""
    return f"private-{hashlib.sha256(b'waybench key ' + key.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def may_be_secret(name: str) -> bool:
    """Return whether a setting of this name may hold a secret."""
    return _NAME.search(name) is not None


def without_credentials(address: str) -> str:
    """Return an address without user, password, and the values of its query: "https://***@host/v1?token=***"."""
    parts = _split(address)
    if parts is None:
        return HIDDEN
    at, place = parts.netloc.rpartition("@")[1:]
    query = "&".join(f"{pair.partition('=')[0]}={HIDDEN}" if "=" in pair else HIDDEN for pair in _pairs(parts.query))
    redacted_parts = parts._replace(
        netloc=HIDDEN + at + place if at else place, query=query, fragment=HIDDEN if parts.fragment else ""
    )
    return redacted_parts.geturl() if parts.scheme else redacted_parts.geturl().removeprefix("//")


def redacted(value: Any) -> Any:
    """Return a JSON value in which what may be a secret is hidden: by its name, or in an address."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return {
            name: _hidden(item) if may_be_secret(str(name).rpartition(".")[2]) else redacted(item)
            for name, item in mapping.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in cast("list[Any]", value)]
    if isinstance(value, str):
        return _ADDRESS.sub(lambda match: without_credentials(match[0]), value)
    return value


def secrets_in(value: Any, *, hidden: bool = False) -> Iterator[str]:
    """Yield the texts that `redacted` hides in a value.

    Args:
        value: A JSON value.
        hidden: Whether all texts in it are secrets.
    """
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            yield from secrets_in(item, hidden=hidden or may_be_secret(str(name).rpartition(".")[2]))
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from secrets_in(item, hidden=hidden)
    elif isinstance(value, str):
        yield from [value] if hidden else ()
        for match in _ADDRESS.finditer(value):
            yield from credentials(match[0])


def credentials(address: str) -> Iterator[str]:
    """Yield what `without_credentials` hides of an address, as it stands there and decoded."""
    parts = _split(address)
    if parts is None:
        yield address
        return
    user = parts.netloc.rpartition("@")[0]
    user_name, _, password = user.partition(":")
    for text in (
        password or user_name,
        *(pair.partition("=")[2] or pair for pair in _pairs(parts.query)),
        parts.fragment,
    ):
        yield from dict.fromkeys(text_form for text_form in (text, unquote(text)) if text_form)


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address, with or without a scheme; None if it is none."""
    try:
        return urlsplit(address if _SCHEME.match(address) else f"//{address}")
    except ValueError:
        return None


def _pairs(query: str) -> list[str]:
    return [pair for pair in query.split("&") if pair]


def _hidden(value: Any) -> Any:
    """Return a value of the same form, with every text and number in it hidden; names, as those of headers, stay."""
    if isinstance(value, Mapping):
        return {name: _hidden(item) for name, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_hidden(item) for item in cast("list[Any]", value)]
    return HIDDEN
