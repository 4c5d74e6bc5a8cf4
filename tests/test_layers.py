"""Who may import whom (docs/design.md, "Layers"), and who may name an environment.

The source is read: imports wherever they stand in it, and strings that name modules, which count as imports.
"""

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import waybench
from tests.conftest import PATIENCE
from waybench.envs import registry

SOURCE = Path(waybench.__file__).parent
BOTTOM = {"core", "_late", "_package_data", "_version"}
PLAYED = BOTTOM | {"envs.spaces", "envs.smartplay", "envs"}

# Package -> the parts of waybench that it may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "_version": set(),
    "_compile": set(),
    "_extras": {"core"},
    "_svg": set(),
    "_late": set(),
    "_package_data": set(),
    "core": {"_version"},
    "envs.spaces": BOTTOM,
    "envs.smartplay": BOTTOM | {"_svg"},
    "envs": BOTTOM | {"_compile", "_svg", "envs.spaces", "envs.smartplay"},
    "testing": BOTTOM,
    "data": PLAYED,
    "results.papers": BOTTOM,
    "results.stats": BOTTOM,
    "ext.train": PLAYED | {"people", "results.stats"},
    "evaluation": PLAYED | {"results", "results.stats"},
    "evaluation.tasks": PLAYED | {"evaluation", "data", "results.stats"},
    "ext.author": PLAYED | {"evaluation", "data"},
    "results": PLAYED | {"results.papers", "results.stats"},
    "reporting": PLAYED | {"results", "results.papers", "results.stats"},
    "submission": PLAYED | {"results", "evaluation", "results.papers", "results.stats", "evaluation.tasks"},
    "ext.publish.leaderboard": PLAYED | {"results", "reporting", "submission"},
    "_game": PLAYED,
    "ext.publish.harbor": PLAYED | {"_game", "data", "evaluation.tasks"},
    "ext.publish.exports": PLAYED | {"results", "results.papers", "results.stats", "evaluation.tasks"},
    "reporting.view": BOTTOM,
    "ext.scale": {"core", "_version"},
    "ext.scale.shards": BOTTOM | {"ext.scale"},
    "people": PLAYED | {"reporting.view"},
    "cli": PLAYED
    | {
        "_game",
        "_runs",
        "_scoring",
        "_extras",
        "data",
        "results.stats",
        "ext.train",
        "evaluation",
        "evaluation.tasks",
        "ext.author",
        "results",
        "results.papers",
        "reporting",
        "ext.publish.exports",
        "ext.publish.harbor",
        "submission",
        "ext.publish.leaderboard",
        "ext.scale",
        "ext.scale.shards",
        "reporting.view",
        "people",
    }
    | {"testing"},
    "_scoring": PLAYED | {"data", "evaluation.tasks"},
    "_episodes": PLAYED | {"_scoring", "data", "evaluation.tasks"},
    "_runs": PLAYED | {"_extras", "data", "evaluation", "evaluation.tasks", "results", "results.papers", "reporting"},
    "__main__": {"cli"},
    "_analyses": {"_extras", "core", "cli"},
    "": BOTTOM | {"_analyses", "_episodes", "_runs"},  # waybench/__init__.py
}

# Library -> the packages that may import it. `analysis` has one module for it, which asks for logs.
ONLY_IMPORTED_BY = {
    "inspect_ai": {"evaluation", "evaluation.tasks", "ext.author", "results", "submission"},
    "gymnasium": {"ext.train"},
    "jericho": {"ext.author"},
    "anyio": {"evaluation", "ext.train", "reporting.view"},
    "mcp": {"ext.train"},
    "openenv": {"ext.train"},
    "ray": {"ext.scale"},
    "trl": {"ext.train"},
    "starlette": {"people", "ext.train", "reporting.view"},
    "textual": {"people"},
    "uvicorn": {"reporting.view"},
}
# Only tables whose code is loaded on demand name a function of waybench as "module:function".
TABLES = {"envs._index", "cli._app", "ext.author", "ext.train.gymnasium"}
_MODULE = re.compile(r"(waybench(?:\.\w+)+)(:\w*)?")
STDLIB_ONLY = {"_version", "_svg", "_late", "_package_data", "core", "envs.spaces", "envs.smartplay", ""}


class Import(NamedTuple):
    """One imported module, or name of a module, and where it is imported."""

    where: str  # dotted name of the importing module
    package: str  # dotted name of the package that the importing module is in
    what: str  # dotted name of what is imported
    target: bool = False  # whether a string names it as "module:function"


def module_name(path: Path) -> tuple[str, str]:
    """Return the dotted names of a module and of its package."""
    parts = ("waybench", *path.relative_to(SOURCE).with_suffix("").parts)
    package = ".".join(parts[:-1])
    return (package if parts[-1] == "__init__" else ".".join(parts)), package


