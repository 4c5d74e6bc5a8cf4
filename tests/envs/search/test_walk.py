"""Visiting all nodes, depth first and breadth first, rule by rule (shared/specs/aqa.md, sections 2 to 4 and 6)."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import waybench
from tests.envs.search import cases
from tests.envs.search.cases import PROTOCOLS, SQUARE, TREE, WALKS, Data, after, graph, measured, outcomes, trees
from waybench.core import DataError, End, Episode, Stream, play_to_end, policy
from waybench.envs.search._walk import WalkGame

DFS, BFS = waybench.load("search/dfs"), waybench.load("search/bfs")
RANDOM = st.randoms(use_true_random=False)


def first(nodes: list[int]) -> int:
    return nodes[0]


@pytest.mark.parametrize(
    ("env", "places"), [("dfs", "nodes"), ("bfs", "nodes"), ("cavedfs", "caves"), ("cavebfs", "caves")]
)
def test_a_visit_shows_all_neighbours_in_the_order_of_the_edges(env: str, places: str) -> None:
    episode = after(env, TREE, "2")
    assert episode.messages[1].text == f"Adjacent {places}: 4, 2."
    assert episode.turns[0].message == f"Adjacent {places}: 0, 1, 5."


@pytest.mark.parametrize(
    ("env", "end"),
    [
        ("dfs", "Well Done. You have visited all the nodes in the graph. Total number of steps: 8"),
        ("cavedfs", "Well Done. You have visited all the caves. Total number of steps: 8"),
    ],
)
def test_the_last_message_counts_the_valid_replies(env: str, end: str) -> None:
    assert after(env, TREE, *"43402125").turns[-1].message == end
    assert after(env, TREE, "?", *"4340", "?", "1", "?", *"2125").turns[-1].message == end


@pytest.mark.parametrize(
    ("env", "thing", "beside"),
    [
        ("dfs", "node", "current"),
        ("bfs", "node", "visited"),
        ("cavedfs", "cave", "current"),
        ("cavebfs", "cave", "visited"),
    ],
)
@pytest.mark.parametrize("reply", ["?", "3", "99"])
def test_an_invalid_reply_is_told_once_and_changes_nothing(env: str, thing: str, beside: str, reply: str) -> None:
    episode = after(env, TREE, reply)
    assert episode.turns[0].message == (
        "Invalid reply. Try again. You can only reply with a integer number indicting the "
        f"{thing} adjacent to the {beside} {thing}."
    )
    assert episode.state == after(env, TREE).state


def test_a_walker_can_go_to_neighbours_only_and_cannot_stand_still() -> None:
    game = WalkGame(depth_first=True)
    state = game.apply(game.start(DFS.items.decode(TREE)), 2, Stream()).state
    assert sorted(game.legal(state)) == [0, 1, 5]
    assert [str(game.apply(state, node, Stream()).outcome) for node in (2, 4, -1, 6)] == ["illegal"] * 4


def test_breadth_first_every_visited_node_and_every_neighbour_of_one_can_be_visited() -> None:
    game = WalkGame(depth_first=False)
    state = game.start(BFS.items.decode(TREE))
    assert sorted(game.legal(state)) == [0, 2, 4]
    state = game.apply(state, 2, Stream()).state
    assert sorted(game.legal(state)) == [0, 1, 2, 4, 5]
    assert [str(game.apply(state, node, Stream()).outcome) for node in (3, -1, 6)] == ["illegal"] * 3


def test_a_walker_s_way_back_is_unproductive_where_it_leaves_something_behind() -> None:
    back = outcomes(after("dfs", TREE, "4", "0", "4", "3", "4", "0"))
    assert back == ["ok", "unproductive", "unproductive", "ok", "ok", "ok"]  # 0 still had its other neighbour


def test_breadth_first_every_revisit_is_unproductive() -> None:
    visits = outcomes(after("bfs", TREE, "0", "4", "4", "3", "0"))
    assert visits == ["unproductive", "ok", "unproductive", "ok", "unproductive"]


@pytest.mark.parametrize("env", WALKS)
def test_it_is_over_once_every_node_is_visited(env: str) -> None:
    episode = after(env, TREE, *("4", "3", "4", "0", "2", "1", "2"))
    assert not episode.done
    episode.step("5")
    assert (episode.end_reason, episode.turns[-1].reward) == (End.SOLVED, 1)
    assert (episode.play.game.legal(episode.state), measured(episode)["g_min"]) == ((), 0)


@pytest.mark.parametrize(("env", "size", "limit"), [("dfs", 8, 20), ("dfs", 13, 30), ("bfs", 15, 20), ("bfs", 25, 30)])
def test_only_valid_answers_count_towards_the_limit(env: str, size: int, limit: int) -> None:
    path = graph(*((node, node + 1) for node in range(size - 1)))
    episode = after(env, path, *["?", "1", "?", "0"] * (limit // 2 - 1), "1", "?")
    assert not episode.done
    episode.step("0")
    assert episode.end_reason is End.TURN_LIMIT


@pytest.mark.parametrize("env", WALKS)
def test_three_invalid_replies_in_a_row_are_forgiven_and_the_fourth_is_not(env: str) -> None:
    episode = after(env, TREE, "?", "3", "x", "4", "99", "y", "-")
    assert not episode.done
    episode.step("88")
    assert episode.end_reason is End.INVALID_LIMIT


def moves(env: str, data: Data, player: str = "oracle") -> list[int]:
    environment = waybench.load(f"search/{env}")
    episode: Any = play_to_end(environment, environment.item(data), policy(player), {"max_steps": 1000})
    return [turn.action for turn in episode.turns]


@given(trees())
def test_in_a_tree_the_oracle_takes_the_first_new_neighbour_or_goes_back(data: Data) -> None:
    assert moves("dfs", data) == list(cases.depth_first(data, first))


@given(trees())
def test_in_a_tree_the_oracle_of_breadth_first_search_is_a_queue(data: Data) -> None:
    assert moves("bfs", data) == list(cases.breadth_first(data, first))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=trees(extra=15))
def test_with_cycles_the_oracles_still_visit_everything_and_follow_their_algorithms(protocol: str, data: Data) -> None:
    for environment, walk in ((DFS, cases.depth_first(data, first)), (BFS, cases.breadth_first(data, first))):
        item = environment.item(data)
        episode = play_to_end(environment, item, policy("oracle"), {"protocol": protocol})
        assert episode.end_reason is End.SOLVED
        assert [turn.action for turn in episode.turns] == list(walk)
        assert item.proof == {"minimum": len(episode.turns), "cycles": len(data["edges"]) - len(data["nodes"]) + 1}
        assert measured(episode)["acc"] == 1


@given(trees(extra=6), RANDOM, st.integers(0, 12))
def test_the_oracles_find_their_way_after_any_mistakes(data: Data, rng: random.Random, mistakes: int) -> None:
    for environment in (DFS, BFS):
        episode: Any = Episode(environment, environment.item(data), {"max_steps": 1000})
        for _ in range(mistakes):
            if not episode.done:
                episode.step(str(rng.choice(list(episode.play.game.legal(episode.state)))))
        left = len(data["nodes"]) ** 2
        while not episode.done and left:
            episode.step(policy("oracle").reply(episode))
            left -= 1
        assert episode.end_reason is End.SOLVED


def test_the_forgetful_player_turns_back_only_at_dead_ends() -> None:
    assert moves("dfs", graph((0, 1), (1, 2), (2, 3)), "forgetful") == [1, 2, 3]
    walk = [0, *moves("cavedfs", TREE, "forgetful")]
    for before, at, following in zip(walk, walk[1:], walk[2:], strict=False):
        assert following != before or at in (1, 3, 5)  # the leaves


def test_the_square_has_a_cycle() -> None:
    assert DFS.item(SQUARE).proof == {"minimum": 5, "cycles": 1}  # 1, 2, 3, 2, 4
    assert BFS.item(SQUARE).proof == {"minimum": 4, "cycles": 1}


@given(trees(extra=5))
def test_an_instance_in_json(data: Data) -> None:
    instance = DFS.items.decode(data)
    assert instance.to_json() == data
    assert DFS.items.decode(instance.to_json()) == instance


def test_graphs_that_no_player_can_tell_apart_are_the_same_instance() -> None:
    one, same, other = graph((0, 1), (2, 3), (1, 2)), graph((2, 3), (0, 1), (1, 2)), graph((1, 2), (0, 1), (2, 3))
    assert (DFS.items.decode(one), DFS.items.decode(one).hash) == (DFS.items.decode(same), DFS.items.decode(same).hash)
    assert DFS.items.decode(one).hash != DFS.items.decode(other).hash  # node 1 shows its neighbours in another order


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, 'give {"nodes"'),
        ([[0, 1]], 'give {"nodes"'),
        ({"nodes": [0, 1]}, 'give {"nodes"'),
        ({"nodes": 2, "edges": [[0, 1]]}, 'give {"nodes"'),
        ({"nodes": [0], "edges": []}, "it has 1 nodes"),
        ({"nodes": list(range(10_001)), "edges": []}, "it has 10001 nodes"),
        ({"nodes": [1, 2], "edges": [[1, 2]]}, "the numbers 0, 1, 2"),
        ({"nodes": [1, 0], "edges": [[0, 1]]}, "the numbers 0, 1, 2"),
        ({"nodes": [False, True], "edges": [[0, 1]]}, "the numbers 0, 1, 2"),
        ({"nodes": [0, 1], "edges": [[0, 1], [1]]}, "edge 1 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, 1], "01"]}, "edge 1 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, 1.0]]}, "edge 0 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, True]]}, "edge 0 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, 2]]}, "edge 0 is not a pair"),
        ({"nodes": [0, 1], "edges": [[-1, 0]]}, "edge 0 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, -1]]}, "edge 0 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, 1], [1, 1]]}, "edge 1 is not a pair"),
        ({"nodes": [0, 1], "edges": [[0, 1], [1, 0]]}, "an edge occurs twice"),
        ({"nodes": [0, 1, 2], "edges": [[0, 1]]}, "not every node can be reached"),
    ],
)
def test_what_is_no_graph_to_be_walked(data: object, message: str) -> None:
    for environment in (DFS, BFS):
        with pytest.raises(DataError, match=message) as caught:
            environment.items.decode(data)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200
