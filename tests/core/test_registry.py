"""The catalogue: lazy, versioned, and clear about what it does not have."""

import sys

import pytest

import waybench
from tests.toys import DIAL
from waybench.core import Entry, Registry, UsageError, WaybenchError, unknown
from waybench.envs import registry

LINE = Entry("toy/dial", 1, "tests.toys:DIAL", "a dial")


def test_load() -> None:
    catalogue = Registry([LINE])
    assert catalogue.load("toy/dial") is DIAL
    assert catalogue.load("toy/dial@1") is DIAL


def test_unknown_id_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown environment 'toy/dail': did you mean 'toy/dial'\? choose from toy"):
        Registry([LINE]).load("toy/dail")
    with pytest.raises(UsageError, match=r"^unknown environment 'x': choose from maze/alicia"):
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
    with pytest.raises(WaybenchError, match=f"catalogue line {entry.id}@{entry.version} does not fit toy/dial"):
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


def test_unknown_message_is_short() -> None:
    message = unknown("thing", "x" * 1000 + "\n", ["a"])
    assert message == f"unknown thing '{'x' * 80}': choose from a"
    assert unknown("thing", "a\n\ud800", ["ab"]).isprintable()