def exists(module: str) -> bool:
    path = SOURCE.joinpath(*module.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports_of(source: str | ast.AST, where: str, package: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source) if isinstance(source, str) else source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _MODULE.fullmatch(node.value)
            if named and (named[2] or exists(named[1])):
                yield Import(where, package, named[0].strip(":").replace(":", "."), target=bool(named[2]))
        elif isinstance(node, ast.Import):
            for name in node.names:
                yield Import(where, package, name.name)
        elif isinstance(node, ast.ImportFrom):
            home = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*home, *([node.module] if node.module else [])])
            for name in node.names:
                yield Import(where, package, f"{source}.{name.name}")


def layer_of(name: str) -> str:
    """Return the longest beginning of a dotted name that has rules of its own, or its first part."""
    parts = name.split(".")
    return next((head for end in range(len(parts), 0, -1) if (head := ".".join(parts[:end])) in MAY_IMPORT), parts[0])


def breaches(found: Import) -> Iterator[str]:
    """Yield what is wrong with an import."""
    if found.target and found.where.removeprefix("waybench.") not in TABLES:
        yield "a function is given as a string: pass the function, or one that imports it when it is called"
    mine = layer_of(found.where.partition(".")[2])
    theirs = found.what.split(".")
    if theirs[0] != "waybench":
        if theirs[0] not in sys.stdlib_module_names and mine in STDLIB_ONLY:
            yield f"{mine or 'waybench'} imports nothing but the standard library"
        if mine not in ONLY_IMPORTED_BY.get(theirs[0], {mine}):
            yield f"{theirs[0]} is imported by {sorted(ONLY_IMPORTED_BY[theirs[0]])} only"
        return
    part = layer_of(".".join(theirs[1:]))
    if mine not in MAY_IMPORT:
        yield f"{mine} has no line in MAY_IMPORT: add one"
    elif part not in MAY_IMPORT[mine] | {mine} and not (part == "__version__" and mine):
        yield f"{mine or 'waybench'} does not import {part or 'waybench'}"
    if mine == "results.stats" and part == "core" and theirs[-1] != "Stream":
        yield "stats holds numbers only: of core it takes Stream"
    environment = found.where.split(".")[2:3]
    if mine == part == "envs" and environment and not environment[0].startswith("_") and theirs[2:3] != environment:
        yield "one environment never imports another, nor the catalogue"
    for depth, name in enumerate(theirs[1:], start=1):
        home = ".".join(theirs[:depth])
        private = name.startswith("_") and not name.startswith("__") and not exists(f"{home}.{name}")
        if private and not f"{found.package}.".startswith(f"{home}."):
            yield f"{name} is private to {home}"


DESIGN = Path(__file__).parents[1] / "docs" / "design.md"


def test_the_picture_of_the_layers_is_true() -> None:
    section = (
        DESIGN.read_text(encoding="utf-8").partition("## Layers, and who may import whom")[2].partition("\n## ")[0]
    )
    chains = [chain.split(" <- ") for chain in re.findall(r"[\w.]+(?: <- [\w.]+)+", section)]
    arrows = [pair for chain in chains for pair in pairwise(chain)]
    assert len(arrows) > 12
    assert [(low, high) for low, high in arrows if low not in MAY_IMPORT[high] or high in MAY_IMPORT[low]] == []
    table = dict(re.findall(r"^\| `([\w.]+)` \|.*?\| ([\w., ]*) \|[^|]*\|$", section, re.MULTILINE))
    public = {name for name in MAY_IMPORT if name and not name.startswith("_")}
    wanted = {name: {each for each in MAY_IMPORT[name] if not each.startswith("_")} for name in public}
    everything = public - {"cli"}
    assert {
        name: everything if cell == "all of these" else {each for each in cell.split(", ") if each}
        for name, cell in table.items()
    } == wanted


MODULES = sorted(SOURCE.rglob("*.py"))


def test_there_are_modules() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_keep_to_the_layers(path: Path) -> None:
    found = imports_of(path.read_text(encoding="utf-8"), *module_name(path))
    assert [f"{each.where}: {each.what}: {wrong}" for each in found for wrong in breaches(each)] == []


def target(name: str, modules: set[str]) -> str | None:
    """Return the module that an imported name is, or is taken from; None for other libraries."""
    return name if name in modules else home if (home := name.rpartition(".")[0]) in modules else None


def at_run_time(text: str) -> ast.AST:
    """Return a module's tree without what stands below `if TYPE_CHECKING`."""
    tree = ast.parse(text)
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return tree


