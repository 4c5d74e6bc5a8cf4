import sys
import types
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
    found = _extras.missing_extra(ModuleNotFoundError(f"No module named {module!r}", name=module), "this command")
    assert str(found).endswith(f"which is not installed: pip install 'waybench[{extra}]'")


@pytest.mark.parametrize("module", ["numpy", "no_such_module", "waybench.nothing", None])
def test_other_modules_are_of_no_extra(module: str | None) -> None:
    assert _extras.missing_extra(ModuleNotFoundError(name=module)) is None


def test_every_extra_of_the_project_is_known() -> None:
    assert set(_extras.extras()) >= {"eval", "gym", "hf", "jericho", "textworld"}
    assert "inspect-ai" in _extras.extras()["eval"]


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if scipy, and all of waybench that uses it, had never been imported and could not be."""
    for name in [
        name for name in sys.modules if name.startswith(("waybench.results", "waybench.results.stats", "scipy"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)  # pyright: ignore[reportArgumentType]  what makes an import fail


def test_a_command_says_what_to_install(command: Command, without_scipy: None) -> None:
    assert one_line_error(command("power", "--rate", "0.5", "--detect", "0.1")) == (
        "Error: this command needs the package scipy, which is not installed: pip install 'waybench[eval]'\n"
    )


def test_a_function_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith(("inspect_ai", "waybench.evaluation"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)  # pyright: ignore[reportArgumentType]  so its import fails
    with pytest.raises(UsageError, match=r"^evaluate\(\) needs the package inspect-ai.*'waybench\[eval\]'$"):
        waybench.evaluate("hanoi", "waybench/oracle", out=tmp_path)


def test_a_missing_module_of_our_own_is_a_bug() -> None:
    @_extras.says_missing_extra
    def broken() -> None:
        raise ModuleNotFoundError(name="waybench.nothing")

    with pytest.raises(ModuleNotFoundError):
        broken()
    assert isinstance(waybench, types.ModuleType)
