from typing import Any

import pytest


@pytest.fixture
def maze_501() -> dict[str, Any]:
    """Maze 501 of AliciaBench's description: six steps at least."""
    rows = [[0, 0, 0, "X", 0], [0, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 1, 0], [0, 1, 0, 0, 0]]
    return {"maze": rows}