def circles(found: Iterator[Import], modules: set[str]) -> list[list[str]]:
    """Return groups of modules that import each other, wherever in a module the imports stand."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for each in found:
        to = target(each.what, modules)
        # A module names its own package to find files beside itself.
        if to is not None and to != each.where and each.what != each.package:
            graph[each.where].add(to)

    def reached(start: str) -> set[str]:
        seen, left = set[str](), list(graph[start])
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += graph[name]
        return seen

    beyond = {name: reached(name) for name in graph}
    together = {tuple(sorted(other for other in beyond[name] if name in beyond[other])) for name in graph}
    return sorted(list(group) for group in together if group)


def graph_source(path: Path, package: str) -> str | ast.AST:
    """Return where imports of a module count: all of it in some packages, elsewhere without imports for types."""
    text = path.read_text(encoding="utf-8")
    # The block of types of a package's `__init__` only names what is loaded late.
    return text if package in ("core", "reporting") and path.name != "__init__.py" else at_run_time(text)


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCE).parts[0] for path in MODULES}))
def test_modules_do_not_import_each_other_in_a_circle(package: str) -> None:
    paths = [path for path in MODULES if path.relative_to(SOURCE).parts[0] == package]
    found = (each for path in paths for each in imports_of(graph_source(path, package), *module_name(path)))
    assert circles(found, {module_name(path)[0] for path in paths}) == []


def test_a_circle_is_found() -> None:
    found = [
        *imports_of("def late():\n    from p import _b", "p._a", "p"),
        *imports_of("from p._a import x", "p._b", "p"),
    ]
    assert circles(iter(found), {"p", "p._a", "p._b", "p._c"}) == [["p._a", "p._b"]]
    found = [*imports_of("from p import x", "p._a", "p"), *imports_of("from p._a import x", "p", "p")]
    assert circles(iter(found), {"p", "p._a"}) == [["p", "p._a"]]


def test_one_module_of_the_analysis_asks_inspect() -> None:
    readers = [
        path.name
        for path in (SOURCE / "results").rglob("*.py")
        if any(each.what.startswith("inspect_ai") for each in imports_of(path.read_text("utf-8"), *module_name(path)))
    ]
    assert len(readers) <= 1, f"{readers}: ask for logs in one place"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("core._x", "import numpy"),
        ("core._x", "import waybench.envs"),
        ("core._x", "def late():\n    from waybench.envs import spaces"),
        ("core._x", "from ..envs.spaces import Lattice"),
        (
            "core._x",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from waybench.envs.spaces import Lattice",
        ),
        ("envs.spaces._x", "from waybench.envs.maze import Maze"),
        ("envs.spaces._x", "from waybench.core._game import _private"),
        ("envs.spaces._x", "from waybench.core import _no_module"),
        ("envs.maze._x", "from waybench.envs.bandit import Bandit"),
        ("envs.maze._x", "from waybench.envs import registry"),
        ("envs.maze._x", "import waybench.evaluation"),
        ("envs.maze._x", "import inspect_ai"),
        ("envs.maze._x", "import gymnasium.spaces"),
        ("cli._x", "from inspect_ai import eval"),
        ("reporting._x", "from waybench.evaluation import play"),
        ("reporting._x", "from waybench.evaluation import tasks"),
        ("envs.maze._x", "import jericho"),
        ("ext.author._x", "from waybench.evaluation.tasks import load"),
        ("evaluation._x", "from waybench.cli import main"),
        ("reporting._x", "from waybench.reporting.view import serve"),
        ("reporting.view._x", "from waybench.reporting import write_report"),
        ("cli._x", "import starlette.applications"),
        ("results.stats._x", "from waybench.core import Metric"),
        ("testing._x", "from waybench.envs.maze import Maze"),
        ("novelty._x", "import waybench.core"),
        ("envs.maze._x", "import_module('waybench.envs.bandit')"),
        ("reporting._x", "DRAWER = 'waybench.envs.maze._drawing:draw'"),
        ("reporting._x", "DRAWER = 'waybench.reporting._replays:frames'"),
        ("evaluation.tasks._x", "TABLE = [f'waybench.evaluation.tasks._mango:{name}' for name in NAMES]"),
        ("cli._app", "COMMAND = 'waybench.envs.maze._game:_private'"),
    ],
)
def test_a_breach_is_found(where: str, text: str) -> None:
    package = f"waybench.{where}".rpartition(".")[0]
    assert [wrong for each in imports_of(text, f"waybench.{where}", package) for wrong in breaches(each)]


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("core._x", "import json\nfrom waybench._version import __version__"),
        ("core._x", "from waybench.core._game import Stream\nfrom ._random import Stream"),
        ("envs.maze._x", "from waybench.core import Stream\nfrom waybench.envs.spaces import Lattice"),
        ("envs.spaces._x", "from waybench.core._game import Stream"),
        ("envs.maze._x", "from waybench.envs.maze._game import Maze"),
        ("envs.maze._x", "import_module('waybench.envs.maze._game')"),
        ("envs._index", "from waybench.core import Entry\nEntry('maze/alicia', 1, 'waybench.envs.maze:ALICIA', '')"),
        ("cli._app", "COMMAND = 'waybench.cli._run:run'"),
        ("reporting._x", "KEY = 'waybench.schema'"),
        ("results.stats._x", "from waybench.core import Stream"),
        ("ext.train._x", "import gymnasium"),
        ("evaluation._x", "from inspect_ai.model import get_model\nfrom waybench.envs import registry"),
        ("cli._x", "from waybench import __version__\nfrom waybench.reporting import write"),
    ],
)
def test_what_is_allowed_is_no_breach(where: str, text: str) -> None:
    package = f"waybench.{where}".rpartition(".")[0]
    assert not [wrong for each in imports_of(text, f"waybench.{where}", package) for wrong in breaches(each)]


# What a module outside an environment's folder must not know: names of families, and of benchmarks made of them.
FAMILIES = "maze", "tilemap", "textmap", "bandit", "rps", "hanoi", "messenger", "crafter", "voxel"
BENCHMARKS = "alicia", "mango", "aqa", "gtb", "smartplay"
_FAMILY = re.compile(  # "search" is a common word: it is the family's name in an id or in an import
    rf"(?<![a-z])(?:{'|'.join((*FAMILIES, *BENCHMARKS))}|search(?=/[a-z])|(?<=envs\.)search)s?(?![a-z])", re.IGNORECASE
)
_LAYER = re.compile(r"waybench\.envs\.smartplay")  # a protocol that third parties can use as well

# Where they are named by right: environments and contributions to one family, the catalogue, and the published
# benchmarks and their papers as data.
OWN_FAMILY = re.compile(r"envs/[a-z]+/|ext/author/|evaluation/tasks/catalogue/")
PRESETS = {"envs/_index.py", "evaluation/tasks/_presets.py", "results/papers/__init__.py"}


def names_of_families(text: str) -> Counter[str]:
    """Return the names of families in code and strings; comments and docstrings may have them as examples."""
    text = _LAYER.sub("", text)
    if not _FAMILY.search(text):  # tokens take a hundred times as long
        return Counter()
    kept: list[str] = []
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts = before in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
        if token.type != tokenize.COMMENT and not (token.type == tokenize.STRING and starts):
            kept.append(token.string)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return Counter(name.lower() for name in _FAMILY.findall(" ".join(kept).replace(" . ", ".")))


def test_only_the_catalogue_and_the_presets_name_a_family() -> None:
    found = {
        str(path.relative_to(SOURCE)): names.total()
        for path in MODULES
        if not OWN_FAMILY.match(name := path.relative_to(SOURCE).as_posix()) and name not in PRESETS
        if (names := names_of_families(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "an environment declares what is known of it"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from waybench.envs.maze import ALICIA", 2),
        ("from waybench.envs.search import DFS", 1),
        ("TABLE = {'search/dfs': 1, 'textmap/route': 2}", 2),
        ("def horizon_mazes(): pass", 1),
        ("def told() -> str:\n    return f'a maze of {size}'", 1),
        ("def plural():\n    'Return \"2 mazes\".'", 0),
        ('"As in maze/alicia."\nX = 1  # a maze', 0),
        ("from waybench.envs.smartplay import Scene", 0),
        ("import amazed, mazelike\nsearch = research = 'a search'", 0),
    ],
)
def test_names_of_families_are_found(text: str, count: int) -> None:
    assert names_of_families(text).total() == count


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
    script += "\n".join(f"waybench.load({entry.id!r})" for entry in registry.built_in)
    assert not loaded_by(script) & {"inspect_ai", "gymnasium", "hypothesis", "pytest"}


PACKAGES = sorted(module_name(path)[0] for path in MODULES if path.name == "__init__.py")


def listed(path: Path) -> list[str]:
    """Return what a package's `__all__` says, without importing it; nothing if it has none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return ast.literal_eval(node.value)
    return []


def order(name: str) -> tuple[int, str]:
    """Sort constants first, then classes, then the rest, as ruff does (RUF022)."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


@pytest.mark.parametrize("package", PACKAGES)
def test_public_surface(package: str) -> None:
    names = listed(SOURCE.joinpath(*package.split(".")[1:], "__init__.py"))
    assert names == sorted(set(names), key=order)
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("waybench"):
            raise
        pytest.skip(f"{package} needs {error.name}, which is not installed")
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{package} has no {missing}"


NAMED_BY_USERS = {"waybench", "waybench.evaluation.tasks.catalogue"}  # whose modules are names of files for others


@pytest.mark.parametrize("package", [package for package in PACKAGES if package not in NAMED_BY_USERS])
def test_modules_are_private(package: str) -> None:
    folder = SOURCE.joinpath(*package.split(".")[1:])
    public = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    assert not public, f"{package}: {public} begin without an underscore"
