"""The catalogue: lazy, versioned, and clear about what it does not have."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import waybench
from tests.conftest import PATIENCE
from tests.toys import DIAL
from waybench.core import Entry, UsageError, WaybenchError, unknown_name_message
from waybench.core._registry import Registry
from waybench.envs import registry

ROOT = Path(__file__).parents[2]
GROUP = "waybench.toys"  # so that what is installed beside waybench has no part in it
LINE = Entry("toy/dial", 1, "tests.toys:DIAL", "a dial")


def test_load() -> None:
    catalogue = Registry([LINE])
    assert catalogue.load("toy/dial") is DIAL
    assert catalogue.load("toy/dial@1") is DIAL


def test_unknown_id_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown environment 'toy/dail': did you mean 'toy/dial'\? choose from toy"):
        Registry([LINE]).load("toy/dail")
    with pytest.raises(UsageError, match=r"^unknown environment 'x': choose from atlas/world"):
        waybench.load("x")


@pytest.mark.parametrize("version", ["2", "one", "01", "1@1"])
def test_another_version(version: str) -> None:
    with pytest.raises(UsageError, match=rf"^toy/dial is at version 1, not {version}: use toy/dial@1$"):
        Registry([LINE]).load(f"toy/dial@{version}")


def test_register() -> None:
    catalogue = Registry([])
    catalogue.register(LINE)
    assert catalogue.entries == (LINE,)
    with pytest.raises(WaybenchError, match="environment 'toy/dial' exists already: choose another id"):
        catalogue.register(LINE)


def test_entries_are_in_order() -> None:
    lines = [Entry(id_, 1, "tests.toys:DIAL", "") for id_ in ("b/x", "a/y", "a/x")]
    assert [entry.id for entry in Registry(lines).entries] == ["a/x", "a/y", "b/x"]


@pytest.mark.parametrize("entry", [Entry("toy/other", 1, LINE.target, ""), Entry("toy/dial", 2, LINE.target, "")])
def test_line_that_does_not_fit_the_environment(entry: Entry) -> None:
    with pytest.raises(WaybenchError, match=r"tests.toys:DIAL: the Entry has the (id|version) .*: give both the same"):
        Registry([entry]).load(entry.id)


def test_code_that_fails_to_load_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError):
        Registry([Entry("toy/gone", 1, "tests.gone:GONE", "")]).load("toy/gone")


def test_catalogue_loads_nothing_before_it_is_asked() -> None:
    catalogue = Registry([Entry("toy/lazy", 1, "wave:nothing", "")])
    assert catalogue.entries
    assert "wave" not in sys.modules


def test_catalogue_of_the_package() -> None:
    assert "maze/alicia" in [entry.id for entry in registry.entries]


Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a package on the path, with its metadata, as an installer would: a module and its entry points."""

    def write(module: str, code: str, *points: str, group: str = GROUP) -> Path:
        metadata = tmp_path / f"{module}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n" + "\n".join(points) + "\n")
        code = f"from waybench.core import Entry\nLINE = Entry('toy/dial', 1, 'tests.toys:DIAL', 'a dial')\n{code}\n"
        (tmp_path / f"{module}.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    return write


def test_an_installed_package_adds_its_lines(install: Install) -> None:
    other = "Entry('toy/other', 1, 'toys_a:OTHER', '')"
    install("toys_a", f"def other():\n    return {other}", "dial = toys_a:LINE", "other = toys_a:other")
    catalogue = Registry([Entry("a/a", 1, "tests.toys:DIAL", "")], group=GROUP)
    assert "toys_a" not in sys.modules
    assert [entry.id for entry in catalogue.entries] == ["a/a", "toy/dial", "toy/other"]
    assert catalogue.load("toy/dial@1") is DIAL


def test_an_unknown_id_is_looked_for_in_installed_packages(install: Install) -> None:
    install("toys_b", "", "dial = toys_b:LINE")
    assert Registry([], group=GROUP).load("toy/dial") is DIAL
    with pytest.raises(UsageError, match=r"choose from toy/dial$"):
        Registry([], group=GROUP).load("toy/x")
    with pytest.raises(UsageError):
        Registry([]).load("toy/dial")


def test_a_known_id_is_not_looked_for(install: Install) -> None:
    install("toys_c", "raise RuntimeError", "dial = toys_c:LINE")
    assert Registry([LINE], group=GROUP).load("toy/dial") is DIAL


@pytest.mark.parametrize(
    ("module", "code", "told"),
    [
        ("toys_d", "raise RuntimeError('oops')", "toys_d:LINE is skipped: RuntimeError: oops"),
        ("toys_e", "LINE = 'toy/dial'", "toys_e:LINE is skipped: TypeError: str is not an Entry"),
        ("toys_f", "del LINE", "toys_f:LINE is skipped: AttributeError"),
        ("toys_g", "LINE = Entry('a/a', 1, '', '')", "is skipped: WaybenchError: environment 'a/a' exists already"),
    ],
)
def test_a_package_that_is_broken_is_left_out(install: Install, module: str, code: str, told: str) -> None:
    install(module, code, f"dial = {module}:LINE")
    mine = Entry("a/a", 1, "tests.toys:DIAL", "")
    catalogue = Registry([mine], group=GROUP)
    with pytest.warns(RuntimeWarning, match=told):
        assert catalogue.entries == (mine,)
    assert catalogue.entries == (mine,)  # told once


def test_the_command_knows_an_installed_environment(install: Install) -> None:
    folder = install("toys_h", "", "dial = toys_h:LINE", group="waybench.environments")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT), str(ROOT / "src")])}

    def waybench_(*args: str) -> str:
        command = [sys.executable, "-m", "waybench", *args]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE, env=env).stdout

    assert "toy/dial@1" in waybench_("list")
    assert '"env":"toy/dial"' in waybench_("generate", "toy", "--count", "1")


def test_unknown_message_is_short() -> None:
    message = unknown_name_message("thing", "x" * 1000 + "\n", ["a"])
    assert message == f"unknown thing '{'x' * 80}': choose from a"
    assert unknown_name_message("thing", "a\n\ud800", ["ab"]).isprintable()
