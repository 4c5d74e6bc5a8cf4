"""Keys of private sets on the command line, where other users can see the arguments of a command."""

from collections.abc import Sequence

from waybench.cli._options import option
from waybench.core import STRONG_BITS, UsageError, key_bits, read_key

KEYS = option("Key of a private set: env:NAME or file:PATH; repeatable.", "--key", metavar="REF")
KEY_FILES = option("File with the key of a private set; repeatable.", "--key-file", metavar="FILE")
_REFERENCES = ("env:", "file:")
_VISIBLE = "since other users can see the arguments of a command"


def one_key(key: str | None, key_file: str | None) -> str | None:
    """Return the key that --key or --key-file gives, as a text or as a reference.

    Raises:
        UsageError: If both are given, or a key that should be kept private stands in the command.
    """
    if key_file is not None:
        if key is not None:
            raise UsageError("--key and --key-file name the same key: give one of them")
        return f"file:{key_file}"
    if key is not None:
        check_visible_key(key)
    return key


def check_visible_key(key: str) -> None:
    """Refuse a key that stands in a command and is as strong as the key of a private set.

    A weak one is accepted: it draws a set of one's own, and can be found by trying anyway.

    Raises:
        UsageError: If the key is refused; the message does not contain it.
    """
    if not key.startswith(_REFERENCES) and key_bits(key) >= STRONG_BITS:
        raise UsageError(
            f"this key has {STRONG_BITS} bits or more, as the key of a private set has: put it into a file or an "
            f"environment variable and give file:PATH or env:NAME, {_VISIBLE}"
        )


def read_secrets(keys: Sequence[str], key_files: Sequence[str]) -> list[str]:
    """Return the keys that --key and --key-file refer to.

    Raises:
        UsageError: If a key itself stands in the command, or one cannot be read.
    """
    for reference in keys:
        if not reference.startswith(_REFERENCES):
            raise UsageError(f"--key: give env:NAME or file:PATH, {_VISIBLE}")
    return [read_key(reference) for reference in (*keys, *(f"file:{path}" for path in key_files))]
