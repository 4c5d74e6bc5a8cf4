import sys
import types
from importlib import import_module
from pathlib import Path

import pytest

import waybench
from tests.cli.support import Command, one_line_error
from waybench import _extras
from waybench.core import UsageError


@pytest.mark.parametrize(
    ("module", "extra"),
    [("inspect_ai.model", "eval"), ("vl_convert", "eval"), ("jinja2", "eval"), ("gymnasium", "gym"), ("torch", "hf")],
)
def test_a_missing_package_names_its_extra(module: str, extra: str) -> None:
    found = _extras.missing_extra_error(ModuleNotFoundError(f"No module named {module!r}", name=module), "this command")
    assert str(found).endswith(f": pip install 'waybench[{extra}]'")


def test_a_package_in_another_version_is_not_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ModuleNotFoundError(name="mcp.server.mcpserver")  # which came with its second major version
    monkeypatch.setattr(_extras, "packages_by_extra", lambda: {"mcp": ["mcp"], "openenv": ["openenv"]})
    assert "the package mcp, which is not installed: pip" in str(_extras.missing_extra_error(error))
    monkeypatch.setitem(sys.modules, "mcp", types.ModuleType("mcp"))
    monkeypatch.setattr(_extras, "version", lambda package: "1.30.0")
    assert str(_extras.missing_extra_error(error)) == (
        "this needs the package mcp, in another version than 1.30.0: pip install 'waybench[mcp]'"
    )


@pytest.mark.parametrize("module", ["numpy", "no_such_module", "waybench.nothing", None])
def test_other_modules_are_of_no_extra(module: str | None) -> None:
    assert _extras.missing_extra_error(ModuleNotFoundError(name=module)) is None


def test_every_extra_of_the_project_is_known() -> None:
    assert set(_extras.packages_by_extra()) >= {"eval", "gym", "hf", "jericho", "textworld"}
    assert "inspect-ai" in _extras.packages_by_extra()["eval"]


def forget(monkeypatch: pytest.MonkeyPatch, package: str, library: str) -> None:
    """Make it as if a library were not installed, and a package of waybench that uses it not imported yet."""
    loaded = import_module(f"waybench.{package}")
    for name in [name for name in sys.modules if name.startswith((f"waybench.{package}", library))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)  # pyright: ignore[reportArgumentType]  what makes an import fail
    monkeypatch.setattr(waybench, package, loaded)  # what the test imports is put back by this one


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if SciPy were not installed."""
    forget(monkeypatch, "results", "scipy")


def test_a_command_says_what_to_install(command: Command, without_scipy: None) -> None:
    assert one_line_error(command("power", "--rate", "0.5", "--detect", "0.1")) == (
        "Error: this command needs the package scipy, which is not installed: pip install 'waybench[eval]'\n"
    )


def test_a_function_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forget(monkeypatch, "evaluation", "inspect_ai")
    with pytest.raises(UsageError, match=r"^evaluate\(\) needs the package inspect-ai.*'waybench\[eval\]'$"):
        waybench.evaluate("hanoi", "waybench/oracle", out=tmp_path)


def test_a_missing_module_of_our_own_is_a_bug() -> None:
    @_extras.says_missing_extra
    def broken() -> None:
        raise ModuleNotFoundError(name="waybench.nothing")

    with pytest.raises(ModuleNotFoundError):
        broken()
    assert isinstance(waybench, types.ModuleType)
