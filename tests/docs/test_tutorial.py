"""The tutorial's commands run in order, and print what it shows."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def tutorial(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(str(DOCS))
    import tutorial_outputs

    yield tutorial_outputs
    sys.modules.pop("tutorial_outputs", None)


@pytest.mark.slow
def test_the_tutorial_shows_what_its_commands_print(tutorial, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shown = tutorial.commands(tutorial.PAGE.read_text(encoding="utf-8"))
    assert len(shown) >= 5
    printed = tutorial.outputs([line for line, _ in shown], tmp_path)
    if [_timeless(text) for text in printed] != [_timeless(text) for _, text in shown]:
        pytest.fail(f"run `python docs/tutorial_outputs.py`; the commands print\n\n{chr(10).join(printed)}")
    assert (tmp_path / "waybench-out" / "site" / "index.html").is_file()


def test_commands_without_a_key_are_run(tutorial) -> None:  # type: ignore[no-untyped-def]
    text = tutorial.PAGE.read_text(encoding="utf-8")
    left_out = re.findall(r"<!-- not run: [^>]*-->\n```sh\n(.*?)```", text, re.DOTALL)
    assert [block for block in left_out if "pip install" not in block and "_API_KEY" not in block] == []
    assert len(tutorial.commands(text)) + len(left_out) == text.count("```sh")


def _timeless(text: str) -> str:
    return re.sub(r"\b\d+(\.\d+)? (s|seconds|min|minutes)\b", "some time", text)
