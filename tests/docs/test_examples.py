"""The Python examples of the pages run, each page's in order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
# Examples of pandas, polars and datasets, which need not be installed; docs/api.md has a test of its own
# (tests/test_api.py), and so has what is exported for `datasets` (tests/rl/faces/test_data.py).
ELSEWHERE = {"howto/report.md", "howto/publish.md", "api.md"}


def _examples(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page.relative_to(DOCS).as_posix() not in ELSEWHERE and page.parent.name != "environments" and _examples(page)
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    if "gymnasium" in "".join(_examples(page)):
        pytest.importorskip("gymnasium")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(_examples(page))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr


def test_the_readme_shows_what_its_examples_print(tmp_path: Path) -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(shown) == text.count("```python") > 0
    for code, output in shown:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.stdout, done.stderr) == (output, "")


def test_the_pages_with_examples() -> None:
    assert {page.name for page in PAGES} >= {"agent.md", "train.md", "python.md"}


def test_records_of_an_agent_are_read_by_a_report(tmp_path: Path) -> None:
    import waybench

    *_, example = _examples(DOCS / "howto" / "agent.md")
    code = example.replace("range(10)", "range(2)")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=PATIENCE)
    results = waybench.read_logs(tmp_path / "my-agent.jsonl")
    assert results.episodes.num_rows == 4
    assert set(results.episodes.column("model").to_pylist()) == {"my_agent"}
