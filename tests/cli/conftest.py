from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.cli.support import Command
from waybench.cli import main


@pytest.fixture
def command() -> Command:
    """Run `waybench ARGS...` in this process."""

    def run(*args: object, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def maze_501() -> dict[str, Any]:
    """Maze 501 of AliciaBench's description: six steps at least."""
    rows = [[0, 0, 0, "X", 0], [0, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 1, 0], [0, 1, 0, 0, 0]]
    return {"maze": rows}
