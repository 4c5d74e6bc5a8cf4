"""Identity of instances and sets, and sources."""

import hashlib
from dataclasses import replace

import pytest

from tests.toys import DIAL, Dial
from waybench.core import UsageError
from waybench.core._items import item_set_hash


def test_hash_is_of_the_canonical_form() -> None:
    assert Dial(5, 8, 10).hash == hashlib.sha256(b"5 8 10").hexdigest()


def test_set_hash_is_of_ids_and_hashes_in_order() -> None:
    items = DIAL.source("k").head(3)
    lines = "".join(f"{item.id} {item.instance.hash}\n" for item in items)
    assert item_set_hash(items) == hashlib.sha256(lines.encode()).hexdigest()
    assert item_set_hash([]) == hashlib.sha256(b"").hexdigest()
    assert item_set_hash(reversed(items)) != item_set_hash(items)
    assert item_set_hash([replace(items[0], id="other"), *items[1:]]) != item_set_hash(items)


def test_head() -> None:
    source = DIAL.source("k", 10)
    assert source.head(0) == []
    assert source.head(2) == [source.item(0), source.item(1)]
    with pytest.raises(UsageError, match="count is -1: give a number of items of 0 or more"):
        source.head(-1)


def test_source_has_the_public_key_and_the_smallest_level_by_default() -> None:
    item = DIAL.source().item(0)
    assert (item.key, item.level, item.index) == ("dial-v1", 3, 0)
    assert DIAL.source("", 4).item(2).key == ""


def test_item_of_data_from_outside() -> None:
    item = DIAL.item([5, 8, 10])
    assert (item.instance, item.level, dict(item.proof)) == (Dial(5, 8, 10), 10, {"minimum": 3})
    assert item.id == item.instance.hash[:12]
