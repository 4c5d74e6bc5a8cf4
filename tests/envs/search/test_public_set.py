"""The public sets are pinned: the same key gives the same cases for ever."""

import pytest

import waybench
from waybench.core._items import item_set_hash

# Environment, level -> hash of the first 20 cases. A change here is a change of a public set: it raises the
# generators' version, and with it the environment's.
PINNED = {
    ("guessnum", 3): "a7d6451ad895d48e",
    ("guessnum", 15): "dfd7984564ef0bcc",
    ("guessnum", 25): "bd6732626a07298a",
    ("dfs", 8): "286cf5e3445405de",
    ("dfs", 13): "907dc5d0caf37b1e",
    ("bfs", 15): "11a85dd05acd6e43",
    ("bfs", 25): "6cd4e8308f5c0208",
}


@pytest.mark.parametrize(("name", "level"), PINNED)
def test_the_public_set(name: str, level: int) -> None:
    assert item_set_hash(waybench.load(f"search/{name}").source(level=level).head(20))[:16] == PINNED[name, level]


def test_both_ways_of_telling_have_the_same_cases() -> None:
    for plain, story in (("guessnum", "coin"), ("dfs", "cavedfs"), ("bfs", "cavebfs")):
        made = [[i.instance for i in waybench.load(f"search/{n}").source(level=15).head(3)] for n in (plain, story)]
        assert made[0] == made[1]
