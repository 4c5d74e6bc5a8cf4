"""The parts of text maps are a ladder: each imports from those before it, and none from one after it."""

import ast
from pathlib import Path

import pytest

from waybench.envs import textmap

ROOT = Path(textmap.__file__).parent
BELOW = {
    "map": set[str](),
    "worlds": {"map"},
    "questions": {"map", "worlds"},
    "minigame": {"map", "worlds", "questions"},
    "extract": {"map", "worlds", "questions"},
    "drawing": {"map", "worlds", "questions", "minigame", "extract"},
}


def test_every_part_has_its_place() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(BELOW)


@pytest.mark.parametrize("part", BELOW)
def test_a_part_imports_from_those_before_it_alone(part: str) -> None:
    imported = {
        node.module.split(".")[3]
        for path in (ROOT / part).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{textmap.__name__}.")
    }
    assert imported - {part} <= BELOW[part]
