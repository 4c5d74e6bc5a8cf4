"""Episodes that come one at a time: rows stay in memory, and records come back from disk as they were."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import detour, failed, item, logged, played, said, variables
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import searched
from waybench.core import EpisodeRecord, Price, Usage, _spool
from waybench.reporting._episode_store import EpisodeStore, SharedPrefix
from waybench.results import LoggedEpisode, rows
from waybench.results.results import Simulated

PRICE = Price(1, 1, 1)


@pytest.fixture
def gathered() -> Iterator[Any]:
    """Return a function that gathers episodes; what it has put on disk goes in the end."""
    made: list[EpisodeStore] = []

    def gather(episodes: list[LoggedEpisode], **prices: Price) -> EpisodeStore:
        made.append(EpisodeStore(iter(episodes), prices))
        return made[-1]

    yield gather
    for each in made:
        each.close()


def forged(record: EpisodeRecord) -> EpisodeRecord:
    return replace(record, instance_hash="0" * 64)


def test_rows_and_variables_are_those_of_all_at_once(gathered: Any) -> None:
    episodes = [*played("random", (5,)), *answered("oracle", [corridor("a", 3), corridor("b", 4)], most=3)]
    found = gathered(episodes)
    assert [replace(row, anchors=None) for row in found.rows] == rows(episodes)
    ceilings = [row.anchors.ceiling for row in found.rows if row.anchors]
    assert {one if isinstance(one, float) else one.mean for one in ceilings if one is not None} == {100.0, 1.0}
    assert found.variables == variables(rows(episodes), episodes)
    assert [each.confirmed for each in found.again] == [True] * len(episodes)
    # The exclusion is that of all of them: what was run later replaces what came first.
    twice = [replace(episode, run=run) for run in "ab" for episode in episodes]
    assert [row.exclusion_reason for row in gathered(twice).rows] == [row.exclusion_reason for row in rows(twice)]
    assert len({row.exclusion_reason for row in gathered(twice).rows}) == 2


def test_episodes_come_back_as_they_were_in_any_order(gathered: Any) -> None:
    hostile = said(["\ud800 \0 <b>", "é" * 1000, '{"movements": ' + "[" * 1000])
    episodes = [*played("random", (5,)), logged(hostile), logged(failed(detour(item(), 2))), *searched("oracle")]
    found = gathered(episodes)
    positions = [3, 0, len(episodes) - 1, len(episodes) - 4, 3]
    for position, back in zip(positions, found.load(positions), strict=True):
        assert back.episode == episodes[position]
        assert back.episode.record.dumps() == episodes[position].record.dumps()
        assert back.row is found.rows[position]
        assert back.again is found.again[position]


def test_numbers_are_those_in_a_group(gathered: Any) -> None:
    a, b = searched("oracle", model="a"), searched("oracle", model="b")
    found = gathered([a[0], b[0], b[1], a[1], a[2], b[2]])
    groups = list(dict.fromkeys(row.group for row in found.rows))
    assert [found.positions(group) for group in groups] == [[0, 3, 4], [1, 2, 5]]
    assert [each.number for each in found.load(range(6))] == [1, 1, 2, 2, 3, 3]


def test_what_is_in_memory_is_no_record(gathered: Any) -> None:
    found = gathered(searched("random", "bfs", level=15, count=4))
    assert {len(head.record.turns) for head in found._episodes_without_records} == {0}


def test_only_models_with_a_price_have_a_cost(gathered: Any) -> None:
    record = detour(item(), 2)
    paid = replace(record, turns=tuple(turn._replace(usage=Usage(10, 5)) for turn in record.turns))
    found = gathered([logged(paid, "a"), logged(paid, "b"), logged(record, "a")], a=PRICE)
    assert [row.cost for row in found.rows] == [PRICE.episode_cost(paid), None, None]


def test_an_instance_is_that_of_its_own_record(gathered: Any) -> None:
    one, two = detour(item(5, 0), 2), detour(item(5, 1), 2)
    lies = replace(two, instance_hash=one.instance_hash)  # as if it were the first maze
    nothing = replace(two, instance={"maze": [[1, "<b>"]]})
    found = gathered([logged(record) for record in (one, lies, two, one, nothing, one)])
    back = list(found.load(range(6)))
    assert [each.again.confirmed for each in back] == [True, False, True, True, False, True]
    first, second = item(5, 0).instance, item(5, 1).instance
    assert [each.instance for each in back] == [first, second, second, first, None, first]


def test_environments_of_one_hash_have_instances_of_their_own(gathered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = [*searched("oracle", "dfs", count=1), *searched("oracle", "guessnum", count=1)]
    same = [replace(e, record=replace(e.record, instance_hash="0" * 64)) for e in episodes]
    monkeypatch.setattr("waybench.results.results._measured_row.simulate", lambda episode: Simulated(confirmed=True))
    found = gathered(same)
    kinds = [type(each.instance) for each in found.load([0, 1, 0])]
    assert kinds[0] is kinds[2] is not kinds[1]


def test_openings_are_of_a_level_and_of_what_was_drawn_together(gathered: Any) -> None:
    maps = [corridor("a", 3, words=400), corridor("b", 3, words=300)]
    found = gathered(answered("oracle", maps, most=2))
    group, level = found.rows[0].group, found.rows[0].level
    clusters = list(dict.fromkeys(row.cluster for row in found.rows))
    own = [found.shared_prefix(group, level, cluster) for cluster in clusters]
    assert ["word" in (each.beginning.text if each.beginning else "") for each in own] == [True, True]
    assert own[0] != own[1]
    whole = found.shared_prefix(group, level, None)
    assert whole.characters < min(each.characters for each in own)
    assert found.shared_prefix(group, level + 1, None) == SharedPrefix()
    assert found.shared_prefix(group, level, replace_name(clusters[0])) == SharedPrefix()


def replace_name(cluster: Any) -> Any:
    return cluster._replace(name="other")


def test_the_file_is_closed_whatever_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    made = _spool.tempfile.TemporaryFile

    def remembered(**options: Any) -> Any:
        opened.append(made(**options))
        return opened[-1]

    monkeypatch.setattr(_spool.tempfile, "TemporaryFile", remembered)
    broken = replace(detour(item(), 2), item={"id": "501"})
    found = EpisodeStore([*played("null", (5,), mazes=1), logged(broken)], {})
    assert (len(found.rows), len(found.passed_over)) == (3, 1)
    found.close()
    EpisodeStore(played("null", (5,), mazes=1), {}).close()

    def interrupted() -> Iterator[LoggedEpisode]:
        yield from played("null", (5,), mazes=1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EpisodeStore(interrupted(), {})
    assert [each.closed for each in opened] == [True] * 3


def test_nothing_is_left_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from waybench.reporting import write_report

    monkeypatch.setattr(_spool.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    write_report(played("null", (5,), mazes=1), tmp_path / "site")
    assert list((tmp_path / "temporary").iterdir()) == []
