"""Commitments to the keys of private sets: published before a set is used, checked when its key is revealed."""

import hashlib
import math
import re
import string

from waybench.core._errors import UsageError

STRONG_BITS = 128  # a key of fewer bits can be found by trying
# The domain keeps a commitment apart from every other hash of a key, such as its label.
_DOMAIN = b"waybench commitment to a key, version 1\0"
_FORM = re.compile(r"waybench-key-1:[0-9a-f]{64}")
_CLASSES = string.ascii_lowercase, string.ascii_uppercase, string.digits, string.punctuation + " "


def commitment(key: str) -> str:
    """Return the commitment to a key: the name of its form, and the SHA-256 of a domain and the key.

    It says nothing about a key of `STRONG_BITS` or more, and fixes the key: no second key has the same commitment.
    """
    return f"waybench-key-1:{hashlib.sha256(_DOMAIN + key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def read_commitment(text: str) -> str:
    """Return a commitment that a user gave.

    Raises:
        UsageError: If it has another form.
    """
    if not _FORM.fullmatch(text):
        raise UsageError(f"{text[:90]!r} is no commitment: give what `waybench commit` prints (waybench-key-1:...)")
    return text


def key_bits(key: str) -> float:
    """Return the most bits that a key can have, as its length and its kinds of characters show.

    Words have far fewer. Repeated characters count for little, as in "aaaa".
    """
    if not key:
        return 0.0
    if set(key) <= set(string.hexdigits):
        alphabet = 16
    else:
        alphabet = sum(len(kind) for kind in _CLASSES if set(key) & set(kind)) + len(set(key) - set(string.printable))
    return len(key) * math.log2(max(1, min(alphabet, len(set(key)) ** 2)))
