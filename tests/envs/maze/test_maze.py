"""Mazes from outside: what is taken, and one clear line for everything else."""

import copy
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.maze.mazes import ALICIA, CORRIDOR, MAZE_501, ROWS_501, dijkstra, open_cells
from waybench.core import DataError, Episode, play_to_end, policy
from waybench.envs.maze import _game as game
from waybench.envs.maze._game import Maze

Rows = list[list[object]]


NO_ROWS = 'instance: give {"maze": ["000X0", ...]} or {"maze": [[0,0,0,"X",0], ...]}, a list of rows'


def changed(*changes: tuple[int, int, object]) -> Rows:
    """Return maze 501 with some (row, column, value)."""
    rows: Rows = copy.deepcopy(ROWS_501)
    for y, x, value in changes:
        rows[y][x] = value
    return rows


def test_maze_501() -> None:
    maze = MAZE_501.instance
    assert (maze.size, maze.lattice.position(maze.entrance), maze.lattice.position(maze.exit)) == (5, (3, 0), (1, 4))
    assert maze.to_json() == {"maze": ROWS_501}
    assert maze.canonical() == "000X0\n01110\n01010\n01110\n01000"
    assert maze.hash == hashlib.sha256(maze.canonical().encode()).hexdigest()
    assert MAZE_501.level == 5


