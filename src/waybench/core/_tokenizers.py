"""Tokenizers by name, for texts with a limited number of tokens."""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from waybench.core._errors import UsageError
from waybench.core._user_files import user_path

ESTIMATE = "characters"
_CHARACTERS = 4  # of English text in a token


class CharacterTokens:
    """Counts four characters as a token: an estimate that needs no tokenizer."""

    def encode(self, text: str, /) -> Sequence[str]:
        """Return pieces of four characters."""
        return [text[at : at + _CHARACTERS] for at in range(0, len(text), _CHARACTERS)]

    def decode(self, tokens: Any, /) -> str:
        """Return the text of pieces."""
        return "".join(tokens)


class _FileTokens:
    """Adapter of a tokenizer of the library `tokenizers`, whose `encode` returns an object."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str, /) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer.encode(text).ids
        return ids

    def decode(self, tokens: Any, /) -> str:
        return str(self._tokenizer.decode(list(tokens)))


def tokenizer(name: str) -> Any:
    """Return a tokenizer by its name.

    Args:
        name: "characters" for an estimate; "tiktoken/ENCODING", as in tiktoken/cl100k_base; or the path of a
            tokenizer.json.

    Raises:
        UsageError: If there is no such tokenizer, or its library is not installed.
    """
    if name == ESTIMATE:
        return CharacterTokens()
    kind, _, encoding = name.partition("/")
    try:
        if kind == "tiktoken" and encoding:
            return import_module("tiktoken").get_encoding(encoding)
        if (path := user_path(name)).is_file():
            return _FileTokens(import_module("tokenizers").Tokenizer.from_file(str(path)))
    except ImportError:
        library = "tiktoken" if kind == "tiktoken" else "tokenizers"
        raise UsageError(f"tokenizer={name[:80]!r}: it is read by {library}: pip install {library}") from None
    except Exception as error:  # libraries raise different errors for wrong names, damaged files or a missing network
        message = " ".join(str(error).split())[:200]
        if kind == "tiktoken" and isinstance(error, OSError):
            raise UsageError(
                f"tokenizer={name[:80]!r}: tiktoken cannot fetch its vocabulary ({type(error).__name__}): load it once "
                "where there is a network, and copy tiktoken's cache ($TIKTOKEN_CACHE_DIR) to this machine"
            ) from None
        raise UsageError(f"tokenizer={name[:80]!r}: it cannot be loaded ({type(error).__name__}: {message})") from None
    raise UsageError(
        f"tokenizer={name[:80]!r}: give characters, tiktoken/ENCODING, or the path of a tokenizer.json that is there"
    )


def tokenizer_name(name: str) -> str:
    """Return the name of a tokenizer as items have it: of a file its own name and a part of its SHA-256.

    Args:
        name: As for `tokenizer`.
    """
    path = user_path(name)
    if name == ESTIMATE or name.startswith("tiktoken/") or not path.is_file():
        return name
    return f"{path.name[:100]}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
