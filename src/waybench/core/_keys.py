"""Keys of sets of items. A private set's key generates all of its items, so no record contains the key."""

import os
import re
from typing import TypeVar

from waybench.core._errors import UsageError, WaybenchError
from waybench.core._instance import Instance, Item, Source
from waybench.core._secrets import LABEL, key_label
from waybench.core._user_files import read_text, user_path

I = TypeVar("I", bound=Instance)  # noqa: E741

_LARGEST_FILE = 1 << 20  # bytes
_REFERENCE = re.compile(r"(env|file):(.*?)(?:#([0-9a-f]{8}))?", re.DOTALL)


class PrivateSource(Source[I]):
    """The items of a source, marked as those of a private set.

    Args:
        source: The source.
    """

    def __init__(self, source: Source[I]) -> None:
        self._source = source

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, if known."""
        return self._source.space

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0."""
        item = self._source.item(index)
        place = item.id, item.level, item.key, item.index  # `replace` takes longer than a small item
        return Item(item.instance, *place, item.proof, item.examples, private=True, isomorph=item.isomorph)


def is_public_key(key: str, public_key: str) -> bool:
    """Return whether a key is that of the public set, or of one of its further sets ("search-v1/2")."""
    return re.fullmatch(re.escape(public_key) + r"(/\d+)?", key) is not None


def read_key(text: str) -> str:
    """Return the key that a user gave: as it is, or from where "env:NAME" or "file:PATH" says that it is.

    Args:
        text: What was given. A reference may end in "#" and the digits of the key's label, as `key_for_log` writes it.

    Raises:
        UsageError: If there is no key, another one than the digits say, or what was given is a key's label.
    """
    if LABEL.fullmatch(text):
        raise UsageError(f"key={text}: this is the name of a private set, not its key; give the key itself")
    if not text.strip():
        # As by a variable of the shell that is not set; a set with this key would be private in name alone.
        raise UsageError("the key is empty: give the key of a set, or leave it out for the public set")
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return text
    kind, place, digits = match.groups()
    reference = f"key={kind}:{place[:120]}"
    key = _from_environment(place, reference) if kind == "env" else _from_file(place, reference)
    if not key:
        raise UsageError(f"{reference}: empty; it should contain the key of a set")
    if digits is not None and key_label(key) != f"private-{digits}":
        raise UsageError(f"{reference}: the key does not belong to the set private-{digits}, but to {key_label(key)}")
    return key


def key_for_log(text: str) -> str:
    """Return what may stand in a log for the key that a user gave: a reference with the key's digits, or its label.

    Raises:
        UsageError: As `read_key`.
    """
    label = key_label(read_key(text))
    match = _REFERENCE.fullmatch(text)
    return label if match is None else f"{match[1]}:{match[2]}#{label.removeprefix('private-')}"


def label_in_log(text: str) -> str:
    """Return the label of the key for which a text stands in a log, which may be an older one with the key itself."""
    match = _REFERENCE.fullmatch(text)
    if match is not None and match[3] is not None:
        return f"private-{match[3]}"
    return text if LABEL.fullmatch(text) else key_label(text)


def _from_environment(name: str, reference: str) -> str:
    if name not in os.environ:
        raise UsageError(f"{reference}: this environment variable is not set; set it to the key of the set")
    return os.environ[name]


def _from_file(path: str, reference: str) -> str:
    try:
        return read_text(user_path(path), _LARGEST_FILE, "a file that contains the key").strip()
    except WaybenchError as error:
        raise UsageError(f"{reference}: {error}") from None
