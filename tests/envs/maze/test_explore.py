"""Partly seen mazes: what is seen, the oracle against an exhaustive search, and the metrics of exploration by hand."""

import re
from collections import Counter, deque
from functools import cache
from itertools import combinations
from typing import Any

import pytest

import waybench
from tests.envs.maze.mazes import dijkstra, open_cells
from waybench.core import DataError, Episode, Item, UsageError, play_to_end, policy
from waybench.envs.maze._game import Maze
from waybench.envs.maze.explore._exploration import best_step, oracle_steps
from waybench.envs.maze.explore._game import Sight
from waybench.people import PlayedEpisode

EXPLORE = waybench.load("maze/explore")
Cell = tuple[int, int]
STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

# Two ways go down from the first room; the left one is a dead end, as long as the window is wide.
FORK: Item[Maze] = EXPLORE.item(
    {
        "maze": [
            "0000X0000",
            "011111110",
            "010000010",
            "010000010",
            "010000010",
            "010000010",
            "010000010",
            "010000010",
            "000000010",
        ]
    }
)


def walked(item: Item[Maze], moves: str, **options: object) -> Episode[Any, Any, Any]:
    """Return an episode after moves, each named by its first letter."""
    names = {name[0]: name for name in STEPS}
    episode: Episode[Any, Any, Any] = Episode(EXPLORE, item, options)
    for letter in moves:
        episode.step(f'{{"move": "{names[letter]}"}}')
    return episode


def metrics(episode: Episode[Any, Any, Any]) -> dict[str, float | None]:
    record = episode.record()
    return {metric.name: metric.of(record) for metric in EXPLORE.scoring.metrics}


def view(episode: Episode[Any, Any, Any]) -> list[str]:
    return episode.messages[-1].text.partition("The view:\n")[2].splitlines()


def test_the_window_moves_with_the_player() -> None:
    assert view(walked(FORK, "")) == ["#####", "#####", "##X##", ".....", "#####"]
    assert view(walked(FORK, "dr")) == ["#####", "#.###", "..X..", "####.", "####."]
    assert view(walked(FORK, "", window=3)) == ["###", "#X#", "..."]
    assert 'view:\n[[0,0,0],[0,"X",0],[1,1,1]]' in walked(FORK, "", window=3, wording="matrix").messages[-1].text


def test_the_map_keeps_what_was_seen_and_nothing_else() -> None:
    rows = view(walked(FORK, "dr", window=3, wording="map"))
    assert rows == ["???#.##??", "???..X.??", "???####??", *["?" * 9] * 6]


@pytest.mark.parametrize(
    ("memory", "messages"),
    [({"memory": "chat"}, 13), ({"memory": "window", "memory_turns": 2}, 5), ({"memory": "fresh"}, 1)],
)
def test_memory(memory: dict[str, object], messages: int) -> None:
    assert len(walked(FORK, "drlrlr", **memory).messages) == messages


def test_an_even_window_is_refused() -> None:
    with pytest.raises(UsageError, match="window=4: give an odd number"):
        Episode(EXPLORE, FORK, {"window": 4})


@pytest.mark.parametrize(
    "rows", [["000X000", "0111110", "0101010", "0111110", "0100000"], ["0X0000", *["011110"] * 4, "010000"]]
)
def test_a_partly_seen_maze_is_square_and_odd(rows: list[str]) -> None:
    with pytest.raises(DataError, match="is square, and its dimension is odd"):
        EXPLORE.item({"maze": rows})


def test_illegal_and_unreadable_replies_change_nothing() -> None:
    episode = walked(FORK, "u")
    episode.step("left")
    episode.step('{"move": "left"}')
    assert [turn.outcome for turn in episode.turns] == ["illegal", "unparsed", "illegal"]
    assert [turn.events.get("obstacle") for turn in episode.turns] == ["outside", None, "wall"]
    assert episode.state.at == FORK.instance.entrance


