"""What a package exports: what two or more packages use, or users (docs/design.md, "Layers").

A name with one user is imported from its module. Users are the other packages of waybench (an environment's folder is
one package, whatever it has inside), and what is outside: documentation, examples, integrations, and tables
that name "package:name".
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_layers import MODULES, SOURCE, listed, module_name

ROOT = SOURCE.parents[1]
OUTSIDE = ("docs", "examples", "integrations")
# The documented functions, what a server's program names, and the contract tests for packages of others.
USED_BY_PROGRAMS = {"waybench", "waybench.ext.train.openenv", "waybench.testing"}


def exports() -> dict[str, list[str]]:
    """Return what each package's `__all__` lists."""
    lists = {module_name(path)[0]: listed(path) for path in MODULES if path.name == "__init__.py"}
    return {package: names for package, names in lists.items() if names}


def imported(text: str, packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (package, name) for each name that a program takes from a package, by import or as its attribute."""
    known = set(packages)
    nodes = list(ast.walk(ast.parse(text)))
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                if node.module in known:
                    yield node.module, name.name
                if f"{node.module}.{name.name}" in known:
                    modules[name.asname or name.name] = f"{node.module}.{name.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and (package := dotted_name(node.value)):
            yield modules.get(package, package), node.attr


def dotted_name(node: ast.expr) -> str:
    """Return what names a module, such as "waybench.core"; "" for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (home := dotted_name(node.value)):
        return f"{home}.{node.attr}"
    return ""


def owner(package: str) -> str:
    """Return the package that counts as one user: an environment, a package of `ext`, or one of the others."""
    parts = package.split(".")
    return ".".join(parts[: 3 if parts[1:2] in (["envs"], ["ext"]) else 2])


LISTS = exports()


@cache
def users() -> dict[tuple[str, str], set[str]]:
    """Return the users of each exported name: other packages by name, and what is outside."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in MODULES:
        text = path.read_text("utf-8")
        package = module_name(path)[1]
        for home, name in imported(text, LISTS):
            if home != package:
                found[home, name].add(package if owner(package) == owner(home) else owner(package))
        for home, name in re.findall(r"\"(waybench[\w.]*):(\w+)\"", text):
            found[home, name].add(f"table of {package}")
    for path in [ROOT / "pyproject.toml", *(file for name in OUTSIDE for file in (ROOT / name).rglob("*.py"))]:
        text = path.read_text("utf-8")
        named = imported(text, LISTS) if path.suffix == ".py" else re.findall(r"\"(waybench[\w.]*):(\w+)\"", text)
        for home, name in named:
            found[home, name].add("outside")
    for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text("utf-8")
        for home, names in re.findall(r"from (waybench[\w.]*) import \(?([\w,\s]+)", text):
            for name in re.findall(r"\w+", names):
                found[home, name].add("outside")
        for home, name in re.findall(r"(waybench[\w.]*)\.(\w+)", text):
            found[home, name].add("outside")
    return found


@pytest.mark.parametrize("package", sorted(set(LISTS) - USED_BY_PROGRAMS))
def test_an_exported_name_has_two_users(package: str) -> None:
    """A table that names an environment, and users outside, are enough."""
    inside = package.startswith("waybench.envs.") and package.count(".") > 2  # a part of one environment
    lonely = [
        name
        for name in LISTS[package]
        if not any(user == "outside" or user.startswith("table") for user in users()[package, name])
        and (inside or len(users()[package, name]) < 2)
    ]
    assert lonely == [], f"import {lonely} from their modules, and take them out of {package}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_an_exported_name_is_imported_from_its_package(path: Path) -> None:
    """One name has one place outside its own package."""
    package = module_name(path)[1]
    wrong = [
        f"{name.name} of {node.module}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for home in [node.module.rpartition(".")[0]]
        if node.module not in LISTS and home in LISTS and not f"{package}.".startswith(f"{home}.")
        for name in node.names
        if name.name in LISTS[home]
    ]
    assert wrong == []


def test_there_are_exports_and_users() -> None:
    assert len(LISTS) > 20
    assert len(users()["waybench.core", "Stream"]) > 5
