"""Lattices against the plainest possible computation on positions."""

from hypothesis import given
from hypothesis import strategies as st

from waybench.envs.spaces._lattice import DIRECTIONS, Lattice


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    width, height = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    cells = draw(st.lists(st.integers(0, 1), min_size=width * height, max_size=width * height))
    return Lattice(width, height, bytes(cells))


def cell_of(lattice: Lattice, x: int, y: int) -> int | None:
    inside = 0 <= x < lattice.width and 0 <= y < lattice.height
    return y * lattice.width + x if inside else None


def test_directions() -> None:
    assert DIRECTIONS == {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def test_a_small_one() -> None:
    #  0 1 2
    #  3 4 5    with 1 and 3 closed
    lattice = Lattice(3, 2, bytes([1, 0, 1, 0, 1, 1]))
    assert lattice.position(5) == (2, 1)
    assert [lattice.neighbour_cell(4, way) for way in DIRECTIONS] == [1, None, 3, 5]
    assert list(lattice.exits(5)) == [("up", 2), ("left", 4)]
    assert list(lattice.cells_ahead(5, "left")) == [4, 3]
    assert list(lattice.cells_ahead(3, "left")) == []
    assert [lattice.count_free_ahead(5, way) for way in DIRECTIONS] == [1, 0, 1, 0]
    assert lattice.distances(2) == (-1, -1, 0, -1, 2, 1)
    assert lattice.shortest_path(4, 2) == ("right", "up")
    assert lattice.shortest_path(0, 2) is None
    assert lattice.shortest_path(2, 2) == ()


@given(lattices(), st.data())
def test_steps_lines_and_exits(lattice: Lattice, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, len(lattice.cells) - 1))
    x, y = lattice.position(cell)
    assert cell == y * lattice.width + x
    exits = []
    for way, (dx, dy) in DIRECTIONS.items():
        line: list[int] = []
        while (ahead := cell_of(lattice, x + dx * (len(line) + 1), y + dy * (len(line) + 1))) is not None:
            line.append(ahead)
        assert list(lattice.cells_ahead(cell, way)) == line
        assert lattice.neighbour_cell(cell, way) == (line[0] if line else None)
        closed = [number for number, ahead in enumerate(line) if not lattice.cells[ahead]]
        assert lattice.count_free_ahead(cell, way) == (closed[0] if closed else len(line))
        if line and lattice.cells[line[0]]:
            exits.append((way, line[0]))
    assert list(lattice.exits(cell)) == exits


@given(lattices(), st.data())
def test_distances_and_paths(lattice: Lattice, data: st.DataObject) -> None:
    open_cells = [cell for cell, open_ in enumerate(lattice.cells) if open_]
    if not open_cells:
        return
    goal = data.draw(st.sampled_from(open_cells))
    far = {cell: 0 if cell == goal else 1000 for cell in open_cells}
    for _ in open_cells:  # relaxed as often as there are cells (Bellman and Ford)
        for cell in open_cells:
            far[cell] = min([far[cell], *(far[other] + 1 for _, other in lattice.exits(cell))])
    found = lattice.distances(goal)
    assert {cell: found[cell] if found[cell] >= 0 else 1000 for cell in open_cells} == far
    assert all(found[cell] == -1 for cell, open_ in enumerate(lattice.cells) if not open_)
    for start in open_cells:
        path = lattice.shortest_path(start, goal)
        assert (path is None) == (far[start] == 1000)
        if path is not None:
            assert len(path) == far[start]
            at = start
            for way in path:
                at = dict(lattice.exits(at))[way]
            assert at == goal