def test_errors_and_revisits_by_hand() -> None:
    assert EXPLORE.scoring.metrics[0].of(walked(FORK, "drrr" + "d" * 7).record()) == 100
    # Down and three to the left; then up and down the dead end twice; the frontiers are below and on the right.
    episode = walked(FORK, "dlll" + "dddddd" + "uuuuuu" + "rrrrrr" + "ddddd", window=3)
    found = metrics(episode)
    # Nothing was in vain until the dead end was seen; going back to the fork on the right was needed.
    assert (found["exploration_errors"], found["exploitation_errors"], found["revisits"]) == (0, 0, 0)
    # One step back up and down again, with the end of the dead end unseen: two revisits.
    dithering = metrics(walked(FORK, "dlll" + "ddudd", window=3))
    assert (dithering["exploration_errors"], dithering["revisits"]) == (0, 2)  # up leads to the frontier on the right
    # With a window of 5 the wall below the dead end is seen from its last cell but one: the last step is an error.
    assert metrics(walked(FORK, "dlll" + "ddddd"))["exploration_errors"] == 0
    assert metrics(walked(FORK, "dlll" + "dddddd"))["exploration_errors"] == 1
    # The exit is seen from two cells above it; a step away from it is an error, and so is none on the way back.
    assert metrics(walked(FORK, "drrr" + "ddddd" + "u" + "ddd"))["exploitation_errors"] == 1
    assert metrics(walked(FORK, "drrr" + "ddddd" + "u" + "ddd"))["revisits"] == 2


def test_area_seen() -> None:
    reachable = len(dijkstra(open_cells(FORK.instance), (4, 0)))
    assert reachable == 21
    # At the entrance, a window of 3 has it and the three cells below.
    assert metrics(walked(FORK, "", window=3))["seen"] == pytest.approx(4 / 21)
    assert metrics(walked(FORK, "d", window=3))["seen"] == pytest.approx(4 / 21)
    assert metrics(walked(FORK, "dr", window=3))["seen"] == pytest.approx(5 / 21)


@pytest.mark.slow
@pytest.mark.parametrize("level", [5, 7, 9, 15])
@pytest.mark.parametrize("player", ["oracle", "heuristic"])
def test_a_depth_first_search_fits_in_the_turns_and_players_reach_the_exit(level: int, player: str) -> None:
    for item in EXPLORE.source("k", level, sides="any").head(5):
        for window in (3, 5):
            episode = play_to_end(EXPLORE, item, policy(player), {"window": window})
            cells = dijkstra(open_cells(item.instance), item.instance.lattice.position(item.instance.entrance))
            assert episode.limits.turns == 2 * (len(cells) - 1)
            assert episode.end_reason == "solved"
            if player == "oracle":
                assert len(episode.turns) == oracle_steps(item.instance, window)


def test_players_know_nothing_but_what_was_seen() -> None:
    """What was not seen can be exchanged, and they move as before."""
    rows = FORK.instance.rows()
    other = [row[:] for row in rows]
    for y in range(5, 8):
        other[y][1] = 0
    other[8][7], other[7][6], other[7][5], other[8][5] = 0, 1, 1, 1
    others = EXPLORE.item({"maze": other})
    for name in ("oracle", "heuristic"):
        for moves in ("", "d", "dr", "drr"):
            first, second = walked(FORK, moves, window=3), walked(others, moves, window=3)
            assert policy(name).reply(first) == policy(name).reply(second)


# An exhaustive search that owes nothing to the code under test, over all mazes of dimension 5.


def all_mazes(entrance: Cell) -> list[tuple[frozenset[Cell], Cell]]:
    """Return the open cells and the exit of all mazes of dimension 5 with an exit on the bottom side."""
    rooms = [(1, 1), (3, 1), (1, 3), (3, 3)]
    walls = [(2, 1), (2, 3), (1, 2), (3, 2)]
    found: list[tuple[frozenset[Cell], Cell]] = []
    for opened in (3, 4):
        for passages in combinations(walls, opened):
            for exit_ in ((1, 4), (3, 4)):
                found.append((frozenset([*rooms, *passages, entrance, exit_]), exit_))
    return found


def seen_from(maze: tuple[frozenset[Cell], Cell], at: Cell, half: int) -> frozenset[tuple[int, int, bool, bool]]:
    cells, exit_ = maze
    xs, ys = (range(max(0, at[i] - half), min(5, at[i] + half + 1)) for i in range(2))
    return frozenset((x, y, (x, y) in cells, (x, y) == exit_) for x in xs for y in ys)


