"""Secrets: keys of private sets, commitments to them, and credentials of model servers."""

import hashlib
import math
import os
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import SplitResult, unquote, urlsplit

from waybench.core._errors import UsageError, WaybenchError
from waybench.core._user_files import read_text_file, user_path

HIDDEN = "***"
LABEL = re.compile(r"private-[0-9a-f]{8}")
_SECRET_NAME = re.compile(  # it does not match "max_tokens" and "tokenizer"
    r"(^|[_-])(key|token|secret|password|passwd|credentials?|auth|authorization|cookie|query)$|api_?keys?|headers",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>]*", re.IGNORECASE)
_LARGEST_FILE = 1 << 20  # bytes
_REFERENCE = re.compile(r"(env|file):(.*?)(?:#([0-9a-f]{8}))?", re.DOTALL)
STRONG_BITS = 128  # a key of fewer bits can be found by trying
# Hashed before a key, so that its commitment differs from every other hash of it, such as that of its label.
_COMMITMENT_PREFIX = b"waybench commitment to a key, version 1\0"
_COMMITMENT = re.compile(r"waybench-key-1:[0-9a-f]{64}")
_CHARACTER_CLASSES = string.ascii_lowercase, string.ascii_uppercase, string.digits, string.punctuation + " "


def private_key_label(key: str) -> str:
    """Return the name of a private set that stands for its key: "private-" and 8 digits of a hash."""
    return f"private-{hashlib.sha256(b'waybench key ' + key.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_secret_name(name: str) -> bool:
    """Return whether the setting of this name may hold a secret."""
    return _SECRET_NAME.search(name) is not None


def redact_address(address: str) -> str:
    """Return an address with user, password and the values of its query hidden: "https://***@host/v1?token=***"."""
    parts = _split_address(address)
    if parts is None:
        return HIDDEN
    _, at_sign, host = parts.netloc.rpartition("@")
    query = "&".join(
        f"{part.partition('=')[0]}={HIDDEN}" if "=" in part else HIDDEN for part in _query_assignments(parts.query)
    )
    redacted_parts = parts._replace(
        netloc=f"{HIDDEN}@{host}" if at_sign else host, query=query, fragment=HIDDEN if parts.fragment else ""
    )
    return redacted_parts.geturl() if parts.scheme else redacted_parts.geturl().removeprefix("//")


def redact_secrets(value: Any, *, hidden: bool = False) -> Any:
    """Return a JSON value with secrets hidden: values of secret names (`is_secret_name`), and parts of addresses.

    With `hidden`, every value in it is hidden; names, such as those of headers, are kept.
    """
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return {
            name: redact_secrets(item, hidden=hidden or is_secret_name(str(name).rpartition(".")[2]))
            for name, item in mapping.items()
        }
    if isinstance(value, list | tuple):
        return [redact_secrets(item, hidden=hidden) for item in cast("list[Any]", value)]
    if hidden:
        return HIDDEN
    if isinstance(value, str):
        return _ADDRESS.sub(lambda match: redact_address(match[0]), value)
    return value


def find_secrets(value: Any, *, hidden: bool = False) -> Iterator[str]:
    """Yield the texts that `redact_secrets` hides in a JSON value; with `hidden`, all texts in it."""
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            yield from find_secrets(item, hidden=hidden or is_secret_name(str(name).rpartition(".")[2]))
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from find_secrets(item, hidden=hidden)
    elif isinstance(value, str):
        yield from [value] if hidden else ()
        for match in _ADDRESS.finditer(value):
            yield from credentials_in_address(match[0])


def credentials_in_address(address: str) -> Iterator[str]:
    """Yield the password (or else the user), the query values and the fragment of an address, raw and decoded.

    If an address cannot be parsed, the whole address is yielded.
    """
    parts = _split_address(address)
    if parts is None:
        yield address
        return
    user = parts.netloc.rpartition("@")[0]
    user_name, _, password = user.partition(":")
    query_values = [part.partition("=")[2] or part for part in _query_assignments(parts.query)]
    for secret in (password or user_name, *query_values, parts.fragment):
        yield from dict.fromkeys(form for form in (secret, unquote(secret)) if form)


