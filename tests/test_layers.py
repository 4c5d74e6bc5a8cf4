"""Who may import whom (docs/design.md, "Layers"): the imports of the source are read, wherever they stand in it."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import waybench
from tests.conftest import PATIENCE
from waybench.envs import registry

SOURCE = Path(waybench.__file__).parent
BOTTOM = {"core", "_late", "_version"}
PLAYED = BOTTOM | {"spaces", "smartplay", "envs"}

# Package -> the parts of waybench that it may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "_version": set(),
    "_compile": set(),
    "_svg": set(),
    "_late": set(),
    "core": {"_version"},
    "spaces": BOTTOM,
    "smartplay": BOTTOM,
    "envs": BOTTOM | {"_compile", "_svg", "spaces", "smartplay"},
    "testing": BOTTOM,
    "data": BOTTOM,
    "stats": BOTTOM,
    "gym": PLAYED,
    "eval": PLAYED | {"stats"},
    "tasks": PLAYED | {"eval", "data", "stats"},
    "contrib": PLAYED | {"eval"},
    "analysis": PLAYED | {"stats"},
    "report": PLAYED | {"analysis", "stats"},
    "view": BOTTOM,
    "cli": PLAYED | {"data", "stats", "gym", "eval", "tasks", "contrib", "analysis", "report", "view", "testing"},
    "__main__": {"cli"},
    "": BOTTOM | {"envs"},  # waybench/__init__.py
}

# Library -> the packages that may import it. `analysis` has one module for it, which asks for logs.
ONLY_IMPORTED_BY = {
    "inspect_ai": {"eval", "tasks", "contrib", "analysis"},
    "gymnasium": {"gym"},
    "jericho": {"contrib"},
    "anyio": {"view"},
    "starlette": {"view"},
    "uvicorn": {"view"},
}
STDLIB_ONLY = {"_version", "_svg", "_late", "core", "spaces", "smartplay", ""}


class Import(NamedTuple):
    """One imported module, or name of a module, and where it is imported."""

    where: str  # dotted name of the importing module
    package: str  # dotted name of the package that the importing module is in
    what: str  # dotted name of what is imported


def module_name(path: Path) -> tuple[str, str]:
    """Return the dotted names of a module and of its package."""
    parts = ("waybench", *path.relative_to(SOURCE).with_suffix("").parts)
    package = ".".join(parts[:-1])
    return (package if parts[-1] == "__init__" else ".".join(parts)), package


def imports_of(text: str, where: str, package: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(where, package, name.name)
        elif isinstance(node, ast.ImportFrom):
            home = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*home, *([node.module] if node.module else [])])
            for name in node.names:
                yield Import(where, package, f"{source}.{name.name}")


def breaches(found: Import) -> Iterator[str]:
    """Yield what is wrong with an import."""
    mine = found.where.partition(".")[2].partition(".")[0]
    theirs = found.what.split(".")
    if theirs[0] != "waybench":
        if theirs[0] not in sys.stdlib_module_names and mine in STDLIB_ONLY:
            yield f"{mine or 'waybench'} imports nothing but the standard library"
        if mine not in ONLY_IMPORTED_BY.get(theirs[0], {mine}):
            yield f"{theirs[0]} is imported by {sorted(ONLY_IMPORTED_BY[theirs[0]])} only"
        return
    part = theirs[1] if len(theirs) > 1 else ""
    if mine not in MAY_IMPORT:
        yield f"{mine} has no line in MAY_IMPORT: add one"
    elif part not in MAY_IMPORT[mine] | {mine} and not (part == "__version__" and mine):
        yield f"{mine or 'waybench'} does not import {part or 'waybench'}"
    if mine == "stats" and part == "core" and theirs[2:] != ["Stream"]:
        yield "stats holds numbers only: of core it takes Stream"
    environment = found.where.split(".")[2:3]
    if mine == part == "envs" and environment and not environment[0].startswith("_") and theirs[2:3] != environment:
        yield "one environment never imports another, nor the catalogue"
    for depth, name in enumerate(theirs[1:], start=1):
        home = ".".join(theirs[:depth])
        if name.startswith("_") and not name.startswith("__") and not f"{found.package}.".startswith(f"{home}."):
            yield f"{name} is private to {home}"


MODULES = sorted(SOURCE.rglob("*.py"))


def test_there_are_modules() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_keep_to_the_layers(path: Path) -> None:
    found = imports_of(path.read_text(encoding="utf-8"), *module_name(path))
    assert [f"{each.where}: {each.what}: {wrong}" for each in found for wrong in breaches(each)] == []


def test_one_module_of_the_analysis_asks_inspect() -> None:
    readers = [
        path.name
        for path in (SOURCE / "analysis").rglob("*.py")
        if any(each.what.startswith("inspect_ai") for each in imports_of(path.read_text("utf-8"), *module_name(path)))
    ]
    assert len(readers) <= 1, f"{readers}: ask for logs in one place"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("core._x", "import numpy"),
        ("core._x", "import waybench.envs"),
        ("core._x", "def late():\n    from waybench import spaces"),
        ("core._x", "from ..spaces import Lattice"),
        ("core._x", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from waybench.spaces import Lattice"),
        ("spaces._x", "from waybench.envs.maze import Maze"),
        ("spaces._x", "from waybench.core._random import Stream"),
        ("spaces._x", "from waybench.core import _random"),
        ("envs.maze._x", "from waybench.envs.bandit import Bandit"),
        ("envs.maze._x", "from waybench.envs import registry"),
        ("envs.maze._x", "import waybench.eval"),
        ("envs.maze._x", "import inspect_ai"),
        ("envs.maze._x", "import gymnasium.spaces"),
        ("cli._x", "from inspect_ai import eval"),
        ("report._x", "from waybench.eval import play"),
        ("report._x", "from waybench import tasks"),
        ("envs.maze._x", "import jericho"),
        ("contrib._x", "from waybench.tasks import load"),
        ("eval._x", "from waybench.cli import main"),
        ("report._x", "from waybench.view import serve"),
        ("view._x", "from waybench.report import write_report"),
        ("cli._x", "import starlette.applications"),
        ("stats._x", "from waybench.core import Metric"),
        ("testing._x", "from waybench.envs.maze import Maze"),
        ("novelty._x", "import waybench.core"),
    ],
)
def test_a_breach_is_found(where: str, text: str) -> None:
    package = f"waybench.{where}".rpartition(".")[0]
    assert [wrong for each in imports_of(text, f"waybench.{where}", package) for wrong in breaches(each)]


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("core._x", "import json\nfrom waybench._version import __version__"),
        ("core._x", "from waybench.core._random import Stream\nfrom ._random import Stream"),
        ("envs.maze._x", "from waybench.core import Stream\nfrom waybench.spaces import Lattice"),
        ("envs.maze._x", "from waybench.envs.maze._instance import Maze"),
        ("envs.maze._x", "import_module('waybench.envs.bandit')"),
        ("envs._index", "from waybench.core import Entry"),
        ("stats._x", "from waybench.core import Stream"),
        ("gym._x", "import gymnasium"),
        ("eval._x", "from inspect_ai.model import get_model\nfrom waybench.envs import registry"),
        ("cli._x", "from waybench import __version__\nfrom waybench.report import write"),
    ],
)
def test_what_is_allowed_is_no_breach(where: str, text: str) -> None:
    package = f"waybench.{where}".rpartition(".")[0]
    assert not [wrong for each in imports_of(text, f"waybench.{where}", package) for wrong in breaches(each)]


def loaded_by(script: str) -> set[str]:
    """Return the top-level modules that a script has loaded in the end, in a process of its own."""
    script += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    return set(done.stdout.split())


def test_import_is_light() -> None:
    loaded = loaded_by("import waybench")
    assert "waybench" in loaded
    heavy = {"inspect_ai", "gymnasium", "numpy", "scipy", "altair", "click", "jinja2", "hypothesis", "pytest"}
    assert not loaded & heavy


def test_playing_is_light() -> None:
    script = "import waybench\nfrom waybench.testing import run_check\n"
    script += "\n".join(f"waybench.load({entry.id!r})" for entry in registry.entries)
    assert not loaded_by(script) & {"inspect_ai", "gymnasium", "hypothesis", "pytest"}


PACKAGES = sorted(module_name(path)[0] for path in MODULES if path.name == "__init__.py")


def listed(path: Path) -> list[str] | None:
    """Return what a package's `__all__` says, without importing it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return ast.literal_eval(node.value)
    return None


def order(name: str) -> tuple[int, str]:
    """Sort constants first, then classes, then the rest, as ruff does (RUF022)."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


@pytest.mark.parametrize("package", PACKAGES)
def test_public_surface(package: str) -> None:
    names = listed(SOURCE.joinpath(*package.split(".")[1:], "__init__.py"))
    assert names is not None, f"{package} has no __all__"
    assert names == sorted(set(names), key=order)
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("waybench"):
            raise
        pytest.skip(f"{package} needs {error.name}, which is not installed")
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{package} has no {missing}"


@pytest.mark.parametrize("package", [package for package in PACKAGES if package != "waybench"])
def test_modules_are_private(package: str) -> None:
    folder = SOURCE.joinpath(*package.split(".")[1:])
    public = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    assert not public, f"{package}: {public} begin without an underscore"
