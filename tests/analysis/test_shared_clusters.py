"""What is drawn once is one cluster everywhere: in all tasks, twins, wordings, attempts and isomorphic forms."""

from typing import Any

import pytest

import waybench
from waybench.core import IsomorphicSource, play_to_end, policy
from waybench.results import LoggedEpisode, Row, rows
from waybench.results.estimates import matrix
from waybench.results.results import Cluster
from waybench.results.results._anchors import with_reference_bounds


def episodes(
    env_id: str,
    *,
    level: int,
    count: int = 4,
    isomorph: int = 0,
    attempt: int = 1,
    player: str = "null",
    **options: Any,
) -> list[LoggedEpisode]:
    env = waybench.load(env_id)
    source = env.source(level=level)
    if isomorph:
        assert env.items.isomorph is not None
        source = IsomorphicSource(source, env.items.isomorph, env.items.prove, isomorph)
    return [
        LoggedEpisode(
            model="m", task=env_id, record=play_to_end(env, item, policy(player), options, attempt=attempt).record()
        )
        for item in source.head(count)
    ]


def clusters(env_id: str, **how: Any) -> list[Cluster]:
    return in_order(rows(episodes(env_id, **how)))


def in_order(measured: list[Row]) -> list[Cluster]:
    return [row.cluster for row in measured]


def test_questions_of_all_kinds_about_a_map_are_of_one_cluster() -> None:
    routes, destinations, extractions = (
        set(clusters(kind, level=2, count=30)) for kind in ("textmap/route", "textmap/destination", "textmap/extract")
    )
    assert len(routes) > 2
    assert min(len(routes & destinations), len(routes & extractions)) >= len(routes) - 1  # the last map's questions end


@pytest.mark.parametrize(
    ("plain", "story"),
    [("search/guessnum", "search/coin"), ("search/dfs", "search/cavedfs"), ("search/bfs", "search/cavebfs")],
)
def test_items_of_twins_are_of_one_cluster(plain: str, story: str) -> None:
    assert clusters(plain, level=8) == clusters(story, level=8)
    # So do two searches of other kinds, where both are in the same graphs.
    assert clusters("search/dfs", level=8) == clusters("search/bfs", level=8)


def test_items_in_several_wordings_are_of_one_cluster() -> None:
    plain, matrices = (clusters("maze/alicia", level=5, wording=wording) for wording in ("coordinates", "matrix"))
    assert plain == matrices
    assert len(set(plain)) == 4


def test_attempts_at_an_item_are_of_one_cluster() -> None:
    first, second = (clusters("search/guessnum", level=8, attempt=attempt) for attempt in (1, 2))
    assert first == second


@pytest.mark.parametrize("env", ["search/dfs", "search/guessnum", "maze/alicia", "tilemap/gtb", "textmap/route"])
def test_isomorphic_forms_of_an_item_are_of_one_cluster(env: str) -> None:
    level = {"maze/alicia": 5, "tilemap/gtb": 1, "textmap/route": 2}.get(env, 8)
    originals = clusters(env, level=level)
    forms = [episode for number in (1, 2) for episode in episodes(env, level=level, isomorph=number)]
    together = in_order(rows([*episodes(env, level=level), *forms]))
    assert together == 3 * originals
    # Without the original, the forms are of one cluster still.
    alone = in_order(rows(forms))
    assert alone[:4] == alone[4:]
    assert len(set(alone)) == len(set(originals))


def test_isomorphic_forms_in_the_story_are_of_the_clusters_of_the_plain_originals() -> None:
    originals = clusters("search/guessnum", level=8)
    both = rows([*episodes("search/guessnum", level=8), *episodes("search/coin", level=8, isomorph=3)])
    assert in_order(both) == 2 * originals
    # Other items of the same names are others.
    other = rows([*episodes("search/guessnum", level=9), *episodes("search/coin", level=8, isomorph=3)])
    assert not set(in_order(other)[:4]) & set(in_order(other)[4:])


def test_forms_of_six_items_are_no_more_observations_than_six() -> None:
    forms = [episode for number in (1, 2, 3) for episode in episodes("search/dfs", level=6, count=5, isomorph=number)]
    (five,) = matrix(with_reference_bounds((form.record for form in forms), rows(forms))).rows
    assert five.mean is not None and five.mean.interval is None
    assert five.mean.few_items() == "15 items in 5 clusters"
    # Those of an oracle: results that are all alike between the bounds have no interval at any number.
    six = episodes("search/dfs", level=6, count=6, isomorph=1, player="oracle")
    (more,) = matrix(with_reference_bounds((form.record for form in six), rows(six))).rows
    assert more.mean is not None and more.mean.interval is not None
