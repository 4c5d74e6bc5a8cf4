from tests.cli.conftest import command, maze_501

__all__ = ["command", "maze_501"]
