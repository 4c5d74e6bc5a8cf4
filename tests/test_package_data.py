"""Word lists beside the modules that use them."""

from pathlib import Path

import pytest

import waybench
from waybench._package_data import read_text, read_toml

SOURCE = Path(waybench.__file__).parent


def test_a_file_is_read_once_and_its_arrays_cannot_be_changed(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    (tmp_path / "words.toml").write_text('[towns]\nfirst = ["Alder", "Ash"]\nkinds = [{ names = ["a"] }]\n', "utf-8")
    words = read_toml(str(module), "words.toml")
    assert words == {"towns": {"first": ("Alder", "Ash"), "kinds": ({"names": ("a",)},)}}
    (tmp_path / "words.toml").unlink()
    assert read_toml(str(module), "words.toml") is words
    with pytest.raises(FileNotFoundError):
        read_text(str(module), "about.md")


# Those of a template are copied as they are.
LISTS = sorted(path for path in SOURCE.rglob("*.toml") if path.parent.name != "template")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_list_is_used_by_a_module_beside_it(path: Path) -> None:
    assert any(f'(__file__, "{path.name}"' in module.read_text("utf-8") for module in path.parent.glob("*.py"))