def _split_address(address: str) -> SplitResult | None:
    """Return the parts of an address, with or without a scheme; None if it cannot be parsed."""
    try:
        return urlsplit(address if _SCHEME.match(address) else f"//{address}")
    except ValueError:
        return None


def _query_assignments(query: str) -> list[str]:
    """Return the parts "name=value" of an address's query."""
    return [part for part in query.split("&") if part]


def key_commitment(key: str) -> str:
    """Return the public commitment to a key, a SHA-256.

    A key of at least `STRONG_BITS` bits cannot be found from its commitment, and no second key has the same one.
    """
    return f"waybench-key-1:{hashlib.sha256(_COMMITMENT_PREFIX + key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def checked_commitment(text: str) -> str:
    """Return a commitment that a user gave; raise a UsageError if it has another form."""
    if not _COMMITMENT.fullmatch(text):
        raise UsageError(f"{text[:90]!r} is no commitment: give what `waybench commit` prints (waybench-key-1:...)")
    return text


def max_key_bits(key: str) -> float:
    """Return the largest entropy in bits that a key can have, from its length and characters.

    A key of words has far fewer bits. The alphabet is at most as large as the square of the number of different
    characters, so that keys such as "aaaa" have few bits.
    """
    if not key:
        return 0.0
    characters = set(key)
    if characters <= set(string.hexdigits):
        alphabet_size = 16
    else:
        alphabet_size = len(characters - set(string.printable))
        alphabet_size += sum(len(kind) for kind in _CHARACTER_CLASSES if characters & set(kind))
    return len(key) * math.log2(max(1, min(alphabet_size, len(characters) ** 2)))


def is_public_key(key: str, public_key: str) -> bool:
    """Return whether a key is that of the public set or of a further public set ("search-v1/2")."""
    return re.fullmatch(re.escape(public_key) + r"(/\d+)?", key) is not None


def read_key(text: str) -> str:
    """Return the key that a user gave, as it is or as "env:NAME" or "file:PATH".

    Args:
        text: The key or the reference. A reference may end in "#" and the digits of the key's label, as `key_for_log`
            writes it.

    Raises:
        UsageError: If there is no key, if its label has other digits, or if `text` is a label.
    """
    if LABEL.fullmatch(text):
        raise UsageError(f"key={text}: this is the name of a private set, not its key; give the key itself")
    if not text.strip():
        # Such as from a shell variable that is not set; anybody could guess this key of a private set.
        raise UsageError("the key is empty: give the key of a set, or leave it out for the public set")
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return text
    kind, location, digits = match.groups()
    reference = f"key={kind}:{location[:120]}"
    key = _key_from_variable(location, reference) if kind == "env" else _key_from_file(location, reference)
    if not key:
        raise UsageError(f"{reference}: empty; it should contain the key of a set")
    if digits is not None and private_key_label(key) != f"private-{digits}":
        raise UsageError(
            f"{reference}: the key does not belong to the set private-{digits}, but to {private_key_label(key)}"
        )
    return key


def key_for_log(text: str) -> str:
    """Return a key that a user gave (`read_key`) without the secret, for logs: a reference or a label."""
    label = private_key_label(read_key(text))
    match = _REFERENCE.fullmatch(text)
    return label if match is None else f"{match[1]}:{match[2]}#{label.removeprefix('private-')}"


def key_label_in_log(text: str) -> str:
    """Return the label of a key in a log; older logs have the key itself."""
    match = _REFERENCE.fullmatch(text)
    if match is not None and match[3] is not None:
        return f"private-{match[3]}"
    return text if LABEL.fullmatch(text) else private_key_label(text)


def _key_from_variable(name: str, reference: str) -> str:
    """Return the key in an environment variable."""
    if name not in os.environ:
        raise UsageError(f"{reference}: this environment variable is not set; set it to the key of the set")
    return os.environ[name]


def _key_from_file(path: str, reference: str) -> str:
    """Return the key in a file."""
    try:
        return read_text_file(user_path(path), _LARGEST_FILE, "a file that contains the key").strip()
    except WaybenchError as error:
        raise UsageError(f"{reference}: {error}") from None