def test_rows_show_the_player() -> None:
    assert MAZE_501.instance.rows(6) == changed((0, 3, 1), (1, 1, "X"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, NO_ROWS),
        ([], "maze: the matrix has 0 rows; give 5 to 1001"),
        ({}, NO_ROWS),
        ({"maze": "X"}, NO_ROWS),
        ({"maze": ["000X0"] * 5}, 'maze: it needs exactly one "X", and on the border: the entrance'),
        ({"maze": []}, "maze: the matrix has 0 rows; give 5 to 1001"),
        ({"maze": [[0] * 4] * 4}, "maze: the matrix has 4 rows; give 5 to 1001"),
        ({"maze": [[0] * 3] * 3}, "maze: the matrix has 3 rows; give 5 to 1001"),
        ({"maze": [[0] * 4] * 6}, "maze: the matrix has 4 columns; give 5 to 1001"),
        ({"maze": [[]] * 1003}, "maze: the matrix has 1,003 rows; give 5 to 1001"),
        ({"maze": [*ROWS_501[:4], [0, 1, 0, 0]]}, "maze: row 4 has 4 cells, not 5 as row 0"),
        ({"maze": changed((2, 3, 2))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((2, 3, "1"))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((2, 3, True))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((2, 3, 1.0))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((2, 3, None))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((2, 3, []))}, 'maze: row 2, column 3: a cell is 0, 1 or "X"'),
        ({"maze": changed((0, 3, 1))}, 'maze: it needs exactly one "X", and on the border: the entrance'),
        ({"maze": changed((4, 1, "X"))}, 'maze: it needs exactly one "X", and on the border: the entrance'),
        ({"maze": changed((0, 3, 1), (1, 1, "X"))}, 'maze: it needs exactly one "X", and on the border: the entrance'),
        (
            {"maze": changed((4, 1, 0))},
            "maze: it needs exactly one opening in the border besides the entrance, and none in a corner",
        ),
        (
            {"maze": changed((2, 0, 1))},
            "maze: it needs exactly one opening in the border besides the entrance, and none in a corner",
        ),
        (
            {"maze": changed((4, 1, 0), (4, 0, 1))},
            "maze: it needs exactly one opening in the border besides the entrance, and none in a corner",
        ),
        (
            {"maze": changed((0, 3, 0), (0, 0, "X"))},
            "maze: it needs exactly one opening in the border besides the entrance, and none in a corner",
        ),
        ({"maze": changed((1, 3, 0))}, "maze: the exit cannot be reached from the entrance"),
        ({"maze": changed((3, 1, 0))}, "maze: the exit cannot be reached from the entrance"),
    ],
)
def test_what_is_no_maze(data: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        ALICIA.item(data)
    assert str(caught.value) == message


def test_a_maze_of_any_shape_is_taken() -> None:
    assert dict(CORRIDOR.proof) == {"minimum": 6, "solution": [["right", 6]], "loops": 0, "junctions": 1}
    rows = [
        ["X" if (x, y) == (2, 0) else int((x, y) == (2, 4) or (0 < x < 4 and 0 < y < 4)) for x in range(5)]
        for y in range(5)
    ]
    assert ALICIA.item({"maze": rows}).proof["loops"] == 4


RECTANGLE = ["000X0000", "01110110", "01010010", "01111110", "00000010", "00000010"]  # 6 rows of 8 cells


def test_a_rectangle_with_even_sides() -> None:
    """Its way by hand: down to the third row, right to the last room, down and out."""
    item = ALICIA.item({"maze": RECTANGLE})
    maze: Maze = item.instance
    assert (item.level, maze.lattice.width, maze.lattice.height) == (8, 8, 6)
    assert maze.canonical().split("\n") == RECTANGLE
    assert dict(item.proof) == {
        "minimum": 8,
        "solution": [["down", 3], ["right", 3], ["down", 2]],
        "loops": 1,
        "junctions": 3,
    }
    for player in ("oracle", "heuristic"):
        assert play_to_end(ALICIA, item, policy(player), {}).record().end == "solved"
    assert [line for line in ALICIA.items.isomorph(maze, "k", 1).lines() if "X" in line]
    turned = {len(ALICIA.items.isomorph(maze, "k", number).lines()) for number in (1, 2, 3)}
    assert turned == {6, 8}
    start = Episode(ALICIA, item, {"wording": "prose"}).messages[-1].text
    assert "8 cells wide and 6 cells high" in start
    assert "Size: 8 x 6" in Episode(ALICIA, item, {"wording": "coordinates"}).messages[-1].text
    drawn = ALICIA.presentation.scene(maze, ())
    assert (drawn.size, drawn.label) == ((8, 6), "Maze of 8 x 6 cells")
    [rows] = [ALICIA.presentation.board(game.start(maze), ()).rows]
    assert (len(rows), {len(row) for row in rows}) == (6, {8})


@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=5, max_size=5), st.data())
def test_the_proof_of_any_maze(inside: list[list[int]], data: st.DataObject) -> None:
    size = 7
    rows: Rows = [[0] * size, *([0, *row, 0] for row in inside), [0] * size]
    sides = [(0, i) for i in range(1, 6)] + [(6, i) for i in range(1, 6)] + [(i, 0) for i in range(1, 6)]
    (y, x), (exit_y, exit_x) = data.draw(st.lists(st.sampled_from(sides), min_size=2, max_size=2, unique=True))
    rows[y][x], rows[exit_y][exit_x] = "X", 1
    cells = {(column, row) for row, line in enumerate(rows) for column, cell in enumerate(line) if cell != 0}
    far = dijkstra(cells, (x, y))
    if (exit_x, exit_y) not in far:
        with pytest.raises(DataError, match="cannot be reached"):
            ALICIA.item({"maze": rows})
        return
    item = ALICIA.item({"maze": rows})
    assert open_cells(item.instance) == cells
    assert item.proof["minimum"] == far[exit_x, exit_y]
    reached = set(far)
    edges = sum(((a + 1, b) in reached) + ((a, b + 1) in reached) for a, b in reached)
    assert item.proof["loops"] == edges - len(reached) + 1


def test_rows_can_be_texts_and_stand_alone() -> None:
    wanted = ALICIA.item({"maze": ROWS_501}).instance
    texts = ["".join(map(str, row)) for row in ROWS_501]
    for data in ({"maze": texts}, texts, ROWS_501, [*texts[:2], *ROWS_501[2:]]):
        assert ALICIA.item(data).instance == wanted
    with pytest.raises(DataError, match='maze: row 1, column 2: a cell is 0, 1 or "X"'):
        ALICIA.item([texts[0], "01 10", *texts[2:]])
