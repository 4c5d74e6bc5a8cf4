"""The files that pages share, and how values get into pages."""

import re
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from waybench.reporting._files import SCRIPTS, asset_files, make_templates

# A statement of a module: at the start, or after what ends another one. A name's end such as "x.import(" is none.
STATEMENT = re.compile(r"(?:^|[;}\n])\s*(?:import|export)\s*(?:[\w$*{\"']|\()")


def shared() -> dict[str, str]:
    return dict(asset_files())


def test_datatables_is_a_classic_script() -> None:
    module = (files("itables") / "html" / "dt_bundle.js").read_text(encoding="utf-8")
    assert STATEMENT.search(module)  # so that the pattern is worth something
    script = shared()["assets/datatables.js"]
    assert STATEMENT.findall(script) == []
    assert "import.meta" not in script
    assert script.startswith("globalThis.DataTables=(()=>{")
    # What the module exported is what the object has, by the same names, and one of them is what our script takes.
    (names,) = re.findall(r"export\{([^}]*)\}", module)
    (made,) = re.findall(r"return \{([^}]*)\};\}\)\(\);", script)
    exported = dict(re.fullmatch(r"([\w$]+) as ([\w$]+)", pair).groups() for pair in names.split(","))  # type: ignore[union-attr]
    assert dict(re.fullmatch(r'"([\w$]+)":([\w$]+)', pair).groups() for pair in made.split(",")) == {  # type: ignore[union-attr]
        name: local for local, name in exported.items()
    }
    assert "default" in exported.values()
    assert "default: DataTable } = globalThis.DataTables" in shared()["assets/tables.js"]
    # All of the rest is there: what the module did, and its licences.
    body, _, rest = module.rpartition("export{")
    assert body in script
    assert script.endswith(rest.partition("}")[2].removeprefix(";"))


def test_a_bundle_of_another_shape_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "dt_bundle.js").write_text("let a = 1;")
    found = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("waybench.reporting._files.find_spec", lambda package: found)
    from waybench.reporting._files import _datatables_script

    with pytest.raises(ValueError, match="itables' script has no exports any more"):
        _datatables_script()


def test_the_site_s_scripts_need_nothing_that_its_pages_forbid() -> None:
    found = shared()
    assert set(found) == {"assets/style.css", "assets/datatables.js", *(f"assets/{name}" for name in SCRIPTS)}
    for name in SCRIPTS:
        script = found[f"assets/{name}"]
        assert not re.search(
            r"\b(eval|Function|fetch|XMLHttpRequest|WebSocket|importScripts|innerHTML|document\.write)\b", script
        )
        assert "http" not in script


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&#34;&#39;"),
        ("\u202ex\0", "⟨U+202E⟩x␀"),
        ("\ud800", "⟨U+D800⟩"),
        ("{{ 7 * 7 }}", "{{ 7 * 7 }}"),
        (5, "5"),
    ],
)
def test_values_are_text(value: object, wanted: str) -> None:
    made = make_templates("<i>title\u202e")
    assert made.from_string("{{ value }}").render(value=value) == wanted
    assert made.from_string('<a title="{{ value }}">').render(value=value) == f'<a title="{wanted}">'
    assert made.from_string("{{ site }}").render() == "&lt;i&gt;title⟨U+202E⟩"


def test_no_template_switches_escaping_off() -> None:
    folder = files("waybench.reporting") / "templates"
    for template in folder.iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), template.name