def optimum(entrance: Cell, half: int) -> float:
    """Return the least expected number of steps, by trying every order of moves up to a depth."""

    @cache
    def value(possible: frozenset[tuple[frozenset[Cell], Cell]], at: Cell, left: int) -> float:
        if all(exit_ == at for _, exit_ in possible):
            return 0.0
        if not left:
            return 1000.0
        anyone = next(iter(possible))[0]
        best = 1000.0
        for dx, dy in STEPS.values():
            near = (at[0] + dx, at[1] + dy)
            if near not in anyone:  # the cells beside the player are seen, so all possible mazes agree on them
                continue
            groups: dict[Any, list[Any]] = {}
            for maze in possible:
                groups.setdefault(seen_from(maze, near, half), []).append(maze)
            parts = [(len(group), value(frozenset(group), near, left - 1)) for group in groups.values()]
            best = min(best, 1 + sum(count * part for count, part in parts) / len(possible))
        return best

    mazes = all_mazes(entrance)
    groups: dict[Any, list[Any]] = {}
    for maze in mazes:
        groups.setdefault(seen_from(maze, entrance, half), []).append(maze)
    return sum(len(group) * value(frozenset(group), entrance, 14) for group in groups.values()) / len(mazes)


@pytest.mark.parametrize("window", [3, 5])
@pytest.mark.parametrize("entrance", [(1, 0), (3, 0)])
def test_the_oracle_is_optimal_over_all_mazes_of_dimension_5(entrance: Cell, window: int) -> None:
    steps = 0
    mazes = all_mazes(entrance)
    assert len(mazes) == 10
    for cells, _ in mazes:
        rows = [["X" if (x, y) == entrance else int((x, y) in cells) for x in range(5)] for y in range(5)]
        steps += oracle_steps(EXPLORE.items.decode({"maze": rows}), window)
    assert steps / 10 == pytest.approx(optimum(entrance, window // 2))


def test_a_sight_of_another_kind_of_maze_has_a_move() -> None:
    """A maze without walls between rooms, and an exit on the entrance's side, is none that the source draws."""
    item = EXPLORE.item({"maze": ["0X00100", "0111110", "0111110", "0111110", "0111110", "0111110", "0000000"]})
    episode = play_to_end(EXPLORE, item, policy("oracle"), {"window": 3})
    assert episode.end_reason == "solved"
    assert isinstance(episode.state, Sight)
    assert best_step(walked(item, "d").state) == "right"


def test_failures() -> None:
    kinds: Counter[str] = Counter()
    for moves in ("drrrddddd" + "ud" * 20, "dlll" + "dddddd" + "ud" * 20, "u" * 60):
        episode = walked(FORK, "")
        names = {name[0]: name for name in STEPS}
        todo = deque(moves)
        while not episode.done:
            episode.step(f'{{"move": "{names[todo.popleft()]}"}}')
        kind = EXPLORE.scoring.failure_of(episode.record())
        assert kind is not None
        kinds[kind.name] += 1
    assert kinds == {"known_exit": 1, "aimless": 1, "illegal": 1}


def test_a_person_can_stop_and_sees_the_metrics() -> None:
    """The proof has no solution that is not an action, which is shown at the end of a person's game."""
    game = PlayedEpisode(walked(FORK, "d"), "maze_explore", {})
    assert game.solution_text() == ""
    assert game.result_lines()[0] == "Stopped before the end."
    assert EXPLORE.difficulty.item_variables[0].of(game.episode.record()) == 11
    assert {each.name: each.of(game.episode.record()) for each in EXPLORE.difficulty.item_variables}["turns"] == 2


def test_frames_are_veiled_from_the_first_on_and_show_what_was_seen() -> None:
    turns = walked(FORK, "drr").turns
    draw_frames = EXPLORE.presentation.draw_frames
    assert draw_frames is not None
    first, last = draw_frames(FORK.instance, turns, [0, 3])

    def veiled(svg: str) -> int:
        (path,) = re.findall(r'class="maze-unseen"[^>]* d="([^"]*)"', svg)
        return sum(int(run) for run in re.findall(r"h(\d+)", path))

    assert veiled(first) == 81 - 15  # the window at the entrance has three rows of five cells
    assert veiled(last) == 81 - 4 * 7  # two cells to the right of it and one below, four rows from column 2 on
