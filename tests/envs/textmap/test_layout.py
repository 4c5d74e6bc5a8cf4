"""The parts of text maps are a ladder: each imports from those before it, and none from one after it."""

import ast
from pathlib import Path

import pytest

from waybench.envs import textmap

ROOT = Path(textmap.__file__).parent
MAPS = {"_place_map", "_instances", "_prefix", "_paths"}
OTHERS = {"_minigame_game": "minigame", "_minigame_environment": "minigame", "_environments": "top"}
BELOW = {
    "map": set[str](),
    "worlds": {"map"},
    "questions": {"map", "worlds"},
    "minigame": {"map", "worlds", "questions"},
    "extraction": {"map", "worlds", "questions"},
    "drawing": {"map", "worlds", "questions", "minigame", "extraction"},
    "top": {"map", "worlds", "questions", "minigame", "extraction", "drawing"},
}


def part_of(name: str) -> str:
    """Return the part that a module or a package of text maps belongs to."""
    if not name.startswith("_"):
        return name
    return "map" if name in MAPS else "extraction" if name.startswith("_extraction") else OTHERS.get(name, "questions")


MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def test_every_part_is_there() -> None:
    assert {part_of(path.relative_to(ROOT).with_suffix("").parts[0]) for path in MODULES} == set(BELOW)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_part_imports_from_those_before_it_alone(path: Path) -> None:
    part = part_of(path.relative_to(ROOT).with_suffix("").parts[0])
    imported = {
        part_of(node.module.split(".")[3])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{textmap.__name__}.")
    }
    assert imported - {part} <= BELOW[part]
