"""Names, labels and moves of small games that are tables."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.contrib.game_maps import TableEngine
from waybench.core import DataError, UsageError
from waybench.envs.textmap._place_map import NEVER, Edge, load_map
from waybench.envs.textmap._questions import write_map
from waybench.ext.author.game_maps._command import GameMap, map_game

# The hut can be entered; the pit is left by no way that leads back; both halls have one title.
WAYS = {
    1: {"north": 2, "enter hut": 4, "down": 5, "pray": 3},
    2: {"south": 1, "north": 3},
    3: {"south": 2, "east": -1},
    4: {"out": 1},
    5: {"north": 1},
}
TITLES = {1: "Foyer", 2: "Hall", 3: "Hall", 4: "Hut", 5: "Pit"}


def built(*commands: str, steps: int | None = None, names: dict[str, str] | None = None) -> GameMap:
    return map_game(TableEngine(WAYS, TITLES), commands, "table", steps=steps, names=names)


def moves(found: GameMap) -> dict[tuple[str, str, str], tuple[int, int]]:
    return {(edge.source, edge.action, edge.target): (edge.forward, edge.reverse) for edge in found.place_map.edges}


def test_moves_are_those_that_are_made_or_lead_back() -> None:
    found = built("n", "wait", "go north", "s", "s", "enter hut", "out", "d", "n")
    assert moves(found) == {
        ("foyer", "north", "hall"): (1, 5),
        ("hall", "south", "foyer"): (5, 1),
        ("hall", "north", "hall (2)"): (3, 4),
        ("hall (2)", "south", "hall"): (4, 3),
        ("foyer", "enter hut", "hut"): (6, NEVER),
        ("hut", "out", "foyer"): (7, 6),
        ("foyer", "down", "pit"): (8, NEVER),
        ("pit", "north", "foyer"): (9, NEVER),
    }
    place_map = found.place_map
    assert place_map.places == ("foyer", "hall", "hall (2)", "hut", "pit")
    assert place_map.actions == ("down", "enter hut", "north", "out", "south")
    assert [step.action for step in place_map.steps][:4] == ["Init", "north", "wait", "north"]
    assert found.codes == {"foyer": ("1",), "hall": ("2",), "hall (2)": ("3",), "hut": ("4",), "pit": ("5",)}
    assert all(edge[3:5] == edge[5:7] for edge in place_map.edges)


def test_again_does_what_was_done_before() -> None:
    found = built("n", "g", "g")
    assert [step.action for step in found.place_map.steps] == ["Init", "north", "again", "again"]
    assert moves(found)["hall", "north", "hall (2)"] == (2, NEVER)
    assert not {action for _, action, _ in moves(found)} & {"again", "g"}


def test_a_move_that_is_no_way_has_no_opposite() -> None:
    assert moves(built("pray")) == {("foyer", "pray", "hall"): (1, NEVER)}


def test_names_can_be_given_and_make_two_ids_one_place() -> None:
    found = built("n", "n", "s", names={"2": "Long  Hall", "3": "long hall", "1": "foyer (with a door)"})
    assert moves(found) == {
        ("foyer (with a door)", "north", "long hall"): (1, NEVER),
        ("long hall", "south", "foyer (with a door)"): (NEVER, 1),
    }
    assert found.codes == {"foyer (with a door)": ("1",), "long hall": ("2", "3")}


def test_a_given_name_is_not_taken_for_another_place() -> None:
    found = built("n", "n", names={"1": "hall"})
    assert found.codes == {"hall": ("1",), "hall (2)": ("2",), "hall (3)": ("3",)}


def test_a_name_for_an_unknown_id_is_refused() -> None:
    with pytest.raises(DataError, match=r"no place with the id '7'; ids are 1, 2$"):
        built("n", names={"7": "hall"})


def test_the_most_frequent_title_is_the_name() -> None:
    class Renamed(TableEngine):
        def act(self, command: str) -> str:
            return super().act(command).replace("Foyer", "Foyer" if len(self.typed) < 4 else "Old Foyer")

    found = map_game(Renamed({1: {"north": 2}, 2: {"south": 1}}, {1: "Foyer", 2: "Hall"}), ["n", "s", "z", "z"], "x")
    assert found.codes.keys() == {"hall", "old foyer"}


def test_the_games_own_table_comes_before_titles() -> None:
    game = TableEngine(
        {1: {"south": 2}, 2: {"north": 1}}, {1: "Bedroom (in bed)", 2: "Bath"}, {1: "bed", 2: "Bathroom"}
    )
    place_map = map_game(game, ["s"], "x").place_map
    assert place_map.places == ("bathroom", "bed")
    assert place_map.edges[0] == Edge("bed", "bathroom", "south", 1, NEVER, 1, NEVER)


def test_a_name_told_later_makes_later_labels() -> None:
    ways = {1: {"east": 2}, 2: {"west": 1, "north": 3}, 3: {"south": 2}}
    game = TableEngine(ways, {1: "Foyer", 2: "Cave", 3: "Grotto"}, silent=(2, 3))
    edges = map_game(game, ["e", "n", "look", "s", "w", "e", "look"], "x").place_map.edges
    assert set(edges) == {
        Edge("foyer", "cave", "east", 1, 5, 7, 7),
        Edge("cave", "foyer", "west", 5, 1, 7, 7),
        Edge("cave", "grotto", "north", 2, 4, 7, 7),
        Edge("grotto", "cave", "south", 4, 2, 7, 7),
    }


def test_a_name_that_is_never_told_counts_as_known_on_arrival() -> None:
    edges = map_game(TableEngine({1: {"east": 2}}, {1: "Foyer", 2: "Cave"}, silent=(2,)), ["e"], "x").place_map.edges
    assert edges == (Edge("foyer", "cave", "east", 1, NEVER, 1, NEVER),)


def test_steps_limit_the_moves_and_not_the_walkthrough() -> None:
    found = built("n", "n", "s", "s", steps=2)
    assert found.place_map.last_step == 4
    assert moves(found)["foyer", "north", "hall"] == (1, NEVER)
    assert max(edge.known_step for edge in found.place_map.edges) == 2


def test_the_end_of_the_game_ends_the_walk() -> None:
    found = built("n", "n", "e", "s", "s")
    assert (found.unused, found.place_map.last_step) == (2, 3)
    assert len(found.place_map.edges) == 4


def test_a_way_back_that_ends_the_game_is_none() -> None:
    found = map_game(TableEngine({1: {"west": 2}, 2: {"east": -1}}, {1: "Foyer", 2: "Cliff"}), ["w", "z"], "x")
    assert moves(found) == {("foyer", "west", "cliff"): (1, NEVER)}
    assert found.unused == 0


def test_a_place_before_the_game_has_begun_is_none() -> None:
    game = TableEngine({0: {"": 1}, 1: {"north": 2}}, {0: "Press any key", 1: "Foyer", 2: "Hall"}, first=0)
    found = map_game(game, ["", "n"], "x")
    assert found.place_map.places == ("foyer", "hall")


def test_a_walk_within_one_place_is_refused() -> None:
    with pytest.raises(UsageError, match="no command led from one place to another"):
        built("look", "wait")


def test_too_many_commands_are_refused() -> None:
    with pytest.raises(UsageError, match=r"9,999 commands are too many"):
        built(*["wait"] * 9_999)


def test_a_text_cannot_end_a_step(tmp_path: Path) -> None:
    game = TableEngine({1: {"north": 2}}, {1: "Foyer", 2: "Hall\n===========\n==>STEP NUM: 9"})
    place_map = map_game(game, ["n", "look"], "x").place_map
    write_map(tmp_path, place_map)
    assert load_map(tmp_path, "x") == place_map
    assert "===========" not in place_map.steps[1].observation.splitlines()


def test_walked_moves_follow_each_other() -> None:
    edges = built("n", "n", "s", "s", "enter hut").place_map.edges
    walked = sorted((edge for edge in edges if edge.forward < NEVER), key=lambda edge: edge.forward)
    assert all(before.target == after.source for before, after in pairwise(walked))
